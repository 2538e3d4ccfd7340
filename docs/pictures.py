"""Draw the pictures of the documentation: ``python docs/pictures.py`` writes them into ``docs/pictures``."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hyperspan import Mention, Sentence
from hyperspan.ambiguity.plot import growth_svg
from hyperspan.inference import ScoreBatch, distribution
from hyperspan.render import draw_hypergraph_svg, draw_svg, hypergraph_data
from hyperspan.structures import structure

FOLDER = Path(__file__).parent / "pictures"


def sentence(text: str, *mentions: list[tuple[int, int]]) -> Sentence:
    """Return a sentence with mentions of one type."""
    return Sentence(text.split(), [Mention("Finding", parts) for parts in mentions])


LACERATION = sentence(
    "EGD showed hiatal hernia and vertical laceration in distal esophagus with blood in stomach and overlying lac .",
    [(2, 4)],
    [(6, 7), (9, 10)],
    [(11, 14)],
    [(13, 14), (16, 17)],
)
ESOPHAGUS = sentence("laceration in distal esophagus", [(0, 1), (3, 4)])
INFARCTIONS = sentence("Infarctions either water shed or embolic", [(0, 1)], [(0, 1), (2, 4)], [(0, 1), (5, 6)])
STOMACH = sentence("blood in stomach and overlying lac", [(0, 3)], [(2, 3), (5, 6)])
ELSEWHERE = sentence("blood in stomach and overlying lac", [(0, 3)], [(2, 3), (4, 6)])
CROSSING = sentence("chest wall pain", [(0, 2)], [(1, 3)])


def pictures() -> dict[str, str]:
    """Return every picture by the name of its file."""
    return {
        "mentions.svg": draw_svg(LACERATION),
        "tags.svg": encoded(INFARCTIONS, "linear"),
        "one-mention.svg": encoded(ESOPHAGUS, "shared"),
        "three-mentions.svg": encoded(INFARCTIONS, "shared"),
        "joined.svg": encoded(STOMACH, "shared"),
        "split.svg": encoded(STOMACH, "split"),
        "shared-node.svg": encoded(CROSSING, "shared"),
        "probabilities.svg": probabilities(),
        "growth.svg": growth_svg(),
    }


def encoded(of: Sentence, name: str) -> str:
    """Draw the encoding of a sentence's mentions."""
    chosen = structure(name, ["Finding"])
    return draw_hypergraph_svg(hypergraph_data(chosen, of.tokens, chosen.encode(of.mentions, len(of)).encoding))


def probabilities() -> str:
    """Draw the best structure under the scores of the page's example, and what else is probable."""
    shared = structure("shared", ["Finding"])
    scores = np.full((len(STOMACH), shared.n_labels), -3.0)
    for of, score in ((ELSEWHERE, 2.9), (STOMACH, 3.0)):
        for word, label in shared.encode(of.mentions, len(of)).encoding:
            scores[word, label] = score
    model = distribution(shared, ScoreBatch.of_sentence(scores))
    (best,) = model.best()
    return draw_hypergraph_svg(
        hypergraph_data(shared, STOMACH.tokens, best.edges, expected=model.marginals().edges, min_expected=0.1)
    )


def main() -> None:
    """Write them all, and remove what is no longer drawn."""
    FOLDER.mkdir(exist_ok=True)
    drawn = pictures()
    for path in FOLDER.glob("*.svg"):
        if path.name not in drawn:
            path.unlink()
    for name, svg in drawn.items():
        (FOLDER / name).write_text(svg, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
