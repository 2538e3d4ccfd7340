from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

import pytest

from hyperspan import Mention, Sentence
from hyperspan.errors import MissingExtraError, UsageError, install_command
from hyperspan.text import Annotator, annotator, installed_annotators
from hyperspan.text import annotators as module
from hyperspan.text.annotators import AUTO, LONGEST_WORD
from hyperspan.text.tagsets import TO_UNIVERSAL

PACKAGES = {"hanta": "HanTa", "spacy": "spacy", "textblob": "textblob", "simplemma": "simplemma"}
MODULES = {"hanta": "HanTa.HanoverTagger", "spacy": "spacy", "textblob": "textblob.en", "simplemma": "simplemma"}
COLUMNS = {"hanta": {"pos", "lemma"}, "spacy": {"pos", "lemma"}, "textblob": {"pos"}, "simplemma": {"lemma"}}
EXTRAS = {"hanta": "annotators", "spacy": "spacy", "textblob": "annotators", "simplemma": "annotators"}
UNIVERSAL = {tag for table in TO_UNIVERSAL.values() for tag in table.values()}


class Upper(Annotator):
    """Gives the word in capitals as its tag and as its lemma."""

    name = "upper"
    columns = ("pos", "lemma")

    def __init__(self) -> None:
        self.batches: list[int] = []

    def columns_of(self, batch: Sequence[Sequence[str]]) -> Iterable[dict[str, list[str]]]:
        self.batches.append(len(batch))
        return [{"pos": list(map(str.upper, tokens)), "lemma": list(map(str.upper, tokens))} for tokens in batch]


def installed(name: str, **options: str) -> Annotator:
    if not installed_annotators().get(name):
        pytest.skip(f"the package {PACKAGES[name]} is not installed")
    try:
        return annotator(name, **options)
    except MissingExtraError as error:
        pytest.skip(str(error))


def test_columns_of_the_corpus_are_never_replaced() -> None:
    sentences = [
        Sentence(["no", "fever"], [Mention("F", [(1, 2)])], columns={"pos": ["DET", "NOUN"], "case": ["a", "b"]}),
        Sentence(["rest"], columns={"pos": ["VERB"], "lemma": ["rest"]}),
        Sentence([]),
        Sentence(["well"]),
    ]
    working = Upper()
    found = list(working.annotate(iter(sentences)))
    assert found[0].columns == {"pos": ("DET", "NOUN"), "case": ("a", "b"), "lemma": ("NO", "FEVER")}
    assert found[0].mentions == sentences[0].mentions
    assert found[1] is sentences[1]
    assert found[2].columns == {"pos": (), "lemma": ()}
    assert found[3].columns == {"pos": ("WELL",), "lemma": ("WELL",)}
    assert working.batches == [3]


def test_sentences_are_taken_in_batches() -> None:
    taken = 0

    def many() -> Iterable[Sentence]:
        nonlocal taken
        for _ in range(1000):
            taken += 1
            yield Sentence(["a"])

    next(Upper().annotate(many()))
    assert taken < 1000


def test_none_changes_nothing_and_says_so() -> None:
    sentence = Sentence(["a"])
    assert next(annotator("none").annotate([sentence])) is sentence
    assert annotator("none").record() == {"name": "none", "version": "", "language": "", "columns": [], "tagset": ""}


@pytest.mark.parametrize("name", PACKAGES)
def test_a_missing_package_names_the_extra(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, PACKAGES[name], None)
    monkeypatch.setitem(sys.modules, MODULES[name], None)
    message = (
        f"The annotator '{name}' needs the package '{PACKAGES[name]}'. Install it with: {install_command(EXTRAS[name])}"
    )
    with pytest.raises(MissingExtraError) as caught:
        annotator(name)
    assert str(caught.value) == message
    assert installed_annotators()[name] is False


def test_auto_takes_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    assert annotator("auto").name == "none"
    made = []
    monkeypatch.setattr(module, "find_spec", lambda name: None if name == "spacy" else object())
    monkeypatch.setattr(module, "_make", lambda name, language, tagset: made.append((name, language)) or Upper())
    annotator("auto")
    annotator("auto", language="de")
    assert made == [("hanta", "en"), ("hanta", "de")]


