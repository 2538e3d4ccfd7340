"""What is fuzzed: for each kind of input some valid files, a way to damage them, and what must hold for all of them."""

from __future__ import annotations

import asyncio
import copy
import json
import random
import tempfile
from abc import ABC, abstractmethod
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from typing import Any, ClassVar

import httpx

from forging import VALUES, changes, forged
from fuzzing import mutations
from hyperspan import Recognizer, corpora
from hyperspan.corpora import demo
from hyperspan.diagnostics import Diagnostics
from hyperspan.errors import HyperspanError
from hyperspan.features import Clusters, Lexicon, TemplateSet
from hyperspan.recognizer.checkpoint import Interrupted
from hyperspan.text import as_documents, as_sentences

Files = dict[str, bytes]


class Target(ABC):
    """One kind of input."""

    name: str

    @cached_property
    @abstractmethod
    def samples(self) -> Files:
        """Valid files, by name."""

    def damage(self, rng: random.Random) -> Files:
        """Return the files with something wrong."""
        name = rng.choice(sorted(self.samples))
        return {**self.samples, name: mutations(self.samples[name], rng.getrandbits(60))}

    @abstractmethod
    def check(self, folder: Path) -> None:
        """Use the files in a folder; whatever is wrong with them, only a `HyperspanError` may come of it."""


class Reader(Target):
    """The reader and the writer of a corpus format."""

    def __init__(self, format: str, output: str) -> None:
        self.name = f"read-{format}-{output.rsplit('.', 1)[-1]}"
        self._format = format
        self._output = output

    @cached_property
    def samples(self) -> Files:
        units = list(demo.stream(2, split=None))
        written = as_sentences(units) if corpora.format_named(self._format).units[0].__name__ == "Sentence" else units
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / self._output
            corpora.write(
                written if self._format != "bioc" else as_documents(units),
                path,
                format=self._format,
                diagnostics=Diagnostics("skip"),
            )
            files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
            return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}

    def check(self, folder: Path) -> None:
        path = folder / self._output
        with suppress(HyperspanError):
            corpora.read(path, format=self._format)
        units = list(corpora.stream(path, format=self._format, diagnostics=Diagnostics("skip")))
        with suppress(HyperspanError), tempfile.TemporaryDirectory() as other:
            target = Path(other) / self._output
            corpora.write(units, target, format=self._format, diagnostics=Diagnostics("skip"))


SENTENCES = list(as_sentences(demo.stream(3, split=None)))


@cache
def model() -> bytes:
    """Return a small model with everything in it."""
    with tempfile.TemporaryDirectory() as folder:
        paths = Path(folder) / "paths"
        paths.write_bytes(CLUSTERS)
        resources = {"clusters": Clusters.load(paths), "lexicon": Lexicon.from_entries([("fever", "sign")])}
        Recognizer(max_components=2, max_iterations=4, n_threads=1, **resources).fit(
            SENTENCES, dev=SENTENCES[:10]
        ).save(paths)
        return paths.read_bytes()


class ModelFile(Target):
    """A model, damaged or forged."""

    name = "model"

    @cached_property
    def samples(self) -> Files:
        return {"a.model": model()}

    @cached_property
    def _changes(self) -> list[Any]:
        (raw,) = self.samples.values()
        return list(changes(raw, VALUES))

    def damage(self, rng: random.Random) -> Files:
        ((name, raw),) = self.samples.items()
        if rng.random() < 0.3:
            return super().damage(rng)
        for _ in range(rng.choice((1, 1, 2, 3))):
            with suppress(LookupError, TypeError, AttributeError, ValueError):  # one change may forbid the next
                raw = forged(raw, rng.choice(self._changes)[1])
        return {name: raw}

    def check(self, folder: Path) -> None:
        recognizer = Recognizer.load(folder / "a.model", n_threads=1)
        recognizer.summary()
        recognizer.strongest(top=1)
        recognizer.predict(SENTENCES[:3])
        recognizer.explain(SENTENCES[0])


class Checkpoint(ModelFile):
    """A checkpoint, damaged or forged."""

    name = "checkpoint"
    _options: ClassVar[dict[str, Any]] = {"max_components": 2, "max_iterations": 3, "n_threads": 1}

    @cached_property
    def samples(self) -> Files:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "c"
            with suppress(Interrupted):
                Recognizer(**self._options).fit(
                    SENTENCES[:20], checkpoint=path, on_iteration=lambda record: record.iteration == 2
                )
            return {"c": path.read_bytes()}

    def check(self, folder: Path) -> None:
        Recognizer(**self._options).fit(SENTENCES[:20], checkpoint=folder / "c", resume=True)


