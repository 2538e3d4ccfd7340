"""Generate the command reference from the help texts: ``python -m hyperspan.cli.reference docs/cli.md``."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import typer
from typer.models import ArgumentInfo, OptionInfo

from hyperspan.cli.app import app
from hyperspan.cli.choices import choices_of
from hyperspan.files import writing

HEAD = """\
# The command line

Results go to stdout; progress, notes and warnings go to stderr, so a pipe only gets results. `--json` prints exactly
one JSON document. Progress bars and colours appear only on a terminal; `NO_COLOR` turns colours off. `python -m
hyperspan` is the same command, for where `hyperspan` is not on the path.

| exit code | means |
| --- | --- |
| 0 | success |
| 1 | a check failed: `check` found a problem, or `--min-f1` or a threshold was not reached |
| 2 | wrong usage or input; stderr says what is wrong and where |
| 129, 130, 143 | `train` was stopped by SIGHUP, Ctrl-C or SIGTERM, and has saved a checkpoint |

A corpus is a file or a folder in any of the [formats](formats.md); the format is recognised automatically, or given
with `--from`. The files at the top of a folder decide its format, or the files in its sub-folders if none of them is
recognised; formats with files for every document are read from sub-folders too. Files or folders named train, dev and
test are the splits.

This page is generated from the help texts of the commands (`make docs`).
"""


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument or option of a command."""

    names: tuple[str, ...]
    help: str
    default: str
    choices: tuple[str, ...]
    is_option: bool
    is_required: bool


def page() -> str:
    """Return the reference of all commands, as Markdown."""
    assert app.registered_callback is not None
    assert app.registered_callback.callback is not None
    parts = [HEAD, *_section("hyperspan", app.registered_callback.callback, "hyperspan [OPTIONS] COMMAND …")]
    for name, callback in commands(app):
        parts += _section(name, callback)
    return "\n".join(parts)


def commands(group: typer.Typer, prefix: str = "hyperspan") -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the full name of every command, and its function."""
    for command in group.registered_commands:
        assert command.callback is not None
        yield f"{prefix} {command.name or command.callback.__name__}", command.callback
    for inner in group.registered_groups:
        assert inner.typer_instance is not None
        yield from commands(inner.typer_instance, f"{prefix} {inner.name}")


def parameters(callback: Callable[..., Any]) -> Iterator[Parameter]:
    """Yield the arguments and options of a command."""
    hints = get_type_hints(callback, include_extras=True)
    for name, signature in inspect.signature(callback).parameters.items():
        kind, *notes = get_args(hints[name])
        info = next((note for note in notes if isinstance(note, OptionInfo | ArgumentInfo)), None)
        if info is None:
            continue
        is_required = signature.default is inspect.Parameter.empty
        is_option = isinstance(info, OptionInfo)
        yield Parameter(
            tuple(_names(info, name)) if is_option else (name.upper(),),
            info.help or "",
            "" if is_required else _default(signature.default),
            tuple(_choices(kind)) or choices_of(info.callback),
            is_option,
            is_required,
        )


def _names(info: OptionInfo | ArgumentInfo, name: str) -> Iterator[str]:
    # In Annotated, Typer treats the first value as a name, but stores it as the default.
    given = [text for text in (info.default, *(info.param_decls or ())) if isinstance(text, str)]
    for text in given or [f"--{name.replace('_', '-')}"]:
        yield from text.split("/")


def _section(name: str, callback: Callable[..., Any], usage: str | None = None) -> Iterator[str]:
    yield f"## `{name}`\n"
    found = list(parameters(callback))
    arguments = [one for one in found if not one.is_option]
    options = [one for one in found if one.is_option]
    for paragraph in inspect.cleandoc(callback.__doc__ or "").split("\n\n"):
        text = " ".join(paragraph.split())
        if text.startswith("Example: "):
            yield f"```sh\n{text.removeprefix('Example: ')}\n```\n"
        else:
            yield f"{_escaped(text)}\n"
    words = [one.names[0] if one.is_required else f"[{one.names[0]}]" for one in arguments]
    yield f"Usage: `{usage or ' '.join([name, *words, '[OPTIONS]'])}`\n"
    if arguments:
        yield "| argument | |\n| --- | --- |"
        for one in arguments:
            yield f"| `{one.names[0]}` | {_help(one)} |"
        yield ""
    yield "| option | | default |\n| --- | --- | --- |"
    for one in options:
        names = ", ".join(f"`{each}`" for each in one.names)
        required = "(required)" if one.is_required else f"`{one.default}`" if one.default else ""
        yield f"| {names} | {_help(one)} | {required} |"
    yield ""


def _help(parameter: Parameter) -> str:
    choices = f" One of {', '.join(f'`{choice}`' for choice in parameter.choices)}." if parameter.choices else ""
    return _escaped(parameter.help) + choices


def _default(value: object) -> str:
    if value is None or isinstance(value, bool) or value == ():
        return ""
    return str(value.value if isinstance(value, Enum) else value)


def _choices(kind: Any) -> Iterator[str]:
    if isinstance(kind, type) and issubclass(kind, Enum):
        yield from (str(member.value) for member in kind)
    elif get_origin(kind) is Literal:
        yield from map(str, get_args(kind))
    else:
        for inner in get_args(kind):
            yield from _choices(inner)


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    with writing(Path(sys.argv[1])) as file:
        file.write(page().encode())
