from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperspan.errors import UsageError
from hyperspan.text import sentences as module
from hyperspan.text import split_sentences


def parts(text: str, **options: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text, **options)]


@pytest.mark.parametrize("text", ["", " ", "\r\n\t \u2003"])
def test_white_space_has_no_sentences(text: str) -> None:
    assert split_sentences(text) == []


def test_prose_is_split_and_abbreviations_are_not() -> None:
    assert parts("Seen by Dr. Smith at 5 p.m. today. He can't walk. Why? No idea!") == [
        "Seen by Dr. Smith at 5 p.m. today.",
        "He can't walk.",
        "Why?",
        "No idea!",
    ]


def test_wrapped_prose_stays_one_sentence() -> None:
    text = (
        "The patient is a 63 year old man with a long history of chest pain, who was\n"
        "admitted from the ward of another hospital for further evaluation of his heart\n"
        "and his lungs. On arrival he was well and complained of nothing. He then had\n"
        "Wegener disease ruled out by biopsy.\n"
    )
    assert [part.replace("\n", " ") for part in parts(text)] == [
        "The patient is a 63 year old man with a long history of chest pain, who was "
        "admitted from the ward of another hospital for further evaluation of his heart and his lungs.",
        "On arrival he was well and complained of nothing.",
        "He then had Wegener disease ruled out by biopsy.",
    ]


def test_a_number_that_wrapping_put_first_is_no_list_item() -> None:
    text = (
        "The serum creatinine was followed closely every day and had come down to a level of\n"
        "2. It then rose slowly over the course of the next week, for reasons that were not\n"
        "understood by anybody, and the patient was sent home."
    )
    assert parts(text)[0].endswith("level of\n2.")


def test_lines_of_their_own_are_sentences_of_their_own() -> None:
    text = (
        "Known brain metastases, unless these have been treated and stable for at least six months\n"
        "HIV positive\nPregnant or lactating females\nAny allergy to the study drug"
    )
    assert parts(text) == text.split("\n")


def test_headings_lists_tables_and_rules_are_cut() -> None:
    text = (
        "HISTORY OF PRESENT ILLNESS:\r\n"
        "Feels well.\r\n"
        "=====\r\n"
        "Medications on Admission\r\n"
        "1. Aspirin 81 mg p.o. q.d.\r\n"
        "2. Metoprolol, to be taken\r\n"
        "   with food. Not before bed.\r\n"
        "10. Lasix\r\n"
        "- no known\r\n"
        "\u2022 none\r\n"
        "WBC   9.1   4.5-11.0\r\n"
        "HGB\t12.0\t13-17\r\n"
        "a | b\r\n"
    )
    assert parts(text) == [
        "HISTORY OF PRESENT ILLNESS:",
        "Feels well.",
        "=====",
        "Medications on Admission",
        "1. Aspirin 81 mg p.o. q.d.",
        "2. Metoprolol, to be taken\r\n   with food.",
        "Not before bed.",
        "10. Lasix",
        "- no known",
        "\u2022 none",
        "WBC   9.1   4.5-11.0",
        "HGB\t12.0\t13-17",
        "a | b",
    ]


def test_a_heading_with_text_after_it_stays_with_the_text() -> None:
    assert parts("ABDOMEN: soft, tender in the left lower quadrant") == [
        "ABDOMEN: soft, tender in the left lower quadrant"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Seen by [**Name. Of A. Doctor 5**] today",
        "Seen by [**Name\n\n5**] today",
        "pain; Fever; Chills",
        "Renal dysfunction (Serum creatinine was 2.0) in May",
        "CYP2C9 ( * ) 2 ( p.R144C ) , CYP2C19",
        "10. Current smoker",
        "dehydroepiandrosterone ( +14.4 % , P = .02 ) , and sulfate ( P = .26 ) compared",
        "Fine. )",
        ". Fine",
        "hyphen-ated and under_scored words e.g. these",
    ],
)
def test_is_one_sentence(text: str) -> None:
    assert parts(text) == [text]


