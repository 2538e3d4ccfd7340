"""``hyperspan features``: show the features of each word of a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hyperspan.cli.console import JsonOption, print_json, printable, say
from hyperspan.diagnostics import quoted
from hyperspan.errors import UsageError

if TYPE_CHECKING:
    from hyperspan.features.extraction import Explanation

_LONGEST_FEATURE = 200


def features(
    sentence: Annotated[str, typer.Argument(help="The sentence, as plain text.", show_default=False)],
    word: Annotated[
        str | None, typer.Option("--word", help="Only this word: its number, from 1, or the word itself.")
    ] = None,
    templates: Annotated[
        str, typer.Option("--features", help="The templates: default, published, or a template file.")
    ] = "default",
    clusters: Annotated[Path | None, typer.Option("--clusters", help="A file of Brown clusters.")] = None,
    lexicon: Annotated[Path | None, typer.Option("--lexicon", help="A file of semantic categories.")] = None,
    annotator: Annotated[
        str, typer.Option("--annotator", help="What adds parts of speech and lemmas: none, auto, or a name.")
    ] = "none",
    section: Annotated[str | None, typer.Option("--section", help="The section of the sentence.")] = None,
    note_type: Annotated[str | None, typer.Option("--note-type", help="The type of the note.")] = None,
    json: JsonOption = False,
) -> None:
    """Show the features of each word of a sentence.

    Example: hyperspan features "EGD showed hiatal hernia." --word hiatal
    """
    explanation = explain(
        sentence,
        templates=templates,
        clusters=clusters,
        lexicon=lexicon,
        annotator=annotator,
        attributes={
            name: value for name, value in (("section", section), ("note_type", note_type)) if value is not None
        },
    )
    table = table_of(explanation, templates, word)
    if json:
        print_json(table)
        return
    for row in table["words"]:
        typer.echo(printable(f"{row['number']} {_cut(row['word'])}"))
        for group, names in row["features"].items():
            for name in names:
                typer.echo(f"  {group:<12} {printable(_cut(name))}".replace("\n", "\\n").replace("\t", "\\t"))
    if table["skipped"]:
        say.info(_skipped_text(table["skipped"]))


def explain(
    text: str,
    *,
    templates: str = "default",
    clusters: Path | None = None,
    lexicon: Path | None = None,
    annotator: str = "none",
    attributes: Mapping[str, Any] | None = None,
) -> Explanation:
    """Return the features of a text as one sentence."""
    from hyperspan.features.extraction import Extractor
    from hyperspan.mentions import Sentence
    from hyperspan.text import annotator as annotator_named
    from hyperspan.text import tokenize

    tokens = tuple(text[start:end] for start, end in tokenize(text))
    extractor = Extractor(templates, _clusters(clusters), _lexicon(lexicon))
    (sentence,) = annotator_named(annotator).annotate([Sentence(tokens, attributes=attributes or {})])
    return extractor.explain(sentence)


def table_of(explanation: Explanation, templates: str, word: str | None = None) -> dict[str, Any]:
    """Return an explanation as plain data, for all words or some."""
    chosen = _positions(explanation.tokens, word)
    return {
        "templates": templates,
        "words": [
            {
                "number": position + 1,
                "word": explanation.tokens[position],
                "features": {group: names for group, names in explanation.features[position].items() if names},
            }
            for position in chosen
        ],
        "skipped": [
            {"group": skipped.template.group, "template": skipped.template.name, "reason": skipped.reason}
            for skipped in explanation.skipped
        ],
    }


def _positions(tokens: Sequence[str], word: str | None) -> list[int]:
    if word is None:
        return list(range(len(tokens)))
    found = [position for position, token in enumerate(tokens) if token == word]
    if not found and word.isascii() and word.isdigit() and len(word) < 10 and 1 <= int(word) <= len(tokens):
        found = [int(word) - 1]
    if not found:
        raise UsageError(
            f"--word is {quoted(word)}; expected a number from 1 to {len(tokens)}, or one of "
            + quoted(" ".join(tokens))
        )
    return found


def _clusters(path: Path | None) -> Any:
    if path is None:
        return None
    from hyperspan.features.brown import Clusters

    return Clusters.load(path)


def _lexicon(path: Path | None) -> Any:
    if path is None:
        return None
    from hyperspan.features.lexicon import Lexicon

    return Lexicon.load(path)


def _skipped_text(skipped: Sequence[Mapping[str, str]]) -> str:
    by_reason: dict[str, list[str]] = {}
    for row in skipped:
        by_reason.setdefault(row["reason"], []).append(row["template"])
    return "\n".join(f"skipped {', '.join(names)}: {reason}" for reason, names in by_reason.items())


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_FEATURE else f"{text[:_LONGEST_FEATURE]}… ({len(text):,} characters)"
