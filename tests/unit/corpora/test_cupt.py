"""PARSEME's .cupt: CoNLL-U with multiword expressions in the last column."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fuzzing import assert_reader_survives
from hyperspan import Document, Mention, Sentence, corpora
from hyperspan.diagnostics import Diagnostics
from hyperspan.errors import CorpusError

HEADER = "# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC PARSEME:MWE\n"


def rows(*lines: str) -> str:
    """Word lines, written with blanks instead of tabs."""
    return "".join("\t".join(line.split()) + "\n" for line in lines)


FIRST = (
    "# source_sent_id = . . 17\n# text = She gave it up, didn't she?\n"
    + rows(
        "1 She she PRON _ _ 2 nsubj _ _ *",
        "2 gave give VERB PAST _ 0 root _ _ 1:VPC.full;2:VID",
        "3 it it PRON _ _ 2 obj _ _ 2",
        "4 up up ADP _ _ 2 compound _ SpaceAfter=No 1;2",
        "5 , , PUNCT _ _ 2 punct _ _ *",
        "6-7 didn't _ _ _ _ _ _ _ _ *",
        "6 did do AUX _ _ 2 aux _ _ *",
        "7 n't not PART _ _ 2 advmod _ _ *",
        "7.1 give give VERB _ _ _ _ 2:conj _ *",
        "8 she she PRON _ _ 2 dep _ SpaceAfter=No *",
        "9 ? ? PUNCT _ _ 2 punct _ _ *",
    )
    + "\n"
)
SECOND = "# text = Rest.\n" + rows("1 Rest rest NOUN _ _ 0 root _ _ _", "2 . . PUNCT _ _ 1 punct _ _ _") + "\n"
SAMPLE = HEADER + FIRST + SECOND


def _sample(tmp_path: Path, content: str | bytes, name: str = "train.cupt") -> Path:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def _written(tmp_path: Path, units: object, diagnostics: Diagnostics | None = None) -> str:
    corpora.write(units, tmp_path / "out.cupt", diagnostics=diagnostics)  # type: ignore[arg-type]
    return (tmp_path / "out.cupt").read_bytes().decode()


def test_words_expressions_and_columns(tmp_path: Path) -> None:
    first, second = corpora.read(_sample(tmp_path, SAMPLE)).units
    assert first.tokens == ("She", "gave", "it", "up", ",", "did", "n't", "she", "?")
    assert first.mentions == (Mention("VPC.full", [(1, 2), (3, 4)]), Mention("VID", [(1, 4)]))
    assert first.columns["lemma"][:4] == ("she", "give", "it", "up")
    assert first.columns["pos"][:4] == ("PRON", "VERB", "PRON", "ADP")
    assert first.columns["xpos"][1] == "PAST"
    assert "xpos" not in second.columns
    assert (first.doc, second.doc) == ("17", "train-00002")
    assert first.split == "train"
    assert second.place.endswith("train.cupt:16")


@pytest.mark.parametrize(
    "content",
    [
        SAMPLE,
        SAMPLE.replace("\n", "\r\n"),
        SAMPLE.rstrip("\n"),
        SAMPLE.removesuffix("\n"),
        SAMPLE + "\n\n",
        "\n\n" + SAMPLE.replace("\n\n", "\n\n\n"),
        SAMPLE + "# the end\n",
        SAMPLE.removeprefix(HEADER),
        "# newdoc\n\n" + FIRST + "# newdoc\n\n" + SECOND,
        FIRST.replace("\t*\n", "\t_\n"),
    ],
)
def test_an_untouched_file_is_written_byte_for_byte(tmp_path: Path, content: str) -> None:
    corpus = corpora.read(_sample(tmp_path, content))
    assert _written(tmp_path, corpus) == content


def test_an_empty_file_has_no_sentences(tmp_path: Path) -> None:
    assert len(corpora.read(_sample(tmp_path, ""))) == 0
    assert len(corpora.read(_sample(tmp_path, "# only a comment\n"))) == 0


def test_other_mentions_change_only_the_last_column(tmp_path: Path) -> None:
    first, second = corpora.read(_sample(tmp_path, SAMPLE)).units
    changed = first.with_mentions([Mention("LVC", [(7, 8)]), Mention("VID", [(1, 3), (5, 6)])])
    before, after = SAMPLE.splitlines(), _written(tmp_path, [changed, second]).splitlines()
    assert [line.rsplit("\t", 1)[0] for line in after] == [line.rsplit("\t", 1)[0] for line in before]
    codes = [line.rsplit("\t", 1)[1] for line in after[3:14]]
    assert codes == ["*", "1:VID", "1", "*", "*", "*", "1", "*", "*", "2:LVC", "*"]
    again = corpora.read(tmp_path / "out.cupt").units
    assert again[0].mentions == changed.mentions
    assert (again[1].tokens, again[1].mentions) == (second.tokens, second.mentions)


def test_a_sentence_cut_from_its_file_gets_the_header(tmp_path: Path) -> None:
    _, second = corpora.read(_sample(tmp_path, SAMPLE)).units
    assert _written(tmp_path, [second]) == HEADER + SECOND


def test_files_are_joined_with_one_header(tmp_path: Path) -> None:
    one = corpora.read(_sample(tmp_path, HEADER + FIRST.rstrip("\n"), "a.cupt")).units
    two = corpora.read(_sample(tmp_path, HEADER + SECOND, "b.cupt")).units
    assert _written(tmp_path, [*one, *two]) == HEADER + FIRST + SECOND


def test_other_columns_are_found_by_name(tmp_path: Path) -> None:
    header = "# global.columns = ID FORM PARSEME:MWE LEMMA\n"
    content = header + rows("1 gave 1:VID give", "2 up 1 up") + "\n"
    (sentence,) = corpora.read(_sample(tmp_path, content)).units
    assert sentence.mentions == (Mention("VID", [(0, 2)]),)
    assert sentence.columns == {"lemma": ("give", "up")}
    assert _written(tmp_path, [sentence]) == content
    first, _ = corpora.read(_sample(tmp_path, SAMPLE)).units
    both = corpora.read(_sample(tmp_path, _written(tmp_path, [first, sentence]), "both.cupt")).units
    assert both[1].mentions == sentence.mentions
    assert both[1].columns == sentence.columns


def test_sentences_from_elsewhere(tmp_path: Path) -> None:
    sentence = Sentence(
        ["gave", "it", "up"],
        [Mention("VID", [(0, 3)]), Mention("VPC", [(0, 1), (2, 3)])],
        doc="n7",
        columns={"pos": ["VERB", "PRON", "ADP"], "lemma": ["give", "it", ""], "brown": ["1", "0", "1"]},
    )
    diagnostics = Diagnostics("error")
    assert (
        _written(tmp_path, [sentence], diagnostics)
        == HEADER
        + "# sent_id = n7\n"
        + rows(
            "1 gave give VERB _ _ _ _ _ _ 1:VPC;2:VID",
            "2 it it PRON _ _ _ _ _ _ 2",
            "3 up _ ADP _ _ _ _ _ _ 1;2",
        )
        + "\n"
    )
    assert diagnostics.note_counts == {"columns-not-held": 1, "value-not-held": 1}
    (again,) = corpora.read(tmp_path / "out.cupt").units
    assert (again.tokens, again.mentions, again.doc) == (sentence.tokens, sentence.mentions, "n7")
    assert again.columns == {"pos": ("VERB", "PRON", "ADP"), "lemma": ("give", "it", "_")}


def test_changed_tokens_or_columns_are_written_anew(tmp_path: Path) -> None:
    _, second = corpora.read(_sample(tmp_path, SAMPLE)).units
    changed = replace(second, columns={"pos": ("VERB", "PUNCT")})
    written = _written(tmp_path, [changed])
    assert (
        written
        == HEADER
        + "# sent_id = train-00002\n"
        + rows("1 Rest _ VERB _ _ _ _ _ _ *", "2 . _ PUNCT _ _ _ _ _ _ *")
        + "\n"
    )


def test_sent_id_comes_before_source_sent_id(tmp_path: Path) -> None:
    content = "# source_sent_id = corpus file 3\n# sent_id = x-9\n" + rows("1 Rest rest NOUN _ _ 0 root _ _ *")
    (sentence,) = corpora.read(_sample(tmp_path, content)).units
    assert sentence.doc == "x-9"


def _line(code: str) -> str:
    return rows(f"1 gave _ _ _ _ _ _ _ _ {code}")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (_line("1"), "train.cupt:1: expression 1 has no category; expected it at its first word, like '1:VID'"),
        (_line("VID"), "train.cupt:1: PARSEME:MWE is 'VID'; expected '*', or codes like '1:VID;2'"),
        (_line("1:VID;"), "PARSEME:MWE is '1:VID;'; expected"),
        (_line("1:A:B"), "PARSEME:MWE is '1:A:B'; expected"),
        (_line("1:VID;1"), "with expression 1 twice; expected it once"),
        (_line("1:VID;2:VID"), "train.cupt:1: the 'VID' mention [(0, 1)] was given before"),
        (_line("٣:VID"), "expected '*', or codes"),
        ("1\tgave\t*\n", "train.cupt:1: the line has 3 columns; expected 11"),
        (rows("2 gave _ _ _ _ _ _ _ _ *"), "train.cupt:1: the ID is '2'; expected 1"),
        (_line("*").replace("gave", ""), "train.cupt:1: the FORM is empty; expected a word"),
        (rows("1-2 gave _ _ _ _ _ _ _ _ 1:VID"), "PARSEME:MWE is '1:VID' on a line that is not a word; expected '*'"),
        (
            _line("1:A") + rows("2 up _ _ _ _ _ _ _ _ 1:B"),
            "train.cupt:2: expression 1 has category 'B', but 'A' before",
        ),
        ("# global.columns = ID FORM\n" + _line("*"), "train.cupt:1: the columns are 'ID FORM'; expected ID, FORM and"),
        (b"# caf\xe9\n" + _line("*").encode(), "train.cupt:1: byte 0xe9"),
    ],
)
def test_defects_are_named_with_their_place(tmp_path: Path, content: str | bytes, message: str) -> None:
    path = _sample(tmp_path, content)
    with pytest.raises(CorpusError) as caught:
        corpora.read(path)
    assert message in str(caught.value)
    assert corpora.read(path, on_error="skip").diagnostics.total == 1


def test_a_defective_sentence_is_skipped_and_the_next_is_read(tmp_path: Path) -> None:
    corpus = corpora.read(_sample(tmp_path, HEADER + "1\tgave\n\n" + SECOND), on_error="skip")
    assert [unit.tokens for unit in corpus] == [("Rest", ".")]


def test_what_was_skipped_is_not_written_back(tmp_path: Path) -> None:
    corpus = corpora.read(_sample(tmp_path, _line("1;2:VID")), on_error="skip")
    assert corpus.diagnostics.counts == {"no-type": 1}
    assert _written(tmp_path, corpus) == _line("1:VID")


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        (Sentence(["a\tb"]), "token 'a\\tb' has a tab or line break"),
        (Sentence([], doc="n7"), "a sentence of document 'n7' has no tokens"),
        (Sentence(["no"], [Mention("A B", [(0, 1)])]), "type 'A B' has a colon, semicolon or white space"),
        (Sentence(["no"], [Mention("A;B", [(0, 1)])]), "type 'A;B' has a colon, semicolon or white space"),
    ],
)
def test_what_cannot_be_held_is_reported(tmp_path: Path, sentence: Sentence, message: str) -> None:
    with pytest.raises(CorpusError) as caught:
        _written(tmp_path, [sentence])
    assert message in str(caught.value)
    diagnostics = Diagnostics("skip")
    _written(tmp_path, [sentence, Sentence(["kept"])], diagnostics)
    assert diagnostics.counts == {"not-held": 1}
    assert corpora.read(tmp_path / "out.cupt").units[-1].tokens == ("kept",)


def test_documents_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="the format 'cupt' holds tokens"):
        _written(tmp_path, [Document("n7", "no fever")])


def test_damaged_files(tmp_path: Path) -> None:
    assert_reader_survives("cupt", {"a.cupt": SAMPLE.encode()}, "a.cupt", tmp_path, 150)


@pytest.mark.parametrize(("split", "n_sentences", "n_expressions"), [("train", 3471, 331), ("test", 3965, 501)])
def test_parseme_english(shared_data: Path, tmp_path: Path, split: str, n_sentences: int, n_expressions: int) -> None:
    path = shared_data / "parseme" / "en" / "native" / "en" / f"{split}.cupt"
    corpus = corpora.read(path)
    assert (len(corpus), corpus.n_mentions, corpus.splits) == (n_sentences, n_expressions, (split,))
    corpora.write(corpus, tmp_path / "out.cupt")
    assert (tmp_path / "out.cupt").read_bytes() == path.read_bytes()
    plain = corpora.read(shared_data / "parseme" / "en" / f"{split}.jsonl")
    assert [(unit.tokens, unit.mentions) for unit in corpus] == [(unit.tokens, unit.mentions) for unit in plain]
