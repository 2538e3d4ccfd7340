"""Agreement on small corpora whose measures can be worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from hyperspan import Mention, Sentence
from hyperspan.agreement import adjudicate, agreement, align, as_csv, disagreements, gamma, page_pieces, share
from hyperspan.diagnostics import Diagnostics
from hyperspan.errors import CorpusError, UsageError
from hyperspan.evaluation import evaluate
from hyperspan.mentions import Document
from hyperspan.text import split_sentences, tokenize

WORDS = ["Infarctions", "either", "water", "shed", "or", "embolic"]
SHED, EMBOLIC = Mention("Finding", [(0, 1), (2, 4)]), Mention("Finding", [(0, 1), (5, 6)])
ANN = Sentence(WORDS, [SHED, EMBOLIC], doc="a")
BOB = Sentence(WORDS, [SHED, Mention("Finding", [(5, 6)])], doc="a")
CAT = Sentence(WORDS, [SHED, Mention("Drug", [(5, 6)])], doc="a")


def test_every_measure_of_one_sentence_by_hand():
    found = agreement(share({"ann": [ANN], "bob": [BOB]}))
    (pair,) = found.pairs
    assert (pair.f1.value, pair.relaxed_f1.value) == (0.5, 1.0)
    # Both find the same words in findings, so κ is 1; parts differ at the first and the last word.
    assert pair.kappa.value == 1.0
    # Infarctions: {1/2 begins} on both sides, since sets do not say how often. embolic: 2/2 begins against 1/1 begins.
    # Four of twelve values are empty, two each 1/2-begins and 2/2-begins of water and 2/2-goes-on of shed, one each
    # of embolic: 2/2-begins and 1/1-begins. So 2/2-begins occurs 3 times.
    # Observed 2; expected the sum over ordered pairs of unlike values: 144 - (16 + 4 + 9 + 4 + 1) = 110.
    assert found.alpha.value == pytest.approx(1 - 11 * 2 / 110)
    # The one difference costs (1 / 3)² for two mentions an annotator.
    assert pair.chance.observed == pytest.approx((1 / 9) / 2)
    assert pair.confusion.boundaries == {"equal": 1, "start": 1}
    assert pair.confusion.types == {("Finding", "Finding"): 2}
    assert pair.f1.low is None


def test_gamma_by_hand_over_all_rotations():
    one, other = (Sentence(list("abcd"), [Mention("X", [(at, at + 1)])], doc="a") for at in (0, 0))
    found = gamma(share({"ann": [one], "bob": [other]}).documents, "ann", "bob")
    # Moved by 1 word the mentions touch: 1. By 2 or 3 words they cost (2 + 2)² / 4 and more, so each stands alone: 2.
    assert (found.observed, found.expected, found.n_rotations) == (0.0, pytest.approx(5 / 3), 3)
    assert found.value == 1.0
    far = Sentence(list("abcd"), [Mention("X", [(2, 3)])], doc="a")
    apart = gamma(share({"ann": [one], "bob": [far]}).documents, "ann", "bob")
    # Word 2 against 0: alone. Moved to 3 alone, to 0 equal, to 1 touching.
    assert (apart.observed, apart.expected) == (2.0, pytest.approx(1.0))
    assert apart.value == pytest.approx(-1.0)


def test_annotations_by_chance_have_a_gamma_about_zero():
    rng = np.random.default_rng(0)

    def random() -> Sentence:
        words = rng.choice(1_000, 150, replace=False).tolist()
        return Sentence(["w"] * 1_000, [Mention("X", [(at, at + 1)]) for at in sorted(words)], doc="a")

    found = gamma(share({"ann": [random()], "bob": [random()]}).documents, "ann", "bob")
    assert abs(found.value) < 0.1


def test_three_annotators_and_their_mean():
    found = agreement(share({"ann": [ANN], "bob": [BOB], "cat": [CAT]}))
    assert [(pair.first, pair.second) for pair in found.pairs] == [("ann", "bob"), ("ann", "cat"), ("bob", "cat")]
    assert found.mean("relaxed_f1") == pytest.approx((1.0 + 0.5 + 0.5) / 3)
    assert found.by_type["Finding"].n_mentions == {"ann": 2, "bob": 2, "cat": 1}
    assert found.by_type["Finding"].f1 == pytest.approx((0.5 + 2 / 3 + 2 / 3) / 3)
    assert found.pairs[2].confusion.types[("Finding", "Drug")] == 1
    assert found.by_document["a"].cost == pytest.approx((1 / 9 + (1 / 9 + 1) + 1) / 3)


def test_scores_are_those_of_evaluate():
    text = "No fever. Blood in his mouth and on his tongue. Rash."
    blood, tongue = Mention("Finding", [(10, 28)]), Mention("Finding", [(10, 15), (33, 46)])
    ann = Document("a", text, [Mention("Finding", [(3, 8)]), blood, tongue])
    bob = Document("a", text, [Mention("Finding", [(3, 7)]), blood, Mention("Site", [(40, 46)])])
    (pair,) = agreement(share({"ann": [ann], "bob": [bob]})).pairs
    theirs = evaluate([ann], [bob], tokenize=tokenize, split=split_sentences).as_dict()
    assert pair.scores.as_dict() == theirs
    # "Blood … on his tongue" against the site "tongue": (3 / 5)² and 1 for the type. A boundary inside a word is a
    # disagreement too, but one that costs nothing.
    assert [round(each.cost, 2) for each in disagreements(share({"ann": [ann], "bob": [bob]}))] == [1.36, 0.0]


def test_discontiguous_sentences_are_those_of_either():
    flat = Sentence(WORDS, [Mention("Finding", [(0, 1)])], doc="a")
    for order in ({"ann": [ANN], "bob": [flat]}, {"bob": [flat], "ann": [ANN]}):
        (pair,) = agreement(share(order)).pairs
        assert not pair.scores.discontiguous_sentences.is_empty


def test_documents_that_one_side_lacks_are_named():
    more = Sentence(["fever"], [Mention("Finding", [(0, 1)])], doc="b")
    shared = share({"ann": [ANN, more], "bob": [BOB]})
    assert shared.lacking == {"ann": (), "bob": ("b",)}
    assert [each.doc for each in shared.documents] == ["a"]
    assert agreement(shared).as_dict()["lacking"] == {"ann": [], "bob": ["b"]}


def test_different_words_are_an_error_or_left_out():
    other = Sentence(["Infarct", *WORDS[1:]], doc="a")
    with pytest.raises(CorpusError, match=r"document 'a', sentence 1: token 0 is 'Infarctions' in ann, but 'Infarct'"):
        share({"ann": [ANN], "bob": [other]})
    diagnostics = Diagnostics("skip")
    assert share({"ann": [ANN], "bob": [other]}, diagnostics).documents == ()
    assert diagnostics.counts == {"different-text": 1}
    with pytest.raises(CorpusError, match="has 1 sentences in ann, but 2 in bob"):
        share({"ann": [ANN], "bob": [BOB, BOB]})


def test_nothing_in_common_is_an_error():
    with pytest.raises(UsageError, match="ann, bob have no document in common"):
        agreement(share({"ann": [ANN], "bob": [Sentence(["fever"], doc="b")]}))
    with pytest.raises(UsageError, match="agreement needs two or more"):
        share({"ann": [ANN]})


def test_nobody_has_any_mention():
    empty = ANN.with_mentions([])
    found = agreement(share({"ann": [empty], "bob": [empty]})).as_dict()
    assert found["mean"] == {"f1": None, "relaxed_f1": None, "kappa": None, "gamma": None}
    assert found["alpha"] == {"value": None, "interval": None}


def test_intervals_hold_the_value_and_repeat():
    rng = np.random.default_rng(2)
    ours = [Sentence(WORDS, [SHED, EMBOLIC], doc=str(n)) for n in range(30)]
    theirs = [each.with_mentions(each.mentions[: 1 + rng.integers(2)]) for each in ours]
    found, again = (agreement(share({"ann": ours, "bob": theirs}), seed=3) for _ in range(2))
    assert found.as_dict() == again.as_dict()
    for measured in (found.pairs[0].f1, found.pairs[0].kappa, found.pairs[0].gamma, found.alpha):
        assert measured.low is not None
        assert measured.high is not None
        assert measured.low < measured.value < measured.high
    # Of documents with F1 1 or 2/3 the interval of F1 stays between the two.
    assert 2 / 3 < found.pairs[0].f1.low < 1.0


def test_a_mention_across_sentences_joins_them():
    text = "Blood. In stomach."
    ann = Document("a", text, [Mention("Finding", [(0, 5), (10, 17)])])
    (shared,) = share({"ann": [ann], "bob": [ann.with_mentions([])]}).documents
    assert [each.sentence.tokens for each in shared.sentences] == [("Blood", ".", "In", "stomach", ".")]
    assert len(share({"ann": [ann.with_mentions([])], "bob": [ann.with_mentions([])]}).documents[0].sentences) == 2


def test_disagreements_come_costliest_first_with_their_kinds():
    fever = Sentence(["no", "fever"], [Mention("Finding", [(1, 2)])], doc="b")
    shared = share({"ann": [ANN, fever], "bob": [BOB, fever.with_mentions([Mention("Drug", [(1, 2)])])]})
    found = disagreements(shared)
    assert [(each.doc, round(each.cost, 3)) for each in found] == [("b", 1.0), ("a", 0.111)]
    assert [each.kind for each in found[0].disputed] == ["type", "type"]
    assert [(each.kind, each.by, each.not_by) for each in found[1].disputed] == [
        ("boundary", ("ann",), ("bob",)),
        ("boundary", ("bob",), ("ann",)),
    ]
    assert found[1].as_dict()["disputed"][0]["nearest"]["text"] == "embolic"


def test_the_table_cannot_run_formulas():
    ann = Sentence(["=1+1", "fever"], [Mention("Finding", [(0, 1)])], doc="@a")
    table = as_csv(disagreements(share({"ann": [ann], "bob": [ann.with_mentions([])]})))
    header, row = table.splitlines()
    assert header == "cost,doc,sentence,type,spans,text,by,not_by,kind,nearest,keep"
    assert row == "1.000,'@a,'=1+1 fever,Finding,0 1,'=1+1,ann,bob,alone,,"


def test_the_page_is_escaped_and_asks_nobody():
    ann = Sentence(["<script>alert(1)</script>", "&", "خون"], [Mention("<b>", [(0, 1)])], doc="<a>")
    found = disagreements(share({"<ann>": [ann], "bob": [ann.with_mentions([])]}))
    page = "".join(page_pieces(found, ["<ann>", "bob"]))
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "<b>" not in page
    assert "default-src 'none'" in page
    assert "http://" not in page
    assert "https://" not in page
    assert "<h3>&lt;ann&gt;</h3>" in page


def test_adjudication_rules_and_provenance():
    shared = share({"ann": [ANN], "bob": [BOB], "cat": [CAT]})
    kept = {
        rule: {(each.type, each.parts, each.attributes["annotators"]) for each in unit.mentions}
        for rule in ("majority", "union", "intersection")
        for unit in adjudicate(shared, rule)
    }
    everyone = ("ann", "bob", "cat")
    assert kept["majority"] == kept["intersection"] == {("Finding", SHED.parts, everyone)}
    assert kept["union"] == {
        ("Finding", SHED.parts, everyone),
        ("Finding", EMBOLIC.parts, ("ann",)),
        ("Finding", ((5, 6),), ("bob",)),
        ("Drug", ((5, 6),), ("cat",)),
    }
    with pytest.raises(UsageError, match="no rule 'vote'"):
        list(adjudicate(shared, "vote"))


def test_adjudication_keeps_attributes_and_what_only_one_has():
    fever = Sentence(["fever"], [Mention("Finding", [(0, 1)], attributes={"cui": "C1"})], doc="b")
    units = list(adjudicate(share({"ann": [ANN, fever], "bob": [BOB]}), "intersection"))
    assert [unit.doc for unit in units] == ["a", "b"]
    assert dict(units[1].mentions[0].attributes) == {"cui": "C1", "annotators": ("ann",)}


def test_the_longest_mentions_reach_the_farthest_partner():
    # 20 + 20 words: two words between cost (40 + 4)² / 1600 = 1.21, which is less than 2.
    ours, theirs = ("X", frozenset(range(20))), ("X", frozenset(range(22, 42)))
    assert align([ours], [theirs]).cost == pytest.approx(1.21)
