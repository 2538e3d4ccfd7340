"""The exception tree: one root, a built-in beside each branch, messages that say where."""

from __future__ import annotations

import pickle
import shlex
import sys

import pytest

from hyperspan import errors
from hyperspan.errors import (
    AlignmentError,
    CorpusError,
    FeatureError,
    FormatError,
    HyperspanError,
    MentionError,
    MissingExtraError,
    StructureError,
    UsageError,
    WorkerError,
    install_command,
    location,
)


@pytest.mark.parametrize(
    ("error", "built_in"),
    [
        (MentionError, ValueError),
        (AlignmentError, MentionError),
        (CorpusError, ValueError),
        (FormatError, CorpusError),
        (StructureError, ValueError),
        (FeatureError, ValueError),
        (UsageError, ValueError),
        (WorkerError, RuntimeError),
        (MissingExtraError, ImportError),
    ],
)
def test_every_error_has_our_root_and_the_expected_built_in(error, built_in):
    assert issubclass(error, HyperspanError)
    assert issubclass(error, built_in)


def test_the_drawn_tree_names_every_class():
    classes = {name for name, value in vars(errors).items() if isinstance(value, type)}
    assert {name for name in classes if name in errors.__doc__} == classes


@pytest.mark.parametrize(
    ("path", "line", "expected"),
    [("note.ann", 12, "note.ann:12"), ("note.ann", None, "note.ann"), (None, 3, "<input>:3"), (None, None, "<input>")],
)
def test_place(path, line, expected):
    assert location(path, line) == expected


@pytest.mark.parametrize(
    ("path", "line", "expected"),
    [("note.ann", 12, "note.ann:12: odd"), ("note.ann", None, "note.ann: odd"), (None, None, "odd")],
)
def test_a_corpus_error_says_where(path, line, expected):
    error = CorpusError("odd", path=path, line=line)
    assert str(error) == expected
    assert (error.path, error.line, error.message) == (path, line, "odd")


def test_a_missing_extra_says_how_to_install_it():
    error = MissingExtraError("The server", "fastapi", "serve")
    assert str(error) == f"The server needs the package 'fastapi'. Install it with: {install_command('serve')}"


def test_what_to_install_is_named_so_that_it_works_wherever_we_came_from():
    words = shlex.split(install_command("serve"))
    assert words[:4] == [sys.executable, "-m", "pip", "install"]
    assert [word.partition(">")[0] for word in words[4:]] == ["fastapi", "h11", "starlette", "uvicorn"]
    assert shlex.split(install_command("nothing"))[4:] == ["hyperspan[nothing]"]


@pytest.mark.parametrize(
    "error", [FormatError("odd", path="note.ann", line=3), MissingExtraError("It", "HanTa", "hanta"), UsageError("no")]
)
def test_errors_travel_between_processes(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)
