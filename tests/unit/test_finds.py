"""What fuzzing ever found stays found, and the fuzzer finds what is there to be found."""

from __future__ import annotations

import json
import os
import random
import signal
from pathlib import Path

import pytest

import fuzz
from fuzz_targets import ClusterFile, Target, _change_value, targets

FOUND = sorted(path for path in fuzz.FINDS.glob("*/*") if path.is_dir())
TARGETS = {target.name: target for target in targets()}


@pytest.mark.parametrize("folder", FOUND, ids=lambda folder: f"{folder.parent.name}-{folder.name}")
def test_what_was_found_is_taken_well(folder: Path):
    assert fuzz.problem(TARGETS[folder.parent.name], folder) is None


@pytest.mark.parametrize("target", TARGETS.values(), ids=lambda target: target.name)
def test_valid_files_are_taken(target: Target, tmp_path: Path):
    fuzz.put(target.samples, tmp_path)
    target.check(tmp_path)
    rng = random.Random(1)
    assert any(target.damage(rng) != target.samples for _ in range(5))


class Broken(ClusterFile):
    """A reader that fails at what it should refuse, and one that never ends."""

    name = "broken"

    def check(self, folder: Path) -> None:
        raw = (folder / "paths").read_bytes()
        if b"\xff" in raw:
            raise KeyError("found")
        while len(raw) > 4000:
            pass


def test_the_fuzzer_finds_and_keeps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd):
    monkeypatch.setattr(fuzz, "FINDS", tmp_path)
    monkeypatch.setattr(fuzz, "LONGEST", 1)
    assert fuzz.fuzz([Broken()], 6.0, seed=3) >= 2
    kept = list(tmp_path.glob("broken/*/paths"))
    assert len(kept) >= 2
    assert {fuzz.problem(Broken(), path.parent) is None for path in kept} == {False}
    said = capfd.readouterr()
    assert "KeyError: 'found'" in said.err
    assert "more than 1 seconds" in said.err
    assert "finds (seed 3): broken" in said.out


class Crashing(ClusterFile):
    """A reader that takes its process along."""

    name = "crashing"

    def check(self, folder: Path) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_crash_is_a_find(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd):
    monkeypatch.setattr(fuzz, "FINDS", tmp_path)
    monkeypatch.setattr(fuzz, "MOST_FINDS", 2)
    assert fuzz.fuzz([Crashing()], 60.0, seed=3) == 2
    assert len(list(tmp_path.glob("crashing/*/paths"))) == 2
    assert "the process ended with -9" in capfd.readouterr().err


def test_bodies_are_damaged_anew_every_time():
    rng, body = random.Random(0), {"a": [[0, 1]], "b": {"c": []}}
    for _ in range(300):  # values that are put in must not be those that are changed next
        _change_value(body, rng)
        json.dumps(body)
