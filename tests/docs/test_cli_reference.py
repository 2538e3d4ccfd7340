"""docs/cli.md says what the commands say."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from hyperspan.cli.app import app
from hyperspan.cli.console import OnErrorChoice
from hyperspan.cli.reference import commands, page, parameters
from hyperspan.inference import DECODERS, distribution_names
from hyperspan.structures import structure_names

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"


def test_the_page_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == page(), "make docs"


@pytest.mark.parametrize(("name", "callback"), list(commands(app)))
def test_the_page_has_what_help_has(name, callback):
    shown = CliRunner().invoke(app, [*name.split()[1:], "--help"], env={"COLUMNS": "300"}).stdout
    found = list(parameters(callback))
    assert found
    for parameter in found:
        for each in parameter.names:
            assert each.lower() in shown.lower(), f"{name}: {each}"
        for choice in parameter.choices:
            assert choice in shown, f"{name}: {parameter.names[0]} can be {choice}"
        assert parameter.help, f"{name}: {parameter.names[0]} has no help"


def test_how_parameters_are_read():
    def command(
        corpus: Annotated[Path, typer.Argument(help="What.")],
        on_error: Annotated[OnErrorChoice, typer.Option("--on-error", help="How.")] = OnErrorChoice.skip,
        max_parts: Annotated[int | None, typer.Option(help="Most.")] = None,
        deep: Annotated[bool, typer.Option("--deep/--flat", "-d", help="Shape.")] = True,
    ) -> None: ...

    found = list(parameters(command))
    assert [parameter.names for parameter in found] == [
        ("CORPUS",),
        ("--on-error",),
        ("--max-parts",),
        ("--deep", "--flat", "-d"),
    ]
    assert (found[0].is_required, found[0].is_option) == (True, False)
    assert (found[1].choices, found[1].default) == (("error", "skip", "widen"), "skip")


def test_what_is_registered_can_be_chosen():
    shown = {name: {one.names[0]: one.choices for one in parameters(callback)} for name, callback in commands(app)}
    for name in ("train", "demo", "draw"):
        assert shown[f"hyperspan {name}"]["--structure"] == structure_names()
    assert shown["hyperspan train"]["--distribution"] == distribution_names()
    for name in ("predict", "explain"):
        assert shown[f"hyperspan {name}"]["--decode"] == tuple(DECODERS)
