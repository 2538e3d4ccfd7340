from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from hyperspan import Diagnostics, Document, Mention, Sentence
from hyperspan.diagnostics import LostMention
from hyperspan.errors import CorpusError, MentionError
from hyperspan.text import as_sentences, join_sentences, split_document, whole_sentence

TEXT = "EGD showed hiatal hernia.\r\nBlood in stomach and overlying lac."


def mention(text: str, *words: str, type: str = "Finding") -> Mention:
    """A mention of words that occur in a text, in order."""
    spans, position = [], 0
    for word in words:
        start = text.index(word, position)
        position = start + len(word)
        spans.append((start, position))
    return Mention.of(type, spans)


def test_sentences_carry_tokens_offsets_mentions_and_where_they_come_from() -> None:
    document = Document(
        "a",
        TEXT,
        [mention(TEXT, "hiatal hernia"), mention(TEXT, "stomach", "lac")],
        {"ward": 7},
        split="dev",
        place="notes.jsonl:3",
    )
    first, second = split_document(document)
    assert first.tokens == ("EGD", "showed", "hiatal", "hernia", ".")
    assert first.mentions == (Mention("Finding", [(2, 4)]),)
    assert second.tokens == ("Blood", "in", "stomach", "and", "overlying", "lac", ".")
    assert second.mentions == (Mention("Finding", [(2, 3), (5, 6)]),)
    assert second.offsets is not None
    assert second.offsets[0] == (27, 32)
    assert (second.doc, second.split, second.place, second.attributes) == ("a", "dev", "notes.jsonl:3", {"ward": 7})


def test_section_and_note_type_are_attributes() -> None:
    document = Document("x-RADIOLOGY", "TECHNIQUE: none\n\nIMPRESSION:\nclear", attributes={"id": 1})
    assert [dict(sentence.attributes) for sentence in split_document(document)] == [
        {"id": 1, "note_type": "radiology", "section": "technique"},
        {"id": 1, "note_type": "radiology", "section": "impression"},
        {"id": 1, "note_type": "radiology", "section": "impression"},
    ]


def test_what_a_corpus_says_of_section_and_note_type_is_kept() -> None:
    given = {"note_type": "nursing", "section": "own"}
    (sentence,) = split_document(Document("echo", "PLAN: rest", attributes=given))
    assert sentence.attributes == given


def test_a_mention_in_two_sentences_is_reported_with_its_place() -> None:
    document = Document("a", TEXT, [mention(TEXT, "hernia", "stomach")], place="notes.jsonl:3")
    diagnostics = Diagnostics(on_error="skip")
    assert not any(sentence.mentions for sentence in split_document(document, diagnostics))
    (finding,) = diagnostics.items
    assert (finding.kind, finding.path, finding.line) == ("crosses-sentence", "notes.jsonl", 3)
    assert str(finding) == (
        "notes.jsonl:3: the 'Finding' mention [(18, 24), (36, 43)] 'hernia … stomach' of document 'a' "
        "lies in 2 sentences; expected it in one [crosses-sentence]"
    )
    with pytest.raises(
        CorpusError, match=r"notes\.jsonl:3: .*lies in 2 sentences.*pass diagnostics=Diagnostics\(\"skip\"\)"
    ):
        split_document(document)


def test_a_boundary_inside_a_token_is_dropped_or_widened() -> None:
    document = Document("a", TEXT, [Mention("Finding", [(18, 22)])], place="a.ann")
    skipped, widened = Diagnostics(on_error="skip"), Diagnostics(on_error="widen")
    assert split_document(document, skipped)[0].mentions == ()
    assert split_document(document, widened)[0].mentions == (Mention("Finding", [(3, 4)]),)
    for diagnostics in (skipped, widened):
        assert diagnostics.counts == {"inside-token": 1}
        assert str(diagnostics.items[0]) == (
            "a.ann: the 'Finding' mention [(18, 22)] 'hern' of document 'a' has a boundary inside a token; "
            "expected it at the token's edge, as in 'hernia' [inside-token]"
        )
    with pytest.raises(CorpusError, match="has a boundary inside a token"):
        split_document(document)


