"""Usage lines and options as people know them."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from hyperspan.cli import app
from hyperspan.cli.reference import commands


def help_of(command: str) -> str:
    result = CliRunner().invoke(app, [*command.split(), "--help"], env={"COLUMNS": "120"})
    assert result.exit_code == 0
    return result.stdout


@pytest.mark.parametrize("command", ["", *(name.removeprefix("hyperspan ") for name, _ in commands(app))])
def test_no_braces_and_no_types_of_flags(command):
    shown = help_of(command)
    usage = next(line for line in shown.splitlines() if "Usage:" in line)
    assert "{" not in usage
    assert "<bool>" not in shown


def test_arguments_stand_in_capitals():
    assert "Usage: hyperspan predict [OPTIONS] MODEL INPUTS… " in help_of("predict")
    assert "Usage: hyperspan serve [OPTIONS] [MODEL…] " in help_of("serve")
    assert "Usage: hyperspan [OPTIONS] COMMAND … " in help_of("")
    assert "Usage: hyperspan ambiguity [OPTIONS] COMMAND … " in help_of("ambiguity")
