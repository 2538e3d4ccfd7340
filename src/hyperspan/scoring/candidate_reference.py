"""The definition of a candidate's features, written to be read: a template, its values, and an explanation.

`hyperspan.scoring.candidate_features` computes their hashes, in the same order, without building any text.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from hyperspan.features.columns import SemanticCategories, boundary, hash_text
from hyperspan.features.extraction_reference import mix_reference
from hyperspan.mentions import Mention, Sentence
from hyperspan.scoring.candidate_table import CONJUNCTIONS, LEAST_PROB, SHAPES, shape_of
from hyperspan.scoring.candidate_templates import ODDS_UNIT
from hyperspan.scoring.rivals import RIVALS

_BETWEEN_PARTS = 9
_RANGES = ("0 times", "once", "2 or 3 times", "4 to 7 times", "8 to 20 times", "more than 20 times")

Counts = tuple[int, int, int]
"""How often a string was annotated with a type, with any type, and how often it occurred."""


@dataclass(frozen=True)
class Feature:
    """A feature of a candidate.

    Attributes
    ----------
    template : str
        One of `hyperspan.scoring.candidate_templates.TEMPLATES`.
    values : tuple of str or int
        Text is hashed, numbers are used as they are.
    said : str
        What it means, in words.
    value : float
        Its value, which the weight is multiplied by.
    type_id : int
        The type that it belongs to; -1 for all types.
    """

    template: str
    values: tuple[str | int, ...]
    said: str
    value: float = 1.0
    type_id: int = -1

    @property
    def hash(self) -> int:
        """Its hash."""
        so_far = hash_text(f"mention {self.template}")
        for value in self.values:
            so_far = mix_reference(so_far ^ (hash_text(value) if isinstance(value, str) else value))
        return max(1, so_far if self.type_id < 0 else mix_reference(so_far ^ (self.type_id + 1)))

    @property
    def name(self) -> str:
        """A short name: the template and its values."""
        return f"mention.{self.template}=" + "|".join(map(str, self.values))


@dataclass(frozen=True)
class Known:
    """What is known about a candidate besides its sentence.

    Attributes
    ----------
    counts : sequence of Counts
        The counts of its string; with several parts, also those of its words without the gaps and of each part.
    elsewhere : sequence of float
        The log odds of the same string and type in other sentences of the document.
    type_ids : mapping of str to int
    columns : sequence of str
        The columns that are used: some of `hyperspan.scoring.candidate_table.COLUMNS`.
    lexicon : SemanticCategories, optional
    """

    counts: Sequence[Counts]
    elsewhere: Sequence[float]
    type_ids: Mapping[str, int]
    columns: Sequence[str] = ()
    lexicon: SemanticCategories | None = None


def log_odds(prob: float) -> float:
    """Return the log odds of a probability, which is first clipped away from 0 and 1."""
    prob = min(max(prob, LEAST_PROB), 1.0 - LEAST_PROB)
    return math.log(prob / (1.0 - prob))


def features_reference(sentence: Sentence, candidates: Sequence[Mention], place: int, known: Known) -> list[Feature]:
    """Return the features of one of the candidates of a sentence.

    Examples
    --------
    >>> sentence = Sentence("no pain in legs".split())
    >>> known = Known([(3, 3, 4)], [], {"Finding": 0})
    >>> made = features_reference(sentence, [Mention("Finding", [(1, 2)], prob=0.5)], 0, known)
    >>> [feature.said for feature in made if feature.template in ("before", "annotated")]
    ['the word before it is ‘no’', 'it was annotated 2 or 3 times in training, and left unannotated once']
    """
    mention = candidates[place]
    type_id, several = known.type_ids[mention.type], len(known.type_ids) > 1
    found: list[Feature] = []
    for feature, kind in _features(sentence, candidates, mention, known):
        if kind == "all" or (kind == "both" and several):
            found.append(feature)
        if kind != "all":
            found.append(replace(feature, type_id=type_id))
    return found


def _features(
    sentence: Sentence, candidates: Sequence[Mention], mention: Mention, known: Known
) -> Iterator[tuple[Feature, str]]:
    """Yield features, and whether each is for ``all`` types, for ``one``, or for ``both``."""
    yield from _of_context(candidates, mention, known)
    yield from _of_text(sentence, mention, known.columns)
    yield from _of_counts(mention, known.counts)
    if len(mention.parts) > 1:
        yield from _of_gaps(sentence, mention)
    if known.lexicon is not None:
        yield from _of_categories(sentence, mention, known.lexicon)


def _of_context(candidates: Sequence[Mention], mention: Mention, known: Known) -> Iterator[tuple[Feature, str]]:
    odds, n_parts = log_odds(mention.prob or 0.0), min(len(mention.parts), 3)
    yield Feature("every", (), "every mention has this"), "both"
    said = f"it is {'likely' if odds > 0 else 'unlikely'} at first look: {mention.prob or 0.0:.3f}"
    yield Feature("odds", (), said, odds / ODDS_UNIT), "both"
    yield Feature("odds_by_parts", (n_parts,), f"{said}, and has {_number(n_parts, 'part')}", odds / ODDS_UNIT), "both"
    yield Feature("odds_range", (round(odds) + 100, n_parts), f"{said}, and has {_number(n_parts, 'part')}"), "all"
    for kind, who in enumerate(RIVALS):
        others = [log_odds(other.prob or 0.0) for other in candidates if _is_rival(kind, mention, other)]
        if not others:
            yield Feature("rival", (kind,), f"no other candidate {who}"), "both"
            continue
        above = max(-6.0, min(6.0, odds - max(others)))
        said = f"the best candidate that {who} is {'less' if above > 0 else 'more'} likely"
        yield Feature("rival", (kind, round(above) + 100, n_parts), said), "both"
        yield Feature("rival_odds", (kind,), said, above / ODDS_UNIT), "both"
    n_elsewhere = _range(len(known.elsewhere))
    yield Feature("elsewhere", (n_elsewhere,), f"it is found {_RANGES[n_elsewhere]} elsewhere in the document"), "both"
    if known.elsewhere:
        said = "its probability elsewhere in the document"
        yield Feature("elsewhere_odds", (), said, max(known.elsewhere) / ODDS_UNIT), "both"


def _is_rival(kind: int, mention: Mention, other: Mention) -> bool:
    if mention == other:
        return False
    own, words = _words(mention), _words(other)
    if (kind >= 4) == (mention.type == other.type) or not own & words:
        return False
    return (True, words <= own, own < words, bool({*mention.parts} & {*other.parts}), True, own == words)[kind]


def _words(mention: Mention) -> set[int]:
    return {word for start, end in mention.parts for word in range(start, end)}


def _of_text(sentence: Sentence, mention: Mention, columns: Sequence[str]) -> Iterator[tuple[Feature, str]]:
    lower = [token.lower() for token in sentence.tokens]
    words, inside = sorted(_words(mention)), list(_with_gaps(mention))
    before = lower[words[0] - 1] if words[0] else boundary(-1)
    after = lower[words[-1] + 1] if words[-1] + 1 < len(lower) else boundary(1)
    first, last = lower[words[0]], lower[words[-1]]
    for word in words[:12]:
        yield Feature("word", (lower[word],), f"it contains ‘{lower[word]}’"), "one"
    string = tuple(_BETWEEN_PARTS if word < 0 else lower[word] for word in inside)
    yield Feature("string", string, f"it is ‘{_joined(string)}’"), "one"
    yield Feature("first", (first,), f"it begins with ‘{first}’"), "one"
    yield Feature("last", (last,), f"it ends with ‘{last}’"), "one"
    yield Feature("before", (before,), f"the word before it is ‘{before}’"), "one"
    yield Feature("after", (after,), f"the word after it is ‘{after}’"), "one"
    yield Feature("around", (before, after), f"it is between ‘{before}’ and ‘{after}’"), "one"
    yield Feature("enters", (before, first), f"it begins with ‘{first}’ after ‘{before}’"), "one"
    yield Feature("leaves", (last, after), f"it ends with ‘{last}’ before ‘{after}’"), "one"
    shape = [_BETWEEN_PARTS if word < 0 else shape_of(sentence.tokens[word]) for word in _up_to(inside, 8)]
    shown = ", ".join("…" if each == _BETWEEN_PARTS else SHAPES[each] for each in shape)
    yield Feature("shapes", tuple(shape), f"its words are {shown}"), "one"
    sizes = min(len(mention.parts), 3), min(len(words), 8)
    yield Feature("length", sizes, f"it has {_number(sizes[0], 'part')} and {_number(sizes[1], 'word')}"), "both"
    if "lemma" in columns:
        lemma = sentence.columns.get("lemma", ("",) * len(sentence))
        lemmas = tuple(_BETWEEN_PARTS if word < 0 else lemma[word].lower() for word in inside)
        yield Feature("lemmas", lemmas, f"its lemmas are ‘{_joined(lemmas)}’"), "one"
    if "pos" in columns:
        pos = sentence.columns.get("pos", ("",) * len(sentence))
        tags = tuple(_BETWEEN_PARTS if word < 0 else pos[word].lower() for word in _up_to(inside, 8))
        yield Feature("pos", tags, f"its parts of speech are ‘{_joined(tags)}’"), "both"


def _with_gaps(mention: Mention) -> Iterator[int]:
    """Yield the words of a mention, and -1 for each gap."""
    for number, (start, end) in enumerate(mention.parts):
        if number:
            yield -1
        yield from range(start, end)


def _up_to(words: Sequence[int], most: int) -> list[int]:
    """Return all gaps and the first ``most`` words."""
    found, n_words = [], 0
    for word in words:
        n_words += word >= 0
        if word < 0 or n_words <= most:
            found.append(word)
    return found


def _of_counts(mention: Mention, counts: Sequence[Counts]) -> Iterator[tuple[Feature, str]]:
    as_such, at_all, occurred = counts[0][0], counts[0][1], max(counts[0][2], counts[0][1])
    yield _counted("annotated", "it", counts[0]), "both"
    often, otherwise = _range(as_such), _range(at_all - as_such)
    yield Feature("annotated_as", (often,), f"it was annotated {_RANGES[often]} in training"), "both"
    said = f"it was annotated {_RANGES[otherwise]} as something else in training"
    yield Feature("annotated_otherwise", (otherwise,), said), "both"
    if occurred:
        share = math.log((as_such + 0.5) / (occurred - as_such + 0.5)) / ODDS_UNIT
        said = f"it was annotated in {as_such:,} of {occurred:,} occurrences in training"
        yield Feature("annotated_share", (), said, share), "both"
    if len(mention.parts) > 1:
        yield _counted("joined", "its words without the gaps", counts[1]), "both"
        for of_part in counts[2:5]:
            yield _counted("part", "a part alone", of_part), "both"


def _counted(template: str, what: str, counts: Counts) -> Feature:
    often, not_at_all = _range(counts[0]), _range(max(counts[2] - counts[1], 0))
    was = "were" if what.startswith("its words") else "was"
    said = f"{what} {was} annotated {_RANGES[often]} in training, and left unannotated {_RANGES[not_at_all]}"
    if not counts[1]:  # then nobody has counted how often it was left unannotated
        said = f"{what} {was} annotated with no type in training"
    return Feature(template, (often, not_at_all), said)


def _of_gaps(sentence: Sentence, mention: Mention) -> Iterator[tuple[Feature, str]]:
    lower, n_words, has_conjunction = [token.lower() for token in sentence.tokens], 0, False
    for (_, start), (end, _) in zip(mention.parts[:2], mention.parts[1:3], strict=False):
        gap = tuple(lower[start:end])
        for word in gap[: max(0, 12 - n_words)]:
            yield Feature("gap_word", (word,), f"a gap contains ‘{word}’"), "both"
        n_words += len(gap)
        has_conjunction |= not CONJUNCTIONS.isdisjoint(gap)
        yield Feature("gap", gap, f"a gap is ‘{_joined(gap)}’"), "both"
        yield Feature("gap_first", gap[:1], f"a gap begins with ‘{gap[0]}’"), "both"
        yield Feature("gap_last", gap[-1:], f"a gap ends with ‘{gap[-1]}’"), "both"
    length = min(n_words, 10)
    yield Feature("gap_length", (length,), f"its gaps have {_number(length, 'word')}"), "both"
    said = f"its gaps contain {'a' if has_conjunction else 'no'} conjunction"
    yield Feature("gap_conjunction", (int(has_conjunction),), said), "both"


def _of_categories(sentence: Sentence, mention: Mention, lexicon: SemanticCategories) -> Iterator[tuple[Feature, str]]:
    alone = [sentence.tokens[word] for word in sorted(_words(mention))]
    yield _category("category", "it", lexicon, lexicon.match([alone])[0].tolist()), "both"
    (whole,) = lexicon.match([sentence.tokens])
    for start, end in mention.parts[:3]:
        yield _category("part_category", "a part", lexicon, whole[start:end].tolist()), "both"


def _category(template: str, what: str, lexicon: SemanticCategories, ids: Sequence[int]) -> Feature:
    if len({*ids}) > 1 or ids[0] < 0:
        return Feature(template, (0,), f"{what} is not one entry of the lexicon")
    name = lexicon.categories[ids[0]]
    return Feature(template, (name,), f"{what} is in the lexicon as ‘{name}’")


def _range(count: int) -> int:
    """Return the number of the range of a count.

    Examples
    --------
    >>> [_RANGES[_range(count)] for count in (0, 1, 3, 7, 20, 21)]
    ['0 times', 'once', '2 or 3 times', '4 to 7 times', '8 to 20 times', 'more than 20 times']
    """
    return sum(count > most for most in (0, 1, 3, 7, 20))


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _joined(values: Sequence[str | int]) -> str:
    return " ".join("…" if value == _BETWEEN_PARTS else str(value) for value in values)
