"""Over derivations: sets of mentions, each counted once as the prefix tree of its paths.

A node reached by two parents is expanded once for each, so branches are independent of one another and the probability
of a mention is a product along its path.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hyperspan.errors import StructureError
from hyperspan.inference.distribution import NO_SAMPLE, BatchDistribution, Marginals, check_at_least_one
from hyperspan.inference.numba.derivations import derivations_block_kernel, inside_kernel
from hyperspan.inference.numba.frontier import StaircaseTable, staircase_table
from hyperspan.inference.numba.trees import (
    grow_kernel,
    k_best_trees_kernel,
    link_probs_kernel,
    probable_paths_kernel,
    sample_tree_kernel,
)
from hyperspan.inference.outcomes import Outcome, combine, joined, most_probable, score_of
from hyperspan.mentions import Mention
from hyperspan.structures.decoding import MOST_MENTIONS, Decoded
from hyperspan.structures.hypergraph import Block, Hypergraph
from hyperspan.structures.staircase import END, NO_START, START, STAY, STEP
from hyperspan.structures.structure import Encoded

MOST_TREE_NODES = 100_000
"""How large a derivation may grow; larger ones are cut and flagged."""

MOST_STEPS = 200_000
"""How many links the search for probable mentions may try in one sentence and block."""

START_PRIOR, GAP_PRIOR, CHILD_PRIOR = -4.0, -4.0, -6.0
"""Where weights start under ``mention-sets``: starting a mention, opening a gap, and each further child are rare."""

Tree = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
"""A derivation in flat arrays: word, node, label and the parent's place, -1 for a root, of each of its nodes."""


