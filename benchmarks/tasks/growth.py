"""How the time of a training iteration grows with tokens, types, features, parts per mention, and sentence length.

The structure is ``shared``, evaluated once with gradient; for types also ``linear``. Growth with types is
relative to the time for one type; mentions get their type by their words, so that all types occur. The cost of a token
should be the same at 100,000 tokens and beyond, within 15 %.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from benchmarks.data import as_one_type, first_tokens, n_tokens_of, with_types
from benchmarks.harness import Aim, Figure, Row, in_turns
from benchmarks.problem import Problem, problem, templates
from benchmarks.setting import Rower, Setting
from hyperspan.features import Extractor
from hyperspan.mentions import Mention, Sentence

SIZES = (10_000, 100_000, 300_000, 1_000_000)
BASE = 100_000
"""From this size on, the cost of a token should be constant."""

TYPES = (1, 2, 4, 8, 16)
LENGTHS = (10, 30, 100, 300, 1000)
PARTS = (1, 2, 3, 4, 5)
GROUPS = (("word",), ("word", "neighbours"), ("word", "neighbours", "pairs", "ngrams"), ())
"""Groups of templates; none means all."""


def run(setting: Setting) -> Iterator[Row]:
    """Yield the rows of every kind of growth."""
    rower = setting.rower("growth", "nanoseconds a token")
    sentences = as_one_type(setting.data.sentences)
    yield from by_tokens(setting, rower, sentences)
    part = first_tokens(sentences, setting.pick(2_000, BASE))
    for structure in ("shared", "linear"):
        yield from by_types(setting, rower, part, structure)
    yield from _rows(setting, rower, by_templates(setting, part), "features")
    by_parts = {f"K={parts}": problem(part, "shared", parts, threads=setting.threads) for parts in PARTS}
    yield from _rows(setting, rower, by_parts, "parts")
    by_length = {
        f"{length} words a sentence": problem(of_length(part, length), "shared", threads=setting.threads)
        for length in LENGTHS
    }
    yield from _rows(setting, rower, by_length, "sentence length")


def by_tokens(setting: Setting, rower: Rower, sentences: Sequence[Sentence]) -> Iterator[Row]:
    """Yield the cost of a token at every size that the data allow."""
    sizes = [size for size in SIZES if size <= n_tokens_of(sentences)]
    made = {size: problem(first_tokens(sentences, size), "shared", threads=setting.threads) for size in sizes}
    figures = _timed(setting, {str(size): each for size, each in made.items()})
    for size, each in made.items():
        is_beyond = size > BASE
        yield rower(
            f"shared, {size:,} tokens",
            figures[str(size)],
            f"ours at {BASE:,} tokens" if is_beyond else "",
            figures[str(BASE)] if is_beyond else None,
            aim=Aim("ratio", "at least", 0.87) if is_beyond else None,
            note=_note(each),
        )


def by_types(setting: Setting, rower: Rower, sentences: Sequence[Sentence], structure: str) -> Iterator[Row]:
    """Yield the times for several types relative to one type."""
    made = {n_types: problem(with_types(sentences, n_types), structure, threads=setting.threads) for n_types in TYPES}
    figures = _timed(setting, {str(n_types): each for n_types, each in made.items()})
    one = figures["1"].median
    for n_types, each in made.items():
        is_aimed = structure == "shared" and n_types == TYPES[-1]
        yield rower(
            f"{structure}, {n_types} type{'s' if n_types > 1 else ''}",
            figures[str(n_types)].per(one),
            unit="times one type",
            aim=Aim("ours", "at most", 18.0) if is_aimed else None,
            note=f"{_note(each)}; {figures[str(n_types)].median:,.0f} nanoseconds a token",
        )


def by_templates(setting: Setting, sentences: Sequence[Sentence]) -> dict[str, Problem]:
    """Return problems with more and more templates."""
    made = {}
    for groups in GROUPS:
        extractor = Extractor(templates().only(*groups) if groups else templates(), threads=setting.threads)
        block = extractor.fit_transform(sentences)
        name = f"{len(block.feature) / block.n_tokens:.1f} features a token"
        made[name] = problem(sentences, "shared", extractor=extractor, features=block)
    return made


def of_length(sentences: Sequence[Sentence], length: int) -> list[Sentence]:
    """Return the same words and mentions in sentences of another length; mentions that no longer fit are left out.

    Examples
    --------
    >>> made = of_length([Sentence(tuple("abc"), (Mention("A", ((0, 1), (2, 3))),)), Sentence(tuple("de"))], 4)
    >>> [(sentence.tokens, len(sentence.mentions)) for sentence in made]
    [(('a', 'b', 'c', 'd'), 1), (('e',), 0)]
    """
    tokens: list[str] = []
    by_sentence: dict[int, list[Mention]] = {}
    for sentence in sentences:
        for mention in sentence.mentions:
            moved = mention.shift(len(tokens))
            number = moved.start // length
            if (moved.end - 1) // length == number:
                by_sentence.setdefault(number, []).append(moved.shift(-number * length))
        tokens += sentence.tokens
    return [
        Sentence(tuple(tokens[first : first + length]), tuple(by_sentence.get(first // length, ())))
        for first in range(0, len(tokens), length)
    ]


def _rows(setting: Setting, rower: Rower, made: dict[str, Problem], what: str) -> Iterator[Row]:
    figures = _timed(setting, made)
    for name, each in made.items():
        yield rower(f"shared, {name}", figures[name], note=f"growth with {what}; {_note(each)}")


def _timed(setting: Setting, made: dict[str, Problem]) -> dict[str, Figure]:
    """Time one evaluation of each problem's objective and gradient, in nanoseconds a token."""
    timed: dict[str, Callable[[], object]] = {
        name: partial(each.objective(setting.threads), each.zeros()) for name, each in made.items()
    }
    figures = in_turns(timed, setting.pick(2, 7))
    return {name: figure.per(made[name].features.n_tokens / 1e9) for name, figure in figures.items()}


def _note(made: Problem) -> str:
    return f"{made.features.n_tokens:,} tokens, {made.n_weights:,} weights"
