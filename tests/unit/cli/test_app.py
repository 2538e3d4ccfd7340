"""The application: start-up, errors, quiet, debug."""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
import textwrap

import pytest
from typer.testing import CliRunner

from hyperspan import __version__
from hyperspan.cli import app
from hyperspan.cli.console import print_json, printable, say, set_quiet

HEAVY = ("numba", "llvmlite", "scipy", "numpy", "torch", "spacy", "sklearn", "bioc", "syntok", "starlette", "fastapi")


@pytest.fixture(autouse=True)
def _speak_again():
    yield
    set_quiet(False)


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, env={**os.environ, **environment}, check=False
    )


def python(code: str) -> subprocess.CompletedProcess[str]:
    return run("-c", textwrap.dedent(code))


def hyperspan(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return run("-m", "hyperspan", *map(str, arguments), **environment)


@pytest.mark.parametrize("arguments", ["[]", "['--help']", "['stats', '--help']"])
def test_starting_loads_nothing_heavy(arguments):
    code = f"""
        import sys
        if {arguments}:
            from hyperspan.cli import app
            try:
                app({arguments})
            except SystemExit:
                pass
        else:
            import hyperspan
        print(sorted(set({HEAVY!r}) & set(sys.modules)), file=sys.stderr)
    """
    done = python(code)
    assert done.returncode == 0
    assert done.stderr.strip() == "[]"


def test_importing_the_package_does_not_load_the_command_line():
    done = python("import sys, hyperspan; print({'typer', 'rich', 'orjson'} & set(sys.modules))")
    assert done.stdout.strip() == "set()"


def test_the_version():
    assert CliRunner().invoke(app, ["--version"]).stdout == f"hyperspan {__version__}\n"


def test_every_command_has_help_with_an_example():
    names = {command.name for command in app.registered_commands}
    assert {"demo", "check", "stats", "convert", "evaluate", "features", "brown"} <= names
    for name in sorted(names):
        result = CliRunner().invoke(app, [name, "--help"], env={"COLUMNS": "200"})
        assert result.exit_code == 0
        assert re.search(rf"Example: .*hyperspan {name} ", result.stdout), name


def test_a_mistake_ends_with_a_sentence_and_2(tmp_path):
    done = hyperspan("stats", tmp_path / "nowhere")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"error: {tmp_path}/nowhere: there is no such file or folder\n"


def test_debug_brings_the_traceback_back(tmp_path):
    done = hyperspan("--debug", "stats", tmp_path / "nowhere")
    assert "Traceback" in done.stderr
    assert "FormatError" in done.stderr


def test_wrong_usage_is_2():
    assert hyperspan("stats").returncode == 2
    assert hyperspan("nothing-like-this").returncode == 2


def test_an_error_of_the_system_is_a_sentence_too(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"tokens": ["no"]}\n')
    (tmp_path / "file").write_text("")
    done = hyperspan("convert", tmp_path / "a.jsonl", tmp_path / "file" / "out.jsonl")
    assert done.returncode == 2
    assert "error: cannot write" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_reader_that_goes_away_is_no_mistake(tmp_path):
    (tmp_path / "a.jsonl").write_text("{}\n" * 5000)
    process = subprocess.Popen(
        [sys.executable, "-m", "hyperspan", "check", str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()
    assert process.wait() == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no such device")
def test_output_that_cannot_be_written(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"tokens": ["no"]}\n')
    command = f"{sys.executable} -m hyperspan stats {tmp_path}"
    full = subprocess.run(["sh", "-c", f"{command} > /dev/full"], capture_output=True, text=True, check=False)
    assert (full.returncode, full.stderr) == (2, "error: No space left on device\n")
    closed = subprocess.run(["sh", "-c", f"{command} >&-"], capture_output=True, text=True, check=False)
    assert (closed.returncode, closed.stderr) == (0, "")


def test_names_that_are_not_utf8_and_narrow_encodings(tmp_path):
    folder = os.fsencode(tmp_path) + b"/\xff"
    os.mkdir(folder)
    with open(folder + b"/a.jsonl", "wb") as file:
        file.write('{"tokens": "é"}\n'.encode())
    for encoding in ("utf-8", "ascii"):
        done = hyperspan("check", os.fsdecode(folder), "--json", PYTHONIOENCODING=encoding)
        assert done.returncode == 1
        assert json.loads(done.stdout)["total"] == 1
        done = hyperspan("check", os.fsdecode(folder), PYTHONIOENCODING=encoding)
        assert (done.returncode, "Traceback" in done.stderr) == (1, False)


def test_warnings_of_the_library_are_said_once(capsys):
    set_quiet(False)
    set_quiet(False)
    logging.getLogger("hyperspan.features").warning("no clusters: %d templates are left out", 3)
    assert capsys.readouterr().err == "warning: no clusters: 3 templates are left out\n"


def test_quiet_silences_all_but_errors(capsys):
    set_quiet(True)
    logging.getLogger("hyperspan.features").warning("no clusters")
    say.info("progress")
    say.note("a note")
    say.warning("a warning")
    logging.getLogger("hyperspan.features").error("broken")
    say.error("an error")
    assert capsys.readouterr().err == "error: broken\nerror: an error\n"


def test_printable_shows_what_would_steer_a_terminal():
    assert printable("a\x1b[2J\u202eb\ud800é\n") == "a\\x1b[2J\\u202eb\\ud800é\n"


def test_json_keeps_huge_integers(capsys):
    print_json({"count": 2**200, "parts": ((0, 1),)})
    assert json.loads(capsys.readouterr().out) == {"count": 2**200, "parts": [[0, 1]]}
