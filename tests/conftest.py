"""What every test can use."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent

settings.register_profile("default", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile(
    "nightly",  # other examples every time, and more of them: make fuzz
    deadline=None,
    derandomize=False,
    max_examples=500,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the expected files for review")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "kernel: agrees with its plain-Python reference; also run with the compiler off")


def pytest_collection_finish() -> None:
    """What is loaded by now stays to the end: the garbage collector need not go over it again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real corpora, which not everybody has: named by $CORPORA, or ../shared/data beside the checkout."""
    folder = Path(os.environ.get("CORPORA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"the real corpora are not here (looked in {folder}; set CORPORA to their folder)")
    return folder


@pytest.fixture(autouse=True)
def not_quiet() -> None:
    """A command that was run with --quiet must not silence the next test."""
    from hyperspan.cli.console import set_quiet

    set_quiet(False)


@pytest.fixture
def golden(request: pytest.FixtureRequest):
    """Compare a text with an expected file, or rewrite that file under --update-golden."""

    def check(name: str, text: str) -> None:
        path = Path(__file__).parent / "golden" / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="")
        assert path.exists(), f"{path} is missing; write it with --update-golden and review it"
        with open(path, encoding="utf-8", newline="") as file:
            assert text == file.read()

    return check
