"""Everything that a reader is shown runs.

In README.md and docs, ```` ```python ```` blocks with ``>>>`` are doctests, and in ```` ```console ```` blocks the
lines after ``$`` are run and must print what stands below them (a line ``...`` or ``…`` stands for anything). Blocks
of a page run one after another in one empty folder and share their Python names. ```` ```sh ```` blocks are only read:
their commands and options must exist, those of the benchmarks, too.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks.__main__ import app as benchmarks
from examples import LACERATION
from hyperspan.cli.app import app
from hyperspan.cli.reference import commands, parameters
from hyperspan.render import draw_text

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text and the line where that begins."""

    language: str
    text: str
    line: int


def blocks(page: Path) -> Iterator[Block]:
    content = page.read_text(encoding="utf-8")
    for match in FENCE.finditer(content):
        yield Block(match[1], match[2], content.count("\n", 0, match.start()) + 2)


def runs(block: Block) -> bool:
    return block.language == "console" or (block.language == "python" and ">>>" in block.text)


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


NEEDED = {"spacy.md": ("spacy",), "scale.md": ("pyarrow", "pyspark")}
"""What the blocks of a page need beside the base install."""


@pytest.mark.parametrize("page", [page for page in PAGES if any(map(runs, blocks(page)))], ids=name_of)
def test_blocks_run(page, tmp_path, monkeypatch):
    for package in NEEDED.get(page.name, ()):
        pytest.importorskip(package, reason=f"{package} is not installed, which the blocks of this page need")
        if package == "pyspark" and not (shutil.which("java") or os.environ.get("JAVA_HOME")):
            pytest.skip("there is no Java, which Spark runs on")
    if page.name in NEEDED:
        warnings.simplefilter("default")  # what others warn of is not ours
        monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    names: dict[str, object] = {}
    for block in filter(runs, blocks(page)):
        if block.language == "python":
            run_python(block, page, names)
        else:
            run_console(block, page)


def run_python(block: Block, page: Path, names: dict[str, object]) -> None:
    test = doctest.DocTestParser().get_doctest(block.text, names, name_of(page), str(page), block.line - 1)
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    output: list[str] = []
    runner.run(test, out=output.append, clear_globs=False)
    names.update(test.globs)
    assert not runner.summarize(verbose=False).failed, "".join(output)


def run_console(block: Block, page: Path) -> None:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for chunk in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, expected = chunk.partition("\n")
        expected = re.sub(r"^…$", "...", expected, flags=re.MULTILINE)
        done = subprocess.run(
            command,
            shell=True,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            check=False,
        )
        shown = f"{name_of(page)}:{block.line}: $ {command}\n{done.stdout}"
        assert done.returncode in (0, 1), shown
        printed = re.sub(r"^Compiling once .*\n", "", done.stdout, flags=re.MULTILINE)  # only with an empty cache
        assert doctest.OutputChecker().check_output(expected, printed, FLAGS), shown


def shown_commands(program: str) -> Iterator[tuple[str, list[str]]]:
    for page in PAGES:
        for block in blocks(page):
            joined = block.text.replace("\\\n", " ")  # a command over several lines is one
            for number, line in enumerate(joined.splitlines(), start=block.line):
                is_command = block.language == "sh" or (block.language == "console" and line.startswith("$ "))
                if is_command and f"{program} " in line and "pip install" not in line:
                    yield f"{name_of(page)}:{number}", shlex.split(line[line.index(f"{program} ") :], comments=True)


def test_commands_and_options_that_are_shown_exist():
    known = {name: {each for one in parameters(callback) for each in one.names} for name, callback in commands(app)}
    everywhere = {"--help", "-h", "--quiet", "-q", "--debug", "--version"}
    shown = list(shown_commands("hyperspan"))
    assert len(shown) > 10
    for place, words in shown:
        if words[1].startswith("-"):
            assert words[1] in everywhere, place
            continue
        name = next((" ".join(words[:n]) for n in (3, 2) if " ".join(words[:n]) in known), None)
        assert name, f"{place}: there is no command {words[:3]}"
        used = {word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)}
        assert used <= known[name] | everywhere, place


def test_benchmarks_that_are_shown_exist():
    known = {
        name.split()[-1]: {each for one in parameters(callback) for each in one.names}
        for name, callback in commands(benchmarks)
    }
    shown = list(shown_commands("python -m benchmarks"))
    assert len(shown) > 10
    for place, (_, _, _, name, *words) in shown:
        assert name in known, place
        assert {word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)} <= known[name], place
    for page in PAGES:  # also in running text, where there is no more than the name
        for name in re.findall(r"python\s+-m\s+benchmarks ([a-z]+)", page.read_text(encoding="utf-8")):
            assert name in known, name_of(page)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert target.startswith("https://") or (page.parent / target).exists(), target


def test_every_page_is_linked_from_the_readme():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    missing = [page.name for page in (ROOT / "docs").glob("*.md") if f"docs/{page.name}" not in readme]
    assert not missing


def test_the_drawn_sentence_is_what_we_draw():
    (drawing,) = (block.text for block in blocks(ROOT / "README.md") if block.language == "text")
    assert drawing.rstrip("\n") == draw_text(LACERATION, width=120).plain


def test_a_block_that_is_wrong_is_seen(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\n>>> 1 + 1\n3\n```\n\n```console\n$ echo two\none\n```\n")
    python, console = blocks(page)
    monkey = pytest.MonkeyPatch()
    monkey.setattr(f"{__name__}.ROOT", tmp_path)
    with pytest.raises(AssertionError, match=r"Got:\n\s+2\n"):
        run_python(python, page, {})
    with pytest.raises(AssertionError, match=r"page\.md:7: \$ echo two"):
        run_console(console, page)
    monkey.undo()
