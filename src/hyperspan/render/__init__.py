"""Mentions and hypergraphs as plain data, and as text, SVG and HTML."""

from hyperspan.render.lanes import Lane, lay_lanes
from hyperspan.render.terminal import draw_text

__all__ = ["Lane", "draw_text", "lay_lanes"]
