"""The schemas of model files and checkpoints, which are validated before any of their content is used.

Each scorer validates its own part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Annotated, Any, Literal, get_type_hints

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from hyperspan.errors import ModelError
from hyperspan.recognizer.settings import Settings
from hyperspan.schema import Count, Penalty, Share, Threshold, check_finite, fitted
from hyperspan.structures.segments import MOST_WORDS

NOT_KEPT = ("features", "clusters", "lexicon", "encoder", "n_threads", "device")
"""Settings that are not stored as such: the first four belong to the scorer, the others to the caller."""


def _settings_schema() -> type[Struct]:
    """Return the schema of the settings in a file: those of `Settings` without the ones that belong to the caller."""
    kinds = get_type_hints(Settings)
    own: list[Any] = [
        (each.name, kinds[each.name]) if each.default is MISSING else (each.name, kinds[each.name], each.default)
        for each in fields(Settings)
        if each.name not in NOT_KEPT
    ]
    return msgspec.defstruct("SettingsInFile", own, forbid_unknown_fields=True)


class LogLine(Struct):
    """A line of the training log of any trainer."""

    iteration: Count
    stopped: str | UnsetType = UNSET


class Iteration(Struct, forbid_unknown_fields=True):
    """A line of the training log of a search for linear weights."""

    l2: Penalty
    iteration: Count
    objective: float
    gradient_norm: float
    evaluations: Count
    dev_f1: Share | UnsetType = UNSET
    stopped: str | UnsetType = UNSET


class Score(Struct, forbid_unknown_fields=True):
    """Ratios and counts."""

    precision: Share
    recall: Share
    f1: Share
    tp: Count
    fp: Count
    fn: Count


class DevScores(Struct):
    """Scores on the development data."""

    all: Score
    discontiguous_sentences: Score
    discontiguous_mentions: Score
    by_type: dict[str, Score] = {}
    by_parts: dict[str, Score] = {}
    by_gap: dict[str, Score] = {}
    by_overlap: dict[str, Score] = {}
    relaxed: Score | UnsetType = UNSET
    words: Score | UnsetType = UNSET


class ThresholdRow(Score, forbid_unknown_fields=True, kw_only=True):
    """Scores on the development data at one threshold."""

    threshold: Share


class AnnotatorRecord(Struct):
    """The annotator that added parts of speech and lemmas."""

    name: str
    version: str = ""
    language: str = ""
    columns: list[str] = []
    tagset: str = ""
    model: str = ""
    members: list[AnnotatorRecord] = []


class CandidateRecall(Struct, forbid_unknown_fields=True):
    """How many gold mentions with a given number of parts were candidates."""

    gold: Count
    found: Count
    recall: Share


class Rescoring(Struct, forbid_unknown_fields=True):
    """What a second look changed, and whether it was kept."""

    kept: bool
    folds: Count
    candidates: Count
    recall_by_parts: dict[str, CandidateRecall]
    l2: Penalty
    measured_on: Literal["dev", "train"]
    f1_without: Share
    f1_with: Share
    standard_error: Penalty
    slope: float = 1.0
    shift: float = 0.0


class RescorerSchema(Struct):
    """The rescorer, which validates the rest of its data itself."""

    name: str


class ModelSchema(Struct):
    """The plain data of a model."""

    settings: dict[str, Any]
    types: Annotated[list[str], Meta(min_length=1)]
    annotator: AnnotatorRecord
    l2: Penalty
    threshold: Threshold
    n_iterations: Count
    training_log: Annotated[list[LogLine], Meta(min_length=1)]
    dev_scores: dict[str, Any]
    left_out: Count
    threshold_curve: list[ThresholdRow] = []
    sizes: dict[str, Annotated[int, Meta(ge=1, le=MOST_WORDS)]] = {}
    rescorer: RescorerSchema | UnsetType = UNSET
    rescoring: dict[str, Any] = {}


class SearchState(Struct, forbid_unknown_fields=True):
    """The state of the optimiser."""

    value: float
    previous_value: float | None
    n_steps: Count
    values: Annotated[list[float], Meta(max_length=1_000)]
    iteration: Count
    n_evaluations: Count
    stopped: str


class SearchSchema(Struct, forbid_unknown_fields=True):
    """A search for weights."""

    penalties: Annotated[list[Penalty], Meta(min_length=1, max_length=100)]
    stage: Count
    best_f1: Annotated[float, Meta(ge=-1.0, le=1.0)]
    best_l2: Penalty
    records: list[Iteration]
    seconds: Penalty
    state: SearchState


class Note(Struct, forbid_unknown_fields=True):
    """What is known once the penalty has been chosen and the final search has begun."""

    l2: Penalty
    threshold: Threshold
    dev_scores: dict[str, Any]
    log: list[Iteration]
    threshold_curve: list[ThresholdRow] = []


class CheckpointSchema(Struct):
    """The plain data of a checkpoint."""

    fingerprint: str
    note: dict[str, Any]
    search: SearchSchema


def check_model(data: Mapping[str, Any]) -> None:
    """Raise an error if the plain data of a model is not what `write_model` writes.

    Raises
    ------
    ModelError
        With the place of what is wrong.
    """
    model: ModelSchema = fitted(data, ModelSchema)
    fitted(model.settings, _settings_schema(), "settings")
    _check_scores(model.dev_scores)
    if model.training_log[-1].stopped is UNSET:
        raise ModelError("its training log does not say why training stopped")
    check_finite(data["l2"], data["threshold"], *_numbers_in(data["training_log"]))
    if model.rescoring:
        record: Rescoring = fitted(model.rescoring, Rescoring, "rescoring")
        check_finite(record.l2, record.standard_error, record.slope, record.shift)


def check_checkpoint(data: Mapping[str, Any]) -> None:
    """Raise an error if the plain data of a checkpoint is not what a `Checkpointer` writes.

    Raises
    ------
    ModelError
        With the place of what is wrong.
    """
    checkpoint: CheckpointSchema = fitted(data, CheckpointSchema)
    check_note(data["note"])
    state = data["search"]["state"]
    check_finite(
        *data["search"]["penalties"],
        data["search"]["best_l2"],
        data["search"]["seconds"],
        state["value"],
        state["previous_value"] or 0.0,
        *state["values"],
        *_numbers_in(data["search"]["records"]),
    )
    if checkpoint.search.stage > len(checkpoint.search.penalties):
        raise ModelError("its search has tried more penalties than there are")


def check_note(note: Mapping[str, Any]) -> None:
    """Raise an error if the note of a checkpoint is neither empty nor a valid `Note`."""
    if note:
        fitted(note, Note, "note")
        _check_scores(note["dev_scores"])
        check_finite(note["l2"], note["threshold"], *_numbers_in(note["log"]))


def _check_scores(scores: Mapping[str, Any]) -> None:
    if scores:
        fitted(scores, DevScores, "dev_scores")


def _numbers_in(log: Sequence[Mapping[str, Any]]) -> list[float]:
    return [value for line in log for value in line.values() if isinstance(value, float)]
