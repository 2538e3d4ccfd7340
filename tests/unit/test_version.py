"""Version, and what to cite, are the same wherever they are written: package, metadata, citation, readme, changelog."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import hyperspan

ROOT = Path(__file__).parents[2]


def test_the_version_is_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == hyperspan.__version__


def test_citation_and_changelog_are_of_this_version_and_of_one_date():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    cited = re.search(r"^version: (\S+)\ndate-released: (\S+)$", citation, flags=re.MULTILINE)
    released = re.search(r"^## \[(\d\S+)\] - (\S+)$", changelog, flags=re.MULTILINE)
    assert cited
    assert released
    assert cited[1] == released[1] == hyperspan.__version__
    assert cited[2] == released[2]


def test_the_paper_is_cited_with_its_doi():
    doi = "10.18653/v1/D16-1008"
    assert re.search(rf"^    doi: {doi}$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert f'doi = "{doi}"' in (ROOT / "README.md").read_text(encoding="utf-8")
