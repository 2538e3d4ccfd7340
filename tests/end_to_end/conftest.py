"""What tests of commands can use."""

from __future__ import annotations

import pytest

from hyperspan.cli import main


@pytest.fixture
def run(monkeypatch, capsys):
    """Run a command; return exit code, results and what is said to the person."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["hyperspan", *map(str, arguments)])
        try:
            main()
            code = 0
        except SystemExit as exit:
            code = int(exit.code or 0)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run
