"""Options whose values are names in a registry: what is registered can be chosen, whoever registered it."""

from __future__ import annotations

from typing import Annotated

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


StructureOption = Annotated[
    str,
    typer.Option(
        "--structure",
        help="How mentions are written.",
        metavar="linear|mention|shared|split",
        callback=_known_structure,
    ),
]
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
