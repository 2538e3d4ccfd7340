"""The recognizer: learn from annotated sentences, find mentions in others, keep what was learned."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import islice
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from hyperspan.checkpoint import Interrupted, Keeper, read_note
from hyperspan.errors import HyperspanError, LearningError, ModelError, UsageError
from hyperspan.evaluation import Evaluation, evaluate
from hyperspan.explanation import Explanation, explain
from hyperspan.features import Extractor, FeatureBlock, TemplateSet
from hyperspan.features.columns import ClusterPaths, SemanticCategories
from hyperspan.features.templates import NAMED
from hyperspan.inference import OVER, Distribution, Outcome, Over, distribution
from hyperspan.inference.tag_sequences import TagSequences
from hyperspan.learning import (
    DEFAULT_THRESHOLD,
    L2_CHOICES,
    LOWEST_THRESHOLD,
    Gold,
    Objective,
    Parameters,
    Record,
    best_threshold,
    check_parameters,
    choose_parameters,
    encode_gold,
    new_search,
    score_words,
)
from hyperspan.mentions import Mention, Sentence, Unit, to_characters
from hyperspan.model_file import read_arrays, write_arrays
from hyperspan.structures import Decoded, Hypergraph, Linear, decode_all, decode_enough, structure
from hyperspan.text import Annotator, annotator, as_sentences, split_document

Decode = Literal["probable", "enough", "all"]
DECODE: tuple[Decode, ...] = ("probable", "enough", "all")

LONGEST_SENTENCE = 20_000
"""Words; longer sentences are refused in training, and cut nowhere: split them."""

AnyUnit = TypeVar("AnyUnit", bound=Unit)

_BATCH_WORDS = 4_096
_HELD_OUT = 10
_LONGEST_SHOWN = 60
_MOST_WORK = 1_000_000


@dataclass(frozen=True, slots=True)
class Found:
    """What was found in a sentence."""

    mentions: tuple[Mention, ...]
    truncated: bool = False
    alternatives: tuple[tuple[float, tuple[Mention, ...]], ...] = ()


class Recognizer:
    """Find mentions whose words need not be adjacent and may overlap.

    The constructor only stores; `fit` checks. Works with scikit-learn's ``clone`` and ``GridSearchCV``.

    Parameters
    ----------
    structure : {"shared", "split", "mention", "linear"}
        How mentions are written as edges or tags.
    max_components : int
        The most parts a mention can have, 1 to 5.
    distribution : {"encodings", "mention-sets", "published"}
        What probabilities are over.
    l2 : float or "auto"
        The penalty on weights; ``auto`` tries several on development data.
    features : str or path
        ``"default"``, ``"published"`` or a template file.
    clusters : Clusters, optional
        Brown clusters.
    lexicon : Lexicon, optional
        Semantic categories.
    annotator : str
        Who gives parts of speech and lemmas: see `hyperspan.text.annotator`.
    frequent : int
        Features that occur so often have weights for all labels that occur.
    max_iterations : int
        Of the optimiser, for each penalty.
    tolerance : float
        Stop when the objective falls by less than this share over ten iterations.
    decode : {"probable", "enough", "all"}
        From a structure to mentions.
    threshold : float, optional
        As probable as a mention must be under ``probable``; tuned on development data if not given, or 0.3 without any.
    n_threads : int
        Results do not depend on it.
    seed : int
        Which documents are held out for ``l2="auto"`` without development data.

    Attributes
    ----------
    types_, structure_, weights_, n_features_, n_iter_, l2_, threshold_, training_log_, dev_scores_, left_out_
        After `fit`: see the documentation of each in ``docs/recognizer.md``.

    Examples
    --------
    >>> sentences = [
    ...     Sentence("blood in stomach".split(), [Mention("Finding", [(0, 3)])]),
    ...     Sentence("no blood seen".split(), [Mention("Finding", [(1, 2)])]),
    ... ] * 10
    >>> recognizer = Recognizer(max_components=2).fit(sentences)
    >>> [sentences[0].text_of(mention) for mention in recognizer.predict(sentences[:1])[0]]
    ['blood in stomach']
    """

    def __init__(
        self,
        *,
        structure: str = "shared",
        max_components: int = 3,
        distribution: Over = "encodings",
        l2: float | Literal["auto"] = 1.0,
        features: str | Path | TemplateSet = "default",
        clusters: ClusterPaths | None = None,
        lexicon: SemanticCategories | None = None,
        annotator: str = "none",
        frequent: int = 10,
        max_iterations: int = 500,
        tolerance: float = 1e-5,
        decode: Decode = "probable",
        threshold: float | None = None,
        n_threads: int = 2,
        seed: int = 0,
    ) -> None:
        self.structure = structure
        self.max_components = max_components
        self.distribution = distribution
        self.l2 = l2
        self.features = features
        self.clusters = clusters
        self.lexicon = lexicon
        self.annotator = annotator
        self.frequent = frequent
        self.max_iterations = max_iterations
        self.tolerance = tolerance
        self.decode = decode
        self.threshold = threshold
        self.n_threads = n_threads
        self.seed = seed

    types_: tuple[str, ...]
    structure_: Hypergraph | Linear
    extractor_: Extractor
    parameters_: Parameters
    weights_: NDArray[np.float64]
    l2_: float
    threshold_: float
    n_iter_: int
    training_log_: list[dict[str, Any]]
    dev_scores_: dict[str, Any]
    left_out_: int
    _checkpoint: Path | None = None

    # scikit-learn's manners, without needing it

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        parameters = inspect.signature(cls.__init__).parameters
        return {name: value.default for name, value in parameters.items() if name != "self"}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the constructor's arguments by name."""
        return {name: getattr(self, name) for name in self._defaults()}

    def set_params(self, **params: Any) -> Recognizer:
        """Change constructor arguments."""
        known = self._defaults()
        for name, value in params.items():
            if name not in known:
                raise UsageError(f"a Recognizer has no parameter {name!r}; expected one of {', '.join(known)}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = self._defaults()
        changed = [f"{name}={_shown(value)}" for name, value in self.get_params().items() if value != defaults[name]]
        return f"Recognizer({', '.join(changed)})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=False), input_tags=InputTags())

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "weights_")

    # Learning

    def fit(
        self,
        sentences: Iterable[Unit],
        y: Sequence[Sequence[Mention]] | None = None,
        *,
        dev: Iterable[Unit] | None = None,
        on_iteration: Callable[[Record], bool | None] | None = None,
        dev_every: int = 0,
        checkpoint: str | Path | None = None,
        resume: bool = False,
    ) -> Recognizer:
        """Learn from sentences (or documents) with their mentions.

        Parameters
        ----------
        sentences : iterable of Sentence or Document
        y : sequence of sequences of Mention, optional
            The mentions, if the sentences do not carry them.
        dev : iterable of Sentence or Document, optional
            Development data, for the threshold and for ``l2="auto"``.
        on_iteration : callable, optional
            Gets a `Record` after every iteration; if it returns True, training stops as if interrupted.
        dev_every : int
            Score the development data every so many iterations, for the record.
        checkpoint : path, optional
            Where to save the search from time to time; `save` removes it, when the model is safe.
        resume : bool
            Go on from the checkpoint, if there is one.

        Raises
        ------
        LearningError
            If there is nothing to learn from.
        Interrupted
            If ``on_iteration`` asked for it; the search is in the checkpoint.
        ModelError
            If the checkpoint was made with other data or settings.
        """
        self._check()
        self.__dict__.pop("weights_", None)  # so that what is half learned cannot be used
        self._checkpoint = None if checkpoint is None else Path(checkpoint)
        train = self._prepare(sentences, y)
        held_out = self._prepare(dev or ())
        if self.l2 == "auto" and not held_out:
            return self._fit_auto(train, on_iteration, resume)
        if self.l2 == "auto" and not any(sentence.mentions for sentence in held_out):
            raise LearningError(
                f"l2='auto' needs development data with mentions, but its {len(held_out):,} sentences have none; "
                "give others, or a number for l2"
            )
        self._fit(train, held_out, self._penalties(), on_iteration, dev_every, resume)
        self._tune(held_out)
        return self

    def _penalties(self) -> tuple[float, ...]:
        return L2_CHOICES if self.l2 == "auto" else (float(self.l2),)

    def _check(self) -> None:
        if self.decode not in DECODE:
            raise UsageError(f"decode is {self.decode!r}; expected one of {', '.join(DECODE)}")
        if self.distribution not in OVER:
            raise UsageError(f"distribution is {self.distribution!r}; expected one of {', '.join(OVER)}")
        if self.l2 != "auto" and not (isinstance(self.l2, Real) and 0.0 <= self.l2 < np.inf):
            raise UsageError(f"l2 is {self.l2!r}; expected a number that is not negative, or 'auto'")
        for name in ("frequent", "max_iterations", "n_threads"):
            value = getattr(self, name)
            if not isinstance(value, Integral) or value < 1:
                raise UsageError(f"{name} is {value!r}; expected a whole number from 1")
        if not (isinstance(self.tolerance, Real) and 0.0 <= self.tolerance < 1.0):
            raise UsageError(f"tolerance is {self.tolerance!r}; expected a number from 0 to below 1")
        if self.structure == "linear" and self.distribution != "encodings":
            raise UsageError(f"the structure 'linear' has no distribution {self.distribution!r}; use 'encodings'")
        _check_threshold(self.threshold)

    def _prepare(self, units: Iterable[Unit], y: Sequence[Sequence[Mention]] | None = None) -> list[Sentence]:
        sentences = list(self._annotator().annotate(as_sentences(units)))
        for sentence in sentences:
            if len(sentence) > LONGEST_SENTENCE:
                raise LearningError(
                    f"{sentence.place or repr(sentence.doc)}: a sentence has {len(sentence):,} words; "
                    f"expected at most {LONGEST_SENTENCE:,}. Split it, or leave it out"
                )
        if y is None:
            return sentences
        if len(y) != len(sentences):
            raise LearningError(f"there are {len(sentences)} sentences, but mentions for {len(y)}")
        return [sentence.with_mentions(mentions) for sentence, mentions in zip(sentences, y, strict=True)]

    def _annotator(self) -> Annotator:
        return _annotator_named(self.annotator)

    def _fit_auto(
        self,
        train: list[Sentence],
        on_iteration: Callable[[Record], bool | None] | None,
        resume: bool,
    ) -> Recognizer:
        """Choose the penalty on documents held out by the seed, then learn from all."""
        chosen = read_note(self._checkpoint) if resume else {}
        if not chosen:
            kept, held_out = _hold_out(train, self.seed)
            self._fit(kept, held_out, L2_CHOICES, on_iteration, 0, resume)
            self._tune(held_out)
            chosen = {
                "l2": self.l2_,
                "threshold": self.threshold_,
                "dev_scores": self.dev_scores_,
                "log": self.training_log_,
            }
            resume = False
        self._fit(train, [], (chosen["l2"],), on_iteration, 0, resume, chosen)
        self.threshold_, self.dev_scores_ = chosen["threshold"], chosen["dev_scores"]
        self.training_log_ = [*chosen["log"], *self.training_log_]
        return self

    def _fit(
        self,
        train: list[Sentence],
        dev: list[Sentence],
        penalties: tuple[float, ...],
        on_iteration: Callable[[Record], bool | None] | None,
        dev_every: int,
        resume: bool,
        note: dict[str, Any] | None = None,
    ) -> None:
        types = tuple(sorted({mention.type for sentence in train for mention in sentence.mentions}))
        if not types:
            raise LearningError(
                f"there is no mention in the {len(train):,} training sentences; expected sentences with mentions"
            )
        self.types_ = types
        self.structure_ = structure(self.structure, types, self.max_components)
        self.extractor_ = Extractor(self.features, self.clusters, self.lexicon, threads=self.n_threads)
        block = self.extractor_.fit_transform(train)
        gold = encode_gold(self.structure_, train, self.distribution)
        self.left_out_ = len(gold.left_out)
        n_mentions = sum(len(sentence.mentions) for sentence in train)
        if self.left_out_ == n_mentions:
            raise LearningError(
                f"the structure {self.structure!r} cannot write any of the {n_mentions:,} training mentions; "
                "choose another structure, or a higher max_components"
            )
        self.parameters_ = choose_parameters(
            self.structure_,
            block,
            gold,
            self.n_features_,
            frequent=self.frequent,
            with_prior=self.distribution != "encodings",
        )
        objective = Objective(
            self.structure_, block, gold, self.parameters_, over=self.distribution, n_threads=self.n_threads
        )
        scores_dev = bool(dev) and (len(penalties) > 1 or dev_every > 0)
        dev_block = self.extractor_.transform(dev if scores_dev else [])
        keeper = Keeper(self._checkpoint, self._fingerprint(block, gold, penalties, dev, dev_block), note)
        search = (keeper.load() if resume else None) or new_search(self.parameters_.n_weights, penalties)
        records = search.run(
            objective,
            max_iterations=self.max_iterations,
            tolerance=self.tolerance,
            dev_f1=partial(self._dev_f1, dev, dev_block) if scores_dev else None,
            dev_every=dev_every,
        )
        for record in records:
            wants_stop = on_iteration is not None and on_iteration(record)
            if wants_stop:
                keeper.save(search)
                raise Interrupted(search.state.iteration)
            if not search.is_done:
                keeper.save_in_time(search)
        self.weights_ = search.weights
        self.l2_ = search.best_l2
        self.n_iter_ = search.n_iterations
        self.training_log_ = search.records

    def _fingerprint(
        self,
        block: FeatureBlock,
        gold: Gold,
        penalties: Sequence[float],
        dev: Sequence[Sentence],
        dev_block: FeatureBlock,
    ) -> str:
        """Identify all that the search depends on, so that a checkpoint is only taken up for the same one.

        More or fewer iterations may be asked for when a search with one penalty goes on.
        """
        digest = hashlib.blake2b(digest_size=16)
        settings = [self.structure, self.max_components, self.distribution, self.frequent, self.tolerance]
        digest.update(repr((settings, self.types_, tuple(penalties))).encode("utf-8", "surrogatepass"))
        for array in (block.first_feature, block.feature, *gold[:3]):
            digest.update(array.tobytes())
        if len(penalties) > 1:
            digest.update(repr((self.max_iterations, [sentence.mentions for sentence in dev])).encode())
            for array in (dev_block.first_token, dev_block.first_feature, dev_block.feature):
                digest.update(array.tobytes())
        return digest.hexdigest()

    def _dev_f1(self, dev: Sequence[Sentence], block: FeatureBlock, weights: NDArray[np.float64]) -> float:
        scores = score_words(self.structure_, self.parameters_, weights, block)
        found = []
        for number in range(len(dev)):
            over = self._distribution(scores[block.first_token[number] : block.first_token[number + 1]], weights)
            found.append(over.probable(LOWEST_THRESHOLD).mentions)
        return best_threshold([sentence.mentions for sentence in dev], found)[1]

    def _tune(self, dev: list[Sentence]) -> None:
        """Choose the threshold on development data, and score it."""
        self.threshold_ = DEFAULT_THRESHOLD if self.threshold is None else self.threshold
        self.dev_scores_ = {}
        if not dev:
            return
        if self.threshold is None:
            candidates = [over.probable(LOWEST_THRESHOLD).mentions for over in self._distributions(dev)]
            self.threshold_, _ = best_threshold([sentence.mentions for sentence in dev], candidates)
        self.dev_scores_ = self.evaluate(dev).as_dict()

    # Prediction

    @property
    def n_features_(self) -> int:
        """How many features the model knows."""
        index = self.extractor_.index_
        return 0 if index is None else len(index)

    def _require_weights(self) -> None:
        if not hasattr(self, "weights_"):
            raise ModelError("This Recognizer has no weights yet: call fit(...) or Recognizer.load(path) first.")

    def _distribution(self, scores: NDArray[np.float64], weights: NDArray[np.float64]) -> Distribution:
        if isinstance(self.structure_, Linear):
            first = self.parameters_.n_labels
            transitions = weights[first : first + self.parameters_.n_transitions].reshape(first, first)
            return distribution(self.structure_, scores, transitions=transitions)
        return distribution(self.structure_, scores, over=self.distribution)

    def _distributions(self, sentences: Iterable[Sentence]) -> Iterator[Distribution]:
        """Yield the distribution of each sentence, in batches that bound memory."""
        for batch in _batches(sentences):
            block = self.extractor_.transform(batch)
            scores = score_words(self.structure_, self.parameters_, self.weights_, block)
            for number in range(len(batch)):
                yield self._distribution(
                    scores[block.first_token[number] : block.first_token[number + 1]], self.weights_
                )

    def distributions(self, sentences: Iterable[Sentence]) -> Iterator[Distribution]:
        """Yield the distribution over the outcomes of each sentence: probabilities, samples, k best."""
        self._require_weights()
        return self._distributions(self._annotator().annotate(sentences))

    def find(
        self,
        sentences: Iterable[Sentence],
        *,
        decode: Decode | None = None,
        threshold: float | None = None,
        top: int = 0,
    ) -> Iterator[Found]:
        """Yield what is found in each sentence, one after another, in constant memory.

        Parameters
        ----------
        sentences : iterable of Sentence
        decode : {"probable", "enough", "all"}, optional
            As the recognizer was made with, if not given.
        threshold : float, optional
            As tuned, if not given.
        top : int
            How many of the best outcomes to give beside, each with its probability.
        """
        how = decode or self.decode
        if how not in DECODE:
            raise UsageError(f"decode is {how!r}; expected one of {', '.join(DECODE)}")
        self._require_weights()
        _check_threshold(threshold)
        limit = self.threshold_ if threshold is None else threshold
        for over in self.distributions(sentences):
            decoded = self._decoded(over, how, limit)
            alternatives: tuple[tuple[float, tuple[Mention, ...]], ...] = ()
            if top:
                log_partition = over.log_partition()
                alternatives = tuple(
                    (float(np.exp(min(0.0, outcome.score - log_partition))), self._read(outcome, "enough").mentions)
                    for outcome in over.k_best(top)
                )
            yield Found(decoded.mentions, decoded.truncated, alternatives)

    def _decoded(self, over: Distribution, how: Decode, threshold: float) -> Decoded:
        if how == "probable":
            return over.probable(threshold)
        return _with_probs(over, self._read(over.best(), how))

    def _read(self, outcome: Outcome, how: Decode) -> Decoded:
        if outcome.mentions is not None:
            return Decoded(outcome.mentions, outcome.truncated)
        reading = decode_all if how == "all" else decode_enough
        return reading(self.structure_, outcome.edges)

    def predict(self, sentences: Iterable[Unit]) -> list[list[Mention]]:
        """Return the mentions of each sentence (or document), each with its probability."""
        self._require_weights()
        return [list(unit.mentions) for unit in self.annotate(sentences)]

    def annotate(
        self, units: Iterable[Unit], *, decode: Decode | None = None, threshold: float | None = None
    ) -> Iterator[Unit]:
        """Yield sentences or documents with the mentions found in them, in place of those they have.

        Documents are split into sentences first; their mentions come back as characters.
        """
        for unit, sentences, found in self.find_in(units, decode=decode, threshold=threshold):
            yield with_found(unit, sentences, found)

    def find_in(
        self, units: Iterable[Unit], *, decode: Decode | None = None, threshold: float | None = None, top: int = 0
    ) -> Iterator[tuple[Unit, list[Sentence], list[Found]]]:
        """Yield each unit with its sentences and what is found in each of them, in constant memory."""
        for batch in _batches(units):
            split = [[unit] if isinstance(unit, Sentence) else split_document(unit.with_mentions(())) for unit in batch]
            flat = [sentence for sentences in split for sentence in sentences]
            found = self.find(flat, decode=decode, threshold=threshold, top=top)
            for unit, sentences in zip(batch, split, strict=True):
                yield unit, sentences, list(islice(found, len(sentences)))

    def evaluate(self, units: Iterable[Unit]) -> Evaluation:
        """Predict sentences (or documents) and compare with the mentions they have."""
        gold = list(as_sentences(units))
        found = [sentence.with_mentions(found.mentions) for sentence, found in zip(gold, self.find(gold), strict=True)]
        return evaluate(gold, found)

    def score(self, sentences: Iterable[Unit], y: Sequence[Sequence[Mention]] | None = None) -> float:
        """Return the F1 over all mentions."""
        gold = list(as_sentences(sentences))
        if y is not None:
            gold = [sentence.with_mentions(mentions) for sentence, mentions in zip(gold, y, strict=True)]
        return self.evaluate(gold).all.f1

    # Looking inside

    def explain(self, sentence: Sentence, *, top: int = 8) -> Explanation:
        """Return edge probabilities, the best structure, mentions, and the features that moved each of them."""
        self._require_weights()
        (annotated,) = self._annotator().annotate([sentence])
        (over,) = self._distributions([annotated])
        found = self._decoded(over, self.decode, self.threshold_)
        return explain(
            annotated.with_mentions(found.mentions), over, self.extractor_, self.parameters_, self.weights_, top
        )

    def summary(self) -> dict[str, Any]:
        """Return what the model is, as plain data."""
        self._require_weights()
        return {
            "structure": self.structure,
            "max_components": self.max_components,
            "distribution": self.distribution,
            "types": list(self.types_),
            "features": self.n_features_,
            "weights": len(self.weights_),
            "templates": [list(row) for row in self.extractor_.templates.rows()],
            "skipped_templates": [skipped.template.name for skipped in self.extractor_.skipped],
            "annotator": self.annotator,
            "l2": self.l2_,
            "decode": self.decode,
            "threshold": self.threshold_,
            "iterations": self.n_iter_,
            "stopped": self.training_log_[-1]["stopped"],
            "left_out": self.left_out_,
            "dev_scores": self.dev_scores_,
            "training_log": self.training_log_,
        }

    def strongest(self, sentences: Iterable[Sentence] = (), top: int = 5) -> dict[str, list[dict[str, Any]]]:
        """Return the features with the greatest weights for each label.

        The model holds only hashes of features, such as ``#00c0ffee00c0ffee``; those that occur in the given sentences
        have names.
        """
        self._require_weights()
        names = self.extractor_.names(self._annotator().annotate(sentences)).names
        hashes = self.extractor_.to_state()[1]["feature_hash"]
        first = self.parameters_.n_labels + self.parameters_.n_transitions
        weights, labels = self.weights_[first:], self.parameters_.pair_label
        features = np.repeat(np.arange(self.n_features_), np.diff(self.parameters_.first_pair))
        strongest: dict[str, list[dict[str, Any]]] = {}
        for label in self.parameters_.dense_label:
            of_label = np.flatnonzero(labels == label)
            order = of_label[np.argsort(-np.abs(weights[of_label]), kind="stable")[:top]]
            strongest[self.structure_.label_name(int(label))] = [
                {
                    "feature": names.get(int(features[pair])) or f"#{hashes[features[pair]]:016x}",
                    "weight": float(weights[pair]),
                }
                for pair in order
            ]
        return strongest

    # Keeping

    def save(self, path: str | Path) -> None:
        """Write everything that was learned to one file, whole or not at all.

        The same training gives the same bytes: no times, dates or numbers of threads are in it.
        """
        self._require_weights()
        state, arrays = self.extractor_.to_state()
        state["templates_source"] = Path(state["templates_source"]).name  # where it stood is nobody's business
        settings = {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in self.get_params().items()
            if name not in ("features", "clusters", "lexicon", "n_threads")
        }
        data = {
            "settings": settings,
            "types": list(self.types_),
            "features": state,
            "annotator": self._annotator().record(),
            "l2": self.l2_,
            "threshold": self.threshold_,
            "n_iterations": self.n_iter_,
            "training_log": self.training_log_,
            "dev_scores": self.dev_scores_,
            "left_out": self.left_out_,
            "n_transitions": self.parameters_.n_transitions,
        }
        model: dict[str, NDArray[Any]] = {
            "weights": self.weights_,
            "first_pair": self.parameters_.first_pair,
            "pair_label": self.parameters_.pair_label,
            "dense_label": self.parameters_.dense_label,
            "base_score": self.parameters_.base_score,
        }
        for name, array in arrays.items():
            model[f"features.{name}"] = array
        write_arrays(Path(path), "model", data, model)
        if self._checkpoint is not None:
            self._checkpoint.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: str | Path, *, n_threads: int = 2) -> Recognizer:
        """Read what `save` wrote.

        Raises
        ------
        ModelError
            If the file is truncated, altered, or from a newer version.
        """
        data, arrays = read_arrays(Path(path), "model")
        try:
            recognizer = cls(**data["settings"], n_threads=n_threads)
            recognizer.types_ = tuple(data["types"])
            recognizer.structure_ = structure(recognizer.structure, recognizer.types_, recognizer.max_components)
            of_features = {
                name.removeprefix("features."): array for name, array in arrays.items() if name.startswith("features.")
            }
            recognizer.extractor_ = Extractor.from_state(data["features"], of_features, threads=n_threads)
            recognizer.features = _named(recognizer.extractor_.templates)
            recognizer.parameters_ = Parameters(
                recognizer.structure_.n_labels,
                data["n_transitions"],
                arrays["first_pair"],
                arrays["pair_label"],
                arrays["dense_label"],
                arrays["base_score"],
            )
            recognizer.weights_ = arrays["weights"]
            recognizer.l2_ = data["l2"]
            recognizer.threshold_ = data["threshold"]
            recognizer.n_iter_ = data["n_iterations"]
            recognizer.training_log_ = data["training_log"]
            recognizer.dev_scores_ = data["dev_scores"]
            recognizer.left_out_ = data["left_out"]
            recognizer.clusters = recognizer.extractor_.clusters
            recognizer.lexicon = recognizer.extractor_.lexicon
            if recognizer.annotator == "auto":  # what it meant then, not what it means here
                recognizer.annotator = data["annotator"]["name"]
            recognizer._check()
            check_parameters(recognizer.structure_, recognizer.parameters_, recognizer.n_features_)
        except KeyError as error:
            raise ModelError(f"{path} lacks {error}; it was not written by this program") from None
        except (HyperspanError, TypeError, ValueError, AttributeError) as error:
            raise ModelError(f"{path} was not written by this program: {error}") from None
        weights = recognizer.weights_
        if weights.dtype != np.float64 or weights.shape != (recognizer.parameters_.n_weights,):
            raise ModelError(f"{path} does not have as many weights as its features need; train again")
        if not np.all(np.isfinite(weights)):
            raise ModelError(f"{path} has weights that are not numbers; train again, with a higher l2")
        return recognizer


