"""Checkpoints: training that is stopped goes on as if nothing had happened."""

from __future__ import annotations

import errno
import logging
import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hyperspan.errors import ModelError, UsageError
from hyperspan.learning import Record, new_search
from hyperspan.mentions import Mention, Sentence
from hyperspan.recognizer import Recognizer, checkpoint
from hyperspan.recognizer.checkpoint import Checkpointer, Interrupted, read_note

QUICK: dict[str, Any] = {"max_components": 2, "max_iterations": 12}
SENTENCES = [
    Sentence(["blood", "in", "stomach"], [Mention("Finding", [(0, 3)])], doc="a"),
    Sentence(["no", "blood", "seen"], [Mention("Finding", [(1, 2)])], doc="b"),
    Sentence(["blood", "and", "dark", "stool"], [Mention("Finding", [(0, 1), (3, 4)])], doc="c"),
    Sentence(["some", "aspirin", "was", "given"], [Mention("Drug", [(1, 2)])], doc="d"),
] * 3


class Killed(BaseException):
    """What ends a process without giving it a chance."""


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Save after every iteration."""
    monkeypatch.setattr(checkpoint, "PERIOD", 0.0)
    monkeypatch.setattr(checkpoint, "FIRST", 0.0)
    monkeypatch.setattr(checkpoint.time, "monotonic", lambda: 0.0)


def killer(after: int) -> Any:
    """Return what kills training after so many records."""
    seen: list[Record] = []

    def kill(record: Record) -> None:
        seen.append(record)
        if len(seen) == after:
            raise Killed

    return kill


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize(
    "options",
    [{}, {"distribution": "mention-sets"}, {"structure": "linear"}, {"structure": "split", "n_threads": 1}],
    ids=str,
)
def test_killed_and_resumed_gives_the_same_bytes(tmp_path: Path, options: dict[str, Any]):
    Recognizer(**QUICK, **options).fit(SENTENCES, dev=SENTENCES).save(tmp_path / "whole")
    for after in (2, 7):
        with pytest.raises(Killed):
            Recognizer(**QUICK, **options).fit(
                SENTENCES, dev=SENTENCES, checkpoint=tmp_path / "c", on_iteration=killer(after)
            )
        records: list[Record] = []
        resumed = Recognizer(**QUICK, **options).fit(
            SENTENCES, dev=SENTENCES, checkpoint=tmp_path / "c", resume=True, on_iteration=records.append
        )
        assert records[0].iteration == after  # the one that was not saved any more
        resumed.save(tmp_path / "resumed")
        assert (tmp_path / "resumed").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("with_dev", [True, False])
def test_a_search_for_the_penalty_goes_on_wherever_it_was_killed(tmp_path: Path, with_dev: bool):
    options = {**QUICK, "max_iterations": 5, "l2": "auto"}
    dev = SENTENCES[:4] if with_dev else None
    seen: list[Record] = []
    Recognizer(**options).fit(SENTENCES, dev=dev, on_iteration=seen.append).save(tmp_path / "whole")
    ends = [number for number, record in enumerate(seen, start=1) if record.stopped]
    assert len(ends) == (5 if with_dev else 6)
    for after in (3, ends[0], ends[0] + 1, ends[3] + 2, ends[4], len(seen) - 1, len(seen)):
        with pytest.raises(Killed):
            Recognizer(**options).fit(SENTENCES, dev=dev, checkpoint=tmp_path / "c", on_iteration=killer(after))
        resumed = Recognizer(**options).fit(SENTENCES, dev=dev, checkpoint=tmp_path / "c", resume=True)
        resumed.save(tmp_path / "resumed")
        assert (tmp_path / "resumed").read_bytes() == (tmp_path / "whole").read_bytes(), after


def test_stopping_on_request_saves_at_once(tmp_path: Path):
    with pytest.raises(Interrupted, match="after iteration 4"):
        Recognizer(**QUICK).fit(SENTENCES, checkpoint=tmp_path / "c", on_iteration=lambda record: record.iteration == 4)
    resumed = Recognizer(**QUICK).fit(SENTENCES, checkpoint=tmp_path / "c", resume=True)
    assert resumed.weights_.tobytes() == Recognizer(**QUICK).fit(SENTENCES).weights_.tobytes()


@pytest.mark.usefixtures("often")
def test_the_checkpoint_is_there_until_the_model_is_safe(tmp_path: Path):
    recognizer = Recognizer(**QUICK).fit(SENTENCES, checkpoint=tmp_path / "c")
    assert (tmp_path / "c").is_file()
    (tmp_path / "folder").mkdir()
    with pytest.raises(Exception, match="is a folder"):
        recognizer.save(tmp_path / "folder")
    assert (tmp_path / "c").is_file()
    recognizer.save(tmp_path / "m")
    assert not (tmp_path / "c").exists()
    again = Recognizer.load(tmp_path / "m")
    again.save(tmp_path / "n")
    assert (tmp_path / "n").read_bytes() == (tmp_path / "m").read_bytes()


@pytest.mark.usefixtures("often")
def test_without_a_path_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Recognizer(**QUICK).fit(SENTENCES)
    assert list(tmp_path.iterdir()) == []


def test_checkpoints_are_written_from_time_to_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    now = [0.0]
    written = []
    monkeypatch.setattr(checkpoint.time, "monotonic", lambda: now[0])

    def write(*arguments: object) -> None:
        written.append(now[0])
        now[0] += 5.0  # a slow disk

    monkeypatch.setattr(checkpoint, "write_arrays", write)
    checkpointer = Checkpointer(tmp_path / "c", "print")
    search = new_search(np.zeros(3), [1.0])
    while now[0] < 200.0:
        checkpointer.save_in_time(search)
        now[0] += 1.0
    assert written[0] == checkpoint.FIRST
    gaps = [after - before for before, after in pairwise(written)]
    assert gaps
    assert all(gap >= 50.0 for gap in gaps), "more than a tenth of the time went into checkpoints"


def test_short_runs_have_checkpoints_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    now = [0.0]
    written = []
    monkeypatch.setattr(checkpoint.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(checkpoint, "write_arrays", lambda *arguments: written.append(now[0]))
    checkpointer = Checkpointer(tmp_path / "c", "print")
    search = new_search(np.zeros(3), [1.0])
    while now[0] < 130.0:
        checkpointer.save_in_time(search)
        now[0] += 0.5
    assert written == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 62.0, 92.0, 122.0]


@pytest.mark.usefixtures("often")
def test_resuming_without_a_checkpoint_starts_from_the_beginning_and_says_so(tmp_path: Path, caplog):
    with caplog.at_level(logging.WARNING):
        resumed = Recognizer(**QUICK).fit(SENTENCES, checkpoint=tmp_path / "c", resume=True)
    assert "there is no checkpoint" in caplog.text
    assert "starting from the beginning" in caplog.text
    assert resumed.weights_.tobytes() == Recognizer(**QUICK).fit(SENTENCES).weights_.tobytes()


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize(
    "change",
    [
        {"l2": 0.25},
        {"structure": "split"},
        {"max_components": 3},
        {"distribution": "mention-sets"},
        {"features": "published"},
        {"frequent": 1},
        {"tolerance": 1e-4},
        {"l2": "auto"},
        {"sentences": SENTENCES[1:]},
        {"sentences": [*SENTENCES[:-1], SENTENCES[-1].with_mentions([Mention("Drug", [(0, 2)])])]},
        {"sentences": [*SENTENCES[:-1], SENTENCES[-1].with_mentions([Mention("Pill", [(1, 2)])])]},
    ],
    ids=str,
)
def test_other_data_or_settings_are_refused(tmp_path: Path, change: dict[str, Any]):
    with pytest.raises(Killed):
        Recognizer(**QUICK).fit(SENTENCES, checkpoint=tmp_path / "c", on_iteration=killer(5))
    sentences = change.pop("sentences", SENTENCES) if "sentences" in change else SENTENCES
    with pytest.raises(ModelError, match="was made with other data or settings; resume with the same, or train with"):
        Recognizer(**{**QUICK, **change}).fit(sentences, checkpoint=tmp_path / "c", resume=True)
    assert (tmp_path / "c").is_file()


@pytest.mark.usefixtures("often")
def test_other_development_data_is_refused_where_it_chooses(tmp_path: Path):
    with pytest.raises(Killed):
        Recognizer(**QUICK, l2="auto").fit(
            SENTENCES, dev=SENTENCES[:4], checkpoint=tmp_path / "c", on_iteration=killer(5)
        )
    with pytest.raises(ModelError, match="was made with other data or settings"):
        Recognizer(**QUICK, l2="auto").fit(SENTENCES, dev=SENTENCES[:3], checkpoint=tmp_path / "c", resume=True)


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("change", [{"seed": 5}, {"decode": "enough"}, {"threshold": 0.7}])
def test_settings_that_held_out_documents_were_used_with_are_those_of_the_rest(tmp_path: Path, change: dict[str, Any]):
    n_records = len(Recognizer(**QUICK, l2="auto").fit(SENTENCES).training_log_)
    with pytest.raises(Killed):  # in the last search, on all documents
        Recognizer(**QUICK, l2="auto").fit(SENTENCES, checkpoint=tmp_path / "c", on_iteration=killer(n_records - 2))
    assert read_note(tmp_path / "c")
    with pytest.raises(ModelError, match="was made with other data or settings"):
        Recognizer(**QUICK, l2="auto", **change).fit(SENTENCES, checkpoint=tmp_path / "c", resume=True)


@pytest.mark.usefixtures("often")
def test_threads_and_more_iterations_may_be_changed(tmp_path: Path):
    with pytest.raises(Killed):
        Recognizer(**QUICK, n_threads=1).fit(SENTENCES, checkpoint=tmp_path / "c", on_iteration=killer(5))
    more = {**QUICK, "max_iterations": 18}
    resumed = Recognizer(**more, n_threads=3).fit(SENTENCES, checkpoint=tmp_path / "c", resume=True)
    assert resumed.weights_.tobytes() == Recognizer(**more).fit(SENTENCES).weights_.tobytes()


@pytest.mark.usefixtures("often")
def test_a_full_disk_does_not_stop_learning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog):
    def full(*arguments: object) -> None:
        raise ModelError("cannot write the checkpoint c: No space left on device")

    monkeypatch.setattr(checkpoint, "write_arrays", full)
    recognizer = Recognizer(**QUICK).fit(SENTENCES, checkpoint=tmp_path / "c")
    assert recognizer.n_iter_ == 12
    warned = [record.getMessage() for record in caplog.records if record.name == "hyperspan.recognizer.checkpoint"]
    assert warned == ["cannot write the checkpoint c: No space left on device. Training continues without a checkpoint"]


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("rescore", ["off", "on"])
def test_a_disk_without_room_for_any_file_does_not_stop_learning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog, rescore: Any
):
    def no_room(*arguments: object, **options: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("hyperspan.files._new_part", no_room)
    recognizer = Recognizer(**QUICK, rescore=rescore).fit(SENTENCES, checkpoint=tmp_path / "c")
    assert recognizer.n_iter_ == 12
    assert f"cannot write {tmp_path / 'c'}: No space left on device. Training continues without a" in caplog.text


def test_a_folder_is_no_checkpoint(tmp_path: Path):
    with pytest.raises(UsageError, match="is a folder; expected the name of a file to write"):
        Recognizer(**QUICK).fit(SENTENCES, checkpoint=tmp_path)


def test_a_damaged_checkpoint_is_refused_with_a_sentence(tmp_path: Path):
    (tmp_path / "c").write_bytes(b"half a checkpoint")
    with pytest.raises(ModelError, match="is not a checkpoint file, or it is damaged"):
        Recognizer(**QUICK).fit(SENTENCES, checkpoint=tmp_path / "c", resume=True)
    with pytest.raises(ModelError, match="is not a checkpoint file, or it is damaged"):
        Recognizer(**QUICK, l2="auto").fit(SENTENCES, checkpoint=tmp_path / "c", resume=True)


def test_a_note_stands_beside_the_search(tmp_path: Path):
    note = {"l2": 0.5, "threshold": 0.3, "dev_scores": {}, "log": []}
    Checkpointer(tmp_path / "c", "print", note).save(new_search(np.zeros(2), [0.5]))
    assert read_note(tmp_path / "c") == note
    assert read_note(tmp_path / "nothing") == {}
    assert read_note(None) == {}
