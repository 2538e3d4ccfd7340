"""The constructions of the embedded corpus, in the language that `hyperspan.corpora.demo.grammar` explains.

Every section has up to four blocks: ``plain`` (contiguous mentions), ``split`` (at least one discontiguous mention),
``empty`` (none at all) and ``first`` (for the sentence that opens the section, if it is of its own kind).

Rules for what is a mention:

- A Finding is what is wrong, with its place if the place follows directly: "blood in his mouth". Words that describe
  the place or the degree stay outside, and may split it: "laceration … esophagus" in "laceration in distal esophagus".
- A statement about a body part is a Finding that includes both: "pupils … pinpoint". A normal state is not a Finding.
- Coordination is spelled out: each reading is its own mention, sharing words with the others.
- Negated and uncertain findings are mentions. Diseases of relatives, names of leaflets and clinics, and warning signs
  that a patient should call about are not.
- An Anatomy is a body part; a name of a disease that holds one ("chest pain") has no Anatomy inside.
"""

from __future__ import annotations

from hyperspan.corpora.demo.discharge import DISCHARGE
from hyperspan.corpora.demo.studies import STUDIES

CONSTRUCTIONS = DISCHARGE | STUDIES
