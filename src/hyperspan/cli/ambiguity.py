"""``hyperspan ambiguity``: measure the ambiguity of structures, in theory and on a corpus."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hyperspan import corpora
from hyperspan.cli.console import (
    CorpusArgument,
    DiscontiguousOption,
    FromOption,
    JsonOption,
    OnErrorChoice,
    OnErrorOption,
    print_json,
    progress,
    say,
    stdout,
)
from hyperspan.diagnostics import Diagnostics, counted, quoted
from hyperspan.errors import UsageError
from hyperspan.files import check_file, writing

if TYPE_CHECKING:
    from hyperspan.ambiguity import OfStructure
    from hyperspan.mentions import Sentence

app = typer.Typer(help="Measure the ambiguity of structures: counts, growth, round trips.", no_args_is_help=True)

LONGEST_NUMBER = 15
WIDEST_MATRIX = 32

ComponentsOption = Annotated[
    int, typer.Option("--max-components", "-K", min=1, max=5, help="The most parts of a mention.")
]


class MatrixChoice(StrEnum):
    """The structure whose matrix to print."""

    LINEAR = "linear"
    MENTION = "mention"
    SHARED = "shared"
    SPLIT = "split"
    GRID = "grid"


@app.command("counts")
def counts(
    max_words: Annotated[int, typer.Option("--max-words", min=1, max=10_000, help="The longest sentence.")] = 6,
    max_components: Annotated[
        int, typer.Option("--max-components", "-K", min=1, max=8, help="The most parts of a mention.")
    ] = 3,
    json: JsonOption = False,
) -> None:
    """Count the canonical encodings of 1, 2 … words, and all sets of mentions.

    An encoding is canonical if it encodes some set of mentions. Numbers are exact; without --json, long ones are
    printed as powers of two.

    Example: hyperspan ambiguity counts --max-words 6
    """
    from rich.table import Table

    from hyperspan.ambiguity import STRUCTURES, count_table

    table = count_table(max_words, max_components)
    if json:
        with any_digits():
            print_json(table)
        return
    view = Table("words", *STRUCTURES, "all sets", box=None, pad_edge=False)
    for column in view.columns:
        column.justify = "right"
    for index, n_words in enumerate(table["words"]):
        numbers = [in_short(table[name][index]) for name in STRUCTURES]
        view.add_row(str(n_words), *numbers, f"2^{table['mention_sets_log2'][index]}")
    stdout().print(view)
    stdout().print("segments has as many encodings as there are sets.")


@app.command("matrix")
def matrix(
    structure: Annotated[
        MatrixChoice,
        typer.Option("--structure", "-s", help="The structure; grid is the worked example with three levels."),
    ] = MatrixChoice.SHARED,
    max_components: ComponentsOption = 2,
    json: JsonOption = False,
) -> None:
    """Print the transition matrix between sets of active nodes.

    Row s, column t is the number of ways in which the nodes of t can be active at the word after those of s. For split,
    it is the matrix for mentions with exactly --max-components parts; for linear, that of the automaton of canonical
    tag sequences.

    Example: hyperspan ambiguity matrix --structure shared --max-components 2
    """
    table = matrix_table(structure, max_components)
    if json:
        print_json(table)
        return
    if len(table["matrix"]) > WIDEST_MATRIX:
        raise UsageError(
            f"the matrix has {len(table['matrix'])} rows, too many to read; expected at most {WIDEST_MATRIX}. "
            "Print it with --json, or choose a smaller --max-components"
        )
    print_matrix(table)


@app.command("growth")
def growth(
    max_components: ComponentsOption = 3,
    max_words: Annotated[
        int,
        typer.Option("--max-words", min=1, max=5_000, help="The longest sentence for which finite values are printed."),
    ] = 1000,
    plot: Annotated[Path | None, typer.Option("--plot", help="Plot the number of encodings to this SVG file.")] = None,
    json: JsonOption = False,
) -> None:
    """Print the growth of the number of encodings, and the relative ambiguity of any two structures.

    Example: hyperspan ambiguity growth --max-components 3
    """
    from hyperspan.ambiguity import growth_table
    from hyperspan.ambiguity.plot import growth_svg

    if plot is not None:
        check_file(plot)
    table = growth_table(max_components, max_words)
    if plot is not None:
        with writing(plot) as file:
            file.write(growth_svg(max_components=max_components).encode())
        say.info(f"wrote {plot}")
    if json:
        print_json(table)
    else:
        print_growth(table)


@app.command("roundtrip")
def roundtrip(
    corpus: CorpusArgument,
    format: FromOption = None,
    max_components: ComponentsOption = 3,
    linear_components: Annotated[
        str | None,
        typer.Option(
            "--linear-components",
            help="How many components linear/all combines: a number, or none for any number. The value of "
            "--max-components if not given.",
            metavar="N|none",
            show_default=False,
        ),
    ] = None,
    discontiguous_only: DiscontiguousOption = False,
    draw: Annotated[int, typer.Option("--draw", min=0, help="How many of the most ambiguous sentences to draw.")] = 1,
    on_error: OnErrorOption = OnErrorChoice.error,
    json: JsonOption = False,
) -> None:
    """Encode the gold mentions of a corpus, decode them, and count what is lost.

    Documents are split into sentences first. Several sets of mentions may have the same encoding; their average and
    largest number are printed, and the most ambiguous sentences are drawn.

    Example: hyperspan ambiguity roundtrip notes/ --discontiguous-only
    """
    from hyperspan.ambiguity import round_trip
    from hyperspan.text import as_sentences

    diagnostics = Diagnostics(on_error.value)
    units = progress(corpora.stream(corpus, format=format, diagnostics=diagnostics), "Reading")
    sentences = as_sentences(units, diagnostics)
    result = round_trip(
        (sentence for sentence in sentences if sentence.is_discontiguous or not discontiguous_only),
        max_components=max_components,
        linear_components="same" if linear_components is None else parse_components(linear_components),
        n_worst=0 if json else draw,
    )
    say.diagnostics(diagnostics)
    if n_lost := result["linear"].lost:
        say.warning(f"skipped in reading, and counted as lost: {counted(n_lost, 'gold mention')}")
    for name, of_structure in result.items():
        for decoder, errors in of_structure.errors.items():
            if errors.truncated:
                say.info(f"{name} {decoder}: {errors.truncated} sentences have more mentions than are read")
    if json:
        print_json({name: of_structure.as_dict() for name, of_structure in result.items()})
    else:
        print_round_trip(result)


def parse_components(text: str) -> int | None:
    """Parse a number of components, or ``none``."""
    if text == "none":
        return None
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:4]) <= 1000):
        raise UsageError(f"--linear-components is {quoted(text)}; expected a number from 1 to 1000, or none")
    return int(text)


def matrix_table(structure: MatrixChoice, max_components: int) -> dict[str, Any]:
    """Return a matrix as plain data."""
    from hyperspan.ambiguity import canonical_tags, grid_closed_form, grid_counts, grid_matrix, transition_matrix
    from hyperspan.ambiguity.matrices import largest_eigenvalue
    from hyperspan.structures import Staircase

    table: dict[str, Any] = {"structure": structure.value}
    if structure is MatrixChoice.LINEAR:
        entries = canonical_tags(max_components).matrix()
        states = [[f"q{state}"] for state in range(len(entries))]
        largest = largest_eigenvalue(entries)
    else:
        match structure:
            case MatrixChoice.GRID:
                made = grid_matrix()
            case MatrixChoice.MENTION:
                made = transition_matrix(Staircase(1))
            case _:
                made = transition_matrix(Staircase(max_components, exact=structure is MatrixChoice.SPLIT))
        entries, states, largest = made.entries, [list(state) for state in made.states], made.largest_eigenvalue
    if structure is not MatrixChoice.GRID:
        table["max_components"] = 1 if structure is MatrixChoice.MENTION else max_components
    table |= {"states": states, "matrix": entries, "largest_eigenvalue": largest}
    if structure is MatrixChoice.GRID:
        positions = range(3, 13)
        table |= {
            "positions": list(positions),
            "counts": grid_counts(positions[-1])[positions[0] - 1 :],
            "closed_form": [grid_closed_form(n_positions) for n_positions in positions],
        }
    return table


def print_matrix(table: Mapping[str, Any]) -> None:
    """Print a matrix with the names of its states."""
    console = stdout()
    names = [" ".join(state) or "none" for state in table["states"]]
    rows = [["", "active nodes", *map(str, range(len(names)))]]
    rows += [
        [str(index), name, *map(str, row)] for index, (name, row) in enumerate(zip(names, table["matrix"], strict=True))
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for number, name, *cells in rows:  # a rich table would truncate what is wider than the window
        numbers = "  ".join(cell.rjust(width) for cell, width in zip(cells, widths[2:], strict=True))
        typer.echo(f"{number:>{widths[0]}}  {name:<{widths[1]}}  {numbers}")
    console.print(f"\nlargest eigenvalue {table['largest_eigenvalue']:.4f}")
    if "closed_form" in table:
        console.print("\nf(n) = (3+√5)^(n-1)/(4√5+10) − (3−√5)^(n-1)/(4√5−10) − 1 for n ≥ 3")
        for n_positions, number, value in zip(table["positions"], table["counts"], table["closed_form"], strict=True):
            console.print(f"f({n_positions}) = {number:,}, closed form {value:,.4f}")


def print_growth(table: Mapping[str, Any]) -> None:
    """Print eigenvalues, growth and ambiguity."""
    from rich.table import Table

    from hyperspan.ambiguity.growth import BOUNDS

    console = stdout()
    largest = table["max_components"]
    names = list(table["growth_log2"])
    view = Table("largest eigenvalue", *(f"K={parts}" for parts in range(1, largest + 1)), box=None, pad_edge=False)
    for name, values in table["eigenvalues"].items():
        row = [f"{values[str(parts)]:,.4f}" if str(parts) in values else "" for parts in range(1, largest + 1)]
        view.add_row(f"{name}, exactly K parts" if name == "split" else name, *row)
    _right(view)
    console.print(view)
    console.print(f"\nEach further word multiplies the encodings (K={largest}) by")
    for name in names:
        console.print(f"  {name:<8} 2^{table['growth_log2'][name]:.3f}")

    console.print("\nRelative ambiguity A_r(row, column): above 1, the row is the more ambiguous")
    view = Table("", *names, box=None, pad_edge=False)
    for one in names:
        cells = [f"{table['relative_ambiguity'][one][other]:.4f}" if one != other else "" for other in names]
        view.add_row(one, *cells)
    _right(view)
    console.print(view)

    finite = table["finite"]
    view = Table("words", *(f"A_r({one}, {other})" for one, other in BOUNDS), box=None, pad_edge=False)
    columns = [finite["relative_ambiguity"][one][other] for one, other in BOUNDS]
    for n_words, *values in zip(finite["words"], *columns, strict=True):
        view.add_row(f"{n_words:,}", *(f"{value:.4f}" for value in values))
    view.add_row("limit", *(f"{table['relative_ambiguity'][one][other]:.4f}" for one, other in BOUNDS))
    if largest == 3:
        view.add_row("published bound", *BOUNDS.values())
    _right(view)
    console.print()
    console.print(view)

    all_names = list(finite["log_ambiguity"])
    view = Table("ambiguity", *all_names, box=None, pad_edge=False)
    for n_words, *values in zip(finite["words"], *finite["ambiguity_log2"].values(), strict=True):
        view.add_row(f"{n_words:,} words", *(f"{2**value:.4g}" if value < 20 else f"2^{value:.4g}" for value in values))
    _right(view)
    console.print()
    console.print(view)

    view = Table("log-ambiguity", *all_names, box=None, pad_edge=False)
    for n_words, *values in zip(finite["words"], *finite["log_ambiguity"].values(), strict=True):
        view.add_row(f"{n_words:,} words", *(f"{value:.4g}" for value in values))
    view.add_row("limit", *("diverges" for _ in names), *("1" for _ in all_names[len(names) :]))
    _right(view)
    console.print()
    console.print(view)
    console.print(
        "\nsegments has an encoding of its own for every set of mentions. For the others neither ambiguity nor "
        "log-ambiguity has a limit: the logarithm of the number of sets of mentions grows like "
        f"n^{2 * largest}, that of the encodings like n."
    )


def print_round_trip(result: Mapping[str, OfStructure]) -> None:
    """Print errors, the number of sets of mentions with the same encoding, and the most ambiguous sentences."""
    from rich.table import Table

    from hyperspan.ambiguity.roundtrip import ANY_NUMBER

    console = stdout()
    view = Table("", "precision error", "recall error", "mentions read", "gold", box=None, pad_edge=False)
    for decoder in ("all", ANY_NUMBER, "enough"):
        for name, of_structure in result.items():
            if decoder not in of_structure.errors:
                continue
            errors = of_structure.errors[decoder]
            view.add_row(
                f"{name} all, any number" if decoder == ANY_NUMBER else f"{name} {decoder}",
                f"{errors.precision_error:.2%}",
                f"{errors.recall_error:.2%}",
                f"{errors.predicted:,}",
                f"{errors.gold:,}",
            )
    _right(view)
    console.print(view)

    console.print("\nSets of mentions behind an encoding, over the sentences with mentions")
    view = Table("", "left out", "ambiguous", "mean", "mean log2", "largest", "not counted", box=None, pad_edge=False)
    for name, of_structure in result.items():
        readings = of_structure.readings
        counts = readings.as_dict()
        view.add_row(
            name,
            f"{of_structure.left_out:,}",
            f"{readings.ambiguous:,} of {readings.sentences:,}",
            "" if counts["mean"] is None else f"{counts['mean']:,.4g}",
            f"{counts['mean_log2']:.3f}",
            in_short(readings.most),
            f"{readings.uncounted:,}",
        )
    _right(view)
    console.print(view)
    for name, of_structure in result.items():
        print_most_ambiguous(name, of_structure.readings.most_ambiguous())


def print_most_ambiguous(name: str, worst: Sequence[tuple[int, Sentence]]) -> None:
    """Draw the sentences whose encodings stand for the most sets of mentions."""
    from hyperspan.render import draw_text

    console = stdout()
    for number, sentence in worst:
        console.print(f"\n{name}: {in_short(number)} sets of mentions have the encoding of")
        ascii_only = not console.encoding.startswith("utf")
        console.print(draw_text(sentence, width=min(console.width, 120), ascii_only=ascii_only))


def in_short(number: int) -> str:
    """Format a number in full, or as a power of two if it is long."""
    if number < 10**LONGEST_NUMBER:
        return f"{number:,}"
    return f"2^{math.log2(number):.2f}"


@contextmanager
def any_digits() -> Iterator[None]:
    """Allow integers of any length to be printed."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        yield
    finally:
        sys.set_int_max_str_digits(before)


def _right(view: Any) -> None:
    for column in view.columns[1:]:
        column.justify = "right"
