"""The harness: rounds in turn, figures, rows and what they depend on."""

from __future__ import annotations

import pytest

from benchmarks import harness
from benchmarks.harness import Aim, Disagreement, Figure, Row, check_same, environment, in_turns, peer
from hyperspan.environment import version_of
from hyperspan.errors import MissingExtraError

KEYS = [
    "task",
    "data",
    "ours",
    "peer",
    "unit",
    "ours_median",
    "ours_spread",
    "peer_median",
    "peer_spread",
    "ratio",
    "aim",
    "holds",
    "agrees",
    "note",
]


def row(**changes: object) -> Row:
    given = {"task": "t", "data": "d", "ours": "o", "unit": "s", "our_figure": Figure(2.0, 1.0, 3.0)}
    return Row(**{**given, **changes})


def test_variants_take_turns_and_the_warm_up_does_not_count():
    seen = []
    ticks = iter(range(100))

    def work(name):
        return lambda: seen.append(name)

    figures = in_turns({"a": work("a"), "b": work("b")}, 2, clock=lambda: float(next(ticks)), warm_up=1)
    assert seen == ["a", "b", "a", "b", "a", "b"]
    assert figures == {"a": Figure(1.0, 1.0, 1.0), "b": Figure(1.0, 1.0, 1.0)}


def test_what_times_itself_is_believed():
    times = iter([9.0, 1.0, 3.0, 2.0])
    assert in_turns({"a": lambda: next(times)}, 3) == {"a": Figure(2.0, 1.0, 3.0)}


def test_a_rate_turns_the_spread_round():
    assert Figure(2.0, 1.0, 4.0).rate(4.0) == Figure(2.0, 1.0, 4.0)


def test_the_ratio_says_how_many_times_better_ours_is():
    theirs = Figure(8.0, 7.0, 9.0)
    assert row(peer_figure=theirs).ratio == 4.0
    assert row(peer_figure=theirs, more_is_better=True).ratio == 0.25
    assert row().ratio is None
    assert row(our_figure=Figure(0.0, 0.0, 0.0), peer_figure=theirs).ratio is None


def test_aims_are_about_the_ratio_or_about_our_figure():
    theirs = Figure(8.0, 7.0, 9.0)
    assert row(peer_figure=theirs, aim=Aim("ratio", "at least", 4.0)).holds is True
    assert row(peer_figure=theirs, aim=Aim("ratio", "at least", 4.1)).holds is False
    assert row(aim=Aim("ours", "at most", 2.0)).holds is True
    assert row(aim=Aim("ours", "at most", 1.9)).holds is False


def test_no_aim_holds_without_a_peer_or_at_quick_sizes():
    aim = Aim("ratio", "at least", 1.0)
    assert row(aim=aim).holds is None
    assert row(aim=aim, peer_figure=Figure(8.0, 7.0, 9.0), is_quick=True).holds is None
    assert row(peer_figure=Figure(8.0, 7.0, 9.0)).holds is None


def test_a_row_as_plain_data():
    data = row(peer="p", peer_figure=Figure(8.0, 7.0, 9.0), aim=Aim("ratio", "at least", 5.0), note="n").as_dict()
    assert list(data) == KEYS
    assert data["ours_spread"] == [1.0, 3.0]
    assert data["peer_median"] == 8.0
    assert data["aim"] == "ratio at least 5"
    assert data["holds"] is False
    alone = row(our_figure=None).as_dict()
    assert [alone[key] for key in ("peer", "ours_median", "ours_spread", "peer_spread", "ratio", "aim")] == [None] * 6


def test_the_same_within_a_share():
    check_same("the objective", 1e6, 1e6 + 9.0)
    check_same("small ones", 0.0, 1e-6)
    with pytest.raises(Disagreement, match=r"the objective: ours is 1\.0, the peer's 1\.1; nothing was timed"):
        check_same("the objective", 1.0, 1.1)
    with pytest.raises(Disagreement, match="nan"):
        check_same("the objective", float("nan"), 1.0)


def test_a_peer_that_is_not_there():
    with pytest.raises(
        MissingExtraError, match=r"The comparison needs the package 'x-y'.*pip install 'python-crfsuite"
    ):
        peer("no_such_package_at_all", "x-y", "The comparison")


def test_the_environment_says_what_figures_depend_on():
    found = environment(3, ["numpy", "no-such-package"])
    assert set(found) == {"commit", "date", "cpu", "cores", "threads", "load", "system", "versions"}
    assert found["threads"] == 3
    assert found["versions"]["numpy"] == version_of("numpy")
    assert found["versions"]["no-such-package"] is None
    assert found["cpu"]


def test_outside_a_checkout_there_is_no_commit(monkeypatch):
    def no_git(*_: object, **__: object) -> None:
        raise FileNotFoundError("git")

    monkeypatch.setattr(harness.subprocess, "run", no_git)
    assert environment(1, [])["commit"] is None