def test_auto_names_only_annotators() -> None:
    assert all(part in installed_annotators() for name in AUTO for part in name.split("+"))


@pytest.mark.parametrize("name", ["treetagger", "", "hanta:model", "none+", "auto+none"])
def test_unknown_names_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match=r"there is no annotator '.*'; expected auto, none, hanta, spacy, textblob, "):
        annotator(name)


def test_unknown_tagsets_are_refused() -> None:
    with pytest.raises(UsageError, match="tagset is 'penn'; expected one of native, universal"):
        annotator("none", tagset="penn")  # type: ignore[arg-type]


def test_several_fill_what_is_left_open() -> None:
    several = module._Several([annotator("none"), Upper()])
    (found,) = several.annotate([Sentence(["a"], columns={"lemma": ["x"]})])
    assert found.columns == {"pos": ("A",), "lemma": ("x",)}
    assert several.record()["name"] == "none+upper"
    assert [member["name"] for member in several.record()["members"]] == ["none", "upper"]
    assert list(several.columns_of([["a"]])) == [{"pos": ["A"], "lemma": ["A"]}]


def test_universal_tags_are_those_of_the_universal_dependencies() -> None:
    assert sorted(UNIVERSAL) == [
        *("ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM"),
        *("PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X"),
    ]


@pytest.mark.parametrize("name", PACKAGES)
@pytest.mark.parametrize("tagset", ["native", "universal"])
def test_a_real_annotator_fills_its_columns_whatever_the_tokens(name: str, tagset: str) -> None:
    working = installed(name, tagset=tagset)
    long = "a" * 100_000
    odd = ["\ud800", long, "[**Hospital 12**]", "\u200b", "😀", "(", "ß", "x\ny"]
    sentences = [Sentence(odd), Sentence([]), Sentence(["The", "dogs", "were", "barking", "."])]
    first, second, third = working.annotate(sentences)
    for sentence in (first, second, third):
        assert set(sentence.columns) == COLUMNS[name]
        assert all(value for values in sentence.columns.values() for value in values)
    if "lemma" in COLUMNS[name]:
        assert first.columns["lemma"][1:3] == (long, "hospital")
        assert third.columns["lemma"][:4] == ("the", "dog", "be", "bark") or name == "simplemma"
        assert third.columns["lemma"][1] == "dog"
    if "pos" in COLUMNS[name]:
        tags = third.columns["pos"]
        assert len(set(tags)) > 2
        if tagset == "universal":
            assert set(tags) | set(first.columns["pos"]) <= UNIVERSAL | {"SPACE"}
            assert tags[1] == "NOUN"
            assert tags[-1] == "PUNCT"
    record = working.record()
    assert (record["name"], record["language"]) == (name, "en")
    assert record["version"]


@pytest.mark.parametrize(
    ("name", "language", "message"),
    [
        ("hanta", "xx", "the annotator 'hanta' does not know the language 'xx'; expected one of en, de, nl"),
        ("textblob", "de", "the annotator 'textblob' does not know the language 'de'; expected en"),
        ("simplemma", "xx", "the annotator 'simplemma' does not know the language 'xx'; expected one that"),
    ],
)
def test_a_real_annotator_refuses_a_language_it_does_not_know(name: str, language: str, message: str) -> None:
    installed(name)
    with pytest.raises(UsageError, match=message):
        annotator(name, language=language)


def test_tags_without_a_universal_form_are_refused() -> None:
    installed("hanta")
    with pytest.raises(UsageError, match="the stts tags of annotator 'hanta' have no universal form here"):
        annotator("hanta", language="de", tagset="universal")


def test_a_spacy_model_that_is_not_there_is_named() -> None:
    installed("spacy")
    with pytest.raises(UsageError, match="the spaCy model 'no_such_model' is not installed"):
        annotator("spacy:no_such_model")
    with pytest.raises(
        MissingExtraError, match="The annotator 'spacy' for the language 'xx' needs the package 'xx_core"
    ):
        annotator("spacy", language="xx")


def test_long_tokens_are_cut_before_they_are_shown() -> None:
    assert module._shown("a" * 1000) == "a" * LONGEST_WORD
    assert module._shown("[**2014-03-02**]") == "2014"
    assert module._shown("[**Known lastname 3**]") == "Smith"
