"""``hyperspan audit``: list the annotations that a model doubts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hyperspan.cli.console import (
    CorpusArgument,
    FromOption,
    JsonOption,
    OnErrorChoice,
    OnErrorOption,
    ThreadsOption,
    print_json,
    printable,
    progress,
    say,
    stdout,
    tell_of_compiling,
)
from hyperspan.cli.outputs import refuse_inputs
from hyperspan.diagnostics import Diagnostics, counted
from hyperspan.errors import UsageError
from hyperspan.files import check_file
from hyperspan.mentions import Document, Mention, Sentence, to_characters

if TYPE_CHECKING:
    from hyperspan.annotation import Doubt, Planted

_CUTS = (20, 50, 100)


def audit(
    model: Annotated[Path, typer.Argument(help="A model file, whose settings are used.", show_default=False)],
    corpus: CorpusArgument,
    n: Annotated[int, typer.Option("-n", min=1, help="The number of doubts to show.")] = 20,
    folds: Annotated[
        int, typer.Option("--folds", min=2, help="The number of folds; one model is trained on the others of each.")
    ] = 5,
    max_iterations: Annotated[
        int | None,
        typer.Option(
            "--max-iterations",
            min=1,
            help="The maximum number of iterations in each training; those of the model if not given.",
        ),
    ] = None,
    html: Annotated[Path | None, typer.Option("--html", help="Write a page with the doubts.")] = None,
    plant: Annotated[
        float,
        typer.Option(
            "--plant", min=0.0, max=0.5, help="Plant errors in this share of the mentions, and count those found."
        ),
    ] = 0.0,
    threads: ThreadsOption = 2,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Determines which documents are held out together.")] = 0,
    format: FromOption = None,
    on_error: OnErrorOption = OnErrorChoice.error,
    json: JsonOption = False,
) -> None:
    """List gold mentions that a model finds improbable, and unannotated mentions that it finds probable.

    The corpus is divided into folds by document. Each is checked by a model trained on the others with the settings of
    MODEL. The weights of MODEL are not used: it may have seen the corpus.

    Example: hyperspan audit notes.model notes/ -n 50 --html doubts.html
    """
    from hyperspan import corpora
    from hyperspan.annotation import audit as find_doubts
    from hyperspan.annotation import plant as plant_errors
    from hyperspan.text import as_sentences

    if html is not None:
        refuse_inputs([model, corpus], html)
        check_file(html)
    tell_of_compiling()
    settings = settings_of(model, max_iterations, threads)
    diagnostics = Diagnostics(on_error.value)
    units = list(progress(corpora.stream(corpus, format=format, diagnostics=diagnostics), "Reading"))
    sentences = list(as_sentences(units, diagnostics))
    say.diagnostics(diagnostics)
    if not any(sentence.mentions for sentence in sentences):
        raise UsageError(f"{corpus}: there is no mention in it; expected a corpus with gold mentions")
    planted = plant_errors(sentences, plant, seed) if plant else None
    if planted is not None:
        sentences = planted.sentences
    found = find_doubts(
        settings,
        sentences,
        n_folds=folds,
        seed=seed,
        watch=lambda steps: progress(steps, "Training and judging", folds),
    )
    if found.unjudged:
        types = sorted({mention.type for _, mention in found.unjudged})
        say.note(
            f"{len(found.unjudged):,} mentions were not judged, since no other fold has their types: {', '.join(types)}"
        )
    shown = found.doubts[:n]
    if html is not None:
        _write_page(shown, sentences, html)
    if json:
        documents = {unit.doc: unit for unit in units if isinstance(unit, Document)}
        record: dict[str, Any] = {
            "mentions": found.n_mentions,
            "unjudged": len(found.unjudged),
            "folds": folds,
            "seed": seed,
            "counts": {kind: sum(each.kind == kind for each in found.doubts) for kind in ("improbable", "missing")},
            "doubts": [_record(each, sentences, documents) for each in shown],
        }
        if planted is not None:
            record["planted"] = _planted_record(planted, found.doubts)
        print_json(record)
        return
    _print_doubts(shown, sentences)
    said = f"{counted(len(found.doubts), 'doubt')} about {counted(found.n_mentions, 'gold mention')}"
    say.info(f"{said}; the first {len(shown)} are shown" if len(shown) < len(found.doubts) else said)
    if planted is not None:
        _print_planted(planted, found.doubts)


def settings_of(model: Path, max_iterations: int | None, threads: int) -> dict[str, Any]:
    """Return the arguments with which a model was trained, with its penalty and threshold."""
    from hyperspan.recognizer import Recognizer

    recognizer = Recognizer.load(model)
    settings = {
        **recognizer.get_params(),
        "l2": recognizer.l2_,
        "threshold": recognizer.threshold_,
        "n_threads": threads,
    }
    if max_iterations is not None:
        settings["max_iterations"] = max_iterations
    return settings


def _write_page(doubts: Sequence[Doubt], sentences: Sequence[Sentence], path: Path) -> None:
    from hyperspan.annotation.page import doubt_pieces
    from hyperspan.files import writing

    with writing(path) as file:
        for piece in doubt_pieces(doubts, sentences):
            file.write(piece.encode("utf-8", "replace"))
    say.info(f"wrote {len(doubts):,} doubts to {path}")


def _record(doubt: Doubt, sentences: Sequence[Sentence], documents: Mapping[str, Document]) -> dict[str, Any]:
    sentence = sentences[doubt.sentence]
    document = documents.get(sentence.doc)

    def placed(mention: Mention) -> dict[str, Any]:
        own = mention if document is None else to_characters(mention, sentence.offsets or ())
        record: dict[str, Any] = {"type": own.type, "spans": [list(part) for part in own.parts]}
        record["text"] = sentence.text_of(mention)
        if mention.prob is not None:
            record["prob"] = mention.prob
        return record

    record = {"kind": doubt.kind, "doubt": doubt.doubt, "doc": sentence.doc, **placed(doubt.mention)}
    place = sentence.place
    if document is not None and doubt.kind == "improbable":
        path, line = document.place_of(to_characters(doubt.mention, sentence.offsets or ()))
        place = path if line is None else f"{path}:{line}"
    if place:
        record["place"] = place
    record["tokens"] = list(sentence.tokens)
    record["instead"] = None if doubt.instead is None else placed(doubt.instead)
    return record


def _print_doubts(doubts: Sequence[Doubt], sentences: Sequence[Sentence]) -> None:
    from rich.text import Text

    from hyperspan.annotation.page import described
    from hyperspan.render import TypeColours, draw_text

    console = stdout()
    colours = TypeColours(sorted({each.mention.type for each in doubts}))
    for number, doubt in enumerate(doubts, 1):
        sentence = sentences[doubt.sentence]
        title = f"{number}. {printable(sentence.doc)}, {printable(described(doubt, sentence))}"
        console.print(Text(title, style="bold"))
        shown = [doubt.mention, *([doubt.instead] if doubt.instead is not None else [])]
        console.print(draw_text(sentence.with_mentions(shown), types=colours), end="\n\n")


def _planted_record(planted: Planted, doubts: Sequence[Doubt]) -> dict[str, Any]:
    return {
        "errors": planted.kinds,
        "precision_at": {str(cut): planted.precision_at(doubts, cut) for cut in _CUTS},
        "recall_at": {str(cut): planted.recall_at(doubts, cut) for cut in _CUTS},
        "by_kind": {
            kind: planted.precision_at((each for each in doubts if each.kind == kind), _CUTS[0])
            for kind in ("improbable", "missing")
        },
    }


def _lines(planted: Planted, doubts: Sequence[Doubt]) -> Iterator[str]:
    found = _planted_record(planted, doubts)
    yield "planted: " + ", ".join(f"{count:,} {kind}" for kind, count in planted.kinds.items())
    for cut in map(str, _CUTS):
        yield f"  precision at {cut:>3}  {found['precision_at'][cut]:.2f}   recall {found['recall_at'][cut]:.2f}"
    for kind, precision in found["by_kind"].items():
        yield f"  precision at {_CUTS[0]:>3}  {precision:.2f}   of those {kind}"


def _print_planted(planted: Planted, doubts: Sequence[Doubt]) -> None:
    for line in _lines(planted, doubts):
        typer.echo(line)
