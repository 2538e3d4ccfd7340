"""Candidates for training sentences from models that have not seen them: cross-validation by document."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperspan.errors import LearningError, ModelError
from hyperspan.learning import Record
from hyperspan.mentions import Mention, Sentence, unchecked_mention
from hyperspan.recognizer.checkpoint import saved
from hyperspan.recognizer.model_file import read_arrays, write_arrays
from hyperspan.recognizer.prediction import candidates_in
from hyperspan.recognizer.settings import Settings
from hyperspan.recognizer.training import Trainer, TrainingOptions, document_names
from hyperspan.schema import check_array
from hyperspan.scoring import Proposal
from hyperspan.threads import run

N_FOLDS = 5

Candidates = tuple[Mention, ...]


def folds_of(train: Sequence[Sentence], seed: int, n_folds: int = N_FOLDS) -> NDArray[np.int64]:
    """Return the fold of each sentence; all sentences of a document are in the same fold.

    Documents with mentions are assigned first, so that each fold has about as many. A sentence without a document
    counts as a document. If fewer documents than folds have mentions, there are fewer folds.

    Raises
    ------
    LearningError
        If fewer than two documents have mentions.
    """
    names = document_names(train)
    with_mentions = {name for name, sentence in zip(names, train, strict=True) if sentence.mentions}
    if len(with_mentions) < 2:
        raise LearningError(
            f"a second look needs training data with mentions in several documents, to hold some of them out; there "
            f"are mentions in {len(with_mentions)}. Give more documents, or rescore='off'"
        )
    fold_of = deal_out((with_mentions, {*names} - with_mentions), min(n_folds, len(with_mentions)), seed)
    return np.array([fold_of[name] for name in names], dtype=np.int64)


def deal_out(groups: Iterable[Iterable[str]], n_folds: int, seed: int) -> dict[str, int]:
    """Assign each document to a fold; within each group of documents, the sizes of folds differ by at most one.

    The same names and seed give the same folds, whatever the order of the names.

    Examples
    --------
    >>> sorted(deal_out([["a", "b", "c"], ["d"]], 2, seed=0).values())
    [0, 0, 0, 1]
    """
    draw, fold_of = np.random.default_rng(seed), dict[str, int]()
    for group in groups:
        names = sorted(set(group))
        for place, number in enumerate(draw.permutation(len(names)).tolist()):
            fold_of[names[number]] = place % n_folds
    return fold_of


@dataclass(frozen=True)
class Folds:
    """Trains a model without each fold, and lets it find the candidates of that fold.

    Attributes
    ----------
    settings : Settings
        The settings of the models; ``n_threads`` models are trained in parallel.
    train : list of Sentence
    fold : int64 array of shape (n_sentences,)
        The fold of each sentence, from `folds_of`.
    proposal : Proposal
        Which mentions are candidates.
    trainer : callable
        Trains a model.
    options : TrainingOptions
        The options; each fold has its own checkpoint beside that of the model.
    """

    settings: Settings
    train: list[Sentence]
    fold: NDArray[np.int64]
    proposal: Proposal
    trainer: Trainer
    options: TrainingOptions

    def candidates(self) -> list[Candidates]:
        """Return the candidates of each sentence, from a model that was trained without its document."""
        n_folds, n_threads = int(self.fold.max()) + 1, self.settings.n_threads
        side_by_side = min(n_threads, n_folds)
        settings = replace(self.settings, n_threads=max(1, n_threads // side_by_side), rescore="off", threshold=None)
        lock = threading.Lock()
        found: list[Candidates] = [()] * len(self.train)

        def work(number: int) -> None:
            chosen = np.flatnonzero(self.fold == number).tolist()
            for place, here in zip(chosen, self._of_fold(number, settings, lock), strict=True):
                found[place] = here

        with said_once():
            run(side_by_side, work, n_folds)
        return found

    def _of_fold(self, number: int, settings: Settings, lock: threading.Lock) -> list[Candidates]:
        """Return the candidates of the sentences in one fold, from a checkpoint if there is one."""
        unseen = [sentence for sentence, fold in zip(self.train, self.fold.tolist(), strict=True) if fold == number]
        seen = [sentence for sentence, fold in zip(self.train, self.fold.tolist(), strict=True) if fold != number]
        checkpoint = fold_checkpoint(self.options.checkpoint, number)
        done = None if checkpoint is None else checkpoint.with_name(f"{checkpoint.name}.candidates")
        fingerprint = self._fingerprint(number)
        if self.options.resume and done is not None and done.is_file():
            return read_candidates(done, fingerprint, unseen)
        resume = self.options.resume and checkpoint is not None and checkpoint.is_file()
        options = TrainingOptions(self._watch(number, lock), 0, checkpoint, resume)
        model, _ = self.trainer(settings, seen, [], options)
        found = list(candidates_in(model, self.proposal, unseen))
        if done is not None and checkpoint is not None and saved(lambda: write_candidates(done, fingerprint, found)):
            checkpoint.unlink(missing_ok=True)
        return found

    def _watch(self, number: int, lock: threading.Lock) -> Callable[[Record], bool | None] | None:
        on_iteration = self.options.on_iteration
        if on_iteration is None:
            return None

        def watch(record: Record) -> bool | None:
            with lock:  # folds are trained in parallel
                return on_iteration(replace(record, fold=number + 1, n_folds=int(self.fold.max()) + 1))

        return watch

    def _fingerprint(self, number: int) -> str:
        """Identify what the candidates depend on; the checkpoint of the model itself checks the features."""
        digest = hashlib.blake2b(digest_size=16)
        chosen = {
            name: value
            for name, value in vars(self.settings).items()
            if name not in ("features", "clusters", "lexicon", "n_threads", "rescore", "threshold", "decode")
        }
        digest.update(repr((number, self.proposal, sorted(chosen.items()))).encode("utf-8", "surrogatepass"))
        digest.update(self.fold.tobytes())
        for sentence in self.train:
            digest.update(repr((sentence.tokens, sentence.mentions)).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()


@contextmanager
def said_once() -> Iterator[None]:
    """Suppress messages about skipped templates: the training of the model itself has given them."""
    log = logging.getLogger("hyperspan.features")
    level = log.level
    log.setLevel(logging.WARNING)
    try:
        yield
    finally:
        log.setLevel(level)


def fold_checkpoint(checkpoint: Path | None, number: int) -> Path | None:
    """Return the path of a fold's checkpoint, beside that of the model."""
    return None if checkpoint is None else checkpoint.with_name(f"{checkpoint.name}.fold{number + 1}")


