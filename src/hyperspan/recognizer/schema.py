"""What model files and checkpoints must be like: checked when they are read, before anything of them is used.

Whoever forges a file can make its hash fit too, and compiled code does not look where it steps. So every value has a
type and a range here, and every array a type and a shape.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Annotated, Any, get_type_hints

import msgspec
import numpy as np
from msgspec import UNSET, Meta, Struct, UnsetType
from numpy.typing import DTypeLike, NDArray

from hyperspan.errors import ModelError
from hyperspan.recognizer.settings import Settings

NOT_KEPT = ("features", "clusters", "lexicon", "n_threads")
"""Settings that are not written as such: the first three are part of the extractor, and threads change nothing."""

Count = Annotated[int, Meta(ge=0, le=2**53)]
Penalty = Annotated[float, Meta(ge=0.0)]
Share = Annotated[float, Meta(ge=0.0, le=1.0)]
Threshold = Annotated[float, Meta(gt=0.0, le=1.0)]


def _settings_schema() -> type[Struct]:
    """Return the settings that a file has: those of `Settings`, less those that belong to the caller."""
    kinds = get_type_hints(Settings)
    own = [(each.name, kinds[each.name]) for each in fields(Settings) if each.name not in NOT_KEPT]
    return msgspec.defstruct("SettingsInFile", own, forbid_unknown_fields=True)


class Iteration(Struct, forbid_unknown_fields=True):
    """A line of the training log."""

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
    """What gave parts of speech and lemmas."""

    name: str
    version: str = ""
    language: str = ""
    columns: list[str] = []
    tagset: str = ""
    model: str = ""
    members: list[AnnotatorRecord] = []


class FeaturesState(Struct):
    """What an extractor is made of, besides its arrays."""

    version: int
    templates: list[list[str]]
    templates_source: str
    skipped: list[tuple[str, str]]
    has_clusters: bool
    has_lexicon: bool


class ModelSchema(Struct):
    """The plain data of a model."""

    settings: dict[str, Any]
    types: Annotated[list[str], Meta(min_length=1)]
    features: FeaturesState
    annotator: AnnotatorRecord
    l2: Penalty
    threshold: Threshold
    n_iterations: Count
    training_log: Annotated[list[Iteration], Meta(min_length=1)]
    dev_scores: dict[str, Any]
    left_out: Count
    n_transitions: Count
    feature_names: dict[str, str] = {}
    threshold_curve: list[ThresholdRow] = []


class SearchState(Struct, forbid_unknown_fields=True):
    """Where the optimiser stands."""

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
    """What is known when the penalty has been chosen, and the last search has begun."""

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
    """Refuse the plain data of a model that is not what `write_model` writes.

    Raises
    ------
    ModelError
        With the place of what is wrong.
    """
    model: ModelSchema = _fits(data, ModelSchema)
    _fits(model.settings, _settings_schema(), "settings")
    _check_scores(model.dev_scores)
    if model.training_log[-1].stopped is UNSET:
        raise ModelError("its training log does not say why training stopped")
    _check_finite(data["l2"], data["threshold"], *_numbers_in(data["training_log"]))


def check_checkpoint(data: Mapping[str, Any]) -> None:
    """Refuse the plain data of a checkpoint that is not what a `Keeper` writes.

    Raises
    ------
    ModelError
        With the place of what is wrong.
    """
    checkpoint: CheckpointSchema = _fits(data, CheckpointSchema)
    check_note(data["note"])
    state = data["search"]["state"]
    _check_finite(
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
    """Refuse a note of a checkpoint that is neither empty nor what `Note` says."""
    if note:
        _fits(note, Note, "note")
        _check_scores(note["dev_scores"])
        _check_finite(note["l2"], note["threshold"], *_numbers_in(note["log"]))


def _check_scores(scores: Mapping[str, Any]) -> None:
    if scores:
        _fits(scores, DevScores, "dev_scores")


def _fits(data: object, schema: Any, place: str = "") -> Any:
    try:
        return msgspec.convert(data, schema, strict=True)
    except msgspec.ValidationError as error:
        text = str(error).replace("`", "'")
        raise ModelError(f"{place}: {text}" if place else text) from None
    except (RecursionError, OverflowError, UnicodeEncodeError) as error:
        raise ModelError(f"{place or 'its data'} cannot be checked: {type(error).__name__}") from None


def _numbers_in(log: Sequence[Mapping[str, Any]]) -> list[float]:
    return [value for line in log for value in line.values() if isinstance(value, float)]


def _check_finite(*numbers: float) -> None:
    if not all(map(math.isfinite, numbers)):
        raise ModelError("it has numbers that are not finite")


def check_array(
    arrays: Mapping[str, NDArray[Any]], name: str, dtype: DTypeLike, shape: tuple[int | None, ...]
) -> NDArray[Any]:
    """Return an array by name, if it has a type and a shape, of which None is any number.

    Raises
    ------
    ModelError
        If there is none of that name, or it is another.
    """
    if name not in arrays:
        raise ModelError(f"it lacks the array {name!r}")
    array = arrays[name]
    fits = len(shape) == array.ndim and all(want in (None, have) for want, have in zip(shape, array.shape, strict=True))
    if array.dtype != np.dtype(dtype) or not fits or not array.flags.c_contiguous:
        wanted = tuple("any" if size is None else size for size in shape)
        raise ModelError(
            f"the array {name!r} is {array.dtype} of shape {array.shape}; expected {np.dtype(dtype)} of shape {wanted}"
        )
    return array


def check_texts(arrays: Mapping[str, NDArray[Any]], name: str, first: str) -> int:
    """Check texts that stand one after another in an array of bytes; return how many there are."""
    raw = check_array(arrays, name, np.uint8, (None,))
    begin = check_array(arrays, first, np.int64, (None,))
    if not len(begin) or begin[0] != 0 or begin[-1] != len(raw) or bool(np.any(np.diff(begin) < 0)):
        raise ModelError(f"the array {first!r} does not say where the texts of {name!r} begin")
    return len(begin) - 1
