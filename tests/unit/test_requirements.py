"""The versions that development and CI use fit what the package asks for."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import hyperspan

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
LOCK = (ROOT / "requirements" / "dev.txt").read_text(encoding="utf-8")
PINNED = dict(line.split("==") for line in LOCK.splitlines())

IMPORT_NAMES = {"scikit-learn": "sklearn", "pytest-cov": "pytest_cov", "pytest-xdist": "xdist"}


def asked_for() -> list[str]:
    of_dev = [text for name in ("dev", "plots", "serve") for text in EXTRAS[name] if not text.startswith("hyperspan")]
    return [*PROJECT["dependencies"], *of_dev]


@pytest.mark.parametrize("text", asked_for())
def test_what_is_asked_for_is_pinned(text):
    requirement = Requirement(text)
    assert requirement.specifier.contains(PINNED[canonicalize_name(requirement.name)])


def test_the_lock_names_packages_and_nothing_else():
    assert re.fullmatch(r"([a-z0-9-]+==[0-9][0-9a-z.+]*\n)+", LOCK)


@pytest.mark.parametrize(("name", "lowest"), [("starlette", "0.49.1"), ("h11", "0.16")])
def test_versions_with_known_holes_are_not_taken(name, lowest):
    (requirement,) = [each for each in map(Requirement, EXTRAS["serve"]) if each.name == name]
    assert requirement.specifier.contains(lowest)
    assert not requirement.specifier.contains("0.15" if name == "h11" else "0.49.0")


def imported() -> set[str]:
    names = set()
    for path in Path(hyperspan.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                names.add(node.module.split(".")[0])
    return names - set(sys.stdlib_module_names)


def test_what_is_required_is_imported():
    required = {Requirement(text).name for text in (*PROJECT["dependencies"], *EXTRAS["serve"], *EXTRAS["plots"])}
    required -= {"h11"}  # comes with uvicorn; named for its lower bound
    assert {IMPORT_NAMES.get(name, name) for name in required} <= imported()


def test_every_extra_is_described_and_can_be_checked():
    readme = (ROOT / "README.md").read_text(encoding="utf-8").partition("| extra | adds |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `(\w+)` \|", readme, flags=re.MULTILINE) == sorted(EXTRAS)
    script = (ROOT / ".ci" / "release-check").read_text(encoding="utf-8")
    assert set(EXTRAS) <= set(re.findall(r"^        (\w+)\) echo ", script, flags=re.MULTILINE))


def test_extras_to_check_are_not_those_of_the_tests(tmp_path):
    make = shutil.which("make")
    if make is None:
        pytest.skip("make is not installed")
    (line,) = re.findall(
        r"^ +make -C .*$", (ROOT / ".ci" / "release-check").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    given = [word for word in line.split() if word.startswith("EXTRAS=")]
    command = [make, "-n", "-B", "-C", str(ROOT), f"VENV={tmp_path}/venv", *given, f"{tmp_path}/venv/.ready"]
    done = subprocess.run(
        command,
        env={**os.environ, "EXTRAS": "serve plots", "MAKEFLAGS": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert '".[dev]"' in done.stdout
