"""Plain usage lines such as ``hyperspan predict [OPTIONS] MODEL INPUT``, and flags without a type."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup


class _Plain:
    """Writes arguments in capitals, and flags without a type."""

    params: list[Any]
    options_metavar: str | None

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for parameter in self.params:
            if getattr(parameter, "is_flag", False) and parameter.metavar is None:
                parameter.metavar = ""
            elif isinstance(parameter, TyperArgument) and parameter.metavar is None:
                parameter.metavar = str(parameter.name).upper()

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option that shows the help."""
        option = super().get_help_option(ctx)  # type: ignore[misc]
        if option is not None:
            option.metavar = ""
        return option

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return what follows the name of the command in the usage line."""
        pieces = [self.options_metavar] if self.options_metavar else []
        for parameter in self.params:
            if isinstance(parameter, TyperArgument):
                name = f"{parameter.metavar}{'…' if parameter.nargs != 1 else ''}"
                pieces.append(name if parameter.required else f"[{name}]")
        return pieces


class PlainCommand(_Plain, TyperCommand):
    """A command with plain help."""


class PlainGroup(_Plain, TyperGroup):
    """A group of commands with plain help."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return what follows the name of the command in the usage line."""
        return [*super().collect_usage_pieces(ctx), "COMMAND …"]


def make_plain(app: typer.Typer) -> None:
    """Give an application and all its commands plain help."""
    app.info.cls = PlainGroup
    for command in app.registered_commands:
        command.cls = PlainCommand
    for group in app.registered_groups:
        group.cls = PlainGroup
        if group.typer_instance is not None:
            make_plain(group.typer_instance)
