"""The published numbers agree with one another, as far as they can be checked without the paper."""

from __future__ import annotations

import pytest

from hyperspan.experiments import (
    ambiguity,
    canonical_counts,
    data_stats,
    main,
    multi_type,
    regularisation,
    type_scaling,
)


def f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall)


@pytest.mark.parametrize("row", main.published(), ids=lambda row: "-".join(map(str, list(row.values())[:4])))
def test_f1_of_the_main_table_follows_from_precision_and_recall(row):
    assert row["f1"] == pytest.approx(f1(row["precision"], row["recall"]), abs=0.11)


def test_the_main_table_is_whole():
    rows = main.published()
    assert len(rows) == len({tuple(row[key] for key in main.KEYS) for row in rows}) == 24
    enough = {tuple(row[key] for key in main.KEYS[:3]): row["f1"] for row in rows if row["decoder"] == "enough"}
    assert [enough["SMALL", training, "linear"] for training in ("Train-Disc", "Train-Orig")] == [47.8, 55.7]
    assert [enough["LARGE", training, "linear"] for training in ("Train-Disc", "Train-Orig")] == [47.0, 53.9]
    assert [enough["SMALL", training, "shared"] for training in ("Train-Disc", "Train-Orig")] == [54.3, 60.6]
    assert [enough["LARGE", training, "shared"] for training in ("Train-Disc", "Train-Orig")] == [52.7, 59.0]
    assert [enough["SMALL", training, "split"] for training in ("Train-Disc", "Train-Orig")] == [52.7, 60.7]
    assert [enough["LARGE", training, "split"] for training in ("Train-Disc", "Train-Orig")] == [52.0, 59.2]


def test_the_paper_itself_passes_its_conclusions():
    rows = [
        {**row, "data": row["compared_with"], "model": model}
        for row in main.published()
        for model in ("derivations", "encodings")
        if not (row["structure"] == "linear" and model == "derivations")
    ]
    of_paper = [one for one in main.conclusions([*rows, *probable(rows)]) if one.source == "paper"]
    assert len(of_paper) == 9
    assert [one.claim for one in of_paper if not one.holds] == []


def probable(rows):
    return [{**row, "decoder": "probable"} for row in rows if row["decoder"] == "enough"]


def test_the_data_table_adds_up():
    rows = {row["split"]: row for row in data_stats.published()}
    for row in rows.values():
        assert row["parts_1"] + row["parts_2"] + row["parts_3"] == row["mentions"]
    for value in data_stats.VALUES:
        assert rows["Tr80"][value] + rows["Tr20"][value] == rows["Train"][value]


def test_the_ambiguity_table_follows_from_its_counts():
    rows = {(row["subset"], row["structure"], row["decoder"]): row for row in ambiguity.published()}
    gold, lost = 1195 + 796, 6
    for structure in ("linear", "shared", "split"):
        row = rows["discontiguous", structure, "all"]
        assert row["precision_error"] == pytest.approx(100 * (1 - (gold - lost) / row["predicted"]), abs=0.006)
        assert row["recall_error"] == pytest.approx(100 * lost / gold, abs=0.006)
    assert rows["all", "linear", "all"]["precision_error"] == 23.81
    assert rows["discontiguous", "linear", "enough"]["recall_error"] == 3.82
    assert len(rows) == 14  # both readings of linear, all, stand beside one figure


def test_the_paper_itself_passes_its_conclusions_on_ambiguity():
    rows = [{**row, "gold": 1991, "lost": 6, "left_out": 0, "unread": 6} for row in ambiguity.published()]
    assert [one.claim for one in ambiguity.conclusions(rows) if not one.holds] == []


def test_the_table_of_types_adds_up():
    rows = {(row["structure"], row["type"]): row for row in multi_type.published()}
    for row in rows.values():
        assert row["f1"] == pytest.approx(f1(row["precision"], row["recall"]), abs=0.11)
    assert sum(rows["linear", type]["gold"] for type in "ABN") == rows["linear", "Total"]["gold"] == 1210
    for structure in ("linear", "shared", "split"):
        found = sum(rows[structure, type]["gold"] * rows[structure, type]["recall"] for type in "ABN") / 1210
        assert rows[structure, "Total"]["recall"] == pytest.approx(found, abs=0.1)


def test_penalties_come_from_the_grid():
    rows = regularisation.published()
    assert len(rows) == 12
    assert {row["l2"] for row in rows} <= {0.125, 0.25, 0.5, 1.0, 2.0}
    assert next(row["l2"] for row in rows if list(row.values())[:3] == ["SMALL", "Train-Disc", "split"]) == 2.0


def test_times_grow_with_the_number_of_types():
    rows = type_scaling.published()
    assert [row["types"] for row in rows] == [1, 2, 4, 8, 16]
    assert (rows[-1]["linear"], rows[-1]["shared"]) == (35.313, 19.272)
    assert all(one.holds for one in type_scaling.conclusions(rows))


def test_counts():
    rows = {row["words"]: row for row in canonical_counts.published()}
    assert rows[5] == {"words": 5, "linear": "< 16807", "shared": 533504, "split": 2367488, "mention_sets_log2": 31}
    assert [row["mention_sets_log2"] for row in rows.values()] == [2**n - 1 for n in rows]
    assert rows[4]["linear"] == f"< {7**4}"