def test_what_is_lost_keeps_its_place_when_sentences_are_joined_again() -> None:
    text = "No  fever. Arms and legs weak."
    lost = (LostMention("Finding", 1, 4), LostMention("Finding", 2, 25), LostMention("Drug", 1))
    sentences = split_document(Document("a", text, [Mention("Finding", [(4, 7)])], lost=lost), Diagnostics("skip"))
    inside = LostMention("Finding", 1, 1)
    assert [sentence.lost for sentence in sentences] == [
        (inside, LostMention("Drug", 1), inside),  # one whose place nobody knows is in the first
        (LostMention("Finding", 2, 3),),
    ]
    assert set(join_sentences(sentences, text).lost) == set(lost)
    assert [one.start for one in join_sentences(sentences).lost] == [3, None, 3, 25]
    assert whole_sentence(Document("a", text, lost=lost)).lost[1] == LostMention("Finding", 2, 6)
    assert split_document(Document("a", " ", lost=lost)) == []


def test_a_mention_of_white_space_is_reported() -> None:
    diagnostics = Diagnostics(on_error="widen")
    assert split_document(Document("a", "x  y", [Mention("F", [(1, 3)])]), diagnostics)[0].mentions == ()
    assert diagnostics.counts == {"no-token": 1}
    assert "has a part with no token in it" in diagnostics.items[0].message
    assert split_document(Document("b", "  ", [Mention("F", [(0, 2)])]), diagnostics) == []
    assert diagnostics.counts == {"no-token": 2}


def test_mentions_that_become_equal_are_reported() -> None:
    document = Document("a", "hernia", [Mention("F", [(0, 3)]), Mention("F", [(0, 6)])])
    diagnostics = Diagnostics(on_error="widen")
    assert split_document(document, diagnostics)[0].mentions == (Mention("F", [(0, 1)]),)
    assert diagnostics.counts == {"inside-token": 1, "duplicate": 1}
    assert "covers the same tokens as [(0, 3)]" in diagnostics.items[1].message


def test_prob_and_attributes_of_mentions_are_kept() -> None:
    known = Mention("F", [(0, 6)], prob=0.5, attributes={"cui": "C1"})
    (found,) = split_document(Document("a", "hernia", [known]))[0].mentions
    assert (found.prob, found.attributes) == (0.5, {"cui": "C1"})


def test_boundaries_do_not_depend_on_mentions() -> None:
    bare = Document("a", TEXT)
    gold = bare.with_mentions([Mention("F", [(0, len(TEXT))])])
    diagnostics = Diagnostics(on_error="skip")
    assert [s.tokens for s in split_document(bare)] == [s.tokens for s in split_document(gold, diagnostics)]


def test_whole_documents_keep_mentions_across_sentences() -> None:
    sentence = whole_sentence(Document("a", TEXT, [mention(TEXT, "hernia", "stomach")]))
    assert len(sentence) == 12
    assert sentence.text_of(sentence.mentions[0]) == "hernia … stomach"
    assert whole_sentence(Document("b", " ")).tokens == ()


def test_units_of_both_kinds_become_sentences() -> None:
    ready = Sentence(["no", "fever"])
    found = list(as_sentences([ready, Document("a", "One. Two\nThree")], line_ends="never"))
    assert found[0] is ready
    assert [sentence.tokens for sentence in found[1:]] == [("One", "."), ("Two", "Three")]


def test_joining_writes_blanks_and_newlines() -> None:
    sentences = [
        Sentence(
            ["stomach", "and", "lac"], [Mention("F", [(0, 1), (2, 3)])], "a", {"n": 1, "section": "x"}, split="dev"
        ),
        Sentence([], doc="a", attributes={"n": 1}),
        Sentence(["no", "fever"], [Mention("F", [(1, 2)])], "a", {"n": 1, "section": "y"}),
    ]
    document = join_sentences(sentences)
    assert document.text == "stomach and lac\n\nno fever"
    assert [document.text_of(found) for found in document.mentions] == ["stomach … lac", "fever"]
    assert (document.doc, document.split, document.attributes) == ("a", "dev", {"n": 1})


