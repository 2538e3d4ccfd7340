"""Plots of results, if matplotlib is installed."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hyperspan.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {"linear": "#b35806", "shared": "#2166ac", "split": "#1b7837", "mention": "#762a83", "segments": "#c51b7d"}
"""Colours that can be distinguished without red and green; every line also has its own marker."""

MARKS = {"linear": "s", "shared": "o", "split": "^", "mention": "D", "segments": "v"}

HATCHES = ("", "//", "..", "xx")

WIDEST_LABEL = 1.9
"""The width of the longest label of a legend, in inches."""


def new_figure(n_panels: int = 1, *, width: float = 6.4, height: float = 4.0) -> tuple[Figure, Sequence[Axes]]:
    """Return an empty figure and its panels, side by side.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("A plot", "matplotlib", "plots") from None
    figure = Figure(figsize=(width, height), layout="constrained")
    panels = figure.subplots(1, n_panels, squeeze=False)[0]
    for panel in panels:
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(axis="y", color="#dddddd", linewidth=0.6)
        panel.set_axisbelow(True)
    return figure, list(panels)


def legend_above(figure: Figure, panel: Axes) -> None:
    """Put the legend above the whole figure, where it hides nothing."""
    handles, labels = panel.get_legend_handles_labels()
    fitting = max(1, int(figure.get_figwidth() / WIDEST_LABEL))
    columns = min(len(labels), fitting)
    figure.legend(handles, labels, loc="outside upper center", ncols=columns, fontsize=8, frameon=False)


def svg_of(plot: Callable[[Mapping[str, Any]], Figure], document: Mapping[str, Any]) -> bytes:
    """Return a plot as SVG: the same bytes for the same data."""
    try:
        from matplotlib import rc_context
    except ImportError:
        raise MissingExtraError("A plot", "matplotlib", "plots") from None
    out = io.BytesIO()
    with rc_context({"svg.hashsalt": document["experiment"], "font.size": 9}):
        plot(document).savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()


def bars(
    panel: Axes,
    groups: Sequence[str],
    series: Mapping[str, Sequence[float | None]],
    colours: Sequence[str],
    hatches: Sequence[str] = HATCHES,
) -> None:
    """Draw grouped bars: a group for each name, with a bar for each series; None leaves a bar out."""
    width = 0.8 / max(1, len(series))
    for number, (name, values) in enumerate(series.items()):
        places = [group + (number - (len(series) - 1) / 2) * width for group in range(len(groups))]
        kept = [(place, value) for place, value in zip(places, values, strict=True) if value is not None]
        panel.bar(
            [place for place, _ in kept],
            [value for _, value in kept],
            width * 0.92,
            label=name,
            color=colours[number % len(colours)],
            hatch=hatches[number % len(hatches)],
            edgecolor="white",
            linewidth=0.5,
        )
    panel.set_xticks(range(len(groups)), groups)
