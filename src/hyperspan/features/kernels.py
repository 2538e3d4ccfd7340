"""The compiled part of feature extraction: from codes to the hashes of features.

A feature's hash starts as the hash of its template; the hashes of the values are then mixed in one after another.
`hyperspan.features.extraction_reference` does the same with texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hyperspan.compiled.kernel import kernel
from hyperspan.features.codes import Batch, CodeTable
from hyperspan.features.columns import boundary, hash_text
from hyperspan.features.index import Hashes, Offsets
from hyperspan.features.templates import Template

_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_SHIFT_1, _SHIFT_2, _SHIFT_3 = np.uint64(30), np.uint64(27), np.uint64(31)
_NONE, _SEVERAL = np.uint64(0), np.uint64(1)
LEAST_HASH = np.uint64(1)


class Plan(NamedTuple):
    """Templates as flat arrays: template t has the parts ``first_part[t]:first_part[t + 1]``.

    Templates are divided into runs, ``first_of_run[r]:first_of_run[r + 1]``, and a token's features are kept apart by
    run. A part has a column and an offset, and a column has a source and a cell there; ``seen`` is the position of each
    part's value among the gathered values, relative to the first one that a token sees. ``before`` and ``after`` are
    the boundaries, and ``group_key`` is the number of each template's group key.
    """

    first_of_run: npt.NDArray[np.int32]
    template_hash: Hashes
    first_part: npt.NDArray[np.int32]
    column: npt.NDArray[np.int32]
    offset: npt.NDArray[np.int32]
    seen: npt.NDArray[np.uint64]
    column_source: npt.NDArray[np.int32]
    column_cell: npt.NDArray[np.int32]
    before: Hashes
    after: Hashes
    group_key: npt.NDArray[np.int32]


def plan_of(templates: Sequence[Template], table: CodeTable, first_of_run: Sequence[int] = ()) -> Plan:
    """Convert templates to flat arrays; without ``first_of_run`` they are one run."""
    parts = [part for template in templates for part in template.parts]
    first_part = np.zeros(len(templates) + 1, np.int32)
    np.cumsum([len(template.parts) for template in templates], out=first_part[1:])
    used = {part.column for part in parts}
    columns = [
        (source, cell, column)
        for source, of_source in enumerate(table.columns)
        for cell, column in enumerate(of_source)
        if column in used
    ]
    number = {column: position for position, (_, _, column) in enumerate(columns)}
    group_keys = list(dict.fromkeys(template.group_key for template in templates))
    reach = max((abs(part.offset) for part in parts), default=0)
    distances = range(1, reach + 1)
    return Plan(
        np.array(first_of_run or (0, len(templates)), np.int32),
        np.array([hash_text(template.pattern) for template in templates], np.uint64),
        first_part,
        np.array([number[part.column] for part in parts], np.int32),
        np.array([part.offset for part in parts], np.int32),
        np.array([(reach + part.offset) * len(columns) + number[part.column] for part in parts], np.uint64),
        np.array([source for source, _, _ in columns], np.int32),
        np.array([cell for _, cell, _ in columns], np.int32),
        np.array([hash_text(boundary(-distance)) for distance in distances], np.uint64),
        np.array([hash_text(boundary(distance)) for distance in distances], np.uint64),
        np.array([group_keys.index(template.group_key) for template in templates], np.int32),
    )


def hash_features(plan: Plan, batch: Batch) -> tuple[Offsets, Hashes]:
    """Return the features of every token and every run of templates as a CSR block of hashes."""
    lone, has_several = _gathered(plan, batch)
    n_tokens = batch.code.shape[1]
    room = count_kernel(plan, batch, lone) if has_several else n_tokens * len(plan.template_hash)
    first_feature = np.empty(n_tokens * (len(plan.first_of_run) - 1) + 1, np.int64)
    hashes = np.empty(room, np.uint64)
    with np.errstate(over="ignore"):  # without the compiler, NumPy would warn: products are meant to wrap around
        n_features = hash_kernel(plan, batch, lone, first_feature, hashes)
    return first_feature, hashes[:n_features]


def group_keys_of_features(plan: Plan, batch: Batch, n_features: int) -> npt.NDArray[np.int32]:
    """Return the group key of every feature that `hash_features` returns, in the same order."""
    group_key = np.empty(n_features, np.int32)
    group_key_kernel(plan, batch, _gathered(plan, batch)[0], group_key)
    return group_key


def _gathered(plan: Plan, batch: Batch) -> tuple[Hashes, bool]:
    """Return the values that `gather_kernel` collects, and whether there are several values anywhere."""
    reach = len(plan.before)
    n_sentences, n_tokens = len(batch.first_token) - 1, batch.code.shape[1]
    lone = np.empty((n_tokens + 2 * reach * n_sentences, len(plan.column_source)), np.uint64)
    return lone, gather_kernel(plan, batch, lone)


@kernel
def gather_kernel(plan, batch, lone):
    """Fill ``lone[place, column]`` with the value if there is exactly one, 0 if there is none, 1 for several.

    A sentence has ``reach`` extra places at both ends for the boundaries: token t of sentence s has the place ``t + (2
    * s + 1) * reach``. Returns whether there are several values anywhere.
    """
    reach = plan.before.shape[0]
    code, first_value = batch.code, batch.first_value
    has_several = False
    for sentence in range(batch.first_token.shape[0] - 1):
        begin, end = batch.first_token[sentence], batch.first_token[sentence + 1]
        shift = (2 * sentence + 1) * reach
        for column in range(plan.column_source.shape[0]):
            is_known = begin < end and code[plan.column_source[column], begin] >= 0
            for distance in range(reach):
                lone[begin + shift - 1 - distance, column] = plan.before[distance] if is_known else _NONE
                lone[end + shift + distance, column] = plan.after[distance] if is_known else _NONE
        for token in range(begin, end):
            for column in range(plan.column_source.shape[0]):
                first_cell = code[plan.column_source[column], token]
                value = _NONE
                if first_cell >= 0:
                    cell = first_cell + plan.column_cell[column]
                    n_values = first_value[cell + 1] - first_value[cell]
                    if n_values == 1:
                        # A value that happens to be 0 or 1 is treated like several values, which is correct too.
                        value = max(batch.value[first_value[cell]], _SEVERAL)
                    elif n_values > 1:
                        value = _SEVERAL
                    has_several |= value == _SEVERAL
                lone[token + shift, column] = value
    return has_several


@kernel
def count_kernel(plan, batch, lone):
    """Return how many features the tokens have in total."""
    reach = plan.before.shape[0]
    n_features = 0
    for sentence in range(batch.first_token.shape[0] - 1):
        shift = (2 * sentence + 1) * reach
        for token in range(batch.first_token[sentence], batch.first_token[sentence + 1]):
            for template in range(plan.template_hash.shape[0]):
                n_features += number_kernel(plan, batch, lone, template, token, shift)
    return n_features


@kernel
def group_key_kernel(plan, batch, lone, group_key):
    """Fill in the group key of every feature."""
    reach = plan.before.shape[0]
    feature = 0
    for sentence in range(batch.first_token.shape[0] - 1):
        shift = (2 * sentence + 1) * reach
        for token in range(batch.first_token[sentence], batch.first_token[sentence + 1]):
            for template in range(plan.template_hash.shape[0]):
                for _ in range(number_kernel(plan, batch, lone, template, token, shift)):
                    group_key[feature] = plan.group_key[template]
                    feature += 1


@kernel
def number_kernel(plan, batch, lone, template, token, shift):
    """Return how many features a template gives a token: the number of combinations of its parts' values."""
    n_features = 1
    for part in range(plan.first_part[template], plan.first_part[template + 1]):
        value = lone[token + plan.offset[part] + shift, plan.column[part]]
        if value == _NONE:
            n_features = 0
        elif value == _SEVERAL:
            cell = cell_kernel(plan, batch, part, token)
            n_features *= batch.first_value[cell + 1] - batch.first_value[cell]
    return n_features


