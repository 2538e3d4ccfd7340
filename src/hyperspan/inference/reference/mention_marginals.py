"""The readable reference implementation of mention marginals: clamped sums in log space.

It is correct for any scores, so it is also used where scaled products would lose precision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from hyperspan.inference.automaton import Automaton
from hyperspan.inference.numba.log_space import log_messages
from hyperspan.inference.numba.mention_marginals import Bounds
from hyperspan.inference.reference.automaton import arcs
from hyperspan.mentions import Mention, Span
from hyperspan.structures.staircase import END, NO_START, START, STAY, STEP, Link, Staircase, links_of

State = TypeVar("State")
Path = tuple[tuple[int, int], ...]
"""Words and nodes from the start of a mention."""


def probable_paths(
    n_words: int,
    starts: Iterable[tuple[int, State]],
    extend: Callable[[State, Link, bool], tuple[float, State]],
    bounds: Bounds,
) -> tuple[list[tuple[Path, float]], bool]:
    """Return every path whose probability is at least its threshold, and whether the search was truncated.

    ``starts`` are words where a mention may start, each with a state. ``extend`` gets the state of a path so far, its
    next link and whether it is the first; it returns the probability of the longer path, and its state. A further link
    never makes a path more probable. Each link tried counts as a step.
    """
    found: list[tuple[Path, float]] = []
    n_steps = 0
    for start, at_start in starts:
        waiting: list[tuple[Path, State]] = [(((start, 0),), at_start)]
        while waiting:
            path, state = waiting.pop()
            word, node = path[-1]
            for child in (END, STAY, STEP):  # a stack: the last one is processed first
                if child != END and word + 1 == n_words:
                    continue
                if n_steps == bounds.most_steps:
                    return found, True
                n_steps += 1
                reached = min(node + (child == STEP), len(bounds.threshold) - 1)
                prob, after = extend(state, (word, node, child), len(path) == 1)
                if prob == 0.0 or prob < (bounds.end_threshold[node] if child == END else bounds.threshold[reached]):
                    continue
                if child != END:
                    waiting.append(((*path, (word + 1, reached)), after))
                elif len(found) == bounds.limit:
                    return found, True
                else:
                    found.append((path, prob))
    return found, False


class ClampedSums:
    """Sums over the encodings of one sentence and staircase that contain given links.

    The automaton is the staircase's; scores have shape (n_words, n_labels).
    """

    def __init__(self, staircase: Staircase, automaton: Automaton, scores: NDArray[np.float64]) -> None:
        self.staircase = staircase
        self.scores = scores
        self.n_phases = automaton.n_phases
        self.messages = log_messages(automaton, scores)
        self._arcs = [tuple(map(np.array, zip(*phase, strict=True))) for phase in arcs(automaton)]

    def log_prob(self, parts: Sequence[Span]) -> float:
        """Return the log probability of the mention with these parts."""
        if self.messages.log_total == -np.inf:
            return -np.inf
        message = self.messages.log_alpha[parts[0][0] * self.n_phases]
        for link in links_of(parts):
            message = self.across(message, link, is_first=link[0] == parts[0][0])
        return self._log_share(message, parts[-1][1])

    def probable(self, type: str, bounds: Bounds) -> tuple[list[Mention], bool]:
        """Return every probable mention, with the given type, and whether the search was truncated."""
        if self.messages.log_total == -np.inf:
            return [], False
        starts = np.flatnonzero(self.messages.marginals[:, START] >= bounds.threshold[0]).tolist()
        before = [(start, self.messages.log_alpha[start * self.n_phases]) for start in starts]
        paths, was_cut = probable_paths(len(self.scores), before, self._extend, bounds)
        return [self.staircase.mention(type, path, prob) for path, prob in paths], was_cut

    def _extend(self, message: NDArray[np.float64], link: Link, is_first: bool) -> tuple[float, NDArray[np.float64]]:
        word, node, child = link
        if not self.staircase.children(node) & child:
            return 0.0, message
        after = self.across(message, link, is_first=is_first)
        return float(np.exp(min(0.0, self._log_share(after, word + 1)))), after

    def across(self, message: NDArray[np.float64], link: Link, *, is_first: bool) -> NDArray[np.float64]:
        """Advance a forward message over the word of a link, which must be used; a mention starts at its first word."""
        word, node, child = link
        allowed = np.ones(self.scores.shape[1], dtype=np.bool_)
        for label, (parent, children) in enumerate(self.staircase.edges, start=2):
            allowed[label] = parent != node or bool(children & child)
        allowed[NO_START] = not is_first
        scores = np.where(allowed, self.scores[word], -np.inf)
        for source, target, labels, _ in self._arcs:
            values = message[source] + np.where(labels < 0, 0.0, scores[labels])
            message = np.full(len(message), -np.inf)
            np.logaddexp.at(message, target, values)
        return message

    def _log_share(self, message: NDArray[np.float64], border: int) -> float:
        """Return the log of the clamped sum's share of the total at a word border."""
        product = message + self.messages.log_beta[border * self.n_phases]
        return float(np.logaddexp.reduce(product) - self.messages.log_total)
