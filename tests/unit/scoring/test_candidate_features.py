"""The compiled features of candidates are those of the reference; counts and rivals are those of brute force."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from hyperspan import Mention, Sentence
from hyperspan.features import Lexicon
from hyperspan.features.index import FeatureIndex
from hyperspan.mentions import in_order
from hyperspan.scoring import Proposal, Proposed
from hyperspan.scoring.candidate_features import Weights, features_of, log_odds_of
from hyperspan.scoring.candidate_reference import Known, features_reference, log_odds
from hyperspan.scoring.candidate_table import WordCodes, candidates_of, documents_of, words_of
from hyperspan.scoring.candidate_templates import TEMPLATES
from hyperspan.scoring.linear_mentions import LinearMentionScorer
from hyperspan.scoring.string_counts import StringCounts

pytestmark = pytest.mark.kernel

VOCABULARY = ["Pain", "in", "the", "legs", "and", "arms", ",", "no", "3rd", "fever", "or", "Fever"]
LEXICON = Lexicon.from_entries([("pain", "Finding"), ("fever", "Finding"), ("legs and arms", "Anatomy")])
TYPES = ("Drug", "Finding")


def random_mention(draw: np.random.Generator, n_words: int, types: tuple[str, ...]) -> Mention:
    n_parts = int(draw.integers(1, 5))
    borders = sorted(draw.choice(n_words + 1, size=2 * n_parts, replace=False).tolist())
    parts = list(zip(borders[::2], borders[1::2], strict=True))
    return Mention(str(draw.choice(types)), parts, prob=float(draw.random()) ** 3)


def random_sentences(
    seed: int, types: tuple[str, ...], n_sentences: int = 12, columns: tuple[str, ...] = ()
) -> tuple[list[Sentence], list[tuple[Mention, ...]]]:
    draw = np.random.default_rng(seed)
    sentences, candidates = [], []
    for number in range(n_sentences):
        tokens = draw.choice(VOCABULARY, size=int(draw.integers(8, 14))).tolist()
        own = {name: draw.choice(["NN", "IN", "x"], size=len(tokens)).tolist() for name in columns}
        some = {random_mention(draw, len(tokens), types) for _ in range(int(draw.integers(0, 9)))}
        words = draw.choice(len(tokens), size=len(some) // 2, replace=False).tolist()
        found = in_order(some | {Mention(types[0], [(word, word + 1)], prob=0.1 + word / 20) for word in words})
        gold = {random_mention(draw, len(tokens), types) for _ in range(2)} | {*found[:1]}
        gold |= {Mention(types[0], [(0, 1)]), Mention(types[0], [(1, 3)])}
        sentences.append(Sentence(tokens, gold, doc=str(number // 4), columns=own))
        candidates.append(found)
    return sentences, candidates


def scorer_for(sentences: list[Sentence], types: tuple[str, ...], columns: tuple[str, ...] = (), lexicon=None):
    words = words_of(sentences, WordCodes())
    mentions = Proposed.of([sentence.mentions for sentence in sentences], types)
    gold = candidates_of(sentences, mentions, types)
    counts, own = StringCounts.of(words, gold, documents_of(sentences))
    nothing = FeatureIndex()
    return LinearMentionScorer(types, Proposal(), counts, nothing, np.zeros(0), columns, lexicon=lexicon), own


def string_of(sentence: Sentence, mention: Mention) -> str:
    return sentence.text_of(mention).lower()


def occurrences(sentence: Sentence, string: str) -> int:
    lower = [token.lower() for token in sentence.tokens]
    n_words = len(string.split())
    return sum(" ".join(lower[at : at + n_words]) == string for at in range(len(lower) - n_words + 1))


def counts_by_hand(counted: list[Sentence], string: str, type: str) -> tuple[int, int, int]:
    """Count in some sentences; only what is annotated in one of them is looked for."""
    is_known = any(string_of(each, mention) == string for each in counted for mention in each.mentions)
    found = [mention.type for each in counted for mention in each.mentions if string_of(each, mention) == string]
    n_occurred = sum(occurrences(each, string) for each in counted) if is_known and len(string.split()) <= 12 else 0
    return found.count(type), len(found), 0 if "…" in string else n_occurred


def known_by_hand(scorer, sentences, candidates, number: int, mention: Mention, counted: list[Sentence]) -> Known:
    sentence = sentences[number]
    parts = [" ".join(sentence.tokens[start:end]).lower() for start, end in mention.parts]
    strings = [string_of(sentence, mention), *([" ".join(parts), *parts] if len(parts) > 1 else [])]
    elsewhere = [
        log_odds(other.prob)
        for place, here in enumerate(candidates)
        for other in here
        if sentences[place].doc == sentence.doc and place != number
        if other.type == mention.type and string_of(sentences[place], other) == strings[0]
    ]
    ids = {type: number for number, type in enumerate(scorer.types)}
    counts = [counts_by_hand(counted, string, mention.type) for string in strings]
    return Known(counts, elsewhere, ids, scorer.columns, scorer.lexicon)


@pytest.mark.parametrize("types", [TYPES, TYPES[1:]])
@pytest.mark.parametrize(("columns", "lexicon"), [((), None), (("lemma", "pos"), LEXICON)])
@pytest.mark.parametrize("without_own", [False, True])
def test_compiled_features_are_those_of_the_reference(types, columns, lexicon, without_own: bool) -> None:
    sentences, candidates = random_sentences(1, types, columns=columns)
    scorer, own = scorer_for(sentences, types, columns, lexicon)
    table = scorer.table(sentences, Proposed.of(candidates, types), own if without_own else None)
    first, hashes, values = features_of(table)
    row, seen = 0, set()
    for number, here in enumerate(candidates):
        others = [each for each in sentences if each.doc != sentences[number].doc] if without_own else sentences
        for place, mention in enumerate(here):
            known = known_by_hand(scorer, sentences, candidates, number, mention, others)
            wanted = features_reference(sentences[number], here, place, known)
            found = slice(first[row], first[row + 1])
            seen |= {feature.template for feature in wanted}
            made = sorted(zip(hashes[found].tolist(), values[found].tolist(), strict=True))
            wanted = sorted(wanted, key=lambda feature: (feature.hash, feature.value))
            assert not [each for each, (hash, _) in zip(wanted, made, strict=True) if each.hash != hash]
            assert [value for _, value in made] == pytest.approx([feature.value for feature in wanted], rel=1e-12)
            row += 1
    assert row == len(first) - 1 > 20
    resources = {"lemmas", "pos", "category", "part_category"}
    assert seen == {*TEMPLATES} - (set() if columns else resources)


def test_log_odds_are_sums_of_weights_times_values() -> None:
    sentences, candidates = random_sentences(2, TYPES)
    scorer, _ = scorer_for(sentences, TYPES)
    table = scorer.table(sentences, Proposed.of(candidates, TYPES))
    first, hashes, values = features_of(table)
    index = FeatureIndex(np.unique(hashes)[::2])
    weights = np.random.default_rng(0).normal(size=len(index))
    ids = index.ids_of(hashes)
    terms = np.where(ids >= 0, weights[ids], 0.0) * values
    wanted = [terms[begin:end].sum() for begin, end in pairwise(first)]
    assert log_odds_of(table, Weights.of(index, weights, len(TYPES))) == pytest.approx(wanted, rel=1e-12, abs=1e-12)


def test_each_feature_says_something_of_its_own() -> None:
    sentences, candidates = random_sentences(3, TYPES, columns=("lemma", "pos"))
    scorer, _ = scorer_for(sentences, TYPES, ("lemma", "pos"), LEXICON)
    for number, here in enumerate(candidates):
        for place, mention in enumerate(here):
            made = features_reference(
                sentences[number], here, place, known_by_hand(scorer, sentences, candidates, number, mention, sentences)
            )
            assert all(feature.said and feature.name.startswith("mention.") for feature in made)
            repeated = {"word", "gap_word", "part", "part_category", "gap", "gap_first", "gap_last"}
            hashes = [feature.hash for feature in made if feature.template not in repeated]
            assert len(set(hashes)) == len(hashes)


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ((0, 0, 0), "it was annotated with no type in training"),
        ((0, 2, 3), "it was annotated 0 times in training, and left unannotated once"),
    ],
)
def test_what_was_never_counted_is_not_told(counts: tuple[int, int, int], said: str) -> None:
    known = Known([counts], [], {"Finding": 0})
    made = features_reference(Sentence(["pain"]), [Mention("Finding", [(0, 1)], prob=0.5)], 0, known)
    assert [feature.said for feature in made if feature.template == "annotated"] == [said]


def test_the_memory_of_words_forgets_and_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    sentences, _ = random_sentences(4, TYPES)
    codes = WordCodes()
    whole = words_of(sentences, codes)
    monkeypatch.setattr("hyperspan.scoring.candidate_table.MOST_WORDS", 3)
    for _ in range(2):
        for one, other in zip(whole, words_of(sentences, codes), strict=True):
            assert np.array_equal(one, other)


def test_what_is_interrupted_does_not_change_what_comes_later(monkeypatch: pytest.MonkeyPatch) -> None:
    sentences, _ = random_sentences(4, TYPES)
    whole, codes = words_of(sentences, WordCodes()), WordCodes()

    def interrupted(text: str) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as once:
        once.setattr("hyperspan.scoring.candidate_table.hash_text", interrupted)
        with pytest.raises(KeyboardInterrupt):
            words_of(sentences, codes)
    for one, other in zip(words_of(sentences, codes), whole, strict=True):
        assert np.array_equal(one, other)
