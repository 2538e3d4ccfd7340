"""Statistics of the embedded corpus."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hyperspan.corpora.statistics import statistics
from hyperspan.errors import UsageError
from hyperspan.mentions import Unit

_ROWS = {
    "documents": "documents",
    "sentences": "sentences",
    "without_mentions": "sentences without mentions",
    "discontiguous_sentences": "sentences with a discontiguous mention",
    "tokens": "tokens",
    "mentions": "mentions",
    "one_part": "mentions of one part",
    "two_parts": "mentions of two parts",
    "three_parts": "mentions of three parts",
    "overlaps_same_type": "overlapping pairs of the same type",
    "overlaps_different_types": "overlapping pairs of different types",
    "gap_median": "words in the gaps of a mention, median",
    "gap_p95": "words in the gaps of a mention, 95th percentile",
    "gap_max": "words in the gaps of a mention, largest",
    "discontiguous_share": "% of mentions that are discontiguous",
    "subset_share": "the same, in sentences with a discontiguous mention",
}


def count(sentences: Sequence[Unit]) -> dict[str, Any]:
    """Count mentions, overlaps and gaps in sentences.

    Examples
    --------
    >>> from hyperspan import Mention, Sentence
    >>> sentence = Sentence(["jaw", "and", "neck", "pain"], [Mention("F", [(0, 1), (3, 4)]), Mention("F", [(2, 4)])])
    >>> counts = count([sentence])
    >>> counts["mentions"], counts["overlaps_same_type"], counts["discontiguous_share"]
    (2, 1, 50.0)
    """
    counts = statistics(sentences, _no_texts).as_dict()
    parts, overlaps, gap = counts["by_parts"], counts["overlaps"], counts["gap"]
    split = counts["mentions"] - parts["1"]
    subset = sum(len(sentence.mentions) for sentence in sentences if sentence.is_discontiguous)
    return {
        **{key: counts[key] for key in ("sentences", "discontiguous_sentences", "tokens", "mentions")},
        "documents": len({sentence.doc for sentence in sentences}),
        "without_mentions": sum(not sentence.mentions for sentence in sentences),
        "one_part": parts["1"],
        "two_parts": parts["2"],
        "three_parts": parts["3"],
        "overlaps_same_type": overlaps["all"] - overlaps["different_types"],
        "overlaps_different_types": overlaps["different_types"],
        "gap_median": gap["median"],
        "gap_p95": gap["p95"],
        "gap_max": gap["max"],
        "discontiguous_share": round(100 * split / max(counts["mentions"], 1), 1),
        "subset_share": round(100 * split / max(subset, 1), 1),
    }


def table(sentences: Sequence[Unit]) -> str:
    """Return the counts of each split and of the whole corpus as a Markdown table."""
    splits = dict.fromkeys(sentence.split for sentence in sentences)
    columns = {name: count([sentence for sentence in sentences if sentence.split == name]) for name in splits}
    columns["all"] = count(sentences)
    lines = [f"| | {' | '.join(columns)} |", f"| --- |{' ---: |' * len(columns)}"]
    lines += [
        f"| {name} | {' | '.join(f'{counts[key]:,}' for counts in columns.values())} |" for key, name in _ROWS.items()
    ]
    return "\n".join(lines) + "\n"


def _no_texts(text: str) -> list[tuple[int, int]]:
    raise UsageError("these figures are about sentences, but there is a document; generate with unit='sentences'")
