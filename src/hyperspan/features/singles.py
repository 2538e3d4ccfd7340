"""Features of a single value: looked up once and cached with the word.

Most templates look at one value of one word. The resulting feature does not depend on the word's position, so its id is
cached with the word's values; only features that combine several values are hashed and looked up for every token.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hyperspan.compiled.kernel import kernel
from hyperspan.features.codes import NOT_LOOKED_UP, Batch, CodeTable
from hyperspan.features.columns import Source, boundary, hash_text
from hyperspan.features.index import FeatureIndex, Hashes, Ids, Offsets, find_one_kernel
from hyperspan.features.kernels import LEAST_HASH, Plan, hash_features, mix_kernel, plan_of
from hyperspan.features.templates import Template


class Singles(NamedTuple):
    """Templates that give one feature or none, as flat arrays.

    Templates are divided into runs, ``first_of_run[r]:first_of_run[r + 1]``. Each looks at one cell of a source, at an
    offset. The ids for a code start at ``n_ids_a_cell * code`` in `Batch.known`; ``slot`` is the position of each
    template.
    """

    first_of_run: npt.NDArray[np.int32]
    template_hash: Hashes
    source: npt.NDArray[np.uint64]
    cell: npt.NDArray[np.int32]
    offset: npt.NDArray[np.int32]
    slot: npt.NDArray[np.uint64]
    n_ids_a_cell: int
    before: Hashes
    after: Hashes


class SplitPlan(NamedTuple):
    """All templates, in the same number of runs of each kind; within a run the single ones come first."""

    singles: Singles
    others: Plan


def split_plan(templates: Sequence[Template], table: CodeTable) -> SplitPlan:
    """Convert templates to flat arrays, single ones separately."""
    singles: list[Template] = []
    others: list[Template] = []
    borders = [(0, 0)]
    for template in templates:
        if template.is_single and len(others) > borders[-1][1]:
            borders.append((len(singles), len(others)))
        (singles if template.is_single else others).append(template)
    borders.append((len(singles), len(others)))
    first_single, first_other = zip(*borders, strict=True)
    return SplitPlan(_singles_of(singles, table, first_single), plan_of(others, table, first_other))


def _singles_of(templates: Sequence[Template], table: CodeTable, first_of_run: Sequence[int]) -> Singles:
    parts = [template.parts[0] for template in templates]
    source = [table.sources.index(part.column.source) for part in parts]
    n_before: Counter[Source] = Counter()
    slot = []
    for part in parts:
        slot.append(n_before[part.column.source])
        n_before[part.column.source] += 1
    distances = range(1, max((abs(part.offset) for part in parts), default=0) + 1)
    return Singles(
        np.array(first_of_run, np.int32),
        np.array([hash_text(template.pattern) for template in templates], np.uint64),
        np.array(source, np.uint64),
        np.array(
            [table.columns[number].index(part.column) for number, part in zip(source, parts, strict=True)], np.int32
        ),
        np.array([part.offset for part in parts], np.int32),
        np.array(slot, np.uint64),
        table.n_ids_a_cell,
        np.array([hash_text(boundary(-distance)) for distance in distances], np.uint64),
        np.array([hash_text(boundary(distance)) for distance in distances], np.uint64),
    )


def find_features(plan: SplitPlan, batch: Batch, index: FeatureIndex) -> tuple[Offsets, Ids]:
    """Return the features of every token that are in an index as a CSR block of ids."""
    first_other, hashes = hash_features(plan.others, batch)
    other = index.ids_of(hashes)
    n_tokens = batch.code.shape[1]
    first_feature = np.empty(n_tokens + 1, np.int64)
    feature = np.empty(n_tokens * len(plan.singles.template_hash) + len(other), np.int32)
    with np.errstate(over="ignore"):  # without the compiler, NumPy would warn: products are meant to wrap around
        n_features = merge_kernel(plan.singles, batch, *index.slots, first_other, other, first_feature, feature)
    return first_feature, feature[:n_features]


@kernel
def merge_kernel(singles, batch, key, id, first_other, other, first_feature, feature):
    """Fill in the features of every token in the order of templates, given the ids of the other features or -1.

    Returns how many there are. Indices are unsigned: for signed ones the compiler adds a check for negative indices.
    """
    first_of_run, source, offset, slot = singles.first_of_run, singles.source, singles.offset, singles.slot
    code, known = batch.code, batch.known
    n_ids_a_cell = np.uint64(singles.n_ids_a_cell)
    n_runs = first_of_run.shape[0] - 1
    at_boundary = boundaries_kernel(singles, key, id)
    n_features = 0
    first_feature[0] = 0
    for sentence in range(batch.first_token.shape[0] - 1):
        begin, end = batch.first_token[sentence], batch.first_token[sentence + 1]
        for token in range(begin, end):
            for run in range(n_runs):
                for single in range(first_of_run[run], first_of_run[run + 1]):
                    position = token + offset[single]
                    nearest = min(max(position, begin), end - 1)
                    first_cell = code[source[single], np.uint64(nearest)]
                    if first_cell < 0:
                        continue
                    if position == nearest:
                        place = np.uint64(first_cell) * n_ids_a_cell + slot[single]
                        found = known[place]
                        if found == NOT_LOOKED_UP:
                            found = known[place] = id_kernel(singles, batch, key, id, single, first_cell)
                    else:
                        found = at_boundary[single, position - nearest]
                    feature[n_features] = found
                    n_features += found >= 0
                for place in range(first_other[token * n_runs + run], first_other[token * n_runs + run + 1]):
                    feature[n_features] = other[place]
                    n_features += other[place] >= 0
            first_feature[token + 1] = n_features
    return n_features


@kernel
def id_kernel(singles, batch, key, id, single, first_cell):
    """Look up the feature that a template gives a word; -1 if there is none."""
    cell = first_cell + singles.cell[single]
    if batch.first_value[cell] == batch.first_value[cell + 1]:
        return np.int32(-1)
    return id_of_value_kernel(singles.template_hash[single], batch.value[batch.first_value[cell]], key, id)


@kernel
def boundaries_kernel(singles, key, id):
    """Look up the features of the boundaries by template and distance; those before a sentence count from the end."""
    reach = singles.before.shape[0]
    at_boundary = np.empty((singles.template_hash.shape[0], 2 * reach + 1), np.int32)
    for single in range(at_boundary.shape[0]):
        template_hash = singles.template_hash[single]
        for distance in range(reach):
            at_boundary[single, 1 + distance] = id_of_value_kernel(template_hash, singles.after[distance], key, id)
            before = id_of_value_kernel(template_hash, singles.before[distance], key, id)
            at_boundary[single, 2 * reach - distance] = before
    return at_boundary


@kernel
def id_of_value_kernel(template_hash, value, key, id):
    """Look up the feature that a template gives a value."""
    return find_one_kernel(key, id, max(mix_kernel(template_hash ^ value), LEAST_HASH))
