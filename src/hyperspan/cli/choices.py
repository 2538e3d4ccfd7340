"""Options whose values are names in a registry: what is registered can be chosen, whoever registered it."""

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
    """Return the names that can be chosen where an option has one of these callbacks; nothing for others.

    What the help shows is written down there, since looking it up would take a second at every start.
    """
    from hyperspan.inference import DECODERS, distribution_names
    from hyperspan.structures import structure_names

    if callback is _known_structure:
        return structure_names()
    if callback is _known_distribution:
        return distribution_names()
    return tuple(DECODERS) if callback is _known_decoder else ()


def structure_option(help: str) -> Any:
    """Return the option ``--structure`` with a help of its own."""
    return typer.Option(
        "--structure", help=help, metavar="linear|mention|shared|split|segments", callback=_known_structure
    )


StructureOption = Annotated[str, structure_option("How mentions are written.")]
DistributionOption = Annotated[
    str,
    typer.Option(
        "--distribution",
        help="What probabilities are over; published is an old name of derivations.",
        metavar="encodings|mention-sets|derivations",
        callback=_known_distribution,
    ),
]
DecodeOption = Annotated[
    str | None,
    typer.Option(
        "--decode",
        help="How mentions are read; as the model was trained.",
        metavar="probable|enough|all",
        callback=_known_decoder,
    ),
]
