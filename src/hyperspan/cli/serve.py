"""``hyperspan serve``: serve models with a web page and a JSON API."""

from __future__ import annotations

import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hyperspan.cli.console import printable, say, tell_of_compiling
from hyperspan.errors import UsageError

if TYPE_CHECKING:
    from hyperspan.recognizer import Recognizer

DEMO = "demo"
"""The name of the model that is trained if none is given."""

_DEMO_DOCUMENTS = 300


def serve(
    models: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="MODEL",
            help="Model files; without any, one is trained on the embedded corpus first.",
            show_default=False,
        ),
    ] = None,
    host: Annotated[
        str, typer.Option("--host", help="The address to listen on; by default only this machine can reach it.")
    ] = ("127.0.0.1"),
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="The port; 0 for any free one.")] = 8765,
    open_page: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in a browser.")] = False,
    threads: Annotated[
        int | None,
        typer.Option("--threads", min=1, help="How many pieces of work run at a time; by default one per core."),
    ] = None,
    queue: Annotated[
        int, typer.Option("--queue", min=0, help="How many requests may wait; further ones get status 503.")
    ] = 256,
    max_body: Annotated[
        int, typer.Option("--max-body", min=1, help="The maximum number of bytes in a request.")
    ] = 2_000_000,
    max_words: Annotated[
        int, typer.Option("--max-words", min=1, help="The maximum number of words in a sentence.")
    ] = 2_000,
    max_explained: Annotated[
        int, typer.Option("--max-explained", min=1, help="The maximum number of words in a sentence to explain.")
    ] = 200,
    max_seconds: Annotated[
        float, typer.Option("--max-seconds", min=0.001, help="The maximum number of seconds for a request.")
    ] = 30.0,
    max_memory: Annotated[
        int,
        typer.Option(
            "--max-memory", min=1, help="The maximum number of megabytes for a piece of work in addition to the models."
        ),
    ] = 2_000,
    max_connections: Annotated[
        int, typer.Option("--max-connections", min=1, help="The maximum number of clients connected at a time.")
    ] = 1_000,
    token: Annotated[
        str | None,
        typer.Option(
            "--token",
            envvar="HYPERSPAN_TOKEN",
            help="The token that clients must present. If other machines can reach the server and none is "
            "given, one is generated.",
            show_default=False,
        ),
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Let anyone who can reach the server use the models, without a token.")
    ] = False,
) -> None:
    """Serve models: a page to try them at /, and a JSON API for programs, documented at /docs.

    Example: hyperspan serve notes.model --port 8080 --open
    """
    tell_of_compiling()
    names = names_of(models or [])

    from hyperspan.server import Limits, open_socket
    from hyperspan.server import serve as run
    from hyperspan.server.authentication import Token, new_token
    from hyperspan.server.running import is_local

    limits = Limits(
        body=max_body,
        words=max_words,
        explained_words=max_explained,
        queue=queue,
        seconds=max_seconds,
        memory=max_memory * 1_000_000,
        connections=max_connections,
        **({} if threads is None else {"threads": threads}),
    )
    if token is not None:
        Token(token)  # raises an error if it is not valid
        if insecure:
            raise UsageError("--token and --insecure were both given; choose one of them")
    opened = open_socket(host, port)
    recognizers = _loaded(names) if names else {DEMO: demo_model()}
    if token is None and not is_local(opened):
        if insecure:
            say.warning("anyone who can reach this machine can use the models: --insecure requires no token")
        else:
            token = new_token()
            typer.echo(f"Token: {token}", err=True)

    def ready(address: str) -> None:
        say.info(f"Serving {', '.join(map(printable, recognizers))} at {address}")
        if open_page:
            webbrowser.open(address)

    run(recognizers, opened, limits=limits, token=token, on_ready=ready)


def names_of(paths: Sequence[Path]) -> dict[str, Path]:
    """Return model files by name: the file name without its suffix, with as much of the path as distinguishes it.

    Examples
    --------
    >>> [*names_of([Path("a/notes.model"), Path("b/drugs.model")])]
    ['notes', 'drugs']
    >>> [*names_of([Path("a/notes.model"), Path("b/notes.model")])]
    ['a/notes', 'b/notes']
    """
    stems = [path.stem for path in paths]
    names: dict[str, Path] = {}
    for path, stem in zip(paths, stems, strict=True):
        name = stem if stems.count(stem) == 1 else path.with_suffix("").as_posix()
        if name in names:
            raise UsageError(f"{path} and {names[name]} would both be called {name!r}; rename one of them")
        names[name] = path
    return names


def _loaded(names: dict[str, Path]) -> dict[str, Recognizer]:
    from hyperspan.recognizer import Recognizer

    return {name: Recognizer.load(path, n_threads=1) for name, path in names.items()}


def demo_model() -> Recognizer:
    """Train on the embedded corpus, and show the progress."""
    from hyperspan.cli.demo import MAX_ITERATIONS
    from hyperspan.cli.train import Watch
    from hyperspan.corpora import demo
    from hyperspan.recognizer import Recognizer

    sentences = list(demo.stream(_DEMO_DOCUMENTS, split=None, unit="sentences"))
    train, dev = ([sentence for sentence in sentences if sentence.split == name] for name in ("train", "dev"))
    say.info(f"No model was given: training one on the embedded corpus, {len(train):,} invented sentences …")
    watch = Watch(MAX_ITERATIONS, None)
    try:
        return Recognizer(max_iterations=MAX_ITERATIONS).fit(train, dev=dev, on_iteration=watch)
    finally:
        watch.close()
