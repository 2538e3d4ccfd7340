"""The page of disagreements."""

from __future__ import annotations

from hyperspan import Mention, Sentence
from hyperspan.agreement import disagreements, page_pieces, share


def test_the_page_is_escaped_and_asks_nobody():
    ann = Sentence(["<script>alert(1)</script>", "&", "خون"], [Mention("<b>", [(0, 1)])], doc="<a>")
    found = disagreements(share({"<ann>": [ann], "bob": [ann.with_mentions([])]}))
    page = "".join(page_pieces(found, ["<ann>", "bob"]))
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "<b>" not in page
    assert "default-src 'none'" in page
    assert "http://" not in page
    assert "https://" not in page
    assert "<h3>&lt;ann&gt;</h3>" in page
