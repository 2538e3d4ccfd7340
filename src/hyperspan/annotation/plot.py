"""Plot learning curves (F1 by annotated words) as SVG."""

from __future__ import annotations

from collections.abc import Sequence

from hyperspan.annotation.simulation import Curve

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 640, 400, 60, 90, 40, 50
_DASHES = ("", "8 3", "2 3", "12 3 2 3")
_N_TICKS = 5


def curves_svg(curves: Sequence[Curve]) -> str:
    """Return a plot of mean learning curves.

    Examples
    --------
    >>> curves_svg([Curve("random", [100.0, 200.0], [0.2, 0.4], [0.0, 0.0], 200.0, 0.0)]).splitlines()[0]
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 400" font-family="sans-serif" font-size="12">'
    """
    all_words = [words for curve in curves for words in curve.words]
    all_f1 = [f1 for curve in curves for f1 in curve.f1]
    left, right, low, high = min(all_words), max(all_words), min(all_f1), max(all_f1)

    def place(words: float, f1: float) -> tuple[float, float]:
        across = (words - left) / max(right - left, 1e-9)
        up = (f1 - low) / max(high - low, 1e-9)
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * across, _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * up

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        "<title>Words annotated against F1</title>",
        '<rect width="100%" height="100%" fill="white"/>',
        _text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 12, "words annotated", "middle"),
        _text(8, _TOP - 12, "F1", "start"),
    ]
    for step in range(_N_TICKS + 1):
        words = left + (right - left) * step / _N_TICKS
        f1 = low + (high - low) * step / _N_TICKS
        x, y = place(words, f1)
        lines.append(f'<path d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}" stroke="#ddd"/>')
        lines.append(_text(_LEFT - 6, y + 4, f"{f1:.2f}", "end"))
        lines.append(f'<path d="M{x:.1f} {_HEIGHT - _BOTTOM}v5" stroke="black"/>')
        lines.append(_text(x, _HEIGHT - _BOTTOM + 18, f"{words:,.0f}", "middle"))
    labels: list[float] = []
    dashes = {curve.strategy: _DASHES[number % len(_DASHES)] for number, curve in enumerate(curves)}
    for curve in sorted(curves, key=lambda curve: -curve.f1[-1]):
        points = " ".join(
            "{:.1f},{:.1f}".format(*place(words, f1)) for words, f1 in zip(curve.words, curve.f1, strict=True)
        )
        dash = f' stroke-dasharray="{dashes[curve.strategy]}"' if dashes[curve.strategy] else ""
        lines.append(f'<polyline points="{points}" fill="none" stroke="black" stroke-width="1.5"{dash}/>')
        x, y = place(curve.words[-1], curve.f1[-1])
        y = max([y, *(label + 14 for label in labels)])
        labels.append(y)
        lines.append(_text(x + 6, y + 4, curve.strategy, "start"))
    return "\n".join([*lines, "</svg>"]) + "\n"


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'
