"""One corpus from several."""

from __future__ import annotations

import pytest

from hyperspan import Mention, Sentence
from hyperspan.agreement import adjudicate, share
from hyperspan.errors import UsageError
from three_annotators import ANN, BOB, CAT, EMBOLIC, SHED


def test_adjudication_rules_and_provenance():
    shared = share({"ann": [ANN], "bob": [BOB], "cat": [CAT]})
    kept = {
        rule: {(each.type, each.parts, each.attributes["annotators"]) for each in unit.mentions}
        for rule in ("majority", "union", "intersection")
        for unit in adjudicate(shared, rule)
    }
    everyone = ("ann", "bob", "cat")
    assert kept["majority"] == kept["intersection"] == {("Finding", SHED.parts, everyone)}
    assert kept["union"] == {
        ("Finding", SHED.parts, everyone),
        ("Finding", EMBOLIC.parts, ("ann",)),
        ("Finding", ((5, 6),), ("bob",)),
        ("Drug", ((5, 6),), ("cat",)),
    }
    with pytest.raises(UsageError, match="no rule 'vote'"):
        list(adjudicate(shared, "vote"))


def test_adjudication_keeps_attributes_and_what_only_one_has():
    fever = Sentence(["fever"], [Mention("Finding", [(0, 1)], attributes={"cui": "C1"})], doc="b")
    units = list(adjudicate(share({"ann": [ANN, fever], "bob": [BOB]}), "intersection"))
    assert [unit.doc for unit in units] == ["a", "b"]
    assert dict(units[1].mentions[0].attributes) == {"cui": "C1", "annotators": ("ann",)}
