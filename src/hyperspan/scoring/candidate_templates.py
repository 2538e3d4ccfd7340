"""The templates of candidates' features, and a table of the features that consist of a few small numbers.

Features of words are looked up by their hash. Features of a few small numbers, of which every candidate has many, are
indices into a table instead (`DENSE`): that lookup is several times as fast.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import accumulate, product

import numpy as np

from hyperspan.compiled.kernel import kernel
from hyperspan.features.columns import hash_text
from hyperspan.features.kernels import mix_kernel
from hyperspan.scoring.candidate_table import Hashes
from hyperspan.scoring.rivals import RIVALS

TEMPLATES = (
    "every",
    "odds",
    "odds_by_parts",
    "odds_range",
    "string",
    "word",
    "first",
    "last",
    "before",
    "after",
    "around",
    "enters",
    "leaves",
    "shapes",
    "length",
    "annotated",
    "annotated_as",
    "annotated_otherwise",
    "annotated_share",
    "gap_length",
    "gap_word",
    "gap_first",
    "gap_last",
    "gap",
    "gap_conjunction",
    "joined",
    "part",
    "rival",
    "rival_odds",
    "elsewhere",
    "elsewhere_odds",
    "lemmas",
    "pos",
    "category",
    "part_category",
)
"""The templates by number; `candidate_reference` says what each means."""

ODDS_UNIT = 2.0
"""Log odds are divided by this, so that the penalty on weights treats them like other features."""

MOST_PARTS, LONGEST, WIDEST = 3, 8, 10
"""The highest numbers of parts, of words and of words in gaps that features distinguish."""

ODDS_WITHIN, FARTHEST = 10, 6
"""The largest log odds, and the largest difference between the log odds of rivals."""

N_COUNTS = 6
"""The number of ranges of counts."""

_SHIFT = 100
"""Added to numbers that can be negative."""

_COUNTS, _PARTS, _KINDS = range(N_COUNTS), range(1, MOST_PARTS + 1), range(len(RIVALS))

DENSE: dict[str, tuple[range, ...]] = {
    "every": (),
    "odds": (),
    "odds_by_parts": (_PARTS,),
    "odds_range": (range(_SHIFT - ODDS_WITHIN, _SHIFT + ODDS_WITHIN + 1), _PARTS),
    "length": (_PARTS, range(1, LONGEST + 1)),
    "annotated": (_COUNTS, _COUNTS),
    "annotated_as": (_COUNTS,),
    "annotated_otherwise": (_COUNTS,),
    "annotated_share": (),
    "gap_length": (range(WIDEST + 1),),
    "gap_conjunction": (range(2),),
    "joined": (_COUNTS, _COUNTS),
    "part": (_COUNTS, _COUNTS),
    "no_rival": (_KINDS,),
    "rival": (_KINDS, range(_SHIFT - FARTHEST, _SHIFT + FARTHEST + 1), _PARTS),
    "rival_odds": (_KINDS,),
    "elsewhere": (_COUNTS,),
    "elsewhere_odds": (),
}
"""Features of small numbers: the range of each number. Their template has this name, or is ``rival``."""

_SIZES = [math.prod(map(len, ranges)) for ranges in DENSE.values()]

PLACE_OF = dict(zip(DENSE, accumulate([0, *_SIZES]), strict=False))
"""The index of the first feature of each kind in `DENSE`."""

N_DENSE = sum(_SIZES)

_ODDS_RANGE = TEMPLATES.index("odds_range")


@lru_cache(maxsize=1)
def template_hashes() -> Hashes:
    """Return the hash of each template, from which its features start."""
    return np.array([hash_text(f"mention {name}") for name in TEMPLATES], dtype=np.uint64)


@lru_cache(maxsize=8)
def dense_hashes(n_types: int) -> Hashes:
    """Return the hashes of the features in `DENSE`, of shape (n_types, n_dense, 2); 0 for none.

    The first hash is for all types, the second for one. With a single type both would mean the same, and the first is
    left out.
    """
    found = np.zeros((n_types, N_DENSE, 2), dtype=np.uint64)
    templates = [TEMPLATES.index("rival" if name == "no_rival" else name) for name in DENSE]
    every = [
        (number, values)
        for number, ranges in zip(templates, DENSE.values(), strict=True)
        for values in product(*ranges)
    ]
    template = np.array([number for number, _ in every])
    numbers = np.array([(*values, -1, -1, -1)[:3] for _, values in every])
    with np.errstate(over="ignore"):  # without the compiler, NumPy would warn: products are meant to wrap around
        dense_kernel(template_hashes(), template, numbers, found)
    return found


@kernel
def with_kernel(feature, number):
    """Mix a number into the hash of a feature."""
    return mix_kernel(feature ^ np.uint64(number))


@kernel
def dense_kernel(hashes, template, numbers, found):
    """Fill in the hashes of the features in `DENSE`; a number of -1 means none."""
    n_types = found.shape[0]
    for place in range(numbers.shape[0]):
        feature = hashes[template[place]]
        for number in numbers[place]:
            if number >= 0:
                feature = with_kernel(feature, number)
        has_types = template[place] != _ODDS_RANGE
        for type_id in range(n_types):
            if n_types > 1 or not has_types:
                found[type_id, place, 0] = max(feature, np.uint64(1))
            if has_types:
                found[type_id, place, 1] = max(with_kernel(feature, type_id + 1), np.uint64(1))
