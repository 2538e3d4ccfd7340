"""A model over segments is served like any other."""

from __future__ import annotations

import pytest

from hyperspan import Recognizer
from hyperspan.corpora import demo
from hyperspan.server import create_app

TOKENS = ["Left", "and", "right", "kidneys", "are", "enlarged", "."]


@pytest.fixture(scope="module")
def client(client_of):
    reports = demo.generate(40, unit="sentences")
    recognizer = Recognizer(structure="segments", max_components=2, max_iterations=40, n_threads=1)
    return client_of(create_app({"segments": recognizer.fit(reports.split("train"))}))


def test_it_predicts(client):
    (sentence,) = client.post("/api/predict", {"tokens": TOKENS, "threshold": 0.05}).json()["sentences"]
    assert sentence["tokens"] == TOKENS


def test_it_explains_and_draws_the_prefix_tree(client):
    answer = client.post("/api/explain", {"tokens": TOKENS, "threshold": 0.01})
    assert answer.status_code == 200, answer.text
    data = answer.json()
    assert data["hypergraph"].startswith("<svg")
    assert {part["type"] for part in data["hypergraph_data"]["parts"]} <= {data["type"]}
    for mention in data["mentions"]:
        assert mention["reasons"]
        assert mention["edges"][0]["label"].startswith(f"{mention['type']} part 1, ")


def test_a_mention_that_is_too_long_is_refused(client):
    type = client.post("/api/explain", {"tokens": TOKENS}).json()["type"]
    answer = client.post("/api/explain", {"tokens": ["x"] * 30, "mention": {"type": type, "spans": [[0, 30]]}})
    assert answer.status_code == 422
    assert "the mention is too long for this model (longest_part " in answer.text
