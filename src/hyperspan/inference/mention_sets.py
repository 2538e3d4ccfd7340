"""Distributions over derivations: sets of mentions, each counted once as the prefix tree of its paths.

A node reached by two parents is expanded once for each, so branches are independent of one another and the probability
of a mention is a product along its path.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperspan.inference import outcomes
from hyperspan.inference.blocks import BlockDistribution
from hyperspan.inference.mention_rows import MentionRows
from hyperspan.inference.numba.derivations import derivations_block_kernel, inside_kernel
from hyperspan.inference.numba.frontier import staircase_table
from hyperspan.inference.numba.mention_marginals import Bounds
from hyperspan.inference.outcomes import Outcome, falling_pairs
from hyperspan.inference.reference.mention_marginals import probable_paths
from hyperspan.mentions import Mention
from hyperspan.structures.decoding import MOST_MENTIONS
from hyperspan.structures.hypergraph import Block, Hypergraph
from hyperspan.structures.staircase import END, NO_START, START, STAY, STEP, Link
from hyperspan.structures.structure import Encoded

MOST_TREE_NODES = 100_000
"""How large a derivation may grow; larger ones are truncated and flagged."""

START_PRIOR, GAP_PRIOR, CHILD_PRIOR = -4.0, -4.0, -6.0
"""The prior of ``mention-sets``: starting a mention, opening a gap, and each further child are rare."""


class Way(NamedTuple):
    """One of the k best continuations from a node: its score, its edge, and the continuations of the edge's children.

    For T, the child that stays is T at the next word, and the child that steps is the mention that starts.
    """

    score: float
    label: int = -1
    stay: Way | None = None
    step: Way | None = None


Tree = list[tuple[int, int, int, int]]
"""A derivation: the word, node, label and parent's index (-1 for a root) of each of its nodes."""


class MentionSets(BlockDistribution[Hypergraph]):
    """The distribution over sets of mentions: the best derivation is the best set of mentions."""

    name = "mention-sets"

    @classmethod
    def encode(cls, structure: Hypergraph, mentions: Iterable[Mention], n_words: int) -> Encoded:
        """Return the edges of the mentions' prefix trees, each as often as it is used."""
        return structure.unfold(mentions, n_words)

    @classmethod
    def prior(cls, structure: Hypergraph) -> NDArray[np.float64]:
        """Return scores that make mentions, gaps and several children rare: without them counts explode."""
        prior = np.zeros(structure.n_labels)
        for block in structure.blocks:
            prior[block.first_label + START] = START_PRIOR
            for label, (node, children) in enumerate(block.staircase.edges, start=block.first_label + 2):
                n_children = (children & STAY > 0) + (children & STEP > 0) + (children & END > 0)
                opens_gap = node % 2 == 0 and children & STEP
                prior[label] = CHILD_PRIOR * (n_children - 1) + (GAP_PRIOR if opens_gap else 0.0)
        return prior

    def log_totals(self, marginals: NDArray[np.float64]) -> NDArray[np.float64]:
        log_totals, scores = np.empty((len(self.structure.blocks), self.batch.n_sentences)), self.batch.scores
        for block, row in zip(self.structure.blocks, log_totals, strict=True):
            table = staircase_table(block.staircase)
            derivations_block_kernel(table, block.first_label, scores, self.batch.first_word, row, marginals)
        return log_totals

    def _blocks(self, sentence: int) -> Iterator[_BlockDerivations]:
        for block in self.structure.blocks:
            yield _BlockDerivations(block, self.block_scores(block, sentence))

    def ranked(self, sentence: int, k: int) -> Iterator[list[Outcome]]:
        return (block.k_best(k) for block in self._blocks(sentence))

    def drawn(self, sentence: int, n_samples: int, seed: int) -> Iterator[list[Outcome]]:
        return (block.sample(n_samples, seed) for block in self._blocks(sentence))

    def joint_probs(self, mentions: Sequence[Iterable[Mention]]) -> list[float]:
        wanted = [list(here) for here in mentions]
        self.check_mentions(wanted)
        return [
            self._joint_prob(sentence, here) if self.is_possible[sentence] else 0.0
            for sentence, here in enumerate(wanted)
        ]

    def _joint_prob(self, sentence: int, mentions: Sequence[Mention]) -> float:
        held, left_out = self.structure.by_block(mentions, self.batch.lengths[sentence])
        if left_out:
            return 0.0
        blocks = [(here, held.get(here.block.first_label)) for here in self._blocks(sentence)]
        return min(1.0, math.prod(here.joint_prob(mentions) for here, mentions in blocks if mentions))

    def probable_rows(self, threshold: float | Sequence[float], limit: int) -> tuple[MentionRows, NDArray[np.bool_]]:
        found, was_cut = dict[int, list[Mention]](), np.zeros(self.batch.n_sentences, dtype=np.bool_)
        for sentence in np.flatnonzero(self.is_possible).tolist():
            for block in self._blocks(sentence):
                here, is_cut = block.probable(threshold, limit)
                found.setdefault(sentence, []).extend(here)
                was_cut[sentence] |= is_cut
        return MentionRows.of(self.structure, found)[0], was_cut


