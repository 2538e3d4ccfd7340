"""From raw text to mentions: tokens a second, ours beside sklearn-crfsuite with features as Python dictionaries.

Both split the text in the same way, have the same features and the same weights (those that sklearn-crfsuite learned),
and must find the same mentions in the same sentences before anything is timed. Ours also computes the probability of
every mention: exactly, except where the chain combines bodies and heads. ``shared`` has other weights and finds other
mentions. The last rows compare ``shared`` with our own chain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from benchmarks.crfsuite import BIAS, weights_of
from benchmarks.data import as_one_type, first_tokens
from benchmarks.dictionaries import TEMPLATES, dictionaries
from benchmarks.harness import NOT_INSTALLED, Aim, Disagreement, Row, check_same, in_turns, peer
from benchmarks.problem import L2, SEEN_ONLY, Problem, problem
from benchmarks.setting import Setting
from hyperspan.errors import MissingExtraError
from hyperspan.inference import distribution_class, encode_gold
from hyperspan.mentions import Document, Mention, Sentence
from hyperspan.recognizer import Recognizer
from hyperspan.scoring import LinearScorer
from hyperspan.text import split_document

TRAINING_TOKENS = 150_000
"""The maximum number of training tokens."""

TOLERATED = 1e-3
"""The share of sentences in which mentions may differ: CRFsuite prints its weights with six digits only."""

PEER = "sklearn-crfsuite, dictionaries, 1 thread"


def run(setting: Setting) -> Iterator[Row]:
    """Yield a row for each structure and decoder."""
    data = setting.data
    rower = setting.rower("prediction", "tokens a second")
    texts = data.texts(setting.pick(2_000, 150_000))
    iterations, rounds = setting.pick(5, 50), setting.pick(3, 7)
    train = as_one_type(first_tokens(data.sentences, TRAINING_TOKENS))
    setting.say(f"training on {sum(map(len, train)):,} tokens")
    shared = fitted("shared", train, iterations, setting.threads)
    chain = fitted("linear", train, iterations, setting.threads)
    absent = ""
    timed: dict[str, Callable[[], object]] = {}
    try:
        rival = Rival(train, iterations)
        chain = rival.as_ours(train, setting.threads)
        check_same_mentions(chain, rival, texts)
        timed[PEER] = lambda: rival.find(texts)
    except MissingExtraError:
        absent = NOT_INSTALLED
    ways: dict[str, tuple[Recognizer, str]] = {
        f"{recognizer.structure}, {decode}": (recognizer, decode)
        for recognizer in (chain, shared)
        for decode in ("enough", "probable")
    }
    for name, (recognizer, decode) in ways.items():
        timed[name] = _finder(recognizer, decode, texts, setting.threads)
    timed["split"] = lambda: [split_document(text) for text in texts]
    seconds = in_turns(timed, rounds)
    n_tokens = sum(len(sentence) for text in texts for sentence in split_document(text))
    rates = {name: figure.rate(n_tokens) for name, figure in seconds.items()}
    split = f"splitting alone: {rates['split'].median:,.0f} tokens a second"
    for name in ways:
        aim = Aim("ratio", "at least", 10.0)
        note = absent or f"{n_tokens:,} tokens of text; {split}"
        yield rower(name, rates[name], PEER, rates.get(PEER), aim=aim, note=note, more_is_better=True)
    for decode in ("enough", "probable"):
        yield rower(
            f"shared, {decode}",
            rates[f"shared, {decode}"],
            f"our chain, {decode}",
            rates[f"linear, {decode}"],
            aim=Aim("ratio", "at least", 0.5),
            note=f"{n_tokens:,} tokens of text; {split}",
            more_is_better=True,
        )


def fitted(structure: str, sentences: Sequence[Sentence], iterations: int, threads: int) -> Recognizer:
    """Return a recognizer trained for some iterations with the dictionaries' features."""
    return Recognizer(
        structure=structure, features=TEMPLATES, frequent=SEEN_ONLY, l2=L2, max_iterations=iterations, n_threads=threads
    ).fit(sentences)


def _finder(recognizer: Recognizer, decode: str, texts: Sequence[Document], n_workers: int) -> Callable[[], object]:
    return lambda: list(recognizer.annotate(texts, decode=decode, n_workers=n_workers))


class Rival:
    """sklearn-crfsuite, trained on dictionaries."""

    def __init__(self, sentences: Sequence[Sentence], iterations: int) -> None:
        package = peer("sklearn_crfsuite", "sklearn-crfsuite", "The comparison with sklearn-crfsuite")
        chain = problem(sentences[:1], "linear")
        self._structure = chain.structure
        self._label_of = {tag: label for label, tag in enumerate(chain.tags)}
        self.crf = package.CRF(
            algorithm="lbfgs", c1=0.0, c2=L2, max_iterations=iterations, all_possible_transitions=True
        )
        tags = (
            [chain.tags[label] for _, label in self._structure.encode(sentence.mentions, len(sentence)).encoding]
            for sentence in sentences
        )
        features = ([{**word, BIAS: True} for word in dictionaries(sentence.tokens)] for sentence in sentences)
        self.crf.fit(features, tags)

    def find(self, texts: Sequence[Document]) -> list[list[tuple[Mention, ...]]]:
        """Return the mentions of each sentence of each text."""
        return [[self.find_in(sentence) for sentence in split_document(text)] for text in texts]

    def find_in(self, sentence: Sentence) -> tuple[Mention, ...]:
        """Return the mentions of a sentence."""
        features = dictionaries(sentence.tokens)
        tags = self.crf.predict_single([{**word, BIAS: True} for word in features])
        edges = tuple((word, self._label_of[tag]) for word, tag in enumerate(tags))
        return self._structure.decode(edges, "enough").mentions

    def as_ours(self, sentences: Sequence[Sentence], threads: int) -> Recognizer:
        """Return a chain of ours with the same weights.

        Raises
        ------
        Disagreement
            If it has more or fewer weights.
        """
        recognizer = fitted("linear", sentences, 1, threads)
        model = recognizer._model
        assert model is not None
        scorer = model.scorer
        assert isinstance(scorer, LinearScorer)
        block = scorer.extractor.transform(sentences)
        id_of: dict[str, int] = {}
        names = (
            f"{key}:{value}"
            for sentence in sentences
            for features in dictionaries(sentence.tokens)
            for key, value in features.items()
        )
        id_of.update(zip(names, block.feature.tolist(), strict=True))
        gold = encode_gold(distribution_class(model.structure), model.structure, sentences)
        made = Problem(model.structure, scorer.extractor, block, gold, scorer.parameters)
        check_same("the number of weights", made.n_separate_weights, self.crf.training_log_.featgen_num_features, 0.0)
        weights = weights_of(self.crf.tagger_.info(), made, id_of)
        recognizer._model = replace(model, scorer=replace(scorer, weights=weights))
        return recognizer


def check_same_mentions(chain: Recognizer, rival: Rival, texts: Sequence[Document]) -> float:
    """Return the share of sentences in which the two find different mentions.

    Raises
    ------
    Disagreement
        If that is more than `TOLERATED`.
    """
    sentences = [sentence for text in texts for sentence in split_document(text)]
    ours = [found.mentions for found in chain.find(sentences, decode="enough")]
    theirs = [rival.find_in(sentence) for sentence in sentences]
    share = sum(one != other for one, other in zip(ours, theirs, strict=True)) / len(sentences)
    if share > TOLERATED:
        raise Disagreement(f"other mentions than sklearn-crfsuite's in {share:.2%} of sentences; nothing was timed")
    return share
