from __future__ import annotations

import doctest
import hashlib
import os
import re
import subprocess
import sys
from collections import Counter
from itertools import islice
from pathlib import Path
from random import Random

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperspan import Corpus, Document, Sentence
from hyperspan.corpora import demo
from hyperspan.corpora.demo.constructions import CONSTRUCTIONS
from hyperspan.corpora.demo.filling import fill
from hyperspan.corpora.demo.reports import KINDS, NOTES, pools, write_report
from hyperspan.corpora.demo.summary import count, table
from hyperspan.corpora.demo.vocabulary import OPEN, PATIENTS, lists, seen_and_held
from hyperspan.corpora.jsonl import record_of
from hyperspan.errors import UsageError
from hyperspan.mentions import to_characters, to_tokens

DIGEST = "812b9980abfa501cf1b9020093356752364e60d768fa76f65414018e2b9dd03a"
"""Of the default corpus as documents. Change it only together with a deliberate change of the corpus."""

TOKEN = re.compile(r"\[\*\*.*?\*\*\]|\w+|[^\w\s]+")
PAGE = Path(__file__).parents[3] / "docs" / "demo-corpus.md"


@pytest.fixture(scope="module")
def sentences() -> Corpus:
    return demo.load("sentences")


def shapes(corpus: Corpus, name: str) -> dict[str, float]:
    return count(corpus.split(name).units)


# ------------------------------------------------------------------------------------------------ the same everywhere


def test_the_default_corpus_is_exactly_the_known_one():
    digest = hashlib.sha256()
    for document in demo.generate():
        digest.update(orjson.dumps([record_of(document), document.split]))
    assert digest.hexdigest() == DIGEST


def test_another_process_with_another_hash_seed_writes_the_same():
    code = "from hyperspan.corpora import demo; print(repr(demo.generate(6).units))"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert outputs == {repr(demo.generate(6).units) + "\n"}


def test_a_smaller_corpus_is_the_beginning_of_a_larger_one():
    assert demo.generate(20).units == demo.generate(60).units[:20]


@pytest.mark.parametrize("split", demo.SPLITS)
def test_streaming_a_split_gives_the_documents_of_the_whole_corpus(split):
    whole = demo.load().split(split).units
    assert tuple(demo.stream(len(whole), split=split)) == whole
    assert demo.generate(7, split=split).units == whole[:7]


@pytest.mark.parametrize("split", [None, "dev"])
def test_streaming_may_start_anywhere(split):
    whole = list(demo.stream(30, split=split))
    assert list(demo.stream(9, start=21, split=split)) == whole[21:]


def test_streaming_without_a_number_does_not_end():
    assert [document.doc for document in islice(demo.stream(split=None), 6)] == [
        "train-00000",
        "train-00001",
        "train-00002",
        "train-00003",
        "dev-00000",
        "test-00000",
    ]


def test_seeds_and_splits_give_different_texts():
    texts = {next(demo.stream(1, seed=seed, split=split)).text for seed in (0, 1) for split in demo.SPLITS}
    assert len(texts) == 6


def test_importing_loads_nothing_heavy():
    code = (
        "import sys; import hyperspan.corpora.demo; "
        "print([name for name in ('numpy', 'numba', 'scipy', 'torch', 'spacy') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout == "[]\n"


# -------------------------------------------------------------------------------------------------- the shape of notes


def test_the_default_corpus_has_three_splits_and_four_types():
    corpus = demo.load()
    assert {name: len(corpus.split(name)) for name in corpus.splits} == {"train": 200, "dev": 50, "test": 50}
    assert corpus.types == ("Anatomy", "Drug", "Finding", "Procedure")
    assert {document.attributes["note_type"] for document in corpus} == {"discharge", "echo", "radiology", "ecg"}
    assert demo.load() is corpus


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from(demo.SPLITS), st.integers(0, 10**6))
def test_documents_and_sentences_agree(seed, split, number):
    report = write_report(seed, split, number)
    document, units = report.as_document(), report.as_sentences()
    offsets = [span for sentence in units for span in sentence.offsets]
    assert [found.span() for found in TOKEN.finditer(document.text)] == offsets
    assert [document.text[start:end] for start, end in offsets] == [token for s in units for token in s.tokens]
    from_sentences = {to_characters(mention, s.offsets) for s in units for mention in s.mentions}
    assert from_sentences == set(document.mentions)
    first = 0
    in_tokens = []
    for sentence in units:
        in_tokens += [mention.shift(first) for mention in sentence.mentions]
        first += len(sentence)
        for mention in sentence.mentions:
            words = document.text_of(to_characters(mention, sentence.offsets))
            assert re.sub(r"\s", "", words) == sentence.text_of(mention).replace(" ", "")
    assert sorted(in_tokens) == sorted(to_tokens(mention, offsets) for mention in document.mentions)
    assert sum(len(sentence.mentions) for sentence in units) == len(document.mentions)