class Derivations(MentionSets):
    """The paper's training formula as we understand it: normalised over derivations, gold edges once each, no prior.

    For comparison only: the "probability" of an encoding is exp of its score minus the log partition function, and can
    exceed one. k best, samples and probabilities of mentions are those of the distribution over derivations. An outcome
    is returned as an encoding, to be decoded as in the paper.
    """

    name = "derivations"

    @classmethod
    def encode(cls, structure: Hypergraph, mentions: Iterable[Mention], n_words: int) -> Encoded:
        """Return the edges of a set of mentions, each once."""
        return structure.encode(mentions, n_words)

    @classmethod
    def prior(cls, structure: Hypergraph) -> NDArray[np.float64]:
        """Return zeros: there is no prior."""
        return np.zeros(structure.n_labels)

    def finished(self, outcome: Outcome) -> Outcome:
        """Return an outcome as an encoding: a node that is expanded repeatedly has the children of all its uses."""
        children: dict[tuple[int, Block, int], int] = {}
        for word, label in outcome.edges:
            block, node, bits = self.structure.edge_of_label(label)
            children[word, block, node] = children.get((word, block, node), 0) | bits
        edges = (
            (word, block.first_label + block.staircase.label_of[node, bits])
            for (word, block, node), bits in children.items()
        )
        return replace(outcome, edges=tuple(sorted(edges)), mentions=None)


