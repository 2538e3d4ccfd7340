"""Figures that stand on several pages are the same on all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def rows(name: str) -> list[list[str]]:
    """Return the cells of all tables of a page."""
    lines = (ROOT / name).read_text(encoding="utf-8").replace("**", "").splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]


def f1(scores: str) -> str:
    """Return the last of precision, recall and F1."""
    return scores.rsplit("/", 1)[-1].strip()


RESULTS = rows("docs/results.md")
DECODED = {tuple(row[:2]): row[3:6] for row in RESULTS if len(row) == 7 and row[2] == "probable"}
LOOKS = {tuple(row[:4]): row[4:8] for row in RESULTS if len(row) == 10}
ENCODERS = {tuple(row[:2]): row[2:5] for row in RESULTS if len(row) == 6}


@pytest.mark.parametrize("row", [row for row in rows("README.md") if row[0] in ("chia", "pgxcorpus")], ids=" ".join)
def test_results_of_the_readme(row):
    corpus, name, *shown = row
    structure, _, what = name.partition(", ")
    if what == "second look":
        assert shown == LOOKS[corpus, "test", structure, "yes"][:3]
    elif (corpus, structure) in DECODED:
        assert shown == DECODED[corpus, structure]
    else:
        overall, sentences, mentions = ENCODERS[corpus, structure]
        assert shown == [f1(overall), sentences, f1(mentions)]


def test_the_tables_of_results_agree():
    agreeing = [key for key in LOOKS if key[1] == "test" and key[3] == "no" and (key[0], key[2]) in DECODED]
    assert len(agreeing) == 4
    for corpus, split, structure, look in agreeing:
        assert LOOKS[corpus, split, structure, look][:3] == DECODED[corpus, structure]
    with_features = {key: row for key, row in ENCODERS.items() if key[1].startswith("features")}
    assert len(with_features) == 6
    for (corpus, name), (overall, sentences, mentions) in with_features.items():
        look = LOOKS[corpus.replace(", ", ":"), "test", "shared", "yes" if "second look" in name else "no"]
        assert [overall, sentences, mentions] == [look[0], f1(look[1]), look[2]]


def test_development_results_of_segments():
    compared = [
        row for row in rows("docs/segments.md") if len(row) == 7 and (row[0], "dev", row[1].strip("`"), "no") in LOOKS
    ]
    assert len(compared) == 6
    for corpus, structure, _, overall, sentences, mentions, error in compared:
        look = LOOKS[corpus, "dev", structure.strip("`"), "no"]
        assert [overall, sentences, mentions, error] == [look[0], f1(look[1]), f1(look[2]), look[3].split(" ")[0]]


def test_results_of_encoders():
    shown = {
        row[0].split(" types")[0]: row[1:4] for row in rows("docs/neural.md") if " types" in row[0] and len(row) == 4
    }
    for name, corpus in (("Chia, 15", "chia"), ("PGxCorpus, 10", "pgxcorpus")):
        of = [ENCODERS[corpus, model] for model in ("features", "MiniLM", "MPNet")]
        assert shown[name] == [f"{f1(overall).split()[0]}, {f1(mentions).split()[0]}" for overall, _, mentions in of]
