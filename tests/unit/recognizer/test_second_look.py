"""A second look gets exact probabilities, whole documents, and the last word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest

from enumeration import enumeration
from hyperspan import Mention, Sentence
from hyperspan.inference import ScoreBatch
from hyperspan.recognizer.model import Model, batches
from hyperspan.recognizer.prediction import candidates_in, first_looks, predict
from hyperspan.scoring import DocumentBorders, Proposal, Proposed, mention_scorer, mention_scorer_class
from hyperspan.structures import Segments, structure
from hyperspan.structures.staircase import END


@dataclass
class GivenScores:
    """A scorer that gives each sentence the scores it is told to."""

    scores_of: dict[tuple[str, ...], np.ndarray]
    n_threads: int = 1

    def scores(self, sentences: Sequence[Sentence]) -> ScoreBatch:
        each = [self.scores_of[sentence.tokens] for sentence in sentences]
        return ScoreBatch(np.concatenate(each), np.cumsum([0, *map(len, each)]))


@dataclass
class Listener:
    """A mention scorer that remembers what it saw, and says how many candidates the document has."""

    proposal: Proposal = field(default_factory=lambda: Proposal((0.02, 0.001)))
    name = "listener"
    seen: list[list[Sentence]] = field(default_factory=list)

    def probs(self, sentences: Sequence[Sentence], candidates: Proposed) -> np.ndarray:
        borders = DocumentBorders()
        begins = [place for place, sentence in enumerate(sentences) if borders.begins(sentence)]
        found: list[float] = []
        for begin, end in pairwise([*begins, len(sentences)]):
            self.seen.append(list(sentences[begin:end]))
            total = sum(map(len, candidates[begin:end]))
            found += [
                1.0 / (1.0 + total) + (mention.prob or 0.0) / 2 for here in candidates[begin:end] for mention in here
            ]
        return np.array(found)


def random_model(rescorer: Listener | None = None, seed: int = 0, n_sentences: int = 8) -> tuple[Model, list[Sentence]]:
    made, draw = structure("shared", ["Drug", "Finding"], 3), np.random.default_rng(seed)
    sentences = [
        Sentence([f"{number}-{word}" for word in range(4)], doc=str(number // 3)) for number in range(n_sentences)
    ]
    scores = {sentence.tokens: draw.normal(size=(4, made.n_labels)) * 2.0 for sentence in sentences}
    return Model(made, "encodings", GivenScores(scores), rescorer), sentences


class Looked(NamedTuple):
    """What the first look says of one sentence."""

    sentence: Sentence
    candidates: tuple[Mention, ...]
    truncated: bool


def first_look(model: Model, proposal: Proposal, sentences: list[Sentence], threshold: float = 1.0) -> list[Looked]:
    return [
        Looked(sentence, here, decoded.truncated)
        for look in first_looks(model, proposal, sentences, threshold=threshold)
        for sentence, here, decoded in zip(look.sentences, look.candidates, look.decoded, strict=True)
    ]


@pytest.mark.parametrize("seed", range(5))
def test_candidates_are_those_of_brute_force_with_their_exact_probabilities(seed: int) -> None:
    model, sentences = random_model(seed=seed)
    lowest = (0.1, 0.01, 0.002)
    for looked_at in first_look(model, Proposal(lowest), sentences):
        wanted = {}
        for number, type in enumerate(model.structure.types):
            of_type = structure("shared", [type], 3)
            every = enumeration(of_type, 4)
            scores = model.scorer.scores([looked_at.sentence]).scores
            probs = every.probs(scores[:, number * of_type.n_labels : (number + 1) * of_type.n_labels])
            for mention in every.mentions:
                prob = every.prob_of(probs, frozenset([mention]))
                if prob >= lowest[len(mention.parts) - 1]:
                    wanted[mention] = prob
        assert {len(mention.parts) for mention in wanted} == {1, 2}
        assert {mention: mention.prob for mention in looked_at.candidates} == pytest.approx(wanted, rel=1e-11)
        assert not looked_at.truncated


def test_a_bound_keeps_the_most_probable_of_each_number_of_parts_and_says_if_a_likely_one_is_lost() -> None:
    model, sentences = random_model()
    for whole, few in zip(
        first_look(model, Proposal((0.001,)), sentences, threshold=0.05),
        first_look(model, Proposal((0.001,), most=3), sentences, threshold=0.05),
        strict=True,
    ):
        for n_parts in (1, 2):
            falling = sorted(
                (each.prob or 0.0 for each in whole.candidates if len(each.parts) == n_parts), reverse=True
            )
            kept = sorted((each.prob or 0.0 for each in few.candidates if len(each.parts) == n_parts), reverse=True)
            assert kept == falling[:3]
        lost = set(whole.candidates) - set(few.candidates)
        assert few.truncated == any((mention.prob or 0.0) >= 0.05 for mention in lost)
    assert not whole.truncated


@pytest.mark.parametrize(("n_words", "most"), [(7, 100), (250, 250), (20_000, 1_000)])
def test_a_longer_sentence_may_have_more_candidates_but_not_any_number(n_words: int, most: int) -> None:
    assert Proposal(most=100).most_in(np.array([n_words])).tolist() == [most]


def long_model(name: str, n_words: int, score: float, every: int = 1) -> tuple[Model, list[Sentence]]:
    """A model that may find a mention at every word, or every few, and often one with a further part."""
    made, draw = structure(name, ["Finding"], 2), np.random.default_rng(0)
    (sentence,) = sentences = [Sentence([f"{number}" for number in range(n_words)])]
    scores = draw.normal(size=(n_words, made.n_labels)) * 0.1
    scores[:, made.start_labels] -= 20.0
    scores[::every, made.start_labels] += 20.0 + score
    if isinstance(made, Segments):
        scores[:, made.segment_of(np.arange(made.n_labels)).length > 1] -= 5.0
    else:
        scores[:, made.blocks[0].first_label + made.blocks[0].staircase.label_of[0, END]] += 3.0
    return Model(made, "encodings", GivenScores({sentence.tokens: scores})), sentences


@pytest.mark.parametrize("name", ["shared", "segments"])
def test_candidates_come_from_the_whole_of_a_long_sentence(name: str) -> None:
    model, sentences = long_model(name, 2_500, score=0.0, every=10)
    (looked_at,) = first_look(model, Proposal((0.04, 0.001)), sentences, threshold=0.9)
    starts = [[each.start for each in looked_at.candidates if len(each.parts) == n_parts] for n_parts in (1, 2)]
    assert len(starts[0]) >= 250
    assert len(starts[1]) == 1_000
    assert max(starts[0]) > 2_400


def test_a_search_that_stays_cut_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    model, sentences = long_model("shared", 30, score=3.0)
    proposal = Proposal((0.04, 0.001))
    probs = [mention.prob or 0.0 for mention in first_look(model, proposal, sentences)[0].candidates]
    monkeypatch.setattr("hyperspan.inference.outcomes.MOST_STEPS", 60)
    for threshold in (0.001, 0.01, 0.05, 0.1, 0.2, 0.4):
        (cut,) = first_look(model, proposal, sentences, threshold)
        found = [mention.prob or 0.0 for mention in cut.candidates]
        assert len(found) < len(probs)
        if sum(prob >= threshold for prob in found) < sum(prob >= threshold for prob in probs):
            assert cut.truncated


def test_a_second_look_finds_no_more_mentions_than_the_limit() -> None:
    model, sentences = long_model("segments", 2_000, score=2.0)
    model = replace(model, rescorer=Listener(Proposal((0.04, 0.01))))
    (found,) = predict(model, sentences, "probable", 1e-9)
    assert (len(found.mentions), found.truncated) == (1_000, True)


def test_a_search_that_is_cut_short_still_has_the_likely_mentions(monkeypatch: pytest.MonkeyPatch) -> None:
    model, sentences = random_model()
    whole = list(first_look(model, Proposal((0.2, 0.0001)), sentences))
    monkeypatch.setattr("hyperspan.inference.outcomes.MOST_STEPS", 12)
    for here, cut in zip(whole, first_look(model, Proposal((0.2, 0.0001)), sentences, threshold=0.2), strict=True):
        assert len(cut.candidates) < len(here.candidates)
        likely = [mention for mention in here.candidates if (mention.prob or 0.0) >= 0.2]
        assert cut.truncated or set(likely) <= set(cut.candidates)


def test_the_second_probability_decides() -> None:
    listener = Listener()
    model, sentences = random_model(listener)
    candidates = candidates_in(model, listener.proposal, sentences)
    new_probs = iter(Listener().probs(sentences, candidates).tolist())
    probs = [[next(new_probs) for _ in here] for here in candidates]
    for threshold in (0.05, 0.3):
        for found, here, new in zip(predict(model, sentences, "probable", threshold), candidates, probs, strict=True):
            wanted = {mention: prob for mention, prob in zip(here, new, strict=True) if prob >= threshold}
            assert {mention: mention.prob for mention in found.mentions} == wanted


@pytest.mark.parametrize("decode", ["enough", "all"])
def test_other_decoders_choose_as_before_and_report_the_second_probability(decode: str) -> None:
    listener = Listener(Proposal((0.4,)))
    model, sentences = random_model(listener)
    without = predict(replace(model, rescorer=None), sentences, decode, 0.3)
    second = predict(model, sentences, "probable", 1e-9)
    n_rescored = n_kept = 0
    for before, after, everything in zip(without, predict(model, sentences, decode, 0.3), second, strict=True):
        assert before.mentions == after.mentions
        new = {mention: mention.prob for mention in everything.mentions}
        for old, mention in zip(before.mentions, after.mentions, strict=True):
            n_rescored += mention in new
            n_kept += mention not in new
            assert mention.prob == new.get(mention, old.prob)
    assert n_rescored
    assert n_kept


@pytest.mark.parametrize("n_words", [1, 5, 9, 1_000])
def test_documents_are_seen_whole_however_sentences_come(n_words: int, monkeypatch: pytest.MonkeyPatch) -> None:
    listener = Listener()
    model, sentences = random_model(listener)
    whole = list(predict(model, sentences, "probable", 0.05))
    assert [len(document) for document in listener.seen] == [3, 3, 2]
    monkeypatch.setattr("hyperspan.recognizer.prediction.BATCH_WORDS", n_words)
    monkeypatch.setattr("hyperspan.recognizer.model.BATCH_WORDS", n_words)
    assert list(predict(model, sentences, "probable", 0.05)) == whole
    in_batches = [
        found
        for batch in batches(sentences, n_words, whole_documents=True)
        for found in predict(model, batch, "probable", 0.05)
    ]
    assert in_batches == whole


def test_long_documents_are_cut_at_the_same_places_however_sentences_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mention_scorer, "LONGEST_DOCUMENT", 8)
    listener = Listener()
    model, sentences = random_model(listener)
    whole = list(predict(model, sentences, "probable", 0.05))
    assert [len(document) for document in listener.seen] == [2, 1, 2, 1, 2]
    found = [
        found
        for batch in batches(sentences, 1, whole_documents=True)
        for found in predict(model, batch, "probable", 0.05)
    ]
    assert found == whole


def test_where_documents_begin() -> None:
    first = Sentence(["a", "b"], doc="x", offsets=[(0, 1), (2, 3)])
    goes_on = Sentence(["c"], doc="x", offsets=[(4, 5)])
    same_name = Sentence(["d"], doc="x", offsets=[(0, 1)])
    without = [Sentence(["e"]), Sentence(["f"])]
    text = [Sentence(["g"], offsets=[(0, 1)]), Sentence(["h"], offsets=[(2, 3)])]
    borders = DocumentBorders()
    begins = [borders.begins(sentence) for sentence in (first, goes_on, same_name, *without, *text)]
    assert begins == [True, False, True, True, True, True, False]


def test_a_batch_is_given_out_as_soon_as_it_is_full_if_documents_need_not_be_whole() -> None:
    def sentences():
        yield Sentence(["a"] * 10, doc="x")
        raise AssertionError("asked for more than was needed")

    assert len(next(batches(sentences(), 5))) == 1


def test_an_unknown_mention_scorer() -> None:
    with pytest.raises(ValueError, match=r"there is no mention scorer 'oracle'; expected one of "):
        mention_scorer_class("oracle")
