"""Features as Python dictionaries, as users of sklearn-crfsuite write them by hand.

`TEMPLATES` defines the same features as templates, so that both programs have the same: the neighbouring words, pairs,
triples, affixes, capitals and shapes of the default templates.
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperspan.features import TemplateSet
from hyperspan.features.columns import capitals_of, plain_word, shape_of

Features = dict[str, str]

OWN_AFFIXES = (1, 2, 3, 4, 5, 6)
NEIGHBOUR_AFFIXES = (3, 4)

TEMPLATES = TemplateSet.of(
    [
        ("word", "word", "word[0]"),
        ("word", "lower", "lower[0]"),
        *(("word", f"word{offset:+d}", f"word[{offset}]") for offset in (-3, -2, -1, 1, 2, 3)),
        *(("word", f"pair{offset:+d}", f"word[{offset}] word[0]") for offset in (-3, -2, -1, 1, 2, 3)),
        ("word", "three before", "word[-2] word[-1] word[0]"),
        ("word", "three around", "word[-1] word[0] word[1]"),
        ("word", "three after", "word[0] word[1] word[2]"),
        *(
            ("form", f"{affix}{length}", f"{affix}{length}[0]")
            for length in OWN_AFFIXES
            for affix in ("prefix", "suffix")
        ),
        ("form", "capitals", "capitals[0]"),
        *(
            ("form", f"{affix}{length}{offset:+d}", f"{affix}{length}[{offset}]")
            for offset in (-1, 1)
            for length in NEIGHBOUR_AFFIXES
            for affix in ("prefix", "suffix")
        ),
        ("form", "shape", "shape[0]"),
        ("form", "shape-1", "shape[-1]"),
        ("form", "shape+1", "shape[1]"),
        ("form", "shapes before", "shape[-1] shape[0]"),
        ("form", "shapes after", "shape[0] shape[1]"),
        ("form", "shapes around", "shape[-1] shape[0] shape[1]"),
    ],
    "the dictionaries' features",
)


def dictionaries(tokens: Sequence[str]) -> list[Features]:
    """Return the features of every word of a sentence.

    Examples
    --------
    >>> found = dictionaries("hiatal hernia".split())
    >>> found[0]["pair+1"], found[0]["prefix3"], found[1]["suffix4-1"], found[1]["word+1"]
    ('hernia|hiatal', 'hia', 'atal', '<s+1>')
    """
    words = [plain_word(token) for token in tokens]
    shapes = [shape_of(word) for word in words]
    return [word_features(words, shapes, place) for place in range(len(words))]


def word_features(words: Sequence[str], shapes: Sequence[str], place: int) -> Features:
    """Return the features of one word."""
    word, shape = words[place], shapes[place]
    around = {offset: _at(words, place + offset) for offset in (-3, -2, -1, 1, 2, 3)}
    features = {"word": word, "lower": word.lower()}
    for offset, other in around.items():
        features[f"word{offset:+d}"] = other
    for offset, other in around.items():
        features[f"pair{offset:+d}"] = f"{other}|{word}"
    features["three before"] = f"{around[-2]}|{around[-1]}|{word}"
    features["three around"] = f"{around[-1]}|{word}|{around[1]}"
    features["three after"] = f"{word}|{around[1]}|{around[2]}"
    for length in OWN_AFFIXES:
        if len(word) >= length:
            features[f"prefix{length}"] = word[:length]
            features[f"suffix{length}"] = word[-length:]
    features["capitals"] = capitals_of(word)
    for offset in (-1, 1):
        other = around[offset]
        is_beyond = not 0 <= place + offset < len(words)
        for length in NEIGHBOUR_AFFIXES:
            if is_beyond:
                features[f"prefix{length}{offset:+d}"] = features[f"suffix{length}{offset:+d}"] = other
            elif len(other) >= length:
                features[f"prefix{length}{offset:+d}"] = other[:length]
                features[f"suffix{length}{offset:+d}"] = other[-length:]
    before, after = _at(shapes, place - 1), _at(shapes, place + 1)
    features["shape"] = shape
    features["shape-1"] = before
    features["shape+1"] = after
    features["shapes before"] = f"{before}|{shape}"
    features["shapes after"] = f"{shape}|{after}"
    features["shapes around"] = f"{before}|{shape}|{after}"
    return features


def _at(values: Sequence[str], place: int) -> str:
    if 0 <= place < len(values):
        return values[place]
    return f"<s{place if place < 0 else place - len(values) + 1:+d}>"
