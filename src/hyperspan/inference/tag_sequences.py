"""The distribution over the tag sequences of the linear chain.

The probability of a mention is the probability that the ``enough`` reading of the tags contains it. It is exact for
plain runs; the contribution of bodies and heads is estimated from samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hyperspan.errors import StructureError
from hyperspan.inference.automaton import Automaton, chain_automaton
from hyperspan.inference.distribution import NO_OUTCOME, BatchDistribution, Marginals, check_at_least_one
from hyperspan.inference.mention_rows import MentionRows
from hyperspan.inference.numba.chain import ChainMessages, are_within_bounds, chain_messages
from hyperspan.inference.numba.log_space import k_best_paths, log_messages, sample_labels
from hyperspan.inference.numba.runs import add_run_probs_kernel, probable_runs_kernel
from hyperspan.inference.numba.tag_readings import MOST_PARTS, WIDTH, Rows, read_tags
from hyperspan.inference.numba.tag_samples import linked_kernel, pool_of
from hyperspan.inference.numba.viterbi import best_tags_of
from hyperspan.inference.outcomes import Outcome, by_number_of_parts, score_of
from hyperspan.mentions import Mention
from hyperspan.structures.decoding import Decoded, Reading
from hyperspan.structures.linear import Linear
from hyperspan.structures.structure import Encoding, check_type

N_SAMPLES = 200
"""How many samples are drawn for a sentence that certainly has bodies or heads."""

LEAST_PROB = 0.001
"""Less probable runs are never searched: this bounds time and memory."""

_ROOM = 100  # rows for each word: enough for nearly all sentences, and untouched memory costs nothing
_LARGEST = np.iinfo(np.int64).max
_SEED = 0

Numbers = NDArray[np.float64]


class TagSequences(BatchDistribution[Linear]):
    """The distribution over the tag sequences of the linear chain."""

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
        """For which sentences scaled products are accurate."""
        if are_within_bounds(self.batch.scores, self.batch.transitions):
            return np.ones(self.batch.n_sentences, dtype=np.bool_)
        pieces = (self.batch.scores[first:last] for first, last in pairwise(self.batch.first_word.tolist()))
        return np.array([are_within_bounds(piece, self.batch.transitions) for piece in pieces], dtype=np.bool_)

    def _messages(self, transition_marginals: Numbers | None = None) -> tuple[Numbers, ChainMessages]:
        """Return the log totals and messages of the sentences within bounds; those of others are meaningless."""
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
        for scores in self._scores():
            drawn = [tuple(enumerate(sequence)) for sequence in self._drawn(scores, n_samples, seed).tolist()]
            found.append([Outcome(self._score(scores, sequence), sequence) for sequence in drawn])
        return found

    def _score(self, scores: Numbers, tags: Encoding) -> float:
        """Return the score of a tag sequence, including transitions."""
        labels = [label for _, label in tags]
        return score_of(scores, tags) + float(sum(self.batch.transitions[labels[:-1], labels[1:]]))

    def _drawn(self, scores: Numbers, n_samples: int, seed: int) -> NDArray[np.int64]:
        """Return samples of a sentence as an array of tags, of shape (n_samples, n_words)."""
        return sample_labels(self._automaton, scores, n_samples, np.random.default_rng(seed))[:, :, 0]

    # Mentions

    def joint_probs(self, mentions: Sequence[Iterable[Mention]]) -> list[float]:
        """Return, for each sentence, the probability that the ``enough`` reading has all the given mentions.

        For one mention it is that of `mention_probs`; for several, their share of sampled tag sequences.
        """
        wanted = [set(here) for here in mentions]
        if all(len(here) == 1 for here in wanted):
            return [probs[0] for probs in self.mention_probs([list(here) for here in wanted])]
        self.check_mentions([list(here) for here in wanted])
        found = []
        for here, scores in zip(wanted, self._scores(), strict=True):
            distinct, n_times = np.unique(self._drawn(scores, N_SAMPLES, _SEED), axis=0, return_counts=True)
            n_right = sum(
                count * (here <= set(self.structure.decode(tuple(enumerate(tags)), "enough").mentions))
                for tags, count in zip(distinct.tolist(), n_times.tolist(), strict=True)
            )
            found.append(n_right / N_SAMPLES)
        return found

    def probable_rows(self, threshold: float | Sequence[float], limit: int) -> tuple[MentionRows, NDArray[np.bool_]]:
        """Return the mentions whose probability is at least the threshold and at least 0.001."""
        least = np.maximum(by_number_of_parts(threshold, MOST_PARTS), LEAST_PROB)
        _, messages = self._messages()
        runs = _written(probable_runs_kernel, messages, self.batch.first_word, self._is_within, least[0])
        rows, probs, _ = self._with_sampled(messages, runs, np.ones(self.batch.n_sentences, dtype=np.bool_))
        is_kept = probs >= least[np.count_nonzero(rows[:, 5::2], axis=1)]
        return self._table(rows[is_kept], probs[is_kept]), np.zeros(self.batch.n_sentences, dtype=np.bool_)

    def read_best(self, reading: Reading) -> list[Decoded]:
        """Return the mentions that the best tags of each sentence are read as, with their probabilities."""
        if reading != "enough":
            return super().read_best(reading)
        rows = read_tags(self.structure, self._best_tags()[1], self.batch.first_word)
        found = self._table(rows, self._probs(rows)).mentions(self.block_types, self.batch.n_sentences)
        return list(map(Decoded.ordered, found))

    def _table(self, rows: Rows, probs: Numbers) -> MentionRows:
        """Return the rows of mentions in the form that all distributions have them in."""
        wide = rows.astype(np.int64)
        n_parts = np.count_nonzero(wide[:, 3::2], axis=1)
        return MentionRows(wide[:, 1], wide[:, 0], probs, n_parts, wide[:, 2:].reshape(-1, MOST_PARTS, 2))

    def mention_probs(self, mentions: Sequence[Sequence[Mention]]) -> list[list[float]]:
        """Return the probability of each given mention of each sentence.

        It is exact for runs of contiguous tags that touch no head. The contribution of bodies and heads is estimated
        from samples of tag sequences that have some.
        """
        self.check_mentions(mentions)
        probs = iter(self._probs(self._rows_of(mentions)).tolist())
        return [[next(probs) for _ in here] for here in mentions]

    def _rows_of(self, mentions: Sequence[Sequence[Mention]]) -> Rows:
        """Return mentions as rows; those with more parts than tags can express have no parts."""
        number_of = {type: number for number, type in enumerate(self.structure.types)}
        placed = [(sentence, mention) for sentence, here in enumerate(mentions) for mention in here]
        rows = np.zeros((len(placed), WIDTH), dtype=np.int32)
        for row, (sentence, mention) in zip(rows, placed, strict=True):
            check_type(mention, number_of)
            row[:2] = sentence, number_of[mention.type]
            if len(mention.parts) <= MOST_PARTS:
                row[2 : 2 + 2 * len(mention.parts)] = np.ravel(mention.parts)
        return rows

    def _probs(self, rows: Rows) -> Numbers:
        """Return the probability of each mention."""
        is_wanted = np.zeros(self.batch.n_sentences, dtype=np.bool_)
        is_wanted[rows[:, 0]] = True
        _, probs, place = self._with_sampled(self._messages()[1], rows, is_wanted)
        return probs[place]

    def _with_sampled(
        self, messages: ChainMessages, rows: Rows, is_wanted: NDArray[np.bool_]
    ) -> tuple[Rows, Numbers, NDArray[np.int64]]:
        """Merge mentions with those sampled in wanted sentences; return them, their probabilities and indices."""
        sampled, share = self._sampled(messages, is_wanted)
        everything = np.concatenate([rows, sampled])
        _, first, place = np.unique(_keys(everything), return_index=True, return_inverse=True)
        found = everything[first]
        probs = np.bincount(place[len(rows) :], minlength=len(found)) * share[found[:, 0]]
        add_run_probs_kernel(messages, self.batch.first_word, self._is_within, found, probs)
        return found, np.minimum(probs, 1.0), place[: len(rows)]

    def _sampled(self, messages: ChainMessages, is_wanted: NDArray[np.bool_]) -> tuple[Rows, Numbers]:
        """Return the mentions of samples, once per occurrence, and the weight of an occurrence in each sentence.

        Plain runs are included only if the sentence needs log space.
        """
        structure, share = self.structure, np.full(self.batch.n_sentences, 1.0 / N_SAMPLES)
        is_linked, pool = is_wanted & self._is_within, pool_of(_SEED)
        first_word, most = self.batch.first_word, structure.max_components
        found = [_written(linked_kernel, messages, first_word, is_linked, most, N_SAMPLES, pool, share)]
        for sentence in np.flatnonzero(is_wanted & ~self._is_within).tolist():
            tags = self._drawn(self.batch.sentence(sentence).scores, N_SAMPLES, _SEED)
            found.append(read_tags(structure, tags.ravel(), np.arange(N_SAMPLES + 1) * tags.shape[1]))
            found[-1][:, 0] = sentence
        return np.concatenate(found), share


def _written(kernel: Callable[..., int], messages: ChainMessages, *arguments: object) -> Rows:
    """Return the rows that a kernel writes, with as much space as it needs."""
    rows = np.empty((_ROOM * len(messages.alpha), WIDTH), dtype=np.int32)
    while (n_rows := kernel(messages, *arguments, rows)) < 0:
        rows = np.empty((4 * len(rows), WIDTH), dtype=np.int32)
    return rows[:n_rows]


def _keys(rows: Rows) -> NDArray[np.int64]:
    """Return a number for each row, equal for equal rows: its numbers as digits, ranked when they get too large."""
    keys, n_keys = np.zeros(len(rows), dtype=np.int64), 1
    for column in rows.T:
        base = int(column.max(initial=0)) + 1
        if n_keys * base > _LARGEST:
            keys, n_keys = np.unique(keys, return_inverse=True)[1], len(rows)
        keys, n_keys = keys * base + column, n_keys * base
    return keys


@lru_cache(maxsize=4)
def _automaton(transitions: bytes, n_tags: int) -> Automaton:
    """Return the cached automaton of transitions, which are the same for every sentence of a model."""
    return chain_automaton(np.frombuffer(transitions).reshape(n_tags, n_tags))
