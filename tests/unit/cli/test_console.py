"""What the commands share: how they speak, what they print, and what hostile text cannot do."""

from __future__ import annotations

import io
import json
import logging
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperspan.cli.console import notes_of, print_json, printable, progress, say, set_quiet, stdout
from hyperspan.diagnostics import Diagnostics


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Blood … ÄÖ 漢字", "Blood … ÄÖ 漢字"),
        ("a\nb\tc", "a\nb\tc"),
        ("\x1b[2Jgone", "\\x1b[2Jgone"),
        ("over\rwritten", "over\\rwritten"),
        ("bell\x07 null\x00", "bell\\x07 null\\x00"),
        ("turned \u202e around", "turned \\u202e around"),
        ("half \ud800", "half \\ud800"),
    ],
)
def test_printable(text, shown):
    assert printable(text) == shown


@given(st.text(st.characters(), max_size=40))
def test_printable_leaves_nothing_that_acts(text):
    shown = printable(text)
    assert all(character.isprintable() or character in "\n\t" for character in shown)
    assert printable(shown) == shown
    shown.encode("utf-8")


def test_speaks_on_stderr_only(capsys):
    say.info("done")
    say.note("odd")
    say.warning("bad\x1b")
    say.error("wrong")
    spoken = capsys.readouterr()
    assert spoken.out == ""
    assert spoken.err == "done\nnote: odd\nwarning: bad\\x1b\nerror: wrong\n"


def test_quiet_leaves_errors(capsys):
    set_quiet(True)
    say.info("done")
    say.note("odd")
    say.warning("bad")
    say.error("wrong")
    assert capsys.readouterr().err == "error: wrong\n"


@pytest.mark.parametrize(("no_color", "is_coloured"), [(None, True), ("1", False)])
def test_colours_on_a_terminal_unless_told_otherwise(monkeypatch, no_color, is_coloured):
    monkeypatch.delenv("NO_COLOR", raising=False)
    if no_color:
        monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setattr(sys, "stderr", Terminal())
    say.error("wrong")
    assert ("\x1b[31m" in sys.stderr.getvalue()) == is_coloured
    assert "wrong" in sys.stderr.getvalue()


def diagnostics_of(n_diagnostics: int) -> Diagnostics:
    diagnostics = Diagnostics("skip")
    for number in range(1, n_diagnostics + 1):
        diagnostics.report("reversed-part", f"part '{number} 0' ends before it starts", path="a.ann", line=number)
    return diagnostics


def test_findings_are_said_once_with_a_total(capsys):
    say.diagnostics(diagnostics_of(2))
    assert capsys.readouterr().err.splitlines() == [
        "warning: skipped with 2 problems: 2 reversed-part",
        "  a.ann:1: part '1 0' ends before it starts [reversed-part]",
        "  a.ann:2: part '2 0' ends before it starts [reversed-part]",
    ]


def test_what_was_widened_was_not_skipped(capsys):
    diagnostics = Diagnostics("widen")
    for _ in range(2):
        diagnostics.report("inside-token", "the mention has a boundary inside a token", path="a.ann", line=1)
    diagnostics.report("reversed-part", "part '2 0' ends before it starts", path="a.ann", line=2)
    say.diagnostics(diagnostics)
    first = capsys.readouterr().err.splitlines()[0]
    assert first == "warning: widened 2 mentions to whole words; skipped with 1 problem: 1 reversed-part"


def test_of_many_findings_five_are_shown(capsys):
    say.diagnostics(diagnostics_of(6))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "warning: skipped with 6 problems: 6 reversed-part"
    assert len(lines) == 7
    assert lines[-1] == "  … ('hyperspan check' lists them all)"


def test_findings_cannot_steer_the_terminal(capsys):
    diagnostics = Diagnostics("skip")
    diagnostics.report("bad", "seen: \x1b[2J", path="a\x07.ann", line=1)
    say.diagnostics(diagnostics)
    assert "  a\\x07.ann:1: seen: \\x1b[2J [bad]\n" in capsys.readouterr().err


def test_no_findings_no_words(capsys):
    say.diagnostics(Diagnostics())
    assert capsys.readouterr() == ("", "")


def test_notes_are_said_with_how_often_they_came(capsys):
    diagnostics = Diagnostics()
    for number in range(1200):
        diagnostics.note("no-offsets", f"case {number}", path="a.txt")
    diagnostics.note("no-names", "no names")
    say.diagnostics(diagnostics)
    assert capsys.readouterr().err == "note: no names\nnote: case 0 (1,200 times)\n"
    assert notes_of(diagnostics) == [
        {"kind": "no-names", "count": 1, "message": "no names", "path": None},
        {"kind": "no-offsets", "count": 1200, "message": "case 0", "path": "a.txt"},
    ]


def test_what_the_library_logs_is_said_once(capsys):
    set_quiet(False)
    set_quiet(False)
    log = logging.getLogger("hyperspan.somewhere")
    log.warning("%d templates are skipped", 3)
    log.error("no room")
    log.info("9 of 56 templates are skipped")
    log.info("9 of 56 templates are skipped")
    log.debug("not of interest")
    expected = "warning: 3 templates are skipped\nerror: no room\nnote: 9 of 56 templates are skipped\n"
    assert capsys.readouterr().err == expected


def test_quiet_silences_the_library_too(capsys):
    set_quiet(True)
    log = logging.getLogger("hyperspan.somewhere")
    log.warning("templates are skipped")
    log.error("no room")
    assert capsys.readouterr().err == "error: no room\n"


def test_one_json_document_with_whatever_a_table_holds(capsys):
    data = {"counts": (1, 2**200), "types": {"Ä": 1}, "none": None, "names": dict.fromkeys("ab").keys()}
    print_json(data)
    printed = capsys.readouterr().out
    assert json.loads(printed) == {"counts": [1, 2**200], "types": {"Ä": 1}, "none": None, "names": ["a", "b"]}
    assert '"Ä"' in printed
    assert printed.endswith("}\n")


@pytest.mark.parametrize("data", [{"word": "Ödem"}, {"word": "half \ud800"}], ids=["not ASCII", "no text at all"])
def test_json_where_stdout_cannot_show_it(monkeypatch, data):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    print_json(data)
    sys.stdout.flush()
    assert json.loads(raw.getvalue()) == data


def test_results_are_not_wrapped_in_a_pipe(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    stdout().print("word " * 30)
    assert capsys.readouterr().out == "word " * 30 + "\n"


def test_progress_is_silent_without_a_terminal(capsys):
    assert list(progress(iter("abc"), "reading")) == ["a", "b", "c"]
    assert capsys.readouterr() == ("", "")


def test_progress_shows_a_bar_on_a_terminal_unless_quiet(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert list(progress("abc", "reading", total=3)) == ["a", "b", "c"]
    assert "reading" in sys.stderr.getvalue()
    set_quiet(True)
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert list(progress("abc", "reading", total=3)) == ["a", "b", "c"]
    assert sys.stderr.getvalue() == ""
