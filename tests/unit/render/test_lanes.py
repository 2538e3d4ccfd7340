"""Lanes, and sentences as plain data."""

from __future__ import annotations

import json
from itertools import pairwise

from hypothesis import given

from examples import INFARCTIONS, LACERATION
from hyperspan import Mention, Sentence
from hyperspan.render import lay_lanes, mention_title, sentence_data, sentence_of_data
from hyperspan.render.lanes import weight
from strategies import sentences


@given(sentences(max_tokens=12, max_mentions=10))
def test_each_mention_is_on_one_lane_and_none_stand_in_the_same_place(sentence: Sentence):
    lanes = lay_lanes(sentence.mentions)
    assert sorted(mention for lane in lanes for mention in lane) == list(sentence.mentions)
    for lane in lanes:
        for before, after in pairwise(lane):
            assert before.end <= after.start


@given(sentences(max_tokens=12, max_mentions=10))
def test_a_mention_goes_down_only_for_want_of_room(sentence: Sentence):
    lanes = lay_lanes(sentence.mentions)
    for number, lane in enumerate(lanes):
        for mention in lane:
            for above in lanes[:number]:
                longer = [other for other in above if other.end - other.start >= mention.end - mention.start]
                assert any(other.start < mention.end and mention.start < other.end for other in longer)


@given(sentences())
def test_data_is_json_and_brings_the_sentence_back(sentence: Sentence):
    data = json.loads(json.dumps(sentence_data(sentence)))
    assert sentence_of_data(data) == Sentence(sentence.tokens, sentence.mentions, doc=sentence.doc)


def test_data_of_the_papers_sentence():
    data = sentence_data(LACERATION)
    assert data["types"] == ["Finding"]
    assert [[mention["text"] for mention in lane] for lane in data["lanes"]] == [
        ["hiatal hernia", "laceration … esophagus", "stomach … lac"],
        ["blood in stomach"],
    ]
    assert data["lanes"][0][1]["parts"] == [[6, 7], [9, 10]]
    assert data["lanes"][0][1]["prob"] is None


def test_titles_say_type_parts_probability_and_words():
    assert mention_title(INFARCTIONS, Mention("Finding", [(0, 1)])) == "Finding: Infarctions"
    split = Mention("Finding", [(0, 1), (2, 4)], prob=0.257)
    assert mention_title(INFARCTIONS, split) == "Finding, 2 parts, probability 0.26: Infarctions … water shed"


def test_weight_is_the_probability_within_its_bounds():
    assert [weight(Mention("A", [(0, 1)], prob=prob)) for prob in (None, 0.25, 1.0000001, -1e-12)] == [1, 0.25, 1, 0]


def test_many_nested_mentions_get_a_lane_each():
    mentions = [Mention("A", [(0, end)]) for end in range(1, 300)]
    assert [lane[0].end for lane in lay_lanes(mentions)] == list(range(299, 0, -1))
