"""Options whose values are names in a registry, including names registered by other packages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer


def _known_structure(name: str) -> str:
    from hyperspan.structures import check_structure

    check_structure(name)
    return name


def _known_distribution(name: str) -> str:
    from hyperspan.errors import UsageError
    from hyperspan.inference import current_name, distribution_names

    name = current_name(name)
    if name not in distribution_names():
        raise UsageError(f"there is no distribution {name!r}; expected one of {', '.join(distribution_names())}")
    return name


def _known_decoder(name: str | None) -> str | None:
    from hyperspan.inference import check_decoder

    if name is not None:
        check_decoder(name)
    return name


def choices_of(callback: Callable[..., Any] | None) -> tuple[str, ...]:
    """Return the choices of an option with one of these callbacks; empty for others.

    The help text repeats the names, since looking them up would take a second at every start.
    """
    from hyperspan.inference import DECODERS, distribution_names
    from hyperspan.structures import structure_names

    if callback is _known_structure:
        return structure_names()
    if callback is _known_distribution:
        return distribution_names()
    return tuple(DECODERS) if callback is _known_decoder else ()


def structure_option(help: str) -> Any:
    """Return the option ``--structure`` with its own help text."""
    return typer.Option(
        "--structure", help=help, metavar="linear|mention|shared|split|segments", callback=_known_structure
    )


StructureOption = Annotated[str, structure_option("How mentions are encoded.")]
DistributionOption = Annotated[
    str,
    typer.Option(
        "--distribution",
        help="What probabilities are over; published is an old name for derivations.",
        metavar="encodings|mention-sets|derivations",
        callback=_known_distribution,
    ),
]
DecodeOption = Annotated[
    str | None,
    typer.Option(
        "--decode",
        help="The decoder; that of the model if not given.",
        metavar="probable|enough|all",
        callback=_known_decoder,
    ),
]
