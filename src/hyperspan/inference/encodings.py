"""The default distribution: over the distinct encodings of a hypergraph structure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hyperspan.errors import StructureError
from hyperspan.inference import outcomes
from hyperspan.inference.automaton import staircase_automaton
from hyperspan.inference.blocks import BlockDistribution
from hyperspan.inference.distribution import NO_OUTCOME
from hyperspan.inference.mention_rows import MentionRows, joined_rows
from hyperspan.inference.numba.frontier import staircase_table
from hyperspan.inference.numba.log_space import edges_of, k_best_paths, log_messages, sample_labels
from hyperspan.inference.numba.mention_marginals import (
    Bounds,
    Lanes,
    Paths,
    Waiting,
    mention_log_probs_kernel,
    probable_kernel,
)
from hyperspan.inference.numba.viterbi import best_of_block, take_plain_kernel
from hyperspan.inference.outcomes import Outcome, bounded
from hyperspan.inference.reference.mention_marginals import ClampedSums
from hyperspan.inference.scores import ScoreBatch
from hyperspan.inference.sums import Sums, sums_over
from hyperspan.mentions import Mention
from hyperspan.structures.decoding import Decoded, Reading
from hyperspan.structures.hypergraph import Block, Hypergraph
from hyperspan.structures.staircase import NO_START

_NODES_OF_THREE_PARTS = 5
_ROOM = 4_096


class Encodings(BlockDistribution[Hypergraph]):
    """The distribution over the distinct encodings of a hypergraph structure."""

    name = "encodings"

    def log_totals(self, marginals: NDArray[np.float64]) -> NDArray[np.float64]:
        log_totals = np.empty((len(self.structure.blocks), self.batch.n_sentences))
        for sums in sums_over(self.structure, self.batch):
            log_totals[sums.block, sums.sentence] = sums.run(self.batch, marginals)
            for number in sums.given_up:
                block, sentence = self.structure.blocks[sums.block[number]], sums.sentence[number]
                messages = log_messages(staircase_automaton(block.staircase), self.block_scores(block, sentence))
                log_totals[sums.block[number], sentence] = messages.log_total
                if len(marginals):
                    marginals[self.place(block, sentence)] = messages.marginals
        return log_totals

    # Best, k best, samples

    def best(self) -> list[Outcome]:
        scores, edges = np.zeros(self.batch.n_sentences), [list[tuple[int, int]]() for _ in self.batch.lengths]
        for block, best_score, labels in self._best_labels():
            scores += best_score
            self._append_edges(edges, block, labels, labels >= 0)
        return [Outcome(score, tuple(sorted(of_one))) for score, of_one in zip(scores.tolist(), edges, strict=True)]

    def _best_labels(self) -> Iterator[tuple[Block, NDArray[np.float64], NDArray[np.int8]]]:
        """Yield each block with the scores and labels of the best encodings, as `best_of_block` returns them."""
        for block in self.structure.blocks:
            table = staircase_table(block.staircase)
            best_score, labels = best_of_block(table, self.batch.scores, self.batch.first_word, block.first_label)
            if np.any(best_score == -np.inf):
                raise StructureError(NO_OUTCOME)
            yield block, best_score, labels

    def _append_edges(
        self, edges: list[list[tuple[int, int]]], block: Block, labels: NDArray[np.int8], is_chosen: NDArray[np.bool_]
    ) -> None:
        """Append the edges of the selected labels to those of their sentences."""
        words, places = np.nonzero(is_chosen)
        whose = np.searchsorted(self.batch.first_word, words, side="right") - 1
        columns = (whose, words - self.batch.first_word[whose], labels[words, places].astype(np.int64))
        for sentence, word, label in zip(*(column.tolist() for column in columns), strict=True):
            edges[sentence].append((word, block.first_label + label))

    def ranked(self, sentence: int, k: int) -> Iterator[list[Outcome]]:
        for block in self.structure.blocks:
            automaton = staircase_automaton(block.staircase)
            yield k_best_paths(automaton, self.block_scores(block, sentence), k, block.first_label)

    def drawn(self, sentence: int, n_samples: int, seed: int) -> Iterator[list[Outcome]]:
        rng = np.random.default_rng(seed)
        for block in self.structure.blocks:
            automaton, scores = staircase_automaton(block.staircase), self.block_scores(block, sentence)
            samples = sample_labels(automaton, scores, n_samples, rng)
            yield [Outcome(0.0, edges_of(labels, block.first_label)) for labels in samples]

    # Mentions

    @property
    def most_steps(self) -> int:
        return steps_for(max(block.staircase.n_nodes for block in self.structure.blocks))

    def probable_rows(self, threshold: float | Sequence[float], limit: int) -> tuple[MentionRows, NDArray[np.bool_]]:
        was_cut, in_log_space = np.zeros(self.batch.n_sentences, dtype=np.bool_), dict[int, list[Mention]]()
        tables = [MentionRows.room(0, self.structure.max_components)]
        for sums in sums_over(self.structure, self.batch):
            bounds = Bounds.of(sums.staircase, threshold, steps_for(sums.table.n_nodes), limit)
            tables += self._find_probable(sums, bounds, was_cut)
            for number in sums.given_up:
                block, sentence = self.structure.blocks[sums.block[number]], sums.sentence[number]
                fewer = bounds._replace(most_steps=bounds.most_steps // 10)
                mentions, cut = self._clamped(block, sentence).probable(block.type, fewer)
                in_log_space.setdefault(int(sentence), []).extend(mentions)
                was_cut[sentence] |= cut
        rows = joined_rows([*tables, MentionRows.of(self.structure, in_log_space)[0]])
        if not self.is_possible.all():
            rows = rows.chosen(np.flatnonzero(self.is_possible[rows.sentence]))
        return rows, was_cut & self.is_possible

    def _find_probable(self, sums: Sums, bounds: Bounds, was_cut: NDArray[np.bool_]) -> Iterator[MentionRows]:
        """Yield the probable mentions of sums that scaled products can compute; mark whose search was truncated."""
        cut = np.zeros(sums.n_padded, dtype=np.bool_)
        rows = MentionRows.room(_ROOM + 2 * sums.width * bounds.limit, self.structure.max_components)
        work, paths = sums.workspace(keeps_beta=True), Paths.of(sums.table, self.batch.longest)
        lanes, waiting = Lanes.of(sums.width), Waiting.of(sums.table, sums.longest, sums.width)
        scores, at = self.batch.scores, 0
        while at < sums.n_padded:
            with np.errstate(all="ignore"):  # without the compiler, NumPy would warn about sums that are given up
                at, n_found = probable_kernel(
                    sums.table, scores, sums.arrays, at, bounds, work, lanes, waiting, paths, cut, rows
                )
            here = rows.chosen(slice(n_found))
            yield here._replace(block=sums.block[here.sentence], sentence=sums.sentence[here.sentence])
        np.logical_or.at(was_cut, sums.sentence, cut[: len(sums)])

    def read_best(self, reading: Reading) -> list[Decoded]:
        """Return the mentions of the best encoding of each sentence, with their probabilities.

        Under ``enough``, most paths neither meet others nor branch, and a kernel reads those.
        """
        if reading != "enough":
            return super().read_best(reading)
        tangled, tables = [list[tuple[int, int]]() for _ in self.batch.lengths], []
        for number, (block, _, labels) in enumerate(self._best_labels()):
            rows = MentionRows.room(len(labels), self.structure.max_components)
            n_found = take_plain_kernel(staircase_table(block.staircase), labels, self.batch.first_word, rows)
            rows.block[:] = number
            tables.append(rows.chosen(slice(n_found)))
            self._append_edges(tangled, block, labels, labels > NO_START)
        rest = {
            sentence: bounded(self.structure.decode(tuple(edges), "enough"), self.most_steps)
            for sentence, edges in enumerate(tangled)
            if edges
        }
        others, _ = MentionRows.of(self.structure, {sentence: here.mentions for sentence, here in rest.items()})
        rows = joined_rows([*tables, others])
        found = rows._replace(prob=self._probs(rows)).mentions(self.block_types, self.batch.n_sentences)
        decoded = list(map(Decoded.ordered, found))
        for sentence, here in rest.items():
            whole = decoded[sentence]
            decoded[sentence] = replace(here, mentions=whole.mentions, truncated=here.truncated or whole.truncated)
        return decoded

    def mention_probs(self, mentions: Sequence[Sequence[Mention]]) -> list[list[float]]:
        self.check_mentions(mentions)
        probs = [[0.0] * len(here) for here in mentions]
        rows, places = MentionRows.of(self.structure, dict(enumerate(mentions)))
        for (sentence, rank), prob in zip(places, self._probs(rows).tolist(), strict=True):
            probs[sentence][rank] = prob if self.is_possible[sentence] else 0.0
        return probs

    def _probs(self, rows: MentionRows) -> NDArray[np.float64]:
        """Return the probability of each mention."""
        log_probs = np.full(rows.n_rows, -np.inf)
        shape = (len(self.structure.blocks), self.batch.n_sentences)
        wanted = np.zeros(shape, dtype=np.bool_)
        wanted[rows.block, rows.sentence] = True
        for sums in sums_over(self.structure, self.batch, wanted):
            number_of_sum = np.full(shape, -1)
            number_of_sum[sums.block, sums.sentence] = np.arange(len(sums))
            whose = number_of_sum[rows.block, rows.sentence]
            order = np.argsort(whose, kind="stable")
            order = order[np.searchsorted(whose[order], 0) :]
            log_probs[order] = self._log_probs(sums, rows.chosen(order), whose[order])
        probs: NDArray[np.float64] = np.exp(np.minimum(log_probs, 0.0))
        return probs

    def _log_probs(self, sums: Sums, rows: MentionRows, whose: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the log probabilities of mentions, in the order of the sums that they belong to."""
        log_probs = np.empty(rows.n_rows)
        first_mention = np.searchsorted(whose, np.arange(sums.n_padded + 1))
        with np.errstate(all="ignore"):  # without the compiler, NumPy would warn about sums that are given up
            work, paths = sums.workspace(keeps_beta=True), Paths.of(sums.table, 0)
            mention_log_probs_kernel(
                sums.table, self.batch.scores, sums.arrays, work, paths, first_mention, rows, log_probs
            )
        for number in sums.given_up:
            clamped = self._clamped(self.structure.blocks[sums.block[number]], sums.sentence[number])
            for row in range(first_mention[number], first_mention[number + 1]):
                log_probs[row] = clamped.log_prob(rows.parts[row, : rows.n_parts[row]].tolist())
        return log_probs

    def joint_probs(self, mentions: Sequence[Iterable[Mention]]) -> list[float]:
        wanted = [list(here) for here in mentions]
        self.check_mentions(wanted)
        clamped = [self.batch.sentence(number).scores for number in range(self.batch.n_sentences)]
        for number, here in enumerate(wanted):
            for mention in here:
                clamped[number] = self.structure.clamp(clamped[number], mention, ())
        batch = ScoreBatch(np.concatenate([self.batch.scores[:0], *clamped]), self.batch.first_word)
        with np.errstate(invalid="ignore"):
            log_probs = Encodings(self.structure, batch).log_partition() - self.log_partition()
        return [
            float(np.exp(min(log_prob, 0.0))) if is_possible else 0.0
            for log_prob, is_possible in zip(log_probs.tolist(), self.is_possible.tolist(), strict=True)
        ]

    def _clamped(self, block: Block, sentence: int) -> ClampedSums:
        """Return the clamped sums of one block and sentence in log space."""
        automaton = staircase_automaton(block.staircase)
        return ClampedSums(block.staircase, automaton, self.block_scores(block, sentence))


def steps_for(n_nodes: int) -> int:
    """Return how many words a search may process: fewer with more than three parts, when a word costs more."""
    return outcomes.MOST_STEPS >> max(0, n_nodes - _NODES_OF_THREE_PARTS)