def test_sentences_carry_what_features_need(sentences):
    known = {section.name for sections in NOTES.values() for section in sections}
    for sentence in sentences:
        assert set(sentence.attributes) == {"note_type", "section"}
        assert sentence.attributes["section"] in known
        assert sentence.doc.startswith(f"{sentence.split}-")


def test_every_report_says_that_it_is_invented():
    for document in demo.load():
        assert re.match(r".*(invented|SYNTHETIC)", document.text)


def test_reports_look_like_notes():
    texts = "\n".join(document.text for document in demo.load())
    for pattern in (
        r"^HISTORY OF PRESENT ILLNESS:$",
        r"^Hx of present illness:$",
        r"^PMH:$",
        r"^Discharge Medications:$",
        r"^- \w",
        r"^\* \w",
        r"^2\. \w",
        r"\[\*\*Hospital \d+\*\*\]",
        r"\[\*\*doctor first name \d+\*\*\]",
        r"\[\*\*20\d\d-\d\d-\d\d\*\*\]",
        r"\blac\b",
        r"\d mg\b",
        r"creatinine-\d",
        r"\b[Dd]enies\b",
        r"[a-z,]\n[a-z]",
    ):
        assert re.search(pattern, texts, re.MULTILINE), pattern


def test_prose_is_wrapped():
    prose = {section.name for sections in NOTES.values() for section in sections if section.layout == "prose"}
    broken = 0
    for number in range(40):
        report = write_report(0, "train", number)
        for sentence in report.sentences:
            if sentence.section in prose:
                end = sentence.start + len(sentence.filled.text)
                lines = report.text[report.text.rfind("\n", 0, end) + 1 : end].splitlines()
                assert max(map(len, lines)) <= 80
                broken += "\n" in report.text[sentence.start : end]
    assert broken > 100


# -------------------------------------------------------------------------------------------------------- the mentions


def test_the_share_of_discontiguous_mentions(sentences):
    assert 7 <= count(sentences.units)["discontiguous_share"] <= 11
    assert 40 <= count(sentences.units)["subset_share"] <= 60
    for name in demo.SPLITS:
        assert 7 <= shapes(sentences, name)["discontiguous_share"] <= 12
        assert 40 <= shapes(sentences, name)["subset_share"] <= 60


def test_the_number_of_parts(sentences):
    for name in demo.SPLITS:
        counts = shapes(sentences, name)
        assert counts["one_part"] + counts["two_parts"] + counts["three_parts"] == counts["mentions"]
        assert counts["two_parts"] > 4 * counts["three_parts"] > 0


def test_a_third_of_the_sentences_has_no_mention(sentences):
    for name in demo.SPLITS:
        counts = shapes(sentences, name)
        assert counts["without_mentions"] >= counts["sentences"] / 3
    headings = sum(sentence.tokens[-1] == ":" and len(sentence) < 8 for sentence in sentences)
    assert count(sentences.units)["without_mentions"] - headings >= len(sentences) / 4


def test_gaps_are_of_many_lengths(sentences):
    gaps = Counter(mention.gap for sentence in sentences for mention in sentence.mentions if mention.is_discontiguous)
    assert {1, 2, 3, 4, 5, 6} <= set(gaps)
    assert max(gaps) >= 10
    assert 2 <= count(sentences.units)["gap_median"] <= 3


def test_every_type_has_discontiguous_mentions(sentences):
    types = {mention.type for sentence in sentences for mention in sentence.mentions if mention.is_discontiguous}
    assert types == set(sentences.types)


def test_mentions_overlap_in_every_way(sentences):
    ways: Counter[tuple[str, bool]] = Counter()
    for sentence in sentences:
        for one in sentence.mentions:
            for other in sentence.mentions:
                if one < other and one.overlaps(other):
                    mine, theirs = set(one.words()), set(other.words())
                    way = "nested" if mine <= theirs or theirs <= mine else "crossing"
                    ways[way, one.type == other.type] += 1
    assert ways["nested", True] >= 30
    assert ways["nested", False] >= 300
    assert ways["crossing", True] >= 100


def test_codes_are_invented_and_sometimes_missing(sentences):
    codes = Counter(mention.attributes["cui"] for sentence in sentences for mention in sentence.mentions)
    assert all(re.fullmatch(r"C9\d{7}|CUI-less", code) for code in codes)
    assert 0.02 < codes["CUI-less"] / codes.total() < 0.15


def test_a_code_stands_for_one_concept(sentences):
    """Spelling, order and gaps aside: the same code never has two types, the same words never two codes."""
    types: dict[str, set[str]] = {}
    codes: dict[tuple[str, str], set[str]] = {}
    for sentence in sentences:
        for mention in sentence.mentions:
            code = mention.attributes["cui"]
            if code != "CUI-less":
                types.setdefault(code, set()).add(mention.type)
            codes.setdefault((mention.type, sentence.text_of(mention).lower()), set()).add(code)
    assert all(len(found) == 1 for found in types.values())
    assert all(len(found) == 1 for found in codes.values())


