"""Put results of experiments into their pages: ``python docs/record.py "Chia, type Condition=results/chia" ...``.

Each argument names a section of the recorded runs and the folder that ``hyperspan experiment run -o FOLDER`` wrote.
A section is replaced as a whole, apart from words of its own before the table. Then the table of conclusions is
rebuilt from all pages.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path

from hyperspan.experiments import EXPERIMENTS

DOCS = Path(__file__).parent
HEADING = "## Recorded runs"
SHORT = {"holds": "holds", "does not hold here": "**does not**", "undecided": "undecided"}
CONCLUSIONS = re.compile(r"(?<=<!-- conclusions -->\n\n).*?(?=\n\n<!-- end of conclusions -->)", re.DOTALL)


def recorded(file: Path) -> str:
    """Return what an experiment wrote, as it stands on a page: without its title, and with a corpus in ``$CORPORA``."""
    body = file.read_text(encoding="utf-8").split("\n", 2)[2].strip()
    body = re.sub(r"(?<= --data )\S*/([^/\s]+)/?(?=\s)", r"$CORPORA/\1", body)
    return re.sub(r"^    (hyperspan experiment run .*)$", r"```sh\n\1\n```", body, flags=re.MULTILINE)


def sections(page: str) -> tuple[str, dict[str, str]]:
    """Return what stands above the recorded runs, and the runs by the names of their sections."""
    above, found, below = page.partition(f"{HEADING}\n")
    words, *runs = re.split(r"^### ", below, flags=re.MULTILINE)
    return above + found + words, {name: body.strip() for name, body in (run.split("\n", 1) for run in runs)}


def replaced(page: str, name: str, body: str) -> str:
    """Return a page on which the section of this name has other contents; a new section comes last."""
    above, runs = sections(page)
    words = runs.get(name, "").split("\n\n", 1)[0]
    if words and not words.startswith("|"):
        body = f"{words}\n\n{body}"
    runs[name] = body
    return f"{above.rstrip()}\n\n" + "\n".join(f"### {each}\n\n{text}\n" for each, text in runs.items())


def conclusions(page: str) -> Iterator[tuple[str, str, str]]:
    """Yield a section, what is concluded in it, and whether it holds."""
    for name, body in sections(page)[1].items():
        for verdict, text in re.findall(rf"^- \*\*({'|'.join(SHORT)})\*\*: (.*)$", body, flags=re.MULTILINE):
            yield name, text, SHORT[verdict]


def row(*cells: str) -> str:
    """Return a row of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def table(pages: dict[str, str], columns: list[str]) -> str:
    """Return the table of conclusions: a row for each, a column for each section that is asked for."""
    rows = [
        "| experiment | conclusion |" + "".join(f" {name} |" for name in columns),
        "|" + " --- |" * (2 + len(columns)),
    ]
    for experiment, page in pages.items():
        verdicts: dict[str, dict[str, str]] = {}
        for name, text, verdict in conclusions(page):
            if name in columns:
                verdicts.setdefault(text, {})[name] = verdict
        link = f"[{experiment}](experiments/{experiment}.md)"
        rows += [row(link, text, *(of.get(name, "") for name in columns)) for text, of in verdicts.items()]
    return "\n".join(rows)


def main() -> None:
    """Read the command line and write the pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", nargs="*", help="NAME OF SECTION=FOLDER")
    found: list[tuple[str, Path]] = []
    for given in parser.parse_args().results:
        name, _, folder = given.partition("=")
        files = sorted(Path(folder).glob("*.json")) if name and folder else []
        if not files:
            parser.error(f"{given!r} has no results; expected NAME=FOLDER with what 'experiment run -o FOLDER' wrote")
        found += [(name, file) for file in files]
    for name, file in found:
        experiment = json.loads(file.read_text(encoding="utf-8"))["experiment"]
        page = DOCS / "experiments" / f"{experiment}.md"
        body = recorded(file.with_suffix(".md"))
        page.write_text(replaced(page.read_text(encoding="utf-8"), name, body), encoding="utf-8")
    overview = DOCS / "experiments.md"
    text = overview.read_text(encoding="utf-8")
    head = next(line for line in text.splitlines() if line.startswith("| experiment | conclusion |"))
    columns = [cell.strip() for cell in head.strip("| ").split("|")][2:]
    pages = {name: (DOCS / "experiments" / f"{name}.md").read_text(encoding="utf-8") for name in EXPERIMENTS}
    overview.write_text(CONCLUSIONS.sub(lambda _: table(pages, columns), text), encoding="utf-8")


if __name__ == "__main__":
    main()
