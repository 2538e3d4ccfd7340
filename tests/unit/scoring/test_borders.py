"""The scores of segments are sums over words and spans, and the gradient goes the same way back."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from hyperspan import Mention, Sentence
from hyperspan.features.spans import SPAN_WORDS
from hyperspan.inference import encode_gold
from hyperspan.inference.segments import SegmentSets
from hyperspan.scoring.borders import ROLES, border_labels, contract, expand, gold_borders, gold_spans, span_labels
from hyperspan.structures import Segments
from hyperspan.structures.segments import END, GAP, PART

pytestmark = pytest.mark.kernel

STRUCTURES = [
    Segments(("A",), 1, 3, 1),
    Segments(("A",), 2, 4, 3),
    Segments(("A", "B"), 3, 7, 6),
]
FIRST_WORD = np.array([0, 5, 5, 6, 15])


def random_scores(structure):
    rng = np.random.default_rng(0)
    borders, spans = border_labels(structure), span_labels(structure)
    n_words = FIRST_WORD[-1]
    return (
        rng.normal(size=structure.n_labels),
        rng.normal(size=(n_words, borders.n_labels)),
        rng.normal(size=(SPAN_WORDS * n_words, spans.n_labels)),
    )


def expanded(structure, bias, at_words, at_spans):
    scores = np.empty((FIRST_WORD[-1], structure.n_labels))
    expand(border_labels(structure), span_labels(structure), bias, at_words, at_spans, FIRST_WORD, scores)
    return scores


def contracted(structure, gradient, first_word):
    borders, spans = border_labels(structure), span_labels(structure)
    made = np.full((len(gradient), borders.n_labels), 7.0), np.full((SPAN_WORDS * len(gradient), spans.n_labels), 7.0)
    contract(borders, spans, gradient, first_word, *made)
    return made


def of_role(labels, scores, place, type_id, role, level):
    """The score of a role at a level: that of all levels, and its own if it is not the first."""
    table = labels.table
    first = type_id * table.n_labels
    own = scores[place, first + table.own[role, level]] if level else 0.0
    return scores[place, first + table.common[role]] + own


@pytest.mark.parametrize("structure", STRUCTURES)
def test_scores_are_the_sums_that_are_described(structure):
    bias, at_words, at_spans = random_scores(structure)
    borders, spans = border_labels(structure), span_labels(structure)
    found = expanded(structure, bias, at_words, at_spans)
    for begin, end in itertools.pairwise(FIRST_WORD):
        for word in range(begin, end):
            for label in range(structure.n_labels):
                type_id, what, level, length = structure.segment_of(label)

                def role(name, place, type_id=type_id, level=level):
                    return of_role(borders, at_words, place, type_id, ROLES.index(name), level)

                wanted, first = bias[label], word + (what == GAP)
                last = first + length - 1
                if last + (what == GAP) < end:
                    inside = range(first, last + 1)
                    if what == PART:
                        wanted += (
                            role("first word of", word)
                            + role("last word of", last)
                            + sum(role("continuing word of", w) for w in inside[:-1])
                        )
                    elif what == GAP:
                        wanted += (
                            role("word before", word)
                            + role("word after", last + 1)
                            + sum(role("word in", w) for w in inside)
                        )
                    else:
                        wanted += role("end", word)
                    if what != END and length <= SPAN_WORDS:
                        span = SPAN_WORDS * first + length - 1
                        wanted += of_role(spans, at_spans, span, type_id, what, level)
                assert found[word, label] == pytest.approx(wanted, abs=1e-12), structure.label_name(label)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_the_gradient_is_the_transpose(structure):
    _bias, at_words, at_spans = random_scores(structure)
    zero = np.zeros(structure.n_labels)
    gradient = np.random.default_rng(1).normal(size=(FIRST_WORD[-1], structure.n_labels))
    by_words, by_spans = contracted(structure, gradient, FIRST_WORD)
    forward = (expanded(structure, zero, at_words, at_spans) * gradient).sum()
    assert (by_words * at_words).sum() + (by_spans * at_spans).sum() == pytest.approx(forward)


def test_some_types_are_expanded_and_contracted_as_among_all():
    structure = STRUCTURES[2]
    borders, spans = border_labels(structure), span_labels(structure)
    bias, at_words, at_spans = random_scores(structure)
    whole = expanded(structure, bias, at_words, at_spans)
    by_all = contracted(structure, whole, FIRST_WORD)
    for types in structure.groups_of_types(len(whole), most_scores=1):
        labels = structure.labels_of_types(types)
        scores = np.empty((len(whole), labels.stop - labels.start))
        expand(borders, spans, bias, at_words, at_spans, FIRST_WORD, scores, types.start)
        np.testing.assert_array_equal(scores, whole[:, labels])
        contract(borders, spans, scores, FIRST_WORD, at_words, at_spans, types.start)  # over what is no longer needed
    for found, wanted in zip((at_words, at_spans), by_all, strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("structure", STRUCTURES[1:])
def test_gold_labels_of_words_and_spans_are_what_gold_edges_are_made_of(structure):
    mentions = [Mention("A", [(0, 2)]), Mention("A", [(0, 2), (4, 5)])]
    sentence = Sentence(["w"] * 6, mentions)
    gold = encode_gold(SegmentSets, structure, [sentence])
    counts = np.zeros((6, structure.n_labels))
    np.add.at(counts, (gold.word, gold.label), 1.0)
    borders, spans = border_labels(structure), span_labels(structure)
    by_words, by_spans = contracted(structure, counts, np.array([0, 6]))
    for wanted, labels, placed in ((by_words, borders, gold_borders), (by_spans, spans, gold_spans)):
        found = np.zeros(wanted.shape)
        place, label = placed(labels, gold.word, gold.label)
        np.add.at(found, (place, label), 1.0)
        np.testing.assert_array_equal(found, wanted)
        assert np.all(np.diff(place) >= 0)


def test_labels_have_names_and_starts():
    structure = STRUCTURES[2]
    names = [border_labels(structure).label_name(label) for label in range(border_labels(structure).n_labels)]
    assert len(set(names)) == len(names) == 2 * (3 * 3 + 4 * 2)
    assert [names[label] for label in border_labels(structure).start_labels] == [
        "A first word of a part",
        "B first word of a part",
    ]
    assert [span_labels(structure).label_name(label) for label in range(5)] == [
        "A part",
        "A part 2",
        "A part 3",
        "A gap",
        "A gap after part 2",
    ]
    assert len(span_labels(structure).start_labels) == 0
