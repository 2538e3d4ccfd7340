"""Over sets of mentions, and the mixture that is normalised over derivations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hyperspan.errors import StructureError
from hyperspan.inference.base import (
    MOST_STEPS,
    HypergraphDistribution,
    check_at_least_one,
    mentions_found,
    room_for,
)
from hyperspan.inference.batch import Over
from hyperspan.inference.derivations import inside_kernel
from hyperspan.inference.frontier import StaircaseTable, staircase_table
from hyperspan.inference.outcomes import MOST_MENTIONS, Outcome, combine, joined, most_probable, score_of
from hyperspan.inference.trees import (
    grow_kernel,
    k_best_trees_kernel,
    link_probs_kernel,
    probable_paths_kernel,
    sample_tree_kernel,
)
from hyperspan.mentions import Mention
from hyperspan.structures.decoding import Decoded
from hyperspan.structures.hypergraph import Block
from hyperspan.structures.staircase import END, NO_START, START

MOST_TREE_NODES = 100_000
"""How large a derivation may grow; larger ones are cut and flagged."""


class MentionSets(HypergraphDistribution):
    """Over sets of mentions, each a prefix tree of paths: branches are independent of one another."""

    over: ClassVar[Over] = "mention-sets"

    def _of_block(self, block: Block) -> tuple[StaircaseTable, NDArray[np.float64]]:
        return staircase_table(block.staircase), self.block_scores(block)

    def _inside(self, block: Block) -> NDArray[np.float64]:
        table, scores = self._of_block(block)
        inside = np.empty((self.n_words + 1, table.n_nodes + 1))
        inside_kernel(table, 0, scores, 0, self.n_words, False, inside)
        return inside

    def k_best(self, k: int) -> list[Outcome]:
        check_at_least_one("k", k)
        combined = [Outcome(0.0, (), ())]
        for block in self.structure.blocks:
            combined = combine(combined, self._k_best_of_block(block, k), k)
        return [_in_order(outcome) for outcome in combined]

    def _k_best_of_block(self, block: Block, k: int) -> list[Outcome]:
        table, scores = self._of_block(block)
        shape = (self.n_words + 1, table.n_nodes + 1, k)
        values, labels, stays, steps = np.empty(shape), *(np.zeros(shape, dtype=np.int64) for _ in range(3))
        start_value, start_rank = np.empty((self.n_words, k)), np.zeros((self.n_words, k), dtype=np.int64)
        total_value = np.empty((self.n_words + 1, k))
        total_rank = np.zeros((self.n_words + 1, k, 2), dtype=np.int64)
        k_best_trees_kernel(
            table, scores, values, labels, stays, steps, start_value, start_rank, total_value, total_rank
        )
        outcomes = []
        for rank in np.flatnonzero(total_value[0] > -np.inf):
            tree = _tree_room(MOST_TREE_NODES)
            size, was_cut = grow_kernel(table, labels, stays, steps, start_rank, total_rank, rank, *tree)
            outcomes.append(self._outcome(block, size, was_cut, tree, float(total_value[0, rank])))
        return outcomes

    def sample(self, n_samples: int, seed: int = 0) -> list[Outcome]:
        check_at_least_one("n_samples", n_samples)
        if not self.is_possible:
            raise StructureError("nothing can be drawn: every outcome is forbidden by scores of -inf")
        drawn = [Outcome(0.0, (), ())] * n_samples
        for block in self.structure.blocks:
            table, scores = self._of_block(block)
            inside = self._inside(block)
            for sample in range(n_samples):
                for room in (256, MOST_TREE_NODES):  # most are small; a large one is drawn again from the same numbers
                    tree = _tree_room(room)
                    uniform = np.random.default_rng((seed, block.first_label, sample)).random(self.n_words + room)
                    size, was_cut = sample_tree_kernel(table, scores, inside, uniform, *tree)
                    if not was_cut:
                        break
                drawn[sample] = joined(drawn[sample], self._outcome(block, size, was_cut, tree, 0.0))
        return [replace(_in_order(outcome), score=score_of(self.scores, outcome.edges)) for outcome in drawn]

    def _outcome(
        self, block: Block, size: int, was_cut: bool, tree: Sequence[NDArray[np.int64]], score: float
    ) -> Outcome:
        words, nodes, labels, ups = (column[:size].tolist() for column in tree)
        staircase, first_label = block.staircase, block.first_label
        starts = {word for word, up in zip(words, ups, strict=True) if up < 0}
        edges = [(word, first_label + (START if word in starts else NO_START)) for word in range(self.n_words)]
        mentions: list[Mention] = []
        for place, label in enumerate(labels):
            if was_cut and label == 0:
                continue
            edges.append((words[place], first_label + label))
            if staircase.edges[label - 2][1] & END:
                if len(mentions) == MOST_MENTIONS:
                    was_cut = True
                    break
                path, at = [], place
                while at >= 0:
                    path.append((words[at], nodes[at]))
                    at = ups[at]
                mentions.append(staircase.mention(block.type, path))
        return Outcome(score, tuple(edges), tuple(mentions), was_cut)

    def prob_of(self, mentions: Iterable[Mention]) -> float:
        held: dict[int, list[Mention]] = {}
        for mention in mentions:
            block = self.place(mention)
            if block is None:
                return 0.0
            held.setdefault(block.first_label, []).append(mention)
        prob = 1.0 if self.is_possible else 0.0
        for block in self.structure.blocks if self.is_possible else ():
            if block.first_label in held:
                start_prob, superset = self._link_probs(block)
                for word, label in block.staircase.unfold(held[block.first_label], self.n_words):
                    if label == START:
                        prob *= start_prob[word]
                    elif label != NO_START:
                        node, children = block.staircase.edges[label - 2]
                        prob *= superset[word, node, children]
        return float(min(prob, 1.0))

    def _link_probs(self, block: Block) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        table, scores = self._of_block(block)
        inside = self._inside(block)
        superset = np.empty((self.n_words, table.n_nodes, 8))
        link_probs_kernel(table, scores, inside, superset)
        return np.exp(scores[:, START] + inside[:-1, 0] - inside[:-1, -1]), superset

    def probable(self, threshold: float = 0.3, *, limit: int = MOST_MENTIONS) -> Decoded:
        check_at_least_one("limit", limit)
        found: list[Mention] = []
        truncated = False
        for block in self.structure.blocks if self.is_possible else ():
            room = room_for(limit, self.n_words)
            n_found, was_cut = probable_paths_kernel(*self._link_probs(block), threshold, MOST_STEPS, *room)
            truncated |= was_cut
            found.extend(mentions_found(block, n_found, *room))
        return most_probable(found, limit, truncated)


class Derivations(MentionSets):
    """Normalised over derivations, but an outcome's edges are scored once each.

    It is what the paper's algorithm computes if its inside recursion expands a node once for each parent, as the
    ordinary one does; that it did is our inference.

    For comparison only: the "probability" of an encoding is exp of its score minus `log_partition`, and can exceed one.
    Best, k best, samples and probabilities of mentions are those of the distribution over derivations.
    """

    over: ClassVar[Over] = "derivations"


def _in_order(outcome: Outcome) -> Outcome:
    return replace(outcome, edges=tuple(sorted(outcome.edges)), mentions=tuple(sorted(outcome.mentions or ())))


def _tree_room(size: int) -> tuple[NDArray[np.int64], ...]:
    return tuple(np.zeros(size, dtype=np.int64) for _ in range(4))
