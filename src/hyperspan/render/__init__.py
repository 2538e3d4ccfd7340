"""Draw mentions and hypergraphs as text, SVG and HTML, and export them as plain data.

Examples
--------
>>> from hyperspan import Mention, Sentence
>>> sentence = Sentence("Infarctions or embolic".split(), [Mention("Finding", [(0, 1), (2, 3)], prob=0.8)])
>>> print(render(sentence))
Infarctions or embolic
━━━━━━━━━━━╌╌╌╌━━━━━━━ Finding 0.80
"""

from hyperspan.render.colours import TypeColours
from hyperspan.render.drawing import Drawing, render
from hyperspan.render.html import (
    html_head,
    html_heading,
    html_legend,
    html_pieces,
    html_sentence,
    html_style,
    html_tail,
)
from hyperspan.render.hypergraph import hypergraph_data, hypergraph_text
from hyperspan.render.hypergraph_svg import draw_hypergraph_svg, hypergraph_picture
from hyperspan.render.lanes import Lane, lay_lanes, mention_title, sentence_data, sentence_of_data
from hyperspan.render.picture import Picture, svg_document
from hyperspan.render.svg import draw_svg, sentence_picture
from hyperspan.render.terminal import draw_text

__all__ = [
    "Drawing",
    "Lane",
    "Picture",
    "TypeColours",
    "draw_hypergraph_svg",
    "draw_svg",
    "draw_text",
    "html_head",
    "html_heading",
    "html_legend",
    "html_pieces",
    "html_sentence",
    "html_style",
    "html_tail",
    "hypergraph_data",
    "hypergraph_picture",
    "hypergraph_text",
    "lay_lanes",
    "mention_title",
    "render",
    "sentence_data",
    "sentence_of_data",
    "sentence_picture",
    "svg_document",
]
