"""A tiny encoder and a corpus that it can learn in seconds."""

from __future__ import annotations

from pathlib import Path

import pytest

from hyperspan.corpora import demo
from hyperspan.mentions import Sentence
from tiny_encoder import make_tiny_encoder


@pytest.fixture(scope="session")
def sentences() -> list[Sentence]:
    """Sentences of the embedded corpus: each with its document."""
    return list(demo.generate(90, unit="sentences", split="train"))


@pytest.fixture(scope="session")
def some(sentences: list[Sentence]) -> list[Sentence]:
    """A few of them, with mentions."""
    return [sentence for sentence in sentences if sentence.mentions][:60]


@pytest.fixture(scope="session")
def encoder(sentences: list[Sentence], tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of an encoder with random weights."""
    folder: Path = tmp_path_factory.mktemp("encoder") / "tiny"
    return make_tiny_encoder(folder, (word for sentence in sentences for word in sentence.tokens))
