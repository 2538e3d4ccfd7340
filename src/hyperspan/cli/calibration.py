"""The reliability diagram of ``hyperspan evaluate --calibration``, for the terminal and as an image."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from hyperspan.errors import MissingExtraError, UsageError
from hyperspan.files import writing

if TYPE_CHECKING:
    from hyperspan.evaluation import Calibration

_WIDTH = 50
_FORMATS = ("png", "svg", "pdf")


def diagram(calibration: Calibration) -> str:
    """Return a table with a diagram: a bar for the share that is right, a mark for the mean probability."""
    lines = [f"  probability  mentions   mean  right  0{'█ right  | mean probability':^{_WIDTH - 1}}1"]
    for each in calibration.bins:
        strip = ["█"] * round(each.share_right * _WIDTH) + [" "] * (_WIDTH + 1)
        if each.n_mentions:
            strip[round(each.mean_prob * _WIDTH)] = "|"
        ratios = f"{each.mean_prob:5.3f}  {each.share_right:5.3f}" if each.n_mentions else "    -      -"
        bar = "".join(strip[: _WIDTH + 1]).rstrip()
        lines.append(f"  {each.low:.1f} to {each.high:.1f}   {each.n_mentions:8,}  {ratios}  {bar}".rstrip())
    lines.append(f"calibration error {calibration.error:.4f} over {calibration.n_mentions:,} predicted mentions")
    lines.append(
        f"by chance alone {calibration.by_chance:.4f}, and up to {calibration.most_by_chance:.4f} in 19 of 20 cases"
    )
    return "\n".join(lines)


def check_picture(path: Path | None) -> None:
    """Raise an error if an image cannot be drawn, before anything is read."""
    if path is None:
        return
    if path.suffix.lower().lstrip(".") not in _FORMATS:
        raise UsageError(f"--plot is {str(path)!r}; expected a name that ends with .png, .svg or .pdf")
    try:
        import matplotlib as _  # noqa: F401
    except ImportError:
        raise MissingExtraError("A plot", "matplotlib", "plots") from None


def draw_diagram(calibration: Calibration, path: Path) -> None:
    """Draw the reliability diagram with matplotlib."""
    from hyperspan.experiments.plotting import COLOURS, new_figure

    figure, (panel,) = new_figure(width=4.2, height=4.2)
    kept = [each for each in calibration.bins if each.n_mentions]
    panel.plot([0, 1], [0, 1], color="#888888", linewidth=0.8, linestyle="--", label="calibrated")
    panel.bar(
        [each.low + 0.05 for each in kept],
        [each.share_right for each in kept],
        0.092,
        color=COLOURS["shared"],
        alpha=0.35,
        label="share that is right",
    )
    probs, shares = [each.mean_prob for each in kept], [each.share_right for each in kept]
    panel.plot(probs, shares, "o", color=COLOURS["shared"], markersize=4)
    panel.set(xlim=(0, 1), ylim=(0, 1), xlabel="probability", ylabel="share that is right")
    panel.set_title(f"calibration error {calibration.error:.3f}, {calibration.n_mentions:,} mentions", fontsize=9)
    panel.legend(fontsize=8, frameon=False, loc="upper left")
    out = io.BytesIO()
    figure.savefig(out, format=path.suffix.lower().lstrip("."))
    with writing(path) as file:
        file.write(out.getvalue())
