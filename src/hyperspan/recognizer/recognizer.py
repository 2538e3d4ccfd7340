"""The recognizer: the main class of this package."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from hyperspan.diagnostics import Diagnostics
from hyperspan.errors import UsageError
from hyperspan.evaluation import Evaluation, evaluate
from hyperspan.features import TemplateSet
from hyperspan.features.columns import ClusterPaths, SemanticCategories
from hyperspan.inference import BatchDistribution, check_decoder, current_name
from hyperspan.learning import Record, ThresholdCurve
from hyperspan.mentions import Document, Mention, Sentence, Unit
from hyperspan.recognizer.annotating import warn_of_difference, watched
from hyperspan.recognizer.estimator import Estimator
from hyperspan.recognizer.explanation import Explanation, explain
from hyperspan.recognizer.folds import remove_checkpoints, remove_fold_checkpoints
from hyperspan.recognizer.inputs import Given, check_sentence, check_types, given_units
from hyperspan.recognizer.learned import Learned
from hyperspan.recognizer.linear_training import train_linear as _registers_itself  # noqa: F401
from hyperspan.recognizer.model import batches
from hyperspan.recognizer.prediction import Prediction, mentions_of, predict, with_found, with_mentions
from hyperspan.recognizer.processes import in_processes
from hyperspan.recognizer.serialization import read_model, write_model
from hyperspan.recognizer.settings import Settings, check_number, check_threshold
from hyperspan.recognizer.sharing import Shared
from hyperspan.recognizer.summary import summarise
from hyperspan.recognizer.training import TrainingOptions, learn, prepare, threshold_curve
from hyperspan.text import Annotator, annotator, as_sentences, split_documents


class Recognizer(Learned, Estimator, Shared):
    """Find mentions whose words need not be adjacent and may overlap.

    The constructor only stores its arguments; `fit` checks them. Works with scikit-learn's ``clone`` and
    ``GridSearchCV``.

    Parameters
    ----------
    structure : {"shared", "split", "mention", "linear", "segments"}
        How mentions are encoded as edges or tags.
    max_components : int
        The most parts a mention can have, 1 to 5.
    distribution : {"encodings", "mention-sets", "derivations"}
        What probabilities are over; ``"published"`` is an old name for ``"derivations"``.
    l2 : float or "auto"
        The L2 penalty on weights; ``auto`` chooses the best of several on development data.
    features : str or path
        ``"default"``, ``"published"`` or a template file.
    clusters : Clusters, optional
        Brown clusters.
    lexicon : Lexicon, optional
        Semantic categories.
    annotator : str
        What adds parts of speech and lemmas; see `hyperspan.text.annotator`.
    frequent : int
        Features that occur at least this often have weights for all labels that occur.
    max_iterations : int
        The maximum number of iterations in the optimiser for each penalty.
    tolerance : float
        Stop when the objective decreases by less than this share over ten iterations.
    decode : {"probable", "enough", "all"}
        How to choose mentions from the distribution.
    threshold : float, optional
        The minimum probability of a mention under ``probable``. If not given, it is tuned on development data, or 0.3
        without any.
    n_threads : int
        The number of threads. Results do not depend on it; with an encoder, their last digits do.
    seed : int
        Determines which documents ``l2="auto"`` holds out without development data, and the folds of a second look.
        With an encoder, it seeds training.
    scorer : str
        What scores edges: ``linear`` weights over features, or another registered scorer.
    initial_weights : {"frequencies", "zero"}
        The start of the search: biases that make every choice as frequent as in the training data, or all zeros.
    longest_part, longest_gap : int, optional
        For ``segments``: the most words of a part and of a gap. If not given, they cover nearly all in the training
        data.
    encoder : str, optional
        The folder or name of a pretrained encoder. The scorer is then ``neural``, and the parameters below apply.
    device : {"auto", "cpu", "cuda"}
        Where the encoder is trained; ``auto`` uses a GPU if there is one.
    epochs, batch_size : int
        The maximum number of passes over the training data, and the number of sentences per step.
    encoder_lr, head_lr : float
        The peak learning rates of the encoder and of the layers on top of it.
    dropout : float
        The dropout rate on word vectors during training.
    layers : int
        The vector of a piece of a word is the mean over this many of the encoder's last layers.
    context : int
        How many words of the neighbouring sentences in a document the encoder also sees.
    patience : int
        Stop after this many epochs without a better F1 on the development data.
    precision : {"auto", "float32", "bfloat16"}
        The precision of the encoder during training; ``auto`` is bfloat16 on a GPU that supports it.
    freeze : bool
        Keep the encoder fixed, and train only the layers on top of it.
    save_precision : {"float32", "float16"}
        The precision of the network in the model file; ``float16`` halves its size.
    rescore : {"off", "auto", "on"}
        Whether to train a second look at whole mentions. With features, training takes about five times as long, and
        ``auto`` keeps the second look if F1 rises by more than its standard error on development data, or on training
        data by cross-validation. With an encoder it costs little, and ``auto`` keeps it if F1 rises on development
        data.
    types : list of str, optional
        The types to learn and to score; mentions of other types are ignored. All if not given.

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

    _checkpoint: Path | None = None
    _has_compared = False

    def __init__(
        self,
        *,
        structure: str = "shared",
        max_components: int = 3,
        distribution: str = "encodings",
        l2: float | Literal["auto"] = 1.0,
        features: str | Path | TemplateSet = "default",
        clusters: ClusterPaths | None = None,
        lexicon: SemanticCategories | None = None,
        annotator: str = "none",
        frequent: int = 10,
        max_iterations: int = 500,
        tolerance: float = 1e-3,
        decode: str = "probable",
        threshold: float | None = None,
        n_threads: int = 2,
        seed: int = 0,
        scorer: str = "linear",
        initial_weights: Literal["frequencies", "zero"] = "frequencies",
        longest_part: int | None = None,
        longest_gap: int | None = None,
        encoder: str | None = None,
        device: Literal["auto", "cpu", "cuda"] = "auto",
        epochs: int = 12,
        batch_size: int = 16,
        encoder_lr: float = 3e-5,
        head_lr: float = 1e-3,
        dropout: float = 0.5,
        layers: int = 4,
        context: int = 0,
        patience: int = 4,
        precision: Literal["auto", "float32", "bfloat16"] = "auto",
        freeze: bool = False,
        save_precision: Literal["float32", "float16"] = "float32",
        rescore: Literal["auto", "on", "off"] = "off",
        types: Sequence[str] | None = None,
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
        self.scorer = scorer
        self.initial_weights = initial_weights
        self.longest_part = longest_part
        self.longest_gap = longest_gap
        self.encoder = encoder
        self.device = device
        self.epochs = epochs
        self.batch_size = batch_size
        self.encoder_lr = encoder_lr
        self.head_lr = head_lr
        self.dropout = dropout
        self.layers = layers
        self.context = context
        self.patience = patience
        self.precision = precision
        self.freeze = freeze
        self.save_precision = save_precision
        self.rescore = rescore
        self.types = types
        self._missed_columns: set[str] = set()

    # Learning

    def fit(
        self,
        sentences: Iterable[Given],
        y: Sequence[Sequence[Mention]] | None = None,
        *,
        dev: Iterable[Given] | None = None,
        on_iteration: Callable[[Record], bool | None] | None = None,
        dev_every: int = 0,
        checkpoint: str | Path | None = None,
        resume: bool = False,
    ) -> Recognizer:
        """Train on sentences (or documents) with their mentions.

        Parameters
        ----------
        sentences : iterable of Sentence, Document or str
        y : sequence of sequences of Mention, optional
            The mentions of each, if the units have none: in words for a sentence, in characters for a document or text.
        dev : iterable of Sentence or Document, optional
            Development data, for the threshold and for ``l2="auto"``.
        on_iteration : callable, optional
            Called with a `Record` after every iteration; if it returns True, training stops as if interrupted.
        dev_every : int
            Score the development data every ``dev_every`` iterations, for the training log; 0 for never.
        checkpoint : path, optional
            Where to save the state of training from time to time; `save` removes it once the model is safely written.
        resume : bool
            Continue from the checkpoint, if there is one.

        Raises
        ------
        UsageError, StructureError, FeatureError
            If an option is invalid.
        CorpusError
            If a mention of a document does not fit its words and sentences.
        LearningError
            If there is nothing to train on.
        Interrupted
            If ``on_iteration`` stopped the training; its state is in the checkpoint.
        ModelError
            If there is no such scorer, or the checkpoint was made with other data or settings.
        """
        settings = self._settings()
        settings.check()
        check_number("seed", settings.seed, least=0)  # only here, since a model may have been trained with any
        self._model = self._training = None  # so that a failed training cannot be used
        self._has_compared = False
        self._checkpoint = None if checkpoint is None else Path(checkpoint)
        with_columns = annotator_named(self.annotator)
        options = TrainingOptions(on_iteration, dev_every, self._checkpoint, resume)
        if self._checkpoint is not None and not (resume and self._checkpoint.is_file()):
            remove_fold_checkpoints(self._checkpoint)
        train = prepare(given_units(sentences, y, self.types), with_columns)
        check_types(self.types, train)
        held_out = prepare(given_units(dev or (), types=self.types), with_columns)
        self._model, self._training = learn(settings, with_columns, train, held_out, options)
        return self

    def _settings(self) -> Settings:
        scorer = "neural" if self.encoder is not None and self.scorer == "linear" else self.scorer
        return Settings(**{**self.get_params(), "distribution": current_name(self.distribution), "scorer": scorer})

    # Predicting

    def predict(
        self, sentences: Iterable[Given], *, decode: str | None = None, threshold: float | None = None
    ) -> list[list[Mention]]:
        """Return the mentions of each sentence, document or text with their probabilities; options as in `find`.

        Raises
        ------
        ModelError
            If the recognizer is not trained.
        UsageError
            If an option is invalid, or the input is not a list.
        """
        self._learned()
        return [list(unit.mentions) for unit in self.annotate(sentences, decode=decode, threshold=threshold)]

    def annotate(
        self,
        units: Iterable[Given],
        *,
        decode: str | None = None,
        threshold: float | None = None,
        n_workers: int = 1,
    ) -> Iterator[Unit]:
        """Yield sentences or documents with the mentions found in them, which replace any they have.

        Documents are split into sentences first; their mentions are returned in character offsets. A text becomes a
        document.

        Parameters
        ----------
        units : iterable of Sentence, Document or str
        decode, threshold
            As in `find`.
        n_workers : int
            How many processes to use, including this one. Worthwhile for many documents.
        """
        check_number("n_workers", n_workers)
        units = given_units(units)
        if n_workers == 1:
            for unit, sentences, found in self.find_in(units, decode=decode, threshold=threshold):
                yield with_found(unit, sentences, found)
            return
        self.check_annotator()
        work = partial(_mentions_in, decode=decode, threshold=threshold)
        for unit, mentions in in_processes(self, work, self._watched(units), n_workers):
            yield with_mentions(unit, mentions)

    def find_in(
        self,
        units: Iterable[Given],
        *,
        decode: str | None = None,
        threshold: float | None = None,
        top: int = 0,
        n_workers: int = 1,
    ) -> Iterator[tuple[Unit, list[Sentence], list[Prediction]]]:
        """Yield each unit with its sentences and the prediction for each of them, in constant memory.

        The parameters are those of `find` and `annotate`.
        """
        check_number("n_workers", n_workers)
        units = given_units(units)
        if n_workers > 1:
            self.check_annotator()
            work = partial(_found_in, decode=decode, threshold=threshold, top=top)
            for unit, (sentences, of_unit) in in_processes(self, work, self._watched(units), n_workers):
                yield unit, sentences, of_unit
            return
        for batch in batches(units, whole_documents=self.reads_documents_):
            documents = iter(
                split_documents([_bare(unit) for unit in batch if isinstance(unit, Document)], compiled=True)
            )
            split = [next(documents) if isinstance(unit, Document) else [unit] for unit in batch]
            flat = [sentence for sentences in split for sentence in sentences]
            found = self.find(flat, decode=decode, threshold=threshold, top=top)
            for unit, sentences in zip(batch, split, strict=True):
                yield unit, sentences, list(islice(found, len(sentences)))

    def find(
        self,
        sentences: Iterable[Sentence],
        *,
        decode: str | None = None,
        threshold: float | None = None,
        top: int = 0,
    ) -> Iterator[Prediction]:
        """Yield the prediction for each sentence, one after another, in constant memory.

        Parameters
        ----------
        sentences : iterable of Sentence
        decode : {"probable", "enough", "all"}, optional
            The decoder; that of the recognizer if not given.
        threshold : float, optional
            The threshold; the tuned one if not given.
        top : int
            How many of the best outcomes to return as alternatives, each with its probability.
        """
        how = decode or self.decode
        check_decoder(how)
        check_threshold(threshold)
        limit = self.threshold_ if threshold is None else threshold
        model = self._learned()
        annotated = watched(self._annotator().annotate(sentences), model.scorer.columns, self._missed_columns)
        yield from predict(model, annotated, how, limit, top)

    def distribution_over(self, sentences: Iterable[Sentence]) -> BatchDistribution[Any]:
        """Return the distribution over the outcomes of sentences: probabilities, samples, k best, for all at once."""
        return self._learned().over_sentences(list(self._annotator().annotate(sentences)))

    def check_annotator(self) -> None:
        """Log a warning, once, if the annotator is not the one that the model was trained with.

        Prediction calls this automatically.
        """
        self._annotator()

    def _watched(self, units: Iterable[Unit]) -> Iterable[Unit]:
        """Check units sent to other processes, which log no warnings, unless an annotator will add the columns."""
        return watched(units, self.scorer_.columns, self._missed_columns) if self.annotator == "none" else units

    def _annotator(self) -> Annotator:
        here = annotator_named(self.annotator)
        if not self._has_compared:
            warn_of_difference(self._learning().annotator, here.record())
            self._has_compared = True
        return here

    # Scoring

    def evaluate(self, units: Iterable[Given], y: Sequence[Sequence[Mention]] | None = None) -> Evaluation:
        """Predict sentences (or documents) and compare with their mentions, or with those given separately.

        Mentions of a document that fit no sentence or word count as missed.
        """
        gold = list(as_sentences(given_units(units, y, self.types), Diagnostics("skip")))
        found = [sentence.with_mentions(found.mentions) for sentence, found in zip(gold, self.find(gold), strict=True)]
        return evaluate(gold, found)

    def score(self, sentences: Iterable[Given], y: Sequence[Sequence[Mention]] | None = None) -> float:
        """Return the F1 over all mentions."""
        return self.evaluate(sentences, y).all.f1

    # Looking inside

    def threshold_curve(self, units: Iterable[Given], *, lowest: float = 0.02) -> ThresholdCurve:
        """Return precision, recall and F1 by threshold on sentences (or documents) with their mentions."""
        of_types = given_units(units, types=self.types)
        return threshold_curve(self._learned(), prepare(of_types, self._annotator()), lowest)

    def explain(
        self,
        sentence: Sentence,
        *,
        mentions: Iterable[Mention] | None = None,
        top: int = 8,
        decode: str | None = None,
        threshold: float | None = None,
        document: Sequence[Sentence] = (),
    ) -> Explanation:
        """Return edge probabilities, the best structure, mentions, and the features with the most influence on each.

        Parameters
        ----------
        sentence : Sentence
        mentions : iterable of Mention, optional
            The mentions to explain; those that the recognizer finds if not given.
        top : int
            The number of reasons for each mention.
        decode, threshold
            As in `find`.
        document : sequence of Sentence
            All sentences of the document, including this one. A second look uses them, and so may an encoder
            (``context``): without them, probabilities differ. Other models do not need them.

        Raises
        ------
        UsageError
            If ``sentence`` is a text or anything else, or not one of the document's own sentence objects.
        """
        model = self._learned()
        check_sentence(sentence)
        document = document or [sentence]
        place = next((number for number, other in enumerate(document) if other is sentence), None)
        if place is None:
            raise UsageError("the sentence is not one of its document; pass the document's own sentence objects")
        if not self.reads_documents_:
            document, place = [sentence], 0
        annotated = list(self._annotator().annotate(document))
        if mentions is None:
            limit = self.threshold_ if threshold is None else threshold
            mentions = list(predict(model, annotated, decode or self.decode, limit))[place].mentions
        return explain(annotated[place].with_mentions(mentions), model, top, annotated, place)

    def summary(self) -> dict[str, Any]:
        """Return a summary of the model as plain data."""
        return summarise(self._settings(), self._learned(), self._learning())

    def strongest(self, sentences: Iterable[Sentence] = (), top: int = 5) -> dict[str, list[dict[str, Any]]]:
        """Return the features with the greatest weights for each label; empty for a scorer without features.

        The model has the names of its strongest features, and only hashes of the others, such as ``#00c0ffee00c0ffee``.
        Features that occur in the given sentences are named too.
        """
        return self._learned().scorer.strongest(self._annotator().annotate(sentences), top)

    # Keeping

    def save(self, path: str | Path, *, with_names: bool = True) -> None:
        """Write everything that was learned to one file, completely or not at all.

        The same training gives the same bytes: the file has no times, dates or numbers of threads.

        Parameters
        ----------
        path : path
        with_names : bool
            Also write the names of the strongest features. They contain words of the training data in plain text; all
            other features are hashes.
        """
        write_model(Path(path), self._settings(), self._learned(), self._learning(), with_names=with_names)
        if self._checkpoint is not None:
            remove_checkpoints(self._checkpoint)

    @classmethod
    def load(cls, path: str | Path, *, n_threads: int = 2) -> Recognizer:
        """Load a model that `save` wrote.

        Raises
        ------
        ModelError
            If the file is missing, truncated or altered, or has another format version.
        """
        settings, model, training = read_model(Path(path), {**cls._defaults(), "n_threads": n_threads})
        recognizer = cls(**vars(settings))
        recognizer._model, recognizer._training, recognizer._missed_columns = model, training, set()
        return recognizer


@lru_cache(maxsize=4)
def annotator_named(name: str) -> Annotator:
    """Return an annotator by name, cached because some are slow to load."""
    return annotator(name)


def _bare(document: Document) -> Document:
    return document.with_mentions(()) if document.mentions else document


def _found_in(
    recognizer: Recognizer, units: list[Unit], **how: Any
) -> Iterator[tuple[list[Sentence], list[Prediction]]]:
    """Yield the sentences of each unit and their predictions; runs in another process."""
    for _, sentences, found in recognizer.find_in(units, **how):
        yield sentences, found


def _mentions_in(recognizer: Recognizer, units: list[Unit], **how: Any) -> Iterator[list[Mention]]:
    """Yield only the mentions of each unit; runs in another process, and sends back no more than needed."""
    for unit, sentences, found in recognizer.find_in(units, **how):
        yield mentions_of(unit, sentences, found)