def remove_checkpoints(checkpoint: Path) -> None:
    """Remove a checkpoint and those of its folds."""
    checkpoint.unlink(missing_ok=True)
    remove_fold_checkpoints(checkpoint)


def remove_fold_checkpoints(checkpoint: Path) -> None:
    """Remove the checkpoints of folds, and the candidates that were found: a new training must not use them."""
    for number in range(N_FOLDS):
        of_fold = fold_checkpoint(checkpoint, number)
        assert of_fold is not None
        of_fold.unlink(missing_ok=True)
        of_fold.with_name(f"{of_fold.name}.candidates").unlink(missing_ok=True)


def write_candidates(path: Path, fingerprint: str, candidates: Sequence[Candidates]) -> None:
    """Write the candidates of a fold, so that interrupted training can be resumed."""
    flat = [mention for here in candidates for mention in here]
    types = sorted({mention.type for mention in flat})
    most = max((len(mention.parts) for mention in flat), default=1)
    parts = np.zeros((len(flat), most, 2), dtype=np.int64)
    for row, mention in enumerate(flat):
        parts[row, : len(mention.parts)] = mention.parts
    arrays: dict[str, NDArray[Any]] = {
        "first": np.cumsum([0, *map(len, candidates)], dtype=np.int64),
        "type_id": np.array([types.index(mention.type) for mention in flat], dtype=np.int64),
        "prob": np.array([mention.prob or 0.0 for mention in flat], dtype=np.float64),
        "n_parts": np.array([len(mention.parts) for mention in flat], dtype=np.int64),
        "parts": parts,
    }
    write_arrays(path, "candidates", {"fingerprint": fingerprint, "types": types}, arrays)


def read_candidates(path: Path, fingerprint: str, sentences: Sequence[Sentence]) -> list[Candidates]:
    """Read what `write_candidates` wrote for these sentences.

    Raises
    ------
    ModelError
        If it was made with other data or settings, or is not a file of candidates.
    """
    data, arrays = read_arrays(path, "candidates")
    if data.get("fingerprint") != fingerprint:
        raise ModelError(
            f"{path} was made with other data or settings; resume with the same, or train without --resume"
        )
    try:
        return _checked_candidates(data, arrays, sentences)
    except (ModelError, TypeError, ValueError, IndexError) as error:
        raise ModelError(f"{path} was not written by this program: {error}") from None


def _checked_candidates(
    data: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], sentences: Sequence[Sentence]
) -> list[Candidates]:
    types = data.get("types")
    if not isinstance(types, list) or not all(isinstance(type, str) and type for type in types):
        raise ModelError("its types are not strings")
    first = check_array(arrays, "first", np.int64, (len(sentences) + 1,)).tolist()
    type_id = check_array(arrays, "type_id", np.int64, (None,)).tolist()
    prob = check_array(arrays, "prob", np.float64, (len(type_id),)).tolist()
    n_parts = check_array(arrays, "n_parts", np.int64, (len(type_id),)).tolist()
    parts = check_array(arrays, "parts", np.int64, (len(type_id), None, 2)).tolist()
    if first[0] != 0 or first[-1] != len(type_id) or sorted(first) != first:
        raise ModelError("its candidates are not those of the sentences")
    found: list[Candidates] = []
    for sentence, begin, end in zip(sentences, first[:-1], first[1:], strict=True):
        here = []
        for row in range(begin, end):
            if not 0 <= type_id[row] < len(types) or not 0.0 <= prob[row] <= 1.0:
                raise ModelError("it has candidates without a valid type or probability")
            mention = Mention(types[type_id[row]], [tuple(part) for part in parts[row][: n_parts[row]]])
            if mention.end > len(sentence):
                raise ModelError("it has candidates beyond the end of a sentence")
            here.append(unchecked_mention(mention.type, mention.parts, prob[row]))
        found.append(tuple(here))
    return found