def test_joining_over_a_known_text_gives_the_document_back() -> None:
    document = Document("a", TEXT, [mention(TEXT, "hiatal hernia"), mention(TEXT, "stomach", "lac")])
    assert join_sentences(split_document(document), document.text) == document


@pytest.mark.parametrize(
    ("sentences", "text", "message"),
    [
        ([], None, "there are no sentences to join; expected at least one"),
        (
            [Sentence(["a"], doc="x"), Sentence(["b"], doc="y")],
            None,
            "sentences of 'x' and 'y' cannot become one document",
        ),
        ([Sentence(["a"], doc="x")], "a", "a sentence of 'x' has no offsets; expected them beside a text"),
        (
            [Sentence(["a"], offsets=[(1, 2)])],
            "ab",
            r"token 'a' of '' has the offsets \(1, 2\), but the text has 'b' there",
        ),
        ([Sentence(["a"], offsets=[(-2, -1)])], "ab", r"has the offsets \(-2, -1\)"),
        ([Sentence(["a", "a"], offsets=[(0, 1), (0, 1)])], "a", r"has the offsets \(0, 1\)"),
    ],
)
def test_what_cannot_be_joined(sentences: list[Sentence], text: str | None, message: str) -> None:
    with pytest.raises(MentionError, match=message):
        join_sentences(sentences, text)


def test_importing_the_package_loads_no_library() -> None:
    code = (
        "import sys, hyperspan.text\n"
        "heavy = {'syntok', 'regex', 'spacy', 'nltk', 'textblob', 'simplemma', 'HanTa', 'numpy', 'numba'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


CROSSING = {
    # Several sentences marked as a whole, with types for what the scheme cannot say.
    ("NCT01117181_inc", "Context_Error"),
    ("NCT02301962_inc", "Pregnancy_considerations"),
    ("NCT02337764_exc", "Parsing_Error"),
    ("NCT02519777_inc", "Non-representable"),
    ("NCT02519777_inc", "Pregnancy_considerations"),
    ("NCT03068897_inc", "Non-representable"),
    # Evident slips of the annotators: a mention over several criteria.
    ("NCT02137369_inc", "Condition"),
    ("NCT02590822_inc", "Measurement"),
}


@pytest.mark.parametrize(
    ("folder", "n_crossing", "n_inside"), [("chia/native/sample", 8, 7), ("pgxcorpus/native/sample", 0, 0)]
)
def test_real_documents_lose_only_what_is_explained(
    shared_data: Path, folder: str, n_crossing: int, n_inside: int
) -> None:
    corpora = pytest.importorskip("hyperspan.corpora")
    corpus = corpora.read(shared_data / folder, format="brat", on_error="skip")
    diagnostics = Diagnostics(on_error="skip")
    kept = 0
    for document in corpus:
        sentences = split_document(document, diagnostics)
        back = join_sentences(sentences, document.text)
        kept += len(back.mentions)
        trimmed = {(m.type, tuple(_words(document.text, m))) for m in document.mentions}
        assert {(m.type, tuple(_words(back.text, m))) for m in back.mentions} <= trimmed
        covered = [document.text[start:end] for s in sentences for start, end in s.offsets or ()]
        assert "".join(covered) == "".join(document.text.split())
    assert diagnostics.counts.get("crosses-sentence", 0) == n_crossing
    assert diagnostics.counts.get("inside-token", 0) == n_inside
    assert kept == corpus.n_mentions - diagnostics.total
    crossing = [finding for finding in diagnostics.items if finding.kind == "crosses-sentence"]
    assert all(any(doc in f.message and f"'{type}'" in f.message for doc, type in CROSSING) for f in crossing)


def _words(text: str, mention: Mention) -> list[tuple[int, str]]:
    """The characters of a mention that are not white space, with their places."""
    return [(place, text[place]) for place in mention.words() if not text[place].isspace()]


def test_spans_of_tokens_follow_one_another() -> None:
    for sentence in split_document(Document("a", TEXT)):
        assert all(before[1] <= after[0] for before, after in pairwise(sentence.offsets or ()))
