"""Models by name, and one sentence at a time where an annotator asks for it."""

from __future__ import annotations

import copy
from contextlib import nullcontext

import pytest

from hyperspan.errors import MissingExtraError
from hyperspan.server.errors import ApiError
from hyperspan.server.models import Model, Models
from hyperspan.text import annotator


def test_the_first_is_taken_where_none_is_named(recognizer, linear):
    models = Models({"b": recognizer, "a": linear})
    assert models.names == ["b", "a"]
    assert models.named(None) is models.default is models.named("b")
    with pytest.raises(ApiError, match=r"^404: there is no model 'c'; expected one of 'b', 'a'$"):
        models.named("c")


def test_annotators_of_other_packages_take_turns(recognizer, monkeypatch):
    assert isinstance(Model("a", recognizer).turn, nullcontext)
    monkeypatch.setattr("hyperspan.server.models.annotator", lambda name: annotator("none"))
    other = copy.copy(recognizer)
    other.annotator = "hanta"
    model = Model("a", other)
    with model.turn:
        assert model.turn.locked()
    assert not model.turn.locked()


def test_a_missing_annotator_is_said_at_once(recognizer, monkeypatch):
    def missing(name: str) -> None:
        raise MissingExtraError("The annotator 'hanta'", "HanTa", "annotators")

    monkeypatch.setattr("hyperspan.server.models.annotator", missing)
    with pytest.raises(MissingExtraError, match="pip install 'hanta"):
        Models({"a": recognizer})