@kernel
def cell_kernel(plan, batch, part, token):
    """Return the cell that holds the values of a part, relative to a token."""
    column = plan.column[part]
    return batch.code[plan.column_source[column], token + plan.offset[part]] + plan.column_cell[column]


@kernel
def hash_kernel(plan, batch, lone, first_feature, hashes):
    """Fill in the features of every token, in the order of templates and, within one, of its values.

    The values of the last part change first. Returns how many features there are.
    """
    template_hash, first_part, seen = plan.template_hash, plan.first_part, plan.seen
    n_runs = plan.first_of_run.shape[0] - 1
    values = lone.reshape(-1)
    feature = 0
    first_feature[0] = 0
    for sentence in range(batch.first_token.shape[0] - 1):
        begin, end = batch.first_token[sentence], batch.first_token[sentence + 1]
        for token in range(begin, end):
            # Indices are unsigned: for signed ones the compiler adds a check for negative indices.
            first_seen = np.uint64((token + 2 * sentence * plan.before.shape[0]) * lone.shape[1])
            for run in range(n_runs):
                for template in range(plan.first_of_run[run], plan.first_of_run[run + 1]):
                    least = values[first_seen + seen[first_part[template]]]
                    bits = mix_kernel(template_hash[template] ^ least)
                    for part in range(first_part[template] + 1, first_part[template + 1]):
                        value = values[first_seen + seen[part]]
                        bits = mix_kernel(bits ^ value)
                        least = min(least, value)
                    if least > _SEVERAL:
                        hashes[feature] = max(bits, LEAST_HASH)
                        feature += 1
                    elif least == _SEVERAL:
                        feature = combine_kernel(plan, batch, template, begin, end, token, hashes, feature)
                first_feature[token * n_runs + run + 1] = feature
    return feature


@kernel
def combine_kernel(plan, batch, template, begin, end, token, hashes, place):
    """Write the features of a template whose parts all have one or more values; return the position after them."""
    # The features so far are at place:place + n_features; each part mixes in its value, or multiplies them.
    n_features = 1
    hashes[place] = plan.template_hash[template]
    for part in range(plan.first_part[template], plan.first_part[template + 1]):
        position = token + plan.offset[part]
        if begin <= position < end:
            cell = cell_kernel(plan, batch, part, token)
            values = batch.value[batch.first_value[cell] : batch.first_value[cell + 1]]
            for feature in range(n_features - 1, -1, -1):
                so_far = hashes[place + feature]
                for value in range(values.shape[0]):
                    hashes[place + feature * values.shape[0] + value] = mix_kernel(so_far ^ values[value])
            n_features *= values.shape[0]
        else:
            outside = plan.before[begin - position - 1] if position < begin else plan.after[position - end]
            for feature in range(place, place + n_features):
                hashes[feature] = mix_kernel(hashes[feature] ^ outside)
    for feature in range(place, place + n_features):
        hashes[feature] = max(hashes[feature], LEAST_HASH)
    return place + n_features


@kernel
def mix_kernel(bits):
    """Mix 64 bits with the finalizer of splitmix64: every bit of the result depends on every bit of the input."""
    bits = (bits ^ (bits >> _SHIFT_1)) * _MIX_1
    bits = (bits ^ (bits >> _SHIFT_2)) * _MIX_2
    return bits ^ (bits >> _SHIFT_3)