class MentionSets(BatchDistribution[Hypergraph]):
    """Over sets of mentions: the best derivation and the best set of mentions are the same thing."""

    name = "mention-sets"

    @classmethod
    def encode(cls, structure: Hypergraph, mentions: Iterable[Mention], n_words: int) -> Encoded:
        """Return the edges of the mentions' prefix trees, an edge once for every use."""
        return structure.unfold(mentions, n_words)

    @classmethod
    def prior(cls, structure: Hypergraph) -> NDArray[np.float64]:
        """Return scores under which mentions, gaps and several children are rare: without them counts explode."""
        prior = np.zeros(structure.n_labels)
        for block in structure.blocks:
            prior[block.first_label + START] = START_PRIOR
            for label, (node, children) in enumerate(block.staircase.edges, start=block.first_label + 2):
                n_children = (children & STAY > 0) + (children & STEP > 0) + (children & END > 0)
                opens_gap = node % 2 == 0 and children & STEP
                prior[label] = CHILD_PRIOR * (n_children - 1) + (GAP_PRIOR if opens_gap else 0.0)
        return prior

    def log_partition(self) -> NDArray[np.float64]:
        return self._sums(self.batch.scores[:0])

    def marginals(self) -> Marginals:
        edges = np.empty(self.batch.scores.shape)
        total = self._sums(edges)
        for sentence in np.flatnonzero(total == -np.inf):  # one block may leave nothing possible for the others
            edges[self.batch.first_word[sentence] : self.batch.first_word[sentence + 1]] = 0.0
        return Marginals(total, edges, np.zeros((0, 0)))

    def _sums(self, edges: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log partition functions; set the expected counts of edges unless that array is empty."""
        scores, first_word, n_sentences = self.batch.scores, self.batch.first_word, self.batch.n_sentences
        log_partition = np.empty((len(self.structure.blocks), n_sentences))
        wants_marginals = len(edges) > 0
        for block, row in zip(self.structure.blocks, log_partition, strict=True):
            table = staircase_table(block.staircase)
            derivations_block_kernel(
                table, block.first_label, scores, first_word, 0, n_sentences, wants_marginals, row, edges
            )
        return log_partition.sum(axis=0)

    def _blocks(self, sentence: int) -> Iterator[_BlockDerivations]:
        scores = self.batch.sentence(sentence).scores
        for block in self.structure.blocks:
            last_label = block.first_label + block.staircase.n_labels
            yield _BlockDerivations(block, np.ascontiguousarray(scores[:, block.first_label : last_label]))

    def k_best(self, k: int) -> list[list[Outcome]]:
        check_at_least_one("k", k)
        found = []
        for sentence in range(self.batch.n_sentences):
            combined = [Outcome(0.0, (), ())]
            for block in self._blocks(sentence):
                combined = combine(combined, block.k_best(k), k)
            found.append([self._finished(outcome) for outcome in combined])
        return found

    def sample(self, n_samples: int, seed: int = 0) -> list[list[Outcome]]:
        check_at_least_one("n_samples", n_samples)
        if not self.is_possible.all():
            raise StructureError(NO_SAMPLE)
        found = []
        for sentence in range(self.batch.n_sentences):
            scores = self.batch.sentence(sentence).scores
            drawn = [Outcome(0.0, (), ())] * n_samples
            for block in self._blocks(sentence):
                drawn = [joined(one, other) for one, other in zip(drawn, block.sample(n_samples, seed), strict=True)]
            found.append(
                [
                    self._finished(Outcome(score_of(scores, one.edges), one.edges, one.mentions, one.truncated))
                    for one in drawn
                ]
            )
        return found

    def _finished(self, outcome: Outcome) -> Outcome:
        """Return an outcome as users see it: with its mentions, in order."""
        edges, mentions = tuple(sorted(outcome.edges)), tuple(sorted(outcome.mentions or ()))
        return Outcome(outcome.score, edges, mentions, outcome.truncated)

    def joint_probs(self, mentions: Sequence[Iterable[Mention]]) -> list[float]:
        wanted = [list(here) for here in mentions]
        self.check_mentions(wanted)
        return [
            self._joint_prob(sentence, here) if self.is_possible[sentence] else 0.0
            for sentence, here in enumerate(wanted)
        ]

    def _joint_prob(self, sentence: int, mentions: Sequence[Mention]) -> float:
        held: dict[int, list[Mention]] = {}
        for mention in mentions:
            block = self.structure.block_of(mention)
            if block is None:
                return 0.0
            held.setdefault(block.first_label, []).append(mention)
        prob = 1.0
        for of_block in self._blocks(sentence):
            if of_block.block.first_label in held:
                prob *= of_block.joint_prob(held[of_block.block.first_label])
        return min(prob, 1.0)

    def probable(self, threshold: float = 0.3, *, limit: int = MOST_MENTIONS) -> list[Decoded]:
        check_at_least_one("limit", limit)
        found = []
        for sentence, is_possible in enumerate(self.is_possible.tolist()):
            mentions: list[Mention] = []
            truncated = False
            for block in self._blocks(sentence) if is_possible else ():
                here, was_cut = block.probable(threshold, limit)
                mentions += here
                truncated |= was_cut
            found.append(most_probable(mentions, limit, truncated))
        return found


class Derivations(MentionSets):
    """The paper's training formula as we infer it: normalised over derivations, gold edges once each, no prior.

    For comparison only: the "probability" of an encoding is exp of its score minus the log partition function, and can
    exceed one. k best, samples and probabilities of mentions are those of the distribution over derivations. An
    outcome is given back as an encoding, to be read as the paper does it.
    """

    name = "derivations"

    @classmethod
    def encode(cls, structure: Hypergraph, mentions: Iterable[Mention], n_words: int) -> Encoded:
        """Return the edges of a set of mentions, each once."""
        return structure.encode(mentions, n_words)

    @classmethod
    def prior(cls, structure: Hypergraph) -> NDArray[np.float64]:
        """Return zeros: nothing is rare from the beginning."""
        return np.zeros(structure.n_labels)

    def _finished(self, outcome: Outcome) -> Outcome:
        """Return an outcome as an encoding: a node that is expanded repeatedly has the children of all its uses."""
        edges: set[tuple[int, int]] = set()
        children: dict[tuple[int, int, int], int] = {}
        for word, label in outcome.edges:
            block = self.structure.block_of_label(label)
            if label - block.first_label < 2:
                edges.add((word, label))
            else:
                node, bits = block.staircase.edges[label - block.first_label - 2]
                key = word, block.first_label, node
                children[key] = children.get(key, 0) | bits
        label_of = {block.first_label: block.staircase.label_of for block in self.structure.blocks}
        edges.update((word, first + label_of[first][node, bits]) for (word, first, node), bits in children.items())
        return Outcome(outcome.score, tuple(sorted(edges)), None, outcome.truncated)


@dataclass(frozen=True)
class _BlockDerivations:
    """The derivations of one block in one sentence, given scores of shape (n_words, n_labels of the block)."""

    block: Block
    scores: NDArray[np.float64]

    @property
    def table(self) -> StaircaseTable:
        return staircase_table(self.block.staircase)

    @cached_property
    def inside(self) -> NDArray[np.float64]:
        """The log sum over all ways to go on from each node, and from T, at each word."""
        inside = np.empty((len(self.scores) + 1, self.table.n_nodes + 1))
        inside_kernel(self.table, 0, self.scores, 0, len(self.scores), inside)
        return inside

    def k_best(self, k: int) -> list[Outcome]:
        n_words = len(self.scores)
        shape = (n_words + 1, self.table.n_nodes + 1, k)
        values, labels, stays, steps = np.empty(shape), *(np.zeros(shape, dtype=np.int64) for _ in range(3))
        start_value, start_rank = np.empty((n_words, k)), np.zeros((n_words, k), dtype=np.int64)
        total_value, total_rank = np.empty((n_words + 1, k)), np.zeros((n_words + 1, k, 2), dtype=np.int64)
        k_best_trees_kernel(
            self.table, self.scores, values, labels, stays, steps, start_value, start_rank, total_value, total_rank
        )
        outcomes = []
        for rank in np.flatnonzero(total_value[0] > -np.inf):
            tree = _empty_tree(MOST_TREE_NODES)
            size, was_cut = grow_kernel(self.table, labels, stays, steps, start_rank, total_rank, rank, *tree)
            outcomes.append(self._outcome(size, was_cut, tree, float(total_value[0, rank])))
        return outcomes

    def sample(self, n_samples: int, seed: int) -> Iterator[Outcome]:
        for sample in range(n_samples):
            for size in (256, MOST_TREE_NODES):  # most are small; a large one is drawn again from the same numbers
                tree = _empty_tree(size)
                rng = np.random.default_rng((seed, self.block.first_label, sample))
                uniform = rng.random(len(self.scores) + size)
                n_nodes, was_cut = sample_tree_kernel(self.table, self.scores, self.inside, uniform, *tree)
                if not was_cut:
                    break
            yield self._outcome(n_nodes, was_cut, tree, 0.0)

    def _outcome(self, size: int, was_cut: bool, tree: Tree, score: float) -> Outcome:
        words, nodes, labels, parents = (column[:size].tolist() for column in tree)
        staircase, first_label = self.block.staircase, self.block.first_label
        starts = {word for word, parent in zip(words, parents, strict=True) if parent < 0}
        edges = [(word, first_label + (START if word in starts else NO_START)) for word in range(len(self.scores))]
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
                    at = parents[at]
                mentions.append(staircase.mention(self.block.type, path))
        return Outcome(score, tuple(edges), tuple(mentions), was_cut)

    def joint_prob(self, mentions: Sequence[Mention]) -> float:
        """Return the probability that all these mentions are there: the product over their prefix tree."""
        start_prob, superset = self.link_probs
        prob = 1.0
        for word, label in self.block.staircase.unfold(mentions, len(self.scores)):
            if label == START:
                prob *= float(start_prob[word])
            elif label != NO_START:
                node, children = self.block.staircase.edges[label - 2]
                prob *= float(superset[word, node, children])
        return prob

    @cached_property
    def link_probs(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """How probable it is that a mention starts at a word, and that a node has at least some children there."""
        superset = np.empty((len(self.scores), self.table.n_nodes, 8))
        link_probs_kernel(self.table, self.scores, self.inside, superset)
        return np.exp(self.scores[:, START] + self.inside[:-1, 0] - self.inside[:-1, -1]), superset

    def probable(self, threshold: float, limit: int) -> tuple[list[Mention], bool]:
        starts, lengths = np.empty((2, limit), dtype=np.int64)
        probs, nodes = np.empty(limit), np.empty((limit, len(self.scores)), dtype=np.int8)
        n_found, was_cut = probable_paths_kernel(*self.link_probs, threshold, MOST_STEPS, starts, probs, nodes, lengths)
        found = []
        for start, prob, path, length in zip(starts[:n_found].tolist(), probs.tolist(), nodes, lengths, strict=False):
            places = [(start + step, int(node)) for step, node in enumerate(path[:length])]
            parts = self.block.staircase.mention(self.block.type, places).parts
            found.append(Mention(self.block.type, parts, prob))
        return found, was_cut


def _empty_tree(size: int) -> Tree:
    return np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(size, np.int64)
