"""The page about the commands, made from their own help: ``python -m hyperspan.cli.reference > docs/cli.md``."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from typing import Any

import typer

from hyperspan.cli.app import app

HEAD = """\
# The command line

Results go to stdout; progress, notes and warnings to stderr, so a pipe only gets results. `--json` prints exactly one JSON
document. Bars and colours appear on a terminal only; `NO_COLOR` turns colours off.

| exit code | means |
| --- | --- |
| 0 | done |
| 1 | it ran, but what was checked does not hold: `check` found something, `--min-f1` was not reached |
| 2 | wrong usage or input; stderr has a sentence that says what and where |

A corpus is a file or a folder in any of the [formats](formats.md); the format is recognised, or given with `--from`. In a
folder the files at the top decide, sub-folders are read only if none of those is recognised, and files or folders named
train, dev and test are its splits.

This page is made from the commands themselves (`make docs`).
"""


def page() -> str:
    """Return the page about all commands, as Markdown."""
    root = typer.main.get_command(app)
    context = root.make_context("hyperspan", [], resilient_parsing=True)
    sections = ["\n".join(_section(root, context, is_root=True)), *_sections(root, context)]
    return "\n".join([HEAD, *sections])


def _sections(group: Any, context: Any) -> Iterator[str]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        inner = type(context)(command, info_name=name, parent=context)
        if hasattr(command, "list_commands"):
            yield from _sections(command, inner)
        else:
            yield "\n".join(_section(command, inner))


def _section(command: Any, context: Any, *, is_root: bool = False) -> Iterator[str]:
    arguments, options = [], []
    for parameter in command.get_params(context):
        (arguments if parameter.param_type_name == "argument" else options).append(parameter)
    words = [_argument_name(parameter) for parameter in arguments]
    usage = " ".join([context.command_path, *(["COMMAND"] if is_root else words), "[OPTIONS]"])
    yield f"## `{'hyperspan' if is_root else context.command_path}`\n"
    if not is_root:
        for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
            text = " ".join(paragraph.split())
            if text.startswith("Example: "):
                yield f"```sh\n{text.removeprefix('Example: ')}\n```\n"
            else:
                yield f"{_escaped(text)}\n"
    yield f"Usage: `{usage}`\n"
    if arguments:
        yield "| argument | |\n| --- | --- |"
        for parameter, word in zip(arguments, words, strict=True):
            yield f"| `{word}` | {_escaped(parameter.help or '')} |"
        yield ""
    yield "| option | | default |\n| --- | --- | --- |"
    for parameter in options:
        names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
        yield f"| {names} | {_help(parameter)} | {_default(parameter)} |"
    yield ""


def _argument_name(parameter: Any) -> str:
    return str(parameter.name).upper() + (" …" if parameter.nargs == -1 else "")


def _help(parameter: Any) -> str:
    choices = getattr(parameter.type, "choices", None)
    listed = " One of " + ", ".join(f"`{getattr(choice, 'value', choice)}`" for choice in choices) + "." if choices else ""
    required = " Required." if parameter.required else ""
    return _escaped(parameter.help or "") + listed + required


def _default(parameter: Any) -> str:
    value = parameter.default
    if value is None or value is False or value is ... or callable(value) or parameter.required:
        return ""
    return f"`{getattr(value, 'value', value)}`"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    sys.stdout.write(page())
