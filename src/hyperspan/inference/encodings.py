"""Over the distinct encodings of a hypergraph structure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hyperspan.errors import StructureError
from hyperspan.inference.automaton import Automaton, staircase_automaton
from hyperspan.inference.base import NO_OUTCOME, HypergraphDistribution, check_at_least_one, check_edge
from hyperspan.inference.best import best_of_block
from hyperspan.inference.borders import Borders, find_borders
from hyperspan.inference.frontier import StaircaseTable, staircase_table
from hyperspan.inference.outcomes import MOST_MENTIONS, Outcome, combine, score_of
from hyperspan.inference.paths import k_best_paths, sample_paths
from hyperspan.inference.restricted import restricted_log_prob_kernel
from hyperspan.inference.together import Sentences, probable_in
from hyperspan.mentions import Mention
from hyperspan.structures.decoding import Decoded
from hyperspan.structures.hypergraph import Block, Hypergraph
from hyperspan.structures.staircase import NO_START


class Encodings(HypergraphDistribution):
    """Over the distinct encodings of a hypergraph structure."""

    over = "encodings"

    def __init__(self, structure: Hypergraph, scores: NDArray[np.float64]) -> None:
        super().__init__(structure, scores)
        self._known_borders: dict[int, Borders] = {}
        self._known_scores: dict[int, NDArray[np.float64]] = {}

    def _of_block(self, block: Block) -> tuple[StaircaseTable, Automaton, NDArray[np.float64]]:
        if block.first_label not in self._known_scores:
            self._known_scores[block.first_label] = self.block_scores(block)
        scores = self._known_scores[block.first_label]
        return staircase_table(block.staircase), staircase_automaton(block.staircase), scores

    def best(self) -> Outcome:
        first_word = np.array([0, self.n_words], dtype=np.int64)
        score, edges = 0.0, list[tuple[int, int]]()
        for block in self.structure.blocks:
            table = staircase_table(block.staircase)
            best_score, labels = best_of_block(table, self.scores, first_word, block.first_label)
            score += float(best_score[0])
            words, places = np.nonzero(labels >= 0)
            edges += zip(
                words.tolist(), (labels[words, places].astype(np.int64) + block.first_label).tolist(), strict=True
            )
        if score == -np.inf:
            raise StructureError(NO_OUTCOME)
        return Outcome(score, tuple(sorted(edges)))

    def k_best(self, k: int) -> list[Outcome]:
        check_at_least_one("k", k)
        combined = [Outcome(0.0, ())]
        for block in self.structure.blocks:
            _, automaton, scores = self._of_block(block)
            combined = combine(combined, k_best_paths(automaton, scores, k, block.first_label), k)
        return [replace(outcome, edges=tuple(sorted(outcome.edges))) for outcome in combined]

    def sample(self, n_samples: int, seed: int = 0) -> list[Outcome]:
        check_at_least_one("n_samples", n_samples)
        rng = np.random.default_rng(seed)
        edges: list[list[tuple[int, int]]] = [[] for _ in range(n_samples)]
        for block in self.structure.blocks:
            _, automaton, scores = self._of_block(block)
            for drawn, into in zip(sample_paths(automaton, scores, n_samples, rng), edges, strict=True):
                into.extend((word, block.first_label + label) for word, label in drawn)
        return [Outcome(score_of(self.scores, into), tuple(sorted(into))) for into in edges]

    def prob_of(self, mentions: Iterable[Mention]) -> float:
        links: dict[int, dict[tuple[int, int], int]] = {}
        starts: dict[int, set[int]] = {}
        for mention in mentions:
            block = self.place(mention)
            if block is None:
                return 0.0
            required = links.setdefault(block.first_label, {})
            starts.setdefault(block.first_label, set()).add(mention.start)
            for word, node, child in block.staircase.path(mention):
                required[word, node] = required.get((word, node), 0) | child
        log_prob = 0.0 if self.is_possible else -np.inf
        for block in self.structure.blocks if self.is_possible else ():
            if block.first_label in links:
                log_prob += self._log_prob_of_links(block, links[block.first_label], starts[block.first_label])
        return float(np.exp(min(log_prob, 0.0)))

    def prob_of_edges(self, edges: Iterable[tuple[int, int]]) -> float:
        """Return the probability of a partial structure: that each ``(word, label)`` is an edge of the outcome."""
        by_block: dict[int, list[tuple[int, int]]] = {}
        for word, label in edges:
            check_edge(word, label, self.scores)
            block = self.structure.block_of_label(label)
            by_block.setdefault(block.first_label, []).append((word, label - block.first_label))
        log_prob = 0.0 if self.is_possible else -np.inf
        for block in self.structure.blocks if self.is_possible else ():
            if block.first_label in by_block:
                table, _, _ = self._of_block(block)
                words = [word for word, _ in by_block[block.first_label]]
                first, last = min(words), max(words) + 1
                allowed, active = _unrestricted(table, last - first)
                for word, label in by_block[block.first_label]:
                    if label < 2:
                        allowed[word - first, 1 - label] = False
                    else:
                        node = table.label_node[label]
                        others = (table.label_node == node) & (np.arange(len(table.label_node)) != label)
                        allowed[word - first, others] = False
                        active[word - first, node] = True
                log_prob += self._log_prob(block, allowed, active, first, last)
        return float(np.exp(min(log_prob, 0.0)))

    def probable(self, threshold: float = 0.3, *, limit: int = MOST_MENTIONS) -> Decoded:
        return probable_in(self._alone(), threshold, limit=limit)[0]

    def _alone(self) -> Sentences:
        return Sentences(self.structure, self.scores, np.array([0, self.n_words], dtype=np.int64))

    def _borders(self, block: Block) -> Borders:
        if block.first_label not in self._known_borders:
            self._known_borders[block.first_label] = find_borders(*self._of_block(block))
        return self._known_borders[block.first_label]

    def _log_prob_of_links(self, block: Block, links: dict[tuple[int, int], int], starts: set[int]) -> float:
        table, _, _ = self._of_block(block)
        words = [word for word, _ in links]
        first, last = min(words), max(words) + 1
        allowed, active = _unrestricted(table, last - first)
        for (word, node), children in links.items():
            lacking = (table.label_node == node) & (table.label_children & children != children)
            allowed[word - first, lacking] = False
            active[word - first, node] = True
        allowed[[start - first for start in starts], NO_START] = False
        return self._log_prob(block, allowed, active, first, last)

    def _log_prob(
        self, block: Block, allowed: NDArray[np.bool_], active: NDArray[np.bool_], first: int, last: int
    ) -> float:
        table, automaton, scores = self._of_block(block)
        borders = self._borders(block)
        return float(restricted_log_prob_kernel(table, automaton, borders, scores, allowed, active, first, last))


def _unrestricted(table: StaircaseTable, n_words: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which labels are allowed and which nodes must be active, at so many words: all of them, and none."""
    allowed = np.ones((n_words, len(table.label_node)), dtype=np.bool_)
    return allowed, np.zeros((n_words, table.n_nodes), dtype=np.bool_)