class Templates(Target):
    """A file of templates."""

    name = "templates"

    @cached_property
    def samples(self) -> Files:
        import hyperspan.features as package

        (path,) = Path(package.__file__).parent.rglob("default.toml")
        return {"a.toml": path.read_bytes()}

    def check(self, folder: Path) -> None:
        TemplateSet.load(folder / "a.toml")


CLUSTERS = b"0\tblood\t5\n10\tstool\t3\n110\taspirin\t2\n1110\t\xc3\xa9\t1\n"


class ClusterFile(Target):
    """A file of Brown clusters."""

    name = "clusters"

    @cached_property
    def samples(self) -> Files:
        return {"paths": CLUSTERS}

    def check(self, folder: Path) -> None:
        clusters = Clusters.load(folder / "paths")
        for word in clusters.words:
            clusters.path_of(word)


class LexiconFile(Target):
    """A lexicon."""

    name = "lexicon"

    @cached_property
    def samples(self) -> Files:
        entries = [("aspirin", "drug"), ("dark stool", "sign"), ("stomach", "place")]
        return {"lexicon": Lexicon.from_entries(entries).to_bytes()}

    def check(self, folder: Path) -> None:
        lexicon = Lexicon.load(folder / "lexicon")
        for sentence in SENTENCES[:3]:
            lexicon.categories_of(sentence.tokens)


class Bodies(Target):
    """A body that is sent to the server."""

    name = "server"

    @cached_property
    def samples(self) -> Files:
        text = "Left and right kidneys are enlarged.\r\nNo fever 😀."
        gold = [{"type": "Finding", "spans": [[0, 4], [15, 22]]}]
        bodies: dict[str, Any] = {
            "predict": {"text": text, "candidates": True, "gold": gold, "decode": "probable", "threshold": 0.3},
            "explain": {"tokens": ["No", "fever"], "type": "Finding"},
            "export": {"sentences": [["No", "fever"]], "format": "brat", "doc": "a/b", "mentions": [[]]},
            "read-brat": {"text": text, "ann": "T1\tFinding 0 4;15 22\tLeft kidneys\nA1\tNegated T1\n"},
        }
        return {name: json.dumps(body).encode() for name, body in bodies.items()}

    @cached_property
    def _app(self) -> Any:
        from hyperspan.server import Limits, create_app

        with tempfile.NamedTemporaryFile() as file:
            Path(file.name).write_bytes(model())
            recognizer = Recognizer.load(file.name, n_threads=1)
        return create_app({"small": recognizer}, limits=Limits(threads=1, seconds=20, explained_words=40))

    def damage(self, rng: random.Random) -> Files:
        name = rng.choice(sorted(self.samples))
        if rng.random() < 0.5:
            return {name: mutations(self.samples[name], rng.getrandbits(60))}
        body = json.loads(self.samples[name])
        for _ in range(rng.choice((1, 1, 2))):
            _change_value(body, rng)
        return {name: json.dumps(body).encode()}

    def check(self, folder: Path) -> None:
        async def ask(path: Path) -> httpx.Response:
            transport = httpx.ASGITransport(self._app)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
                kind = {"Content-Type": "application/json"}
                return await client.post(f"/api/{path.name}", content=path.read_bytes(), headers=kind)

        for path in folder.iterdir():
            response = asyncio.run(ask(path))
            assert response.status_code in (200, 400, 404, 413, 422), response.text
            if response.status_code != 200:
                assert set(response.json()) == {"error", "details"}


def _change_value(value: Any, rng: random.Random) -> None:
    """Put something else in the place of one value, somewhere inside."""
    while isinstance(value, dict | list) and value:
        key = rng.choice(sorted(value) if isinstance(value, dict) else range(len(value)))
        inner = value[key]
        if isinstance(inner, dict | list) and inner and rng.random() < 0.7:
            value = inner
            continue
        others = [*VALUES, "fever", "x" * 300, [[0, 1]], [[1, 0]], [[0, 10**9]], "all", "svg", ["No", "fever"]]
        value[key] = copy.deepcopy(rng.choice(others))  # it may be changed in its turn
        return


def targets() -> list[Target]:
    """Return everything that is fuzzed."""
    readers = [
        *(Reader(name, f"a.{name}") for name in ("jsonl", "cupt", "inline")),
        *(Reader("bioc", f"a.{suffix}") for suffix in ("xml", "json", "jsonl")),
        *(Reader(name, name) for name in ("brat", "knowtator", "semeval")),
    ]
    return [*readers, ModelFile(), Checkpoint(), Templates(), ClusterFile(), LexiconFile(), Bodies()]
