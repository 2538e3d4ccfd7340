"""The distribution over the sets of mentions of ``segments``: sets and prefix trees correspond one to one.

The probability of a mention is a product along its path, and branches are independent of each other. The empty set is
always possible and has the score zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperspan.errors import StructureError
from hyperspan.inference.blocks import BlockDistribution
from hyperspan.inference.mention_rows import MentionRows, joined_rows
from hyperspan.inference.numba.segments import (
    Messages,
    SegmentTable,
    best_kernel,
    best_mentions_kernel,
    count_kernel,
    log_totals_kernel,
    probable_segments_kernel,
)
from hyperspan.inference.outcomes import Outcome, by_number_of_parts, falling_pairs
from hyperspan.mentions import Mention, Span, unchecked_mention
from hyperspan.structures.decoding import MOST_MENTIONS, Decoded, Reading
from hyperspan.structures.segments import SegmentBlock, Segments
from hyperspan.structures.structure import Encoded

MOST_TREE_NODES = 100_000
"""The maximum number of edges in an outcome; larger ones are truncated and flagged."""

MOST_STEPS = 500_000
"""The maximum number of edges that the search for probable mentions tries in one sentence and block."""

_ROOM = 1_024
_MOST_ROWS = 1 << 17
"""If the mentions of several sentences need more rows at once, fewer sentences are searched at a time."""

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]
Integers = NDArray[np.int64]


class SegmentSets(BlockDistribution[Segments]):
    """A distribution over sets of mentions, each counted once."""

    name = "encodings"

    @classmethod
    def encode(cls, structure: Segments, mentions: Iterable[Mention], n_words: int) -> Encoded:
        """Return the edges of the mentions' prefix trees by word; an edge occurs once for every use."""
        encoded = structure.encode(mentions, n_words)
        return replace(encoded, encoding=tuple(sorted(encoded.encoding)))

    @cached_property
    def table(self) -> SegmentTable:
        """The structure as arrays for kernels."""
        return SegmentTable(self.structure.max_components, self.structure.longest_part, self.structure.longest_gap)

    def log_totals(self, marginals: Numbers) -> Numbers:
        log_totals = np.empty((len(self.structure.blocks), self.batch.n_sentences))
        is_count = len(marginals) > 0
        probs = marginals if is_count else self._room_for_probs()
        alive, messages = np.empty((len(probs), self.table.n_nodes)), Messages.room(self.table, self.batch.longest)
        for block, row in zip(self.structure.blocks, log_totals, strict=True):
            self._sum(block, probs, alive, row, messages, block.first_label if is_count else 0, is_count)
        return log_totals

    def _room_for_probs(self) -> Numbers:
        return np.empty((len(self.batch.scores), self.structure.labels_per_type))

    def _sum(
        self,
        block: SegmentBlock,
        probs: Numbers,
        alive: Numbers,
        log_totals: Numbers,
        messages: Messages,
        column: int = 0,
        is_count: bool = False,
    ) -> None:
        batch = self.batch
        with np.errstate(all="ignore"):  # NumPy would warn without the compiler: an abandoned sum may hold anything
            log_totals_kernel(
                self.table,
                block.first_label,
                batch.scores,
                batch.first_word,
                messages,
                column,
                probs,
                alive,
                log_totals,
                is_count,
            )

    def branch_probs(self, block: SegmentBlock) -> tuple[Numbers, Numbers]:
        """Return the probability of each label of a block given its node, and that of a node having any child.

        They have the shapes (n_words, labels of the block) and (n_words, n_nodes); nodes are the parts of each level,
        then the turns.
        """
        probs, alive = self._room_for_probs(), np.empty((len(self.batch.scores), self.table.n_nodes))
        messages = Messages.room(self.table, self.batch.longest)
        self._sum(block, probs, alive, np.empty(self.batch.n_sentences), messages)
        return probs, alive

    @cached_property
    def is_possible(self) -> NDArray[np.bool_]:
        """True: the empty set is always possible."""
        return np.ones(self.batch.n_sentences, dtype=np.bool_)

    # Outcomes

    def finished(self, outcome: Outcome) -> Outcome:
        """Return an outcome for users; its edges are a tree, depth first."""
        return replace(outcome, mentions=tuple(sorted(outcome.mentions or ())))

    def ranked(self, sentence: int, k: int) -> Iterator[list[Outcome]]:
        for block in self.structure.blocks:
            trees = _Trees(self.structure, block, self.block_scores(block, sentence))
            yield trees.k_best(k) if k > 1 else [trees.best()]

    def drawn(self, sentence: int, n_samples: int, seed: int) -> Iterator[list[Outcome]]:
        rng, over = np.random.default_rng(seed), self.sentence(sentence)
        assert isinstance(over, SegmentSets)
        for block in self.structure.blocks:
            trees = _Trees(self.structure, block, over.batch.scores)
            probs, alive = over.branch_probs(block)
            yield [trees.draw(probs, alive, rng) for _ in range(n_samples)]

    # Mentions

    def probable_rows(self, threshold: float | Sequence[float], limit: int) -> tuple[MentionRows, Flags]:
        by_parts = np.array(by_number_of_parts(threshold, self.structure.max_components))
        lowest = float(by_parts.min())

        def search(
            block: SegmentBlock, probs: Numbers, alive: Numbers, first_word: Integers, was_cut: Flags, rows: MentionRows
        ) -> int:
            found = probable_segments_kernel(self.table, probs, alive, first_word, lowest, MOST_STEPS, was_cut, rows)
            return int(found)

        return self._searched(search, limit, by_parts)

    def read_best(self, reading: Reading) -> list[Decoded]:
        """Return the best set of mentions of each sentence, with their probabilities; there is only one reading."""
        best = np.empty((self.table.n_nodes, self.batch.longest))

        def search(
            block: SegmentBlock, probs: Numbers, alive: Numbers, first_word: Integers, was_cut: Flags, rows: MentionRows
        ) -> int:
            scores, first_label = self.batch.scores, block.first_label
            found = best_mentions_kernel(
                self.table, first_label, scores, probs, alive, first_word, best, MOST_MENTIONS, was_cut, rows
            )
            return int(found)

        return self.as_mentions(
            *self._searched(search, MOST_MENTIONS, np.zeros(self.structure.max_components)), MOST_MENTIONS
        )

    def _searched(
        self,
        search: Callable[[SegmentBlock, Numbers, Numbers, Integers, Flags, MentionRows], int],
        limit: int,
        by_parts: Numbers,
    ) -> tuple[MentionRows, Flags]:
        """Return the mentions that a search through each block finds; if there are too many, the most probable ones.

        A mention must be at least as probable as ``by_parts`` requires for its number of parts.
        """
        n_sentences, n_levels = self.batch.n_sentences, self.structure.max_components
        was_cut, tables = np.zeros(n_sentences, dtype=np.bool_), [MentionRows.room(0, n_levels)]
        probs, alive = self._room_for_probs(), np.empty((len(self.batch.scores), self.table.n_nodes))
        messages, totals = Messages.room(self.table, self.batch.longest), np.empty(n_sentences)
        rows = MentionRows.room(_ROOM, n_levels)
        for number, block in enumerate(self.structure.blocks):
            self._sum(block, probs, alive, totals, messages)
            waiting = [(0, n_sentences)]
            while waiting:
                begin, end = waiting.pop()
                first_word = self.batch.first_word[begin : end + 1]
                n_found = search(block, probs, alive, first_word, was_cut[begin:end], rows)
                if n_found < 0 and rows.n_rows >= _MOST_ROWS and end - begin > 1:
                    middle = (begin + end) // 2
                    waiting += [(middle, end), (begin, middle)]
                elif n_found < 0:
                    rows = MentionRows.room(4 * rows.n_rows, n_levels)
                    waiting.append((begin, end))
                else:
                    rows.block[:n_found] = number
                    rows.sentence[:n_found] += begin
                    here = rows.chosen(np.flatnonzero(rows.prob[:n_found] >= by_parts[rows.n_parts[:n_found] - 1]))
                    tables.append(here.chosen(_most_probable_rows(here, limit + 1)))
        return joined_rows(tables), was_cut

    def mention_probs(self, mentions: Sequence[Sequence[Mention]]) -> list[list[float]]:
        self.check_mentions(mentions)
        probs = [[0.0] * len(here) for here in mentions]
        for block, places in self._places_by_block(mentions):
            branch, alive = self.branch_probs(block)
            for sentence, rank in places:
                first, mention = int(self.batch.first_word[sentence]), mentions[sentence][rank]
                prob = float(alive[first + mention.start, 0])
                for word, label in self.structure.encode([mention], mention.end).encoding:
                    prob *= float(branch[first + word, label - block.first_label])
                probs[sentence][rank] = min(1.0, prob)
        return probs

    def _places_by_block(
        self, mentions: Sequence[Sequence[Mention]]
    ) -> Iterator[tuple[SegmentBlock, list[tuple[int, int]]]]:
        """Yield the blocks of mentions that can be encoded, with the sentence and rank of each."""
        places: dict[str, list[tuple[int, int]]] = {}
        for sentence, here in enumerate(mentions):
            for rank, mention in enumerate(here):
                if self.structure.holds(mention):
                    places.setdefault(mention.type, []).append((sentence, rank))
        for block in self.structure.blocks:
            if block.type in places:
                yield block, places[block.type]

    def joint_probs(self, mentions: Sequence[Iterable[Mention]]) -> list[float]:
        wanted = [sorted(set(here)) for here in mentions]
        self.check_mentions(wanted)
        probs = [float(all(map(self.structure.holds, here))) for here in wanted]
        for block, _ in self._places_by_block(wanted):
            branch, alive = self.branch_probs(block)
            for sentence, here in enumerate(wanted):
                words = slice(self.batch.first_word[sentence], self.batch.first_word[sentence + 1])
                of_type = [mention.parts for mention in here if mention.type == block.type]
                if probs[sentence] and of_type:
                    probs[sentence] *= self._joint_prob(of_type, branch[words], alive[words])
        return [min(1.0, prob) for prob in probs]

    def _joint_prob(self, paths: Sequence[Sequence[Span]], branch: Numbers, alive: Numbers) -> float:
        """Return the probability of a prefix tree, which is not simply a product over its edges.

        A node must have a child. So the probability of a set of children is the product of their own probabilities,
        divided by that of having any child.
        """
        structure, n_levels = self.structure, self.structure.max_components
        children: dict[tuple[int, int, tuple[Span, ...]], set[int]] = {}
        for parts in paths:
            for level, (start, end) in enumerate(parts):
                of_part = children.setdefault((level, start, tuple(parts[:level])), set())
                of_part.add(structure.part_label(0, level, end - start))
                if level < n_levels - 1:
                    of_turn = children.setdefault((n_levels + level, end - 1, tuple(parts[: level + 1])), set())
                    is_last = level == len(parts) - 1
                    gap = 0 if is_last else parts[level + 1][0] - end
                    of_turn.add(structure.end_label(0, level) if is_last else structure.gap_label(0, level, gap))
        prob = math.prod(float(alive[start, 0]) for start in {parts[0][0] for parts in paths})
        for (node, word, _), labels in children.items():
            prob *= math.prod(float(branch[word, label]) for label in labels)
            prob *= float(alive[word, node]) ** (len(labels) - 1)
        return prob

    def moved(self, mention: Mention) -> Numbers:
        """Return by how much a mention raises the expected count of each edge of a single sentence.

        The nodes on the mention's path certainly have the child on the path, and other children independently.
        """
        if not self.structure.holds(mention):
            raise StructureError(f"{mention} cannot be encoded; expected one of at most {self._limits}")
        structure, n_levels = self.structure, self.structure.max_components
        block = next(block for block in structure.blocks if block.type == mention.type)
        branch, alive = self.branch_probs(block)
        flow, on_path = np.zeros((self.table.n_nodes, len(branch))), np.zeros(branch.shape)
        flow[0, mention.start] -= alive[mention.start, 0]
        parts = structure.part_label(0, 0, np.arange(1, structure.longest_part + 1))
        gaps = structure.gap_label(0, 0, np.arange(1, structure.longest_gap + 1))
        for level, (start, end) in enumerate(mention.parts):
            labels = parts + level * structure.longest_part
            on_path[start, labels] = branch[start, labels] * alive[start, level]
            on_path[start, labels[end - start - 1]] = 0.0
            if level < n_levels - 1:
                free = np.flatnonzero(on_path[start, labels])
                flow[n_levels + level, start + free] += on_path[start, labels[free]]
                last, turn, end_label = end - 1, alive[end - 1, n_levels + level], structure.end_label(0, level)
                labels = gaps + level * structure.longest_gap
                on_path[last, labels] = branch[last, labels] * turn
                on_path[last, end_label] = branch[last, end_label] * turn
                if level < len(mention.parts) - 1:
                    on_path[last, labels[mention.parts[level + 1][0] - end - 1]] = 0.0
                free = np.flatnonzero(on_path[last, labels])
                flow[level + 1, end + 1 + free] += on_path[last, labels[free]]
        for word, label in structure.encode([mention], mention.end).encoding:
            on_path[word, label - block.first_label] = 1.0
        count_kernel(self.table, 0, len(branch), 0, branch, flow)
        moved = np.zeros(self.batch.scores.shape)
        moved[:, block.first_label : block.first_label + block.n_labels] = branch + on_path
        return moved

    @property
    def _limits(self) -> str:
        sizes = self.structure.sizes
        return (
            f"{self.structure.max_components} parts of {sizes['longest_part']} words with gaps of "
            f"{sizes['longest_gap']}"
        )


