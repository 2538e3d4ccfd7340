"""The constructions of the embedded corpus, in the language that `hyperspan.corpora.demo.grammar` explains.

Every section has up to four blocks: ``plain`` (contiguous mentions), ``split`` (at least one discontiguous mention),
``empty`` (none at all) and ``first`` (for the sentence that opens the section, if it is of its own kind).

What is a mention, in a few rules that hold everywhere:

- A Finding is what is wrong, with its place if the place follows directly: "blood in his mouth". Words that describe
  the place or the degree stay outside, and may split it: "laceration … esophagus" in "laceration in distal esophagus".
- What is said of a body part is a Finding made of both: "pupils … pinpoint". What is said to be well is none.
- Coordination is spelled out: each reading is its own mention, sharing words with the others.
- Negated and uncertain findings are mentions. What relatives have, what leaflets and clinics are called, and what a
  patient should call about are not.
- An Anatomy is a body part; a name of a disease that holds one ("chest pain") has no Anatomy inside.
"""

from __future__ import annotations

from hyperspan.corpora.demo.discharge import DISCHARGE
from hyperspan.corpora.demo.studies import STUDIES

CONSTRUCTIONS = DISCHARGE | STUDIES