def with_found(unit: Unit, sentences: Sequence[Sentence], found: Sequence[Found]) -> Unit:
    """Return a sentence or document with the mentions that were found in its sentences."""
    if isinstance(unit, Sentence):
        return unit.with_mentions(found[0].mentions)
    mentions = [
        to_characters(mention, sentence.offsets or ())
        for sentence, here in zip(sentences, found, strict=True)
        for mention in here.mentions
    ]
    return unit.with_mentions(mentions)


def _hold_out(train: Sequence[Sentence], seed: int) -> tuple[list[Sentence], list[Sentence]]:
    """Return what is kept and what is held out: a tenth of the documents, or more until there is a mention in it.

    Sentences that belong to no document are documents of their own.
    """
    names = [sentence.doc or str(number) for number, sentence in enumerate(train)]
    documents = sorted(set(names))
    shuffled = [documents[place] for place in np.random.default_rng(seed).permutation(len(documents))]
    with_mentions = {name for name, sentence in zip(names, train, strict=True) if sentence.mentions}
    n_held = max(1, len(documents) // _HELD_OUT)
    while n_held < len(shuffled) and not with_mentions.intersection(shuffled[:n_held]):
        n_held += 1
    held = set(shuffled[:n_held])
    if not with_mentions - held:
        raise LearningError(
            "l2='auto' needs development data, or training data with mentions in several documents, to hold some out; "
            f"there are mentions in {len(with_mentions)}. Give development data, or a number for l2"
        )
    kept = [sentence for name, sentence in zip(names, train, strict=True) if name not in held]
    return kept, [sentence for name, sentence in zip(names, train, strict=True) if name in held]


def _with_probs(over: Distribution, decoded: Decoded) -> Decoded:
    """Return mentions with their probability; no more of them than can be worked out in some seconds."""
    if isinstance(over, TagSequences):  # its probabilities are counted in samples: all of them at once
        sampled = over.probable(0.0, limit=max(1, _MOST_WORK))
        known = {mention: mention.prob for mention in sampled.mentions}
        with_prob = [replace(mention, prob=known.get(mention, 0.0)) for mention in decoded.mentions]
        return replace(decoded, mentions=tuple(with_prob))
    with_prob, work = [], 0
    for mention in decoded.mentions:
        work += mention.end - mention.start + over.n_words // 100
        if with_prob and work > _MOST_WORK:
            return Decoded(tuple(with_prob), truncated=True)
        with_prob.append(replace(mention, prob=over.prob_of([mention])))
    return replace(decoded, mentions=tuple(with_prob))


def _named(templates: TemplateSet) -> TemplateSet | str:
    """Return templates by name, if they are still those of that name."""
    is_ours = templates.source in NAMED and tuple(templates) == tuple(TemplateSet.load(templates.source))
    return templates.source if is_ours else templates


def _shown(value: object) -> str:
    """Show a parameter in a line: what would fill a page goes by the name of its class."""
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"<{type(value).__name__}>"


def _check_threshold(threshold: float | None) -> None:
    if threshold is not None and not (isinstance(threshold, Real) and 0.0 < threshold <= 1.0):
        raise UsageError(f"threshold is {threshold!r}; expected a number above 0 and up to 1")


@lru_cache(maxsize=4)
def _annotator_named(name: str) -> Annotator:
    return annotator(name)


def _batches(units: Iterable[AnyUnit]) -> Iterator[list[AnyUnit]]:
    """Cut units into lists of about `_BATCH_WORDS` words, counting six characters of a text as one."""
    batch: list[AnyUnit] = []
    n_words = 0
    for unit in units:
        batch.append(unit)
        n_words += 1 + (len(unit.tokens) if isinstance(unit, Sentence) else len(unit.text) // 6)
        if n_words >= _BATCH_WORDS:
            yield batch
            batch, n_words = [], 0
    if batch:
        yield batch
