"""The list of disagreements."""

from __future__ import annotations

from hyperspan import Mention, Sentence
from hyperspan.agreement import as_csv, disagreements, share
from three_annotators import ANN, BOB


def test_disagreements_come_costliest_first_with_their_kinds():
    fever = Sentence(["no", "fever"], [Mention("Finding", [(1, 2)])], doc="b")
    shared = share({"ann": [ANN, fever], "bob": [BOB, fever.with_mentions([Mention("Drug", [(1, 2)])])]})
    found = disagreements(shared)
    assert [(each.doc, round(each.cost, 3)) for each in found] == [("b", 1.0), ("a", 0.111)]
    assert [each.kind for each in found[0].disputed] == ["type", "type"]
    assert [(each.kind, each.by, each.not_by) for each in found[1].disputed] == [
        ("boundary", ("ann",), ("bob",)),
        ("boundary", ("bob",), ("ann",)),
    ]
    assert found[1].as_dict()["disputed"][0]["nearest"]["text"] == "embolic"


def test_the_table_cannot_run_formulas():
    ann = Sentence(["=1+1", "fever"], [Mention("Finding", [(0, 1)])], doc="@a")
    table = as_csv(disagreements(share({"ann": [ann], "bob": [ann.with_mentions([])]})))
    header, row = table.splitlines()
    assert header == "cost,doc,sentence,type,spans,text,by,not_by,kind,nearest,keep"
    assert row == "1.000,'@a,'=1+1 fever,Finding,0 1,'=1+1,ann,bob,alone,,"
