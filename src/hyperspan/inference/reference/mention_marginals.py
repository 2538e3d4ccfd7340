"""How probable mentions are, by clamped sums in log space: what the kernels of `mention_marginals` compute.

Written to be read, and right for any scores: it also does the work where scaled products would lose something.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hyperspan.inference.automaton import Automaton
from hyperspan.inference.numba.log_space import log_messages
from hyperspan.inference.reference.automaton import arcs
from hyperspan.mentions import Span
from hyperspan.structures.staircase import END, NO_START, STAY, STEP, Link, Staircase, links_of


class ClampedSums:
    """Sums over the encodings of one sentence and staircase that contain given links.

    Parameters
    ----------
    staircase : Staircase
    automaton : Automaton
        The staircase's.
    scores : float64 array of shape (n_words, n_labels)
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

    def probable(
        self, threshold: float, most_steps: int, limit: int
    ) -> tuple[list[tuple[tuple[Span, ...], float]], bool]:
        """Return the parts and the probability of every mention at least as probable as the threshold.

        Also returns whether the search was cut short, after so many words advanced over or mentions found.
        """
        found: list[tuple[tuple[Span, ...], float]] = []
        if self.messages.log_total == -np.inf:
            return found, False
        n_words, n_steps = len(self.scores), 0
        starts = np.flatnonzero(self.messages.marginals[:, NO_START + 1] >= threshold).tolist() if n_words else []
        for start in starts:
            waiting = [((start, 0),)]
            messages = {waiting[0]: self.messages.log_alpha[start * self.n_phases]}
            while waiting:
                path = waiting.pop()
                (word, node), message = path[-1], messages.pop(path)
                for child in (END, STEP, STAY):
                    if not self.staircase.children(node) & child or (child != END and word + 1 == n_words):
                        continue
                    if n_steps >= most_steps or len(found) >= limit:
                        return found, True
                    n_steps += 1
                    after = self.across(message, (word, node, child), is_first=len(path) == 1)
                    prob = float(np.exp(min(0.0, self._log_share(after, word + 1))))
                    if prob < threshold or prob == 0.0:
                        continue
                    if child == END:
                        found.append((self.staircase.mention("", path).parts, prob))
                    else:
                        longer = (*path, (word + 1, node + (child == STEP)))
                        waiting.append(longer)
                        messages[longer] = after
        return found, False

    def across(self, message: NDArray[np.float64], link: Link, *, is_first: bool) -> NDArray[np.float64]:
        """Take a forward message across the word of a link, which must be used; a mention starts at its first word."""
        word, node, child = link
        allowed = np.ones(self.scores.shape[1], dtype=np.bool_)
        for label, (parent, children) in enumerate(self.staircase.edges, start=2):
            allowed[label] = parent != node or bool(children & child)
        allowed[NO_START] = not is_first
        scores = np.where(allowed, self.scores[word], -np.inf)
        for source, target, label, _ in self._arcs:
            values = message[source] + np.where(label < 0, 0.0, scores[label])
            message = np.full(len(message), -np.inf)
            np.logaddexp.at(message, target, values)
        return message

    def _log_share(self, message: NDArray[np.float64], border: int) -> float:
        """Return the log of the share of the total that is left at a word border."""
        product = message + self.messages.log_beta[border * self.n_phases]
        return float(np.logaddexp.reduce(product) - self.messages.log_total)
