"""Over the distinct encodings of a hypergraph structure: the default distribution."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hyperspan.errors import StructureError
from hyperspan.inference import outcomes
from hyperspan.inference.automaton import staircase_automaton
from hyperspan.inference.blocks import BlockDistribution
from hyperspan.inference.distribution import NO_OUTCOME, check_at_least_one
from hyperspan.inference.mention_rows import MentionRows, joined_rows
from hyperspan.inference.numba.frontier import staircase_table
from hyperspan.inference.numba.log_space import edges_of, k_best_paths, log_messages, sample_labels
from hyperspan.inference.numba.mention_marginals import (
    SLACK,
    Bounds,
    Paths,
    mention_log_probs_kernel,
    probable_kernel,
)
from hyperspan.inference.numba.viterbi import best_of_block, take_plain_kernel
from hyperspan.inference.outcomes import Outcome, bounded, by_number_of_parts, most_probable
from hyperspan.inference.reference.mention_marginals import ClampedSums
from hyperspan.inference.scores import ScoreBatch
from hyperspan.inference.sums import Sums, sums_over
from hyperspan.mentions import Mention
from hyperspan.structures.decoding import MOST_MENTIONS, Decoded, Reading
from hyperspan.structures.hypergraph import Block, Hypergraph
from hyperspan.structures.staircase import NO_START, START

_NODES_OF_THREE_PARTS = 5
_ROOM = 4_096


class Encodings(BlockDistribution[Hypergraph]):
    """Over the distinct encodings of a hypergraph structure."""

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
        """Append the edges with the chosen ones of such labels to those of their sentences."""
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

    def probable(self, threshold: float | Sequence[float] = 0.3, *, limit: int = MOST_MENTIONS) -> list[Decoded]:
        check_at_least_one("limit", limit)
        n_sentences = self.batch.n_sentences
        was_cut, found = np.zeros(n_sentences, dtype=np.bool_), [list[Mention]() for _ in range(n_sentences)]
        marginals = np.empty(self.batch.scores.shape)
        wanted = None
        if len(self.structure.blocks) > 1:  # most types have no mention in most sentences
            lowest = min(by_number_of_parts(threshold, self.structure.max_components))
            wanted = self.chance_of_mentions() >= lowest * (1.0 - SLACK)
        for sums in sums_over(self.structure, self.batch, wanted):
            bounds = Bounds.of(sums.staircase, threshold, steps_for(sums.table.n_nodes), limit)
            np.logical_or.at(was_cut, sums.sentence, self._find_probable(sums, bounds, marginals, found))
            for number in sums.given_up:
                block, sentence = self.structure.blocks[sums.block[number]], sums.sentence[number]
                fewer = bounds._replace(most_steps=bounds.most_steps // 10)
                mentions, cut = self._clamped(block, sentence).probable(block.type, fewer)
                found[sentence] += mentions
                was_cut[sentence] |= cut
        return [
            most_probable(here, limit, is_cut) if is_possible else Decoded(())
            for here, is_cut, is_possible in zip(found, was_cut.tolist(), self.is_possible.tolist(), strict=True)
        ]

    def chance_of_mentions(self) -> NDArray[np.float64]:
        """Return how probable it is that there is any mention of each block, of shape (n_blocks, n_sentences), or 1.

        No mention is more probable than that. Where scaled products do not tell, it is 1.
        """
        chance = np.ones((len(self.structure.blocks), self.batch.n_sentences))
        has_words = self.batch.lengths > 0
        first_words = self.batch.first_word[:-1][has_words]
        for sums in sums_over(self.structure, self.batch):
            chance[sums.block, sums.sentence] = sums.run(self.batch, self.batch.scores[:0])
            chance[sums.block[sums.given_up], sums.sentence[sums.given_up]] = np.nan
        nothing = np.zeros(chance.shape)
        no_start = self.structure.start_labels - START + NO_START
        if len(first_words):
            nothing[:, has_words] = np.add.reduceat(self.batch.scores[:, no_start].T, first_words, axis=1)
        with np.errstate(invalid="ignore"):
            found = -np.expm1(np.minimum(0.0, nothing - chance))
        return np.where(np.isnan(found), 1.0, found)

    def _find_probable(
        self, sums: Sums, bounds: Bounds, marginals: NDArray[np.float64], found: list[list[Mention]]
    ) -> NDArray[np.bool_]:
        """Append the probable mentions of sums that can be made in scaled products; returns whose search was cut."""
        cut = np.zeros(sums.n_padded, dtype=np.bool_)
        rows = MentionRows.room(_ROOM + sums.width * bounds.limit, self.structure)
        work, paths = sums.workspace(keeps_beta=True), Paths.of(sums.table, self.batch.longest)
        scores, at = self.batch.scores, 0
        while at < sums.n_padded:
            with np.errstate(all="ignore"):  # for runs without the compiler: a sum that is given up may hold anything
                at, n_found = probable_kernel(
                    sums.table, scores, sums.arrays, at, bounds, work, paths, marginals, cut, rows
                )
            here = rows.chosen(slice(n_found))
            here = here._replace(block=sums.block[here.sentence], sentence=sums.sentence[here.sentence])
            here.append_to(found, self.structure)
        return cut[: len(sums)]

    def read_best(self, reading: Reading) -> list[Decoded]:
        """Return the mentions of the best encoding of each sentence, with their probabilities.

        As few as explain it: most of its paths neither meet others nor part, and a kernel reads those.
        """
        if reading != "enough":
            return super().read_best(reading)
        tangled, tables = [list[tuple[int, int]]() for _ in self.batch.lengths], []
        for number, (block, _, labels) in enumerate(self._best_labels()):
            rows = MentionRows.room(len(labels), self.structure)
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
        found: list[list[Mention]] = [[] for _ in range(self.batch.n_sentences)]
        rows._replace(prob=self._probs(rows)).append_to(found, self.structure)
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
        """Return how probable each of some mentions is."""
        log_probs, marginals = np.full(rows.n_rows, -np.inf), np.empty(self.batch.scores.shape)
        shape = (len(self.structure.blocks), self.batch.n_sentences)
        wanted = np.zeros(shape, dtype=np.bool_)
        wanted[rows.block, rows.sentence] = True
        for sums in sums_over(self.structure, self.batch, wanted):
            number_of_sum = np.full(shape, -1)
            number_of_sum[sums.block, sums.sentence] = np.arange(len(sums))
            whose = number_of_sum[rows.block, rows.sentence]
            order = np.argsort(whose, kind="stable")
            order = order[np.searchsorted(whose[order], 0) :]
            log_probs[order] = self._log_probs(sums, rows.chosen(order), whose[order], marginals)
        probs: NDArray[np.float64] = np.exp(np.minimum(log_probs, 0.0))
        return probs

    def _log_probs(
        self, sums: Sums, rows: MentionRows, whose: NDArray[np.int64], marginals: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the log probabilities of mentions, in the order of the sums that they belong to."""
        log_probs = np.empty(rows.n_rows)
        first_mention = np.searchsorted(whose, np.arange(sums.n_padded + 1))
        with np.errstate(all="ignore"):  # for runs without the compiler: a sum that is given up may hold anything
            work, paths = sums.workspace(keeps_beta=True), Paths.of(sums.table, 0)
            mention_log_probs_kernel(
                sums.table, self.batch.scores, sums.arrays, work, paths, marginals, first_mention, rows, log_probs
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
        """Return what answers questions about mentions of one block and sentence in log space."""
        automaton = staircase_automaton(block.staircase)
        return ClampedSums(block.staircase, automaton, self.block_scores(block, sentence))


def steps_for(n_nodes: int) -> int:
    """Return how many words a search may advance over: fewer where a word costs more, with more than three parts."""
    return outcomes.MOST_STEPS >> max(0, n_nodes - _NODES_OF_THREE_PARTS)
