"""Plot the growth of the number of canonical encodings with the number of words, as SVG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from hyperspan.ambiguity.counts import STRUCTURES, canonical_encodings

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 640, 400, 60, 90, 40, 50
_DASHES = {"linear": "2 3", "mention": "8 3", "shared": "", "split": "12 3 2 3"}


def growth_svg(max_words: int = 30, max_components: int = 3) -> str:
    """Return a plot of log2 M(n) for every structure.

    Examples
    --------
    >>> growth_svg(4).splitlines()[0]
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 400" font-family="sans-serif" font-size="12">'
    """
    curves = {
        name: [math.log2(number) for number in canonical_encodings(name, max_words, max_components)]
        for name in STRUCTURES
    }
    return _svg(curves, max_words, f"Canonical encodings, mentions of at most {max_components} parts")


def _svg(curves: Mapping[str, Sequence[float]], max_words: int, title: str) -> str:
    top = max(max(values) for values in curves.values())
    across = (_WIDTH - _LEFT - _RIGHT) / max(1, max_words - 1)
    up = (_HEIGHT - _TOP - _BOTTOM) / top

    def place(n_words: float, value: float) -> tuple[float, float]:
        return _LEFT + across * (n_words - 1), _HEIGHT - _BOTTOM - up * value

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f"<title>{title}</title>",
        '<rect width="100%" height="100%" fill="white"/>',
        _text(_WIDTH / 2, 22, title, "middle"),
        _text(_LEFT + across * (max_words - 1) / 2, _HEIGHT - 12, "words", "middle"),
        _text(8, _TOP - 8, "log2 of their number", "start"),
    ]
    for value in _ticks(top):
        x, y = place(1, value)
        lines.append(f'<path d="M{x:.1f} {y:.1f}H{_WIDTH - _RIGHT}" stroke="#ddd"/>')
        lines.append(_text(x - 6, y + 4, f"{value:g}", "end"))
    for n_words in _ticks(max_words):
        if n_words >= 1:
            x, y = place(n_words, 0)
            lines.append(f'<path d="M{x:.1f} {y:.1f}v5" stroke="black"/>')
            lines.append(_text(x, y + 18, f"{n_words:g}", "middle"))
    labels: list[float] = []
    for name, values in sorted(curves.items(), key=lambda curve: -curve[1][-1]):
        points = " ".join("{:.1f},{:.1f}".format(*place(word, value)) for word, value in enumerate(values, start=1))
        dashes = f' stroke-dasharray="{_DASHES[name]}"' if _DASHES[name] else ""
        lines.append(f'<polyline points="{points}" fill="none" stroke="black" stroke-width="1.5"{dashes}/>')
        x, y = place(len(values), values[-1])
        y = max([y, *(label + 14 for label in labels)])
        labels.append(y)
        lines.append(_text(x + 6, y + 4, name, "start"))
    lines.append("</svg>")
    return "\n".join(lines) + "\n"


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'


def _ticks(top: float) -> list[float]:
    """Return about five round numbers from 0 to the top."""
    step = 10.0 ** math.floor(math.log10(max(top, 1) / 2))
    step *= next(factor for factor in (1, 2, 5, 10) if top / (step * factor) <= 6)
    return [step * index for index in range(int(top / step) + 1)]