def test_contiguous_and_discontiguous_forms_share_a_code(sentences):
    forms: dict[str, set[bool]] = {}
    for sentence in sentences:
        for mention in sentence.mentions:
            forms.setdefault(mention.attributes["cui"], set()).add(mention.is_discontiguous)
    both = [code for code, kinds in forms.items() if len(kinds) == 2 and code != "CUI-less"]
    assert len(both) >= 20


# ------------------------------------------------------------------------------------------------ what makes it hard


def test_held_out_words_never_occur_in_training(sentences):
    training = {token.lower() for sentence in sentences.split("train") for token in sentence.tokens}
    testing = {
        token.lower() for name in ("dev", "test") for sentence in sentences.split(name) for token in sentence.tokens
    }
    for name, text in OPEN.items():
        _, held = seen_and_held(text)
        held_words = {form.strip().lower() for entry in held for form in entry.split(" = ") if " " not in form.strip()}
        assert not held_words & training, name
        assert {word for entry in held for word in entry.lower().split()} & testing, name


def test_every_open_list_holds_out_about_a_sixth():
    seen, held = (sum(len(seen_and_held(text)[side]) for text in OPEN.values()) for side in (0, 1))
    assert 0.15 <= held / (seen + held) <= 0.22
    assert all(seen_and_held(text)[1] for text in OPEN.values())


def test_some_constructions_are_kept_for_the_test_split():
    only = [
        template.only for blocks in pools("test").values() for pool in blocks.values() for template in pool.templates
    ]
    assert only.count("test") >= 20
    for split in ("train", "dev"):
        assert not any(
            template.only for blocks in pools(split).values() for pool in blocks.values() for template in pool.templates
        )


def test_the_same_words_are_mentions_in_some_sentences_only(sentences):
    """Relatives' diseases, leaflets and what to call about are no mentions, with the very words of mentions."""
    known = {
        tuple(token.lower() for token in sentence.tokens[mention.start : mention.end])
        for sentence in sentences.split("train")
        for mention in sentence.mentions
        if not mention.is_discontiguous
    }
    for name in demo.SPLITS:
        distractors = sum(
            any((token.lower(),) in known for token in sentence.tokens)
            for sentence in sentences.split(name)
            if not sentence.mentions
        )
        assert distractors >= 0.05 * len(sentences.split(name))


@pytest.mark.parametrize("split", demo.SPLITS)
@pytest.mark.parametrize("section", CONSTRUCTIONS)
def test_every_construction_is_what_its_block_says(split, section):
    rng = Random(f"{split} {section}")
    for kind, pool in pools(split)[section].items():
        for template in pool.templates:
            for attempt in range(6):
                filled = fill(template, rng, lists(split, attempt % len(PATIENTS)))
                sentence = Sentence(filled.tokens, filled.mentions)
                assert sentence.tokens == tuple(TOKEN.findall(filled.text))
                assert sentence.is_discontiguous == (kind == "split"), filled.text
                assert kind == "first" or bool(sentence.mentions) == (kind != "empty"), filled.text


def test_sections_have_the_blocks_they_draw_from():
    for sections in NOTES.values():
        for section in sections:
            assert sum(section.shares) == 100, section.name
            wanted = {kind for kind, share in zip(KINDS, section.shares, strict=True) if share}
            assert wanted <= set(CONSTRUCTIONS[section.name]), section.name
    assert {section.name for sections in NOTES.values() for section in sections} == set(CONSTRUCTIONS)


# ------------------------------------------------------------------------------------------------------------- the rest


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: demo.generate(-1), "n_documents is -1; expected 0 or more"),
        (
            lambda: demo.generate(1, split="valid"),
            "split is 'valid'; expected one of train, dev, test, or None for all",
        ),
        (lambda: demo.generate(1, unit="words"), "unit is 'words'; expected one of documents, sentences"),
        (lambda: demo.stream(1, start=-2), "start is -2; expected 0 or more"),
        (lambda: demo.stream(1, split="all"), "split is 'all'"),
    ],
)
def test_senseless_arguments_are_refused(call, message):
    with pytest.raises(UsageError, match=f"^{re.escape(message)}"):
        call()


def test_units_are_of_the_kind_asked_for():
    assert all(type(unit) is Document for unit in demo.generate(3))
    assert all(type(unit) is Sentence for unit in demo.generate(3, unit="sentences"))
    assert len(demo.generate(0)) == 0


def test_the_page_shows_the_table_of_this_corpus(sentences):
    assert table(sentences.units) in PAGE.read_text(encoding="utf-8")


def test_the_examples_on_the_page_run():
    result = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.attempted > 5
    assert result.failed == 0


def test_figures_are_about_sentences():
    with pytest.raises(UsageError, match="these figures are about sentences, but there is a document; generate with"):
        table(demo.generate(1).units)
