"""SVG pictures and documents, without scripts or third-party hosts, in light and dark colours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hyperspan.render.colours import DARK, FAINT, INK, LIGHT, PAPER, QUIET
from hyperspan.render.visible import cut, xml_text

MONOSPACE = "ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace"
_LONGEST_TITLE = 1000
_SPACE_BETWEEN = 12.0


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing before it becomes a document.

    Parameters
    ----------
    width, height : float
        In pixels.
    body : tuple of str
        SVG elements, one per line.
    title, description : str
        The text alternative for readers who cannot see it.
    """

    width: float
    height: float
    body: tuple[str, ...]
    title: str
    description: str = ""


def svg_document(pictures: Sequence[Picture], *, title: str | None = None) -> str:
    """Return a standalone SVG document with pictures below one another.

    Examples
    --------
    >>> svg = svg_document([Picture(100, 20, ('<path d="M0 0H9"/>',), "a line")])
    >>> svg.startswith('<svg xmlns="http://www.w3.org/2000/svg"'), "<title>a line</title>" in svg
    (True, True)
    """
    width = max((picture.width for picture in pictures), default=1.0)
    height = sum(picture.height for picture in pictures) + _SPACE_BETWEEN * max(0, len(pictures) - 1)
    if title is None:
        title = pictures[0].title if len(pictures) == 1 else f"{len(pictures)} sentences"
    description = pictures[0].description if len(pictures) == 1 else ""
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="hs" role="img" width="{px(width)}" height="{px(height or 1)}" '
        f'viewBox="0 0 {px(width)} {px(height or 1)}" aria-label="{_said(title)}">',
        f"<title>{_said(title)}</title>",
    ]
    if description:
        lines.append(f"<desc>{_said(description)}</desc>")
    lines += [f"<style>{svg_style()}</style>", '<rect class="hs-paper" width="100%" height="100%"/>']
    if len(pictures) == 1:
        lines.extend(pictures[0].body)
    else:
        lines.extend(_stacked(pictures))
    lines.append("</svg>")
    return "\n".join(lines) + "\n"


def _stacked(pictures: Iterable[Picture]) -> Iterable[str]:
    top = 0.0
    for picture in pictures:
        yield f'<g transform="translate(0 {px(top)})">'
        yield f"<title>{_said(picture.title)}</title>"
        yield from picture.body
        yield "</g>"
        top += picture.height + _SPACE_BETWEEN


def _said(text: str) -> str:
    return xml_text(cut(text, _LONGEST_TITLE))


def svg_style() -> str:
    """Return the style of all drawings. Every class begins with ``hs``, so that it can be used in any page."""
    return _rules(0, LIGHT) + f"@media screen and (prefers-color-scheme:dark){{{_rules(1, DARK)}}}" + _SHAPES


def _rules(scheme: int, colours: Sequence[str]) -> str:
    rules = [
        f".hs-paper{{fill:{PAPER[scheme]}}}",
        f".hs text{{fill:{INK[scheme]};stroke:none}}",
        f".hs .hs-quiet{{fill:{QUIET[scheme]}}}",
        f".hs .hs-halo{{stroke:{PAPER[scheme]}}}",
        f".hs-frame{{stroke:{QUIET[scheme]};fill:none}}",
        f".hs-faint{{stroke:{FAINT[scheme]};fill:none}}",
        f".hs-ghost{{fill:{FAINT[scheme]}}}",
        f".hs-node{{fill:{PAPER[scheme]}}}",
    ]
    for index, colour in enumerate(colours):
        rules.append(f".hs-c{index}{{stroke:{colour};fill:{colour}}}.hs text.hs-c{index}{{fill:{colour}}}")
    return "".join(rules)


_SHAPES = (
    f".hs text{{font-family:{MONOSPACE}}}"
    ".hs-line{fill:none}"
    ".hs-bar{stroke:none}"
    ".hs-open{fill-opacity:0}"
    ".hs .hs-halo{stroke-width:3px;paint-order:stroke;stroke-linejoin:round}"
)


def px(number: float) -> str:
    """Format a length with at most two decimals.

    Examples
    --------
    >>> px(3.0), px(8.4000001), px(0.125)
    ('3', '8.4', '0.12')
    """
    return f"{number:.2f}".rstrip("0").rstrip(".")
