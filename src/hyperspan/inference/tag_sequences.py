"""Over the tag sequences of the linear chain.

The probability of a mention is that the ``enough`` reading of the tags has it. That of plain runs is exact; what comes
from bodies and heads is counted in samples.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hyperspan.errors import StructureError
from hyperspan.inference.automaton import Automaton, chain_automaton
from hyperspan.inference.distribution import NO_OUTCOME, BatchDistribution, Marginals, check_at_least_one
from hyperspan.inference.numba.chain import ChainMessages, are_within_bounds, chain_messages
from hyperspan.inference.numba.log_space import k_best_paths, log_messages, sample_labels
from hyperspan.inference.numba.tag_marginals import mention_probs_kernel, probable_kernel
from hyperspan.inference.numba.tag_readings import MOST_PARTS, WIDTH, parts_of, read_tags
from hyperspan.inference.numba.tag_samples import CountingWorkspace, pool_of
from hyperspan.inference.numba.viterbi import best_tags_of
from hyperspan.inference.outcomes import Outcome, most_probable, score_of
from hyperspan.mentions import Mention, in_order, unchecked_mention
from hyperspan.structures.decoding import MOST_MENTIONS, Decoded, Reading
from hyperspan.structures.linear import Linear
from hyperspan.structures.structure import Encoding, check_type

N_SAMPLES = 200
"""How many samples there are of a sentence that surely has bodies or heads."""

LEAST_PROB = 0.001
"""Runs that are less probable are never looked for: this bounds time and memory."""

_ROOM = 1_024
_SEED = 0

Numbers = NDArray[np.float64]


class TagSequences(BatchDistribution[Linear]):
    """Over the tag sequences of the linear chain."""

    name = "encodings"

    def log_partition(self) -> Numbers:
        return self.marginals().log_partition

    def marginals(self) -> Marginals:
        transitions = np.zeros(self.batch.transitions.shape)
        log_partition, messages = self._messages(transitions)
        edges = messages.alpha * messages.beta
        n_tags = self.structure.n_labels
        for sentence in np.flatnonzero(~self._is_within).tolist():
            here = slice(self.batch.first_word[sentence], self.batch.first_word[sentence + 1])
            in_logs = log_messages(self._automaton, np.ascontiguousarray(self.batch.scores[here]))
            log_partition[sentence], edges[here] = in_logs.log_total, in_logs.marginals
            is_transition = self._automaton.arc_from < n_tags
            arcs = self._automaton.arc_from[is_transition], self._automaton.arc_label[is_transition]
            np.add.at(transitions, arcs, in_logs.arc_marginals[is_transition])
        return Marginals(log_partition, edges, transitions)

    @cached_property
    def _is_within(self) -> NDArray[np.bool_]:
        """Of which sentences scaled products lose nothing."""
        if are_within_bounds(self.batch.scores, self.batch.transitions):
            return np.ones(self.batch.n_sentences, dtype=np.bool_)
        pieces = (self.batch.scores[first:last] for first, last in pairwise(self.batch.first_word.tolist()))
        return np.array([are_within_bounds(piece, self.batch.transitions) for piece in pieces], dtype=np.bool_)

    def _messages(self, transition_marginals: Numbers | None = None) -> tuple[Numbers, ChainMessages]:
        """Return the log totals and messages of the sentences within bounds; those of others mean nothing."""
        batch = self.batch
        return chain_messages(batch.scores, batch.transitions, batch.first_word, transition_marginals, self._is_within)

    @property
    def _automaton(self) -> Automaton:
        return _automaton(self.batch.transitions.tobytes(), len(self.batch.transitions))

    # Best, k best, samples

    def _best_tags(self) -> tuple[Numbers, NDArray[np.int64]]:
        best_score, tags = best_tags_of(self.batch.scores, self.batch.transitions, self.batch.first_word)
        if np.any(best_score == -np.inf):
            raise StructureError(NO_OUTCOME)
        return best_score, tags

    def best(self) -> list[Outcome]:
        best_score, tags = self._best_tags()
        pieces = (tags[first:last].tolist() for first, last in pairwise(self.batch.first_word.tolist()))
        return [
            Outcome(score, tuple(enumerate(piece))) for score, piece in zip(best_score.tolist(), pieces, strict=True)
        ]

    def k_best(self, k: int) -> list[list[Outcome]]:
        check_at_least_one("k", k)
        return [k_best_paths(self._automaton, scores, k) for scores in self._scores()]

    def _scores(self) -> Iterator[Numbers]:
        """Yield the scores of each sentence."""
        for first, last in pairwise(self.batch.first_word.tolist()):
            yield self.batch.scores[first:last]

    def sample(self, n_samples: int, seed: int = 0) -> list[list[Outcome]]:
        check_at_least_one("n_samples", n_samples)
        found = []
        for scores, tags in zip(self._scores(), self._drawn(n_samples, seed), strict=True):
            drawn = [tuple(enumerate(sequence)) for sequence in tags.tolist()]
            found.append([Outcome(self._score(scores, sequence), sequence) for sequence in drawn])
        return found

    def _score(self, scores: Numbers, tags: Encoding) -> float:
        """Return the score of a tag sequence, transitions included."""
        labels = [label for _, label in tags]
        return score_of(scores, tags) + float(sum(self.batch.transitions[labels[:-1], labels[1:]]))

    def _drawn(self, n_samples: int, seed: int) -> Iterator[NDArray[np.int64]]:
        """Yield samples of each sentence as an array of tags, of shape (n_samples, n_words)."""
        for scores in self._scores():
            yield sample_labels(self._automaton, scores, n_samples, np.random.default_rng(seed))[:, :, 0]

    # Mentions

    def joint_probs(self, mentions: Sequence[Iterable[Mention]]) -> list[float]:
        """Return, for each sentence, how probable it is that the ``enough`` reading has all the given mentions.

        Of one mention as `mention_probs` says it; of several their share of sampled tag sequences.
        """
        wanted = [set(here) for here in mentions]
        if all(len(here) == 1 for here in wanted):
            return [probs[0] for probs in self.mention_probs([list(here) for here in wanted])]
        self.check_mentions([list(here) for here in wanted])
        found = []
        for here, drawn in zip(wanted, self._drawn(N_SAMPLES, _SEED), strict=True):
            distinct, n_times = np.unique(drawn, axis=0, return_counts=True)
            n_right = sum(
                count * (here <= set(self.structure.decode(tuple(enumerate(tags)), "enough").mentions))
                for tags, count in zip(distinct.tolist(), n_times.tolist(), strict=True)
            )
            found.append(n_right / N_SAMPLES)
        return found

    def probable(self, threshold: float = 0.3, *, limit: int = MOST_MENTIONS) -> list[Decoded]:
        """Return the mentions whose probability is at least the threshold, but none below a thousandth."""
        check_at_least_one("limit", limit)
        found: list[list[Mention]] = [[] for _ in range(self.batch.n_sentences)]
        for whose, rows, probs in self._probable_rows(threshold):
            self._append(found, whose, rows, probs)
        for sentence in np.flatnonzero(~self._is_within).tolist():
            shares = ((mention, count / N_SAMPLES) for mention, count in self._counts_in_logs(sentence).items())
            found[sentence] = [
                unchecked_mention(mention.type, mention.parts, share) for mention, share in shares if share >= threshold
            ]
        return [most_probable(here, limit) for here in found]

    def _probable_rows(self, threshold: float) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int32], Numbers]]:
        """Yield the sentences, rows and probabilities of mentions, as many as there is room for at a time."""
        (_, messages), capacity, sentence = self._messages(), _ROOM, 0
        while sentence < self.batch.n_sentences:
            whose, rows, probs = np.empty(capacity, np.int64), np.empty((capacity, WIDTH), np.int32), np.empty(capacity)
            before = sentence
            sentence, n_rows = probable_kernel(
                messages,
                self.batch.first_word,
                self._is_within,
                sentence,
                max(threshold, LEAST_PROB),
                self.structure.max_components,
                N_SAMPLES,
                pool_of(_SEED),
                CountingWorkspace.of(self.structure, self.batch.longest, capacity),
                whose,
                rows,
                probs,
            )
            if sentence == before:
                capacity *= 4
            yield whose[:n_rows], rows[:n_rows], probs[:n_rows]

    def _append(
        self, found: list[list[Mention]], whose: NDArray[np.int64], rows: NDArray[np.int32], probs: Numbers
    ) -> None:
        """Append mentions to those of their sentences."""
        columns = zip(whose.tolist(), probs.tolist(), *rows[:, :4].T.tolist(), strict=True)
        for row, (sentence, prob, type_id, n_parts, start, end) in enumerate(columns):
            spans = ((start, end),) if n_parts == 1 else parts_of(rows[row].tolist())
            found[sentence].append(unchecked_mention(self.structure.types[type_id], spans, prob))

    def read_best(self, reading: Reading) -> list[Decoded]:
        """Return the mentions that the best tags of each sentence are read as, with their probabilities."""
        if reading != "enough":
            return super().read_best(reading)
        first_row, rows = read_tags(self.structure, self._best_tags()[1], self.batch.first_word)
        found: list[list[Mention]] = [[] for _ in range(self.batch.n_sentences)]
        whose = np.repeat(np.arange(self.batch.n_sentences), np.diff(first_row))
        self._append(found, whose, rows, self._probs(first_row, rows))
        return [Decoded(in_order(here)) for here in found]

    def mention_probs(self, mentions: Sequence[Sequence[Mention]]) -> list[list[float]]:
        """Return the probability of each of some mentions of each sentence.

        It is exact as far as runs of contiguous tags that touch no head go. What comes from bodies and heads is counted
        in samples of tag sequences that have some.
        """
        self.check_mentions(mentions)
        first_row, rows = self._rows_of(mentions)
        probs = self._probs(first_row, rows).tolist()
        return [probs[first:last] for first, last in pairwise(first_row.tolist())]

    def _probs(self, first_row: NDArray[np.int64], rows: NDArray[np.int32]) -> Numbers:
        """Return how probable each of some mentions is; those of sentence s are ``first_row[s] : first_row[s + 1]``."""
        (_, messages), capacity, sentence = self._messages(), _ROOM, 0
        probs = np.zeros(len(rows))
        while sentence < self.batch.n_sentences:
            sentence = mention_probs_kernel(
                messages,
                self.batch.first_word,
                self._is_within,
                sentence,
                self.structure.max_components,
                N_SAMPLES,
                pool_of(_SEED),
                CountingWorkspace.of(self.structure, self.batch.longest, capacity),
                first_row,
                rows,
                probs,
            )
            capacity *= 4
        for sentence in np.flatnonzero(~self._is_within & (np.diff(first_row) > 0)).tolist():
            counts = self._counts_in_logs(sentence)
            for row in range(first_row[sentence], first_row[sentence + 1]):
                parts = parts_of(rows[row].tolist())
                if parts:
                    probs[row] = counts[Mention(self.structure.types[rows[row, 0]], parts)] / N_SAMPLES
        return probs

    def _rows_of(self, mentions: Sequence[Sequence[Mention]]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return mentions as rows; those with more parts than tags can mean have no part there."""
        number_of = {type: number for number, type in enumerate(self.structure.types)}
        first_row = np.concatenate([[0], np.cumsum([len(here) for here in mentions], dtype=np.int64)])
        rows = np.zeros((int(first_row[-1]), WIDTH), dtype=np.int32)
        for row, mention in enumerate(mention for here in mentions for mention in here):
            check_type(mention, number_of)
            parts = mention.parts if len(mention.parts) <= MOST_PARTS else ()
            rows[row, :2] = number_of[mention.type], len(parts)
            rows[row, 2 : 2 + 2 * len(parts)] = [bound for part in parts for bound in part]
        return first_row, rows

    def _counts_in_logs(self, sentence: int) -> Counter[Mention]:
        """Return in how many samples each mention is, for a sentence that needs log space."""
        (drawn,) = TagSequences(self.structure, self.batch.sentence(sentence))._drawn(N_SAMPLES, _SEED)
        return Counter(
            mention
            for tags in drawn.tolist()
            for mention in self.structure.decode(tuple(enumerate(tags)), "enough").mentions
        )


@lru_cache(maxsize=4)
def _automaton(transitions: bytes, n_tags: int) -> Automaton:
    """Return the automaton of transitions, which are the same for every sentence of a model."""
    return chain_automaton(np.frombuffer(transitions).reshape(n_tags, n_tags))