def _most_probable_rows(rows: MentionRows, most: int) -> NDArray[np.int64]:
    """Return the indices of the most probable rows of each sentence and number of parts.

    So those of many parts, which are less probable, remain where candidates are wanted by number of parts.
    """
    order = np.arange(rows.n_rows)
    if rows.n_rows <= most or np.bincount(rows.sentence).max() <= most:
        return order
    order = np.lexsort((order, -rows.prob, rows.n_parts, rows.sentence))
    groups = np.stack([rows.sentence, rows.n_parts])[:, order]
    begins = np.append(True, np.any(groups[:, 1:] != groups[:, :-1], axis=0))
    rank = np.arange(rows.n_rows) - np.maximum.accumulate(np.where(begins, np.arange(rows.n_rows), 0))
    return np.sort(order[rank < most])


class _Way(NamedTuple):
    """One of the k best sets of children of a node: its score, and the children with their own sets."""

    score: float
    children: tuple[tuple[int, _Way | None], ...] = ()


class _Node(NamedTuple):
    """A part of a level that begins at a word, or a turn after one that ends there."""

    is_turn: bool
    level: int
    word: int


@dataclass(frozen=True)
class _Trees:
    """The prefix trees of one block in one sentence, given scores of shape (n_words, labels of the block).

    The children of a part are its lengths; those of a turn are its end, then its gaps.
    """

    structure: Segments
    block: SegmentBlock
    scores: Numbers

    @cached_property
    def _best(self) -> Numbers:
        """The score of the best set of children of each node, of shape (n_nodes, n_words)."""
        structure = self.structure
        best = np.empty((2 * structure.max_components - 1, len(self.scores)))
        table = SegmentTable(structure.max_components, structure.longest_part, structure.longest_gap)
        best_kernel(table, 0, self.scores, 0, len(self.scores), best)
        return best

    def _labels(self, node: _Node) -> NDArray[np.int64]:
        """Return the labels of a node's children that fit in the sentence."""
        structure = self.structure
        n_after = len(self.scores) - node.word
        if not node.is_turn:
            lengths = np.arange(1, min(structure.longest_part, n_after) + 1)
            labels: NDArray[np.int64] = structure.part_label(0, node.level, lengths)
            return labels
        lengths = np.arange(1, min(structure.longest_gap, n_after - 2) + 1)
        return np.array([structure.end_label(0, node.level), *structure.gap_label(0, node.level, lengths)])

    def _child(self, node: _Node, child: int) -> _Node | None:
        """Return the node that a child leads to, or None if the mention is complete."""
        if node.is_turn:
            return None if child == 0 else _Node(False, node.level + 1, node.word + 1 + child)
        is_last = node.level == self.structure.max_components - 1
        return None if is_last else _Node(True, node.level, node.word + child)

    def _values(self, node: _Node) -> Numbers:
        """Return the best score of each child with its subtree."""
        labels = self._labels(node)
        values: Numbers = self.scores[node.word, labels].copy()
        if node.is_turn:
            below = self._best[node.level + 1, node.word + 2 :]
            values[1:] += below[: len(labels) - 1]
        elif node.level < self.structure.max_components - 1:
            values += self._best[self.structure.max_components + node.level, node.word : node.word + len(labels)]
        return values

    def best(self) -> Outcome:
        """Return the best set of mentions."""

        def expand(node: _Node, said: None) -> Iterable[tuple[int, None]]:
            values = self._values(node)
            worth = np.flatnonzero(values > 0.0)
            return [(child, None) for child in (worth.tolist() if len(worth) else [int(np.argmax(values))])]

        starts = np.flatnonzero(self._best[0] > 0.0)
        return self._grow([(start, None) for start in starts.tolist()], expand, float(self._best[0, starts].sum()))

    def k_best(self, k: int) -> list[Outcome]:
        """Return the k best sets of mentions, best first."""
        known: dict[_Node, list[_Way]] = {}

        def ways_of(node: _Node | None) -> list[_Way]:
            if node is None:
                return [_Way(0.0)]
            if node not in known:
                scores = self.scores[node.word, self._labels(node)]
                ways = self._combined(
                    self._values(node), scores, lambda child: ways_of(self._child(node, child)), k + 1
                )
                known[node] = [way for way in ways if way.children][:k]
            return known[node]

        values = self._best[0]
        starts = self._combined(values, np.zeros(len(values)), lambda start: ways_of(_Node(False, 0, start)), k)
        return [self._grow(way.children, lambda node, way: way.children, way.score) for way in starts]

    def _combined(self, values: Numbers, scores: Numbers, ways_of: Callable[[int], list[_Way]], k: int) -> list[_Way]:
        """Return the k best sets of children, including the empty one.

        Of the children with negative scores only the k best can be in any of these sets: a set with a worse one is
        worse than k others, which have a better one in its place or leave it out.
        """
        worth = np.flatnonzero(values > 0.0)
        others = np.flatnonzero((values <= 0.0) & (values > -np.inf))
        others = others[np.argsort(-values[others], kind="stable")[:k]]
        combined = [_Way(0.0)]
        for child in sorted([*worth.tolist(), *others.tolist()]):
            score = float(scores[child])
            options = [None, *(_Way(score + way.score, ((child, way),)) for way in ways_of(child))]
            options.sort(key=lambda way: -way.score if way is not None else 0.0)
            pairs = [
                before if way is None else _Way(before.score + way.score, before.children + way.children)
                for before, way in falling_pairs(combined, options, k)
            ]
            combined = sorted(pairs, key=lambda way: -way.score)[:k]
        return combined

    def draw(self, probs: Numbers, alive: Numbers, rng: np.random.Generator) -> Outcome:
        """Draw a set of mentions; its score is not used."""
        n_levels = self.structure.max_components

        def expand(node: _Node, said: None) -> Iterable[tuple[int, None]]:
            chance = alive[node.word, n_levels + node.level if node.is_turn else node.level]
            given = probs[node.word, self._labels(node)]  # that there is a child
            own = np.minimum(given * chance, 1.0)  # all 0 if the chance underflows: there is exactly one child then
            first = given * np.concatenate([[1.0], np.cumprod(1.0 - own)[:-1]])  # this child, and none before it
            total = np.cumsum(first)
            place = min(int(np.searchsorted(total, rng.random() * total[-1], side="right")), len(own) - 1)
            is_there = rng.random(len(own)) < own
            is_there[:place] = False
            is_there[place] = True
            return [(child, None) for child in np.flatnonzero(is_there).tolist()]

        starts = np.flatnonzero(rng.random(len(alive)) < alive[:, 0])
        return self._grow([(start, None) for start in starts.tolist()], expand)

    def _grow(
        self,
        starts: Iterable[tuple[int, Any]],
        expand: Callable[[_Node, Any], Iterable[tuple[int, Any]]],
        score: float = 0.0,
    ) -> Outcome:
        """Return the tree that grows from the words where mentions start, depth first.

        ``expand`` gets a node with its payload, and returns its children with theirs.
        """
        edges: list[tuple[int, int]] = []
        mentions: list[Mention] = []
        waiting: list[tuple[_Node, Any, tuple[Span, ...], int | None]] = []
        for start, said in reversed(list(starts)):
            waiting.append((_Node(False, 0, start), said, (), None))
        while waiting:
            node, said, path, child = waiting.pop()
            if len(edges) == MOST_TREE_NODES or len(mentions) == MOST_MENTIONS:
                return Outcome(score, tuple(edges), tuple(mentions), truncated=True)
            leads_to: _Node | None = node
            if child is not None:
                edges.append((node.word, self.block.first_label + int(self._labels(node)[child])))
                path = path if node.is_turn else (*path, (node.word, node.word + child + 1))
                leads_to = self._child(node, child)
                if leads_to is None:
                    mentions.append(unchecked_mention(self.block.type, path, None))
                    continue
            assert leads_to is not None
            for number, of_child in reversed(list(expand(leads_to, said))):
                waiting.append((leads_to, of_child, path, int(number)))
        return Outcome(score, tuple(edges), tuple(mentions))
