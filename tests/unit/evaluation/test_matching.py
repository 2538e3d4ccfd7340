"""Which sentences belong together, and what is said when they do not."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from itertools import permutations

import pytest

from hyperspan import Document, Mention, Sentence
from hyperspan.errors import CorpusError, UsageError
from hyperspan.evaluation import compare, comparisons, evaluate, pairs
from hyperspan.evaluation.matching import most_partners
from hyperspan.text import split_sentences, tokenize


def sentence(text: str, doc: str = "", place: str = "") -> Sentence:
    return Sentence(text.split(), doc=doc, place=place)


def message_of(gold: list, predicted: list) -> str:
    with pytest.raises(CorpusError) as caught:
        list(pairs(gold, predicted))
    return str(caught.value)


def test_sentences_of_a_document_are_paired_in_order():
    gold = [sentence("one", "a"), sentence("two", "a"), sentence("three", "b")]
    assert list(pairs(gold, gold)) == [(unit, unit) for unit in gold]


def test_documents_may_stand_in_any_order_and_come_in_that_of_gold():
    gold = [sentence("one", "a"), sentence("two", "a"), sentence("three", "b"), sentence("four", "c")]
    orders = [order for order in permutations(gold) if order.index(gold[0]) < order.index(gold[1])]
    assert len(orders) == 12
    for order in orders:
        assert list(pairs(gold, order)) == [(unit, unit) for unit in gold]


def test_both_sides_are_read_in_step():
    events = []

    def reading(side: str) -> Iterator[Sentence]:
        for number in range(3):
            events.append(f"{side} {number}")
            yield sentence("word", f"doc {number}")

    list(pairs(reading("gold"), reading("predicted")))
    assert events == [f"{side} {number}" for number in range(3) for side in ("gold", "predicted")]


def test_sentences_are_not_kept():
    def corpus() -> Iterator[Sentence]:
        return (Sentence(["word"] * 500, [Mention("A", [(0, 1)])], doc=f"doc {number}") for number in range(1000))

    tracemalloc.start()
    kept = list(corpus())
    size_of_one = tracemalloc.get_traced_memory()[0]
    del kept
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    evaluate(corpus(), corpus())
    peak = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    assert peak < size_of_one / 5


def test_an_empty_corpus_pairs_with_an_empty_one():
    assert list(pairs([], [])) == []


def test_another_token():
    gold = [sentence("no fever", "a"), sentence("no pain at all", "b", "gold.jsonl:2")]
    predicted = [sentence("no fever", "a"), sentence("no pains at all", "b", "out.jsonl:7")]
    assert message_of(gold, predicted) == (
        "gold and prediction differ at sentence 2, document 'b' (gold.jsonl:2 and out.jsonl:7): token 1 is 'pain' in "
        "gold, but 'pains' in the prediction. Both must have the same tokens: predict on the gold corpus itself."
    )


def test_another_number_of_tokens():
    assert "document 'a': gold has 2 tokens, but the prediction 3. Both" in message_of(
        [sentence("no fever", "a")], [sentence("no fever .", "a")]
    )


def test_another_text():
    assert message_of([Document("a", "no fever or pain")], [Document("a", "no fevers or pain")]) == (
        "gold and prediction differ at document 1, document 'a': at character 8 the text continues with ' or pain' in "
        "gold, but with 's or pain' in the prediction. Both must have the same text: predict on the gold corpus itself."
    )
    assert "gold has 4 characters, but the prediction 5" in message_of(
        [Document("a", "pain")], [Document("a", "pain\n")]
    )


def test_tokens_against_text():
    assert message_of([sentence("pain", "a")], [Document("a", "pain")]) == (
        "gold and prediction differ at sentence 1, document 'a': gold has tokens, but the prediction has text with "
        "character offsets. 'hyperspan convert' brings one into the form of the other."
    )


def test_a_document_that_is_not_predicted():
    gold = [sentence("one", "a"), sentence("two", "b", "gold.jsonl:2"), sentence("three", "c")]
    assert message_of(gold, [gold[0], sentence("three", "c", "out.jsonl:2")]) == (
        "sentence 2 of gold has no partner: document 'b' (gold.jsonl:2); the prediction has document 'c' (out.jsonl:2) "
        "in its place. Both must hold the same documents with the same sentences."
    )


def test_a_prediction_that_ends_early():
    gold = [sentence("one", "a"), sentence("two", "a")]
    assert "sentence 2 of gold has no partner: document 'a'; the prediction ends before it" in message_of(
        gold, gold[:1]
    )
    assert "document 1 of gold has no partner: document 'x'; the prediction ends" in message_of([Document("x", "")], [])


def test_a_prediction_that_goes_on():
    gold = [sentence("one", "a")]
    assert message_of(gold, [*gold, sentence("two", "a", "out.jsonl:2")]) == (
        "the prediction has a sentence that gold lacks: document 'a' (out.jsonl:2), when all 1 of gold have their "
        "partners. Both must hold the same documents with the same sentences."
    )


def test_a_prediction_with_a_document_before_those_of_gold():
    gold = [sentence("one", "a")]
    assert "a sentence that gold lacks: document 'z'" in message_of(gold, [sentence("zero", "z"), *gold])


@pytest.mark.parametrize(
    ("gold", "predicted"),
    [
        (("gold:1", "in/gold.jsonl:1"), ("out:1", "out.jsonl:1")),
        (("gold:3", "gold.jsonl:3"), ("out:1", "out.jsonl:1")),
        (("gold-00001", "gold.cupt:4"), ("out-00001", "out.cupt:9")),
        (("gold:1", "gold.jsonl:1"), ("gold:1", "out.jsonl:1")),
    ],
)
def test_sentences_named_after_their_file_are_paired_in_order(gold: tuple[str, str], predicted: tuple[str, str]):
    ours, theirs = sentence("pain", *gold), sentence("pain", *predicted)
    assert list(pairs([ours], [theirs])) == [(ours, theirs)]


def test_a_name_of_ones_own_is_never_passed_over():
    given = sentence("pain", "note:1", "out.jsonl:1")
    assert "no partner" in message_of([sentence("pain", "gold:1", "gold.jsonl:1")], [given])
    assert "no partner" in message_of([sentence("pain", "gold:1")], [sentence("pain", "out:1")])


def test_documents_need_a_tokenizer():
    document = Document("note", "pain", [Mention("Finding", [(0, 4)])])
    with pytest.raises(
        UsageError, match=r"document 'note' has character offsets, .* tokenize=hyperspan\.text\.tokenize"
    ):
        evaluate([document], [document])


def test_documents_match_by_character_and_count_words():
    text = "chest-\npain and  cough"
    gold = Document("a", text, [Mention("Finding", [(0, 6), (7, 11), (17, 22)])])
    predicted = Document("a", text, [Mention("Finding", [(0, 5), (7, 11), (17, 22)])])
    (found,) = comparisons([gold], [predicted], tokenize=tokenize)
    assert (found.right, found.missed, found.spurious) == ((), gold.mentions, predicted.mentions)
    assert found.in_words[gold.mentions[0]].parts == ((0, 3), (4, 5))
    assert found.in_words[predicted.mentions[0]].parts == ((0, 1), (2, 3), (4, 5))


def test_a_mention_of_white_space_has_no_words_but_still_counts():
    blank = Document("a", "no   pain", [Mention("Finding", [(3, 4)])])
    assert compare(blank, blank, tokenize=tokenize).in_words == {}
    found = evaluate([blank], [blank], tokenize=tokenize, split=split_sentences)
    assert found.all.tp == found.relaxed.tp == found.by_gap["0"].tp == found.by_overlap["none"].tp == 1
    assert found.words.is_empty


def test_the_largest_pairing_is_found_where_the_first_choice_is_wrong():
    gold = [Mention("A", [(0, 4)]), Mention("A", [(0, 1)])]
    predicted = [Mention("A", [(0, 4)]), Mention("A", [(3, 4)])]
    for ours in permutations(gold):
        for theirs in permutations(predicted):
            assert most_partners(ours, theirs) == 2


def test_a_large_crowd_is_paired_without_recursion():
    gold = [Mention("A", [(start, start + 2)]) for start in range(3000)]
    predicted = [Mention("A", [(start, start + 2)]) for start in range(1, 3001)]
    assert most_partners(gold[::-1], predicted) == 3000