@dataclass(frozen=True)
class _BlockDerivations:
    """The derivations of one block in one sentence, given scores of shape (n_words, n_labels of the block)."""

    block: Block
    scores: NDArray[np.float64]

    @cached_property
    def inside(self) -> NDArray[np.float64]:
        """The log sum over all continuations from each node, and from T, at each word."""
        table = staircase_table(self.block.staircase)
        inside = np.empty((len(self.scores) + 1, table.n_nodes + 1))
        inside_kernel(table, 0, self.scores, 0, len(self.scores), inside)
        return inside

    def k_best(self, k: int) -> list[Outcome]:
        """Return the k best derivations, computed from the last word to the first."""
        staircase, nothing = self.block.staircase, [Way(0.0)]
        below: list[list[Way]] = [[] for _ in range(staircase.n_nodes + 1)]  # no node is active beyond the last word
        totals = nothing
        for row in reversed(self.scores.tolist()):
            here: list[list[Way]] = [[] for _ in below]
            for label, (node, children) in enumerate(staircase.edges, start=2):
                stays = below[node] if children & STAY else nothing
                steps = below[node + 1] if children & STEP else nothing
                here[node] += [
                    Way(row[label] + stay.score + step.score, label, stay, step)
                    for stay, step in falling_pairs(stays, steps, k)
                ]
            below = [_best(ways, k) for ways in here]
            starts = [Way(row[NO_START], NO_START), *(Way(row[START] + way.score, START, step=way) for way in below[0])]
            pairs = falling_pairs(_best(starts, k), totals, k)
            totals = _best([Way(one.score + rest.score, one.label, rest, one.step) for one, rest in pairs], k)
        return [self._k_best_outcome(total) for total in totals]

    def _k_best_outcome(self, total: Way) -> Outcome:
        roots, at = [], total
        for word in range(len(self.scores)):
            if at.label == START:
                roots.append((word, at.step))
            assert at.stay is not None
            at = at.stay
        tree, was_cut = self._grow(roots, lambda word, node, way: (way.label, way.stay, way.step))
        return self._outcome(tree, was_cut, total.score)

    def sample(self, n_samples: int, seed: int) -> list[Outcome]:
        found = []
        for sample in range(n_samples):
            rng = np.random.default_rng((seed, self.block.first_label, sample))
            starts = np.flatnonzero(rng.random(len(self.scores)) < self.link_probs[0]).tolist()
            found.append(self._outcome(*self._grow([(word, rng) for word in starts], self._draw)))
        return found

    def _draw(self, word: int, node: int, rng: np.random.Generator) -> tuple[int, Any, Any]:
        """Draw the edge of a node at a word; its children draw theirs from the same generator."""
        draw, chosen, staircase = rng.random(), -1, self.block.staircase
        for label, (parent, _) in enumerate(staircase.edges, start=2):
            prob = self.edge_probs[word, label - 2]
            if parent == node and prob > 0.0:
                chosen, draw = label, draw - prob
                if draw < 0.0:
                    break
        return chosen, rng, rng

    def _grow(
        self, roots: Iterable[tuple[int, Any]], expand: Callable[[int, int, Any], tuple[int, Any, Any]]
    ) -> tuple[Tree, bool]:
        """Expand a tree from its roots; also return whether it was truncated because it is too large.

        ``expand`` gets a word, a node and the node's state, and returns its label and the states of the children that
        stay and that step.
        """
        tree: Tree = []
        for start, said in roots:
            waiting = [(start, 0, said, -1)]
            for word, node, of_node, parent in waiting:
                if len(tree) == MOST_TREE_NODES:
                    return tree, True
                label, of_stay, of_step = expand(word, node, of_node)
                children = self.block.staircase.edges[label - 2][1]
                if children & STAY:
                    waiting.append((word + 1, node, of_stay, len(tree)))
                if children & STEP:
                    waiting.append((word + 1, node + 1, of_step, len(tree)))
                tree.append((word, node, label, parent))
        return tree, False

    def _outcome(self, tree: Tree, was_cut: bool, score: float = 0.0) -> Outcome:
        staircase, first_label = self.block.staircase, self.block.first_label
        starts = {word for word, _, _, parent in tree if parent < 0}
        edges = [(word, first_label + (START if word in starts else NO_START)) for word in range(len(self.scores))]
        mentions: list[Mention] = []
        for place, (word, _, label, _) in enumerate(tree):
            edges.append((word, first_label + label))
            if staircase.edges[label - 2][1] & END:
                if len(mentions) == MOST_MENTIONS:
                    was_cut = True
                    break
                path, at = [], place
                while at >= 0:
                    path.append(tree[at][:2])
                    at = tree[at][3]
                mentions.append(staircase.mention(self.block.type, path))
        return Outcome(score, tuple(edges), tuple(mentions), was_cut)

    def joint_prob(self, mentions: Sequence[Mention]) -> float:
        """Return the probability that the outcome contains all these mentions: the product over their prefix tree."""
        start_probs, superset_probs = self.link_probs
        prob = 1.0
        for word, label in self.block.staircase.unfold(mentions, len(self.scores)):
            if label == START:
                prob *= float(start_probs[word])
            elif label != NO_START:
                node, children = self.block.staircase.edges[label - 2]
                prob *= float(superset_probs[word, node, children])
        return prob

    @cached_property
    def edge_probs(self) -> NDArray[np.float64]:
        """The probability of each edge except T's at each word, given its node, of shape (n_words, n_edges)."""
        nodes, children = np.array(self.block.staircase.edges).T
        below = self.inside[1:]
        with np.errstate(invalid="ignore"):  # for nodes without a continuation
            values = self.scores[:, 2:] + np.where(children & STAY, below[:, nodes], 0.0)
            values += np.where(children & STEP, below[:, nodes + 1], 0.0)
            return np.nan_to_num(np.exp(values - self.inside[:-1, nodes]), nan=0.0)

    @cached_property
    def link_probs(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The probability that a mention starts at a word, and that a node has at least certain children there.

        The second has shape (n_words, n_nodes, 8), indexed by the children as bits; the probability of a path is the
        product along it.
        """
        superset_probs = np.zeros((len(self.scores), self.block.staircase.n_nodes, 8))
        for edge, (node, children) in enumerate(self.block.staircase.edges):
            for some in range(8):
                if children & some == some:
                    superset_probs[:, node, some] += self.edge_probs[:, edge]
        start_probs = np.exp(self.scores[:, START] + self.inside[:-1, 0] - self.inside[:-1, -1])
        return start_probs, superset_probs

    def probable(self, threshold: float | Sequence[float], limit: int) -> tuple[list[Mention], bool]:
        """Return every mention at least as probable as the threshold, and whether the search was truncated."""
        start_probs, superset_probs = self.link_probs
        bounds = Bounds.of(self.block.staircase, threshold, outcomes.MOST_STEPS, limit)
        probable_starts = np.flatnonzero(start_probs >= bounds.threshold[0]).tolist()
        starts = [(start, float(start_probs[start])) for start in probable_starts]

        def extend(so_far: float, link: Link, is_first: bool) -> tuple[float, float]:
            prob = min(1.0, so_far * superset_probs[link])
            return prob, prob

        paths, was_cut = probable_paths(len(self.scores), starts, extend, bounds)
        return [self.block.staircase.mention(self.block.type, path, prob) for path, prob in paths], was_cut


def _best(ways: list[Way], k: int) -> list[Way]:
    """Return the k best of the possible continuations, best first; the earlier one in case of a tie."""
    possible = [way for way in ways if way.score > -math.inf]
    return sorted(possible, key=lambda way: -way.score)[:k]
