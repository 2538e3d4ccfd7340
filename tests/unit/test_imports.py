"""Imports point one way, and what is public is there and documented."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

import hyperspan

ROOT = Path(hyperspan.__file__).parent

STEPS = (
    ("compiled", "environment", "errors", "threads"),
    ("diagnostics", "files", "schema"),
    ("mentions",),
    ("corpora", "text", "structures", "evaluation"),
    ("inference", "features"),
    ("scoring",),
    ("learning", "ambiguity", "render"),
    ("recognizer", "agreement"),
    ("annotation", "experiments", "server", "neural", "integrations"),
    ("arrow",),
    ("cli",),
    ("__main__",),
)
"""What may be imported by what stands below it in this list; what stands side by side keeps to itself."""

STEP_OF = {name: step for step, names in enumerate(STEPS) for name in names}

MODULES = sorted(ROOT.rglob("*.py"))


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and full name of everything of ours that a module imports, in functions and for types too."""
    package = [ROOT.name, *path.relative_to(ROOT).parent.parts]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                yield node.lineno, f"{module}.{alias.name}"
        elif isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == "import_module":
            first = node.args[0]
            if isinstance(first, ast.JoinedStr) and isinstance(first.values[0], ast.Constant):
                first = first.values[0]
            if isinstance(first, ast.Constant):
                yield node.lineno, str(first.value)


def top(name: str) -> str | None:
    """Return the part of our package that a full name belongs to: ``corpora`` for ``hyperspan.corpora.brat``."""
    first, *rest = name.split(".")
    if first != "hyperspan":
        return None
    return rest[0] if rest else ""


def test_every_part_has_its_step():
    parts = {path.stem if path.is_file() else path.name for path in ROOT.iterdir() if path.name[0] not in "_."}
    parts -= {"py"}  # py.typed
    assert parts <= set(STEP_OF), "say in STEPS where it stands"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_imports_point_one_way(path):
    own = path.relative_to(ROOT).parts[0].removesuffix(".py")
    wrong = []
    for line, name in imported(path):
        other = top(name)
        if other is None or other == own or own == "__init__":
            continue
        is_public_name = other not in STEP_OF
        if is_public_name:
            # The package itself offers names up to the recognizer, so only what stands above may ask it.
            if STEP_OF[own] <= STEP_OF["recognizer"]:
                wrong.append(f"line {line}: {name} comes from the package itself; name the module")
        elif STEP_OF[other] >= STEP_OF[own]:
            wrong.append(f"line {line}: {own} imports {name}")
    assert not wrong


STRUCTURES_AND_SCORERS = {"Hypergraph", "Linear", "LinearScorer", "Staircase"}


def asked_for(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line and name of every class that code asks whether something is one of."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass"):
            classes: list[ast.AST] = list(node.args[1:])
        elif isinstance(node, ast.MatchClass):
            classes = [node.cls]
        else:
            continue
        for part in (part for one in classes for part in ast.walk(one)):
            if isinstance(part, ast.Name | ast.Attribute):
                yield node.lineno, part.id if isinstance(part, ast.Name) else part.attr


@pytest.mark.parametrize(
    "path", [path for path in MODULES if path.parent.name != "structures"], ids=lambda path: str(path.relative_to(ROOT))
)
def test_nobody_asks_which_structure_or_scorer_it_is(path):
    """Structures and scorers say what they can do; whoever asks for the class would not know a new one."""
    asked = asked_for(ast.parse(path.read_text(encoding="utf-8")))
    assert not [found for found in asked if found[1] in STRUCTURES_AND_SCORERS]


@pytest.mark.parametrize(
    "code",
    [
        "isinstance(made, Linear)",
        "isinstance(\n    made,\n    (int, structures.Hypergraph),\n)",
        "issubclass(kind, int | LinearScorer)",
        "match made:\n    case Linear(): pass",
    ],
)
def test_the_reader_sees_every_way_to_ask(code):
    assert STRUCTURES_AND_SCORERS & {name for _, name in asked_for(ast.parse(code))}


def test_the_reader_of_imports_sees_all_kinds(tmp_path, monkeypatch):
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path / "hyperspan")
    (tmp_path / "hyperspan" / "text").mkdir(parents=True)
    path = tmp_path / "hyperspan" / "text" / "a.py"
    path.write_text(
        "import hyperspan.cli\n"
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from hyperspan.corpora import brat\n"
        "def f():\n    from ..learning import lbfgs\n    import_module(f'hyperspan.server.{1}')\n"
        "from . import b\n"
    )
    ours = sorted(top(name) for _, name in imported(path) if top(name))
    assert ours == ["cli", "corpora", "learning", "server", "text"]


def public_modules() -> list[str]:
    names = []
    for path in MODULES:
        if any(
            isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"
            for node in ast.parse(path.read_text(encoding="utf-8")).body
        ):
            parts = path.relative_to(ROOT.parent).with_suffix("").parts
            names.append(".".join(part for part in parts if part != "__init__"))
    return names


NEEDED = {"hyperspan.integrations.spacy": "spacy"}
"""Modules that cannot be imported without a package of an extra."""


@pytest.mark.parametrize("name", public_modules())
def test_public_names_exist_and_are_documented(name):
    package = "torch" if name.startswith("hyperspan.neural") else NEEDED.get(name)
    if package:
        pytest.importorskip(package, reason=f"{package} is not installed, which {name} needs")
    module = importlib.import_module(name)
    assert len(set(module.__all__)) == len(module.__all__)
    assert module.__doc__
    undocumented = []
    for public in module.__all__:
        value = getattr(module, public)
        if (inspect.isclass(value) or inspect.isroutine(value)) and not inspect.getdoc(value):
            undocumented.append(public)
        if inspect.isclass(value) and value.__module__.startswith("hyperspan"):
            undocumented += [
                f"{public}.{attribute}"
                for attribute, member in vars(value).items()
                if not attribute.startswith("_")
                and (inspect.isroutine(member) or isinstance(member, property | classmethod | staticmethod))
                and not inspect.getdoc(getattr(value, attribute))
            ]
    assert not undocumented


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_module_says_what_it_is(path):
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
