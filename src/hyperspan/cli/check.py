"""``hyperspan check``: everything that is wrong with a corpus, with its place."""

from __future__ import annotations

import typer

from hyperspan.cli.console import CorpusArgument, FromOption, JsonOption, print_json, printable, progress, say
from hyperspan.findings import Findings


def check(corpus: CorpusArgument, format: FromOption = None, json: JsonOption = False) -> None:
    """List every defect of a corpus with file and line; exit code 1 if there is one.

    Example: hyperspan check notes/
    """
    from hyperspan.corpora.checking import check_corpus

    findings = Findings("skip")
    units = mentions = 0
    for unit in progress(check_corpus(corpus, findings, format=format), "Checking"):
        units += 1
        mentions += len(unit.mentions)
    if json:
        print_json(
            {
                "units": units,
                "mentions": mentions,
                "findings": [finding.as_dict() for finding in findings.items],
                "counts": dict(sorted(findings.counts.items())),
                "total": findings.total,
            }
        )
    else:
        for finding in findings.items:
            typer.echo(printable(str(finding)))
        if findings.total > len(findings.items):
            typer.echo(f"… and {findings.total - len(findings.items):,} more")
        say.info(f"{units:,} sentences or documents with {mentions:,} mentions: {findings.summary()}")
    raise typer.Exit(1 if findings.total else 0)