def test_full_stops_of_other_scripts_end_sentences() -> None:
    assert parts("患者は発熱。咳もある。") == ["患者は発熱。", "咳もある。"]
    assert parts("रोगी ठीक है। कल घर जाएगा।") == ["रोगी ठीक है।", "कल घर जाएगा।"]


def test_line_ends_as_the_caller_says() -> None:
    text = "One two\nThree four.\nFive"
    assert parts(text, line_ends="always") == ["One two", "Three four.", "Five"]
    assert parts(text, line_ends="never") == ["One two\nThree four.", "Five"]
    assert parts(text) == ["One two", "Three four.", "Five"]


def test_a_line_that_breaks_off_goes_on() -> None:
    assert parts("Aspirin,\nMetoprolol (\nLopressor") == ["Aspirin,\nMetoprolol (\nLopressor"]


def test_unknown_line_ends_are_refused() -> None:
    with pytest.raises(UsageError, match="line_ends is 'sometimes'; expected one of auto, always, never"):
        parts("x", line_ends="sometimes")


def test_known_headings_depend_on_the_language() -> None:
    text = "He is well and so on\nSocial history\nsmokes"
    assert len(parts(text)) == 3
    assert parts("Follow up\nlater", language="xx") == parts("Follow up\nlater", language="de-AT")


def test_blocks_too_large_or_full_of_brackets_are_split_by_the_plain_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(block: str) -> list[int]:
        raise AssertionError("syntok was asked")

    monkeypatch.setattr(module, "_syntok_starts", refuse)
    sentence = "He had pain in the leg. "
    large = sentence * (module.LARGEST_BLOCK // len(sentence) + 1)
    assert set(parts(large)) == {sentence.strip()}
    assert len(split_sentences(large)) == large.count(".")
    assert parts("( a. B " * 300)[:2] == ["( a.", "B ( a."]
    with pytest.raises(AssertionError, match="syntok was asked"):
        parts("One. Two.")


@pytest.mark.parametrize(
    "text",
    [
        "(" * 50_000,
        "( a " * 12_000,
        ". " * 50_000,
        "A. " * 10_000,
        "x" * 1_000_000,
        "\u200b. A" * 10_000,
        "\u3002 " * 50_000,
    ],
    ids=["brackets", "open", "stops", "initials", "token", "zero-width", "ideographic"],
)
def test_hostile_text_is_covered(text: str) -> None:
    spans = split_sentences(text)
    assert "".join("".join(text[start:end].split()) for start, end in spans) == "".join(text.split())


WORDS = (
    "fever cough etc resp approx viii VIII Jan mar no NO He The A EGD I Smith Prof 12 3.5 2014 mg e.g Dr x-ray can't"
)
SIGNS = [*"()[],;:'\"?!\n", "...", *["."] * 6]


@given(st.lists(st.tuples(st.sampled_from(WORDS.split() + SIGNS), st.sampled_from(["", " ", " ", "  "]))))
def test_syntok_is_not_asked_where_its_answer_is_known(pieces):
    text = "".join(word + blank for word, blank in pieces)
    found = split_sentences(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_syntok_starts", module._asked_starts)
        assert found == split_sentences(text)


def test_ordinary_sentences_are_found_without_syntok(monkeypatch):
    asked = []
    monkeypatch.setattr(module, "_asked_starts", lambda block: asked.append(block) or [0])
    text = "He has a cough. No fever was seen. Dr. Smith came. The cough resolved."
    assert [text[start:end] for start, end in split_sentences(text)] == [
        "He has a cough.",
        "No fever was seen.",
        "Dr. Smith came.",
        "The cough resolved.",
    ]
    assert asked == ["Dr. Smith came. "]


def test_syntok_is_asked_about_everything_where_it_does_not_say_what_it_knows(monkeypatch):
    text = "He has a cough. No fever was seen."
    expected = split_sentences(text)
    asked = []
    ask = module._asked_starts
    monkeypatch.setattr(module, "_asked_starts", lambda block: asked.append(block) or ask(block))
    monkeypatch.setattr(module, "_known_to_syntok", lambda: None)
    assert split_sentences(text) == expected
    assert asked == [text]
