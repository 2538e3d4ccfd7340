"""Small data for experiments: the embedded corpus, also in the shape of the clinical releases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from hyperspan import Sentence
from hyperspan.experiments import Data, Run, Settings, Source, load
from hyperspan.experiments.data import evenly
from releases import write_releases


@pytest.fixture(scope="session")
def quick() -> Settings:
    """Settings that take hardly any time; with fewer iterations nothing is improbable, and finding it takes longer."""
    return Settings.of(quick=True, max_iterations=10, penalties=(1.0, 0.25))


@pytest.fixture(scope="session")
def demo_data(quick) -> Data:
    """Even less than --quick keeps: 60 sentences of each split, 24 of them with a discontiguous mention."""
    data = load(Source(data="demo"), quick)
    return replace(data, datasets=tuple(dataset.changed(fewer) for dataset in data.datasets))


def fewer(sentences: Sequence[Sentence]) -> list[Sentence]:
    apart = [sentence for sentence in sentences if sentence.is_discontiguous]
    return evenly(apart, 24) + evenly([sentence for sentence in sentences if not sentence.is_discontiguous], 36)


@pytest.fixture
def demo_run(demo_data, quick) -> Run:
    return Run(demo_data, quick)


@pytest.fixture(scope="session")
def clinical(tmp_path_factory) -> dict[str, Path]:
    """Invented reports in the shape of SemEval-2014 and ShARe/CLEF 2013, and a table of semantic types for them."""
    return write_releases(tmp_path_factory.mktemp("clinical"))
