"""The exceptions of this package, as one tree.

    HyperspanError
    ├── MentionError      (ValueError)    a mention, sentence or document that breaks its own rules
    │   └── AlignmentError                a mention whose boundary does not fit the tokens
    ├── CorpusError       (ValueError)    a file that breaks the rules of its format
    │   └── FormatError                   no format, or the wrong one, for a file
    ├── StructureError    (ValueError)    a structure, encoding or score array that cannot be used
    ├── FeatureError      (ValueError)    a template, column, cluster or lexicon file that cannot be used
    ├── LearningError     (ValueError)    training that cannot start or continue
    ├── ModelError        (ValueError)    a model file that cannot be used, or a recognizer without weights
    ├── UsageError        (ValueError)    an option or argument that makes no sense
    ├── WorkerError       (RuntimeError)  a worker process that ended without an answer
    └── MissingExtraError (ImportError)   an optional dependency that is not installed

Every class also inherits the built-in that a caller would expect, so ``except ValueError`` keeps working.
"""

from __future__ import annotations

import shlex
import sys


class HyperspanError(Exception):
    """The base class of every exception that this package raises on purpose."""


class MentionError(HyperspanError, ValueError):
    """A mention, sentence or document breaks its own rules."""


class AlignmentError(MentionError):
    """A mention's boundary does not fit the tokens."""


class CorpusError(HyperspanError, ValueError):
    """A file breaks the rules of its format.

    Parameters
    ----------
    message : str
        What was found, what was expected and what to do.
    path : str, optional
        The file.
    line : int, optional
        The line number, starting from 1.
    """

    def __init__(self, message: str, *, path: str | None = None, line: int | None = None) -> None:
        self.path = path
        self.line = line
        self.message = message
        super().__init__(f"{location(path, line)}: {message}" if path is not None else message)


class FormatError(CorpusError):
    """No format, or the wrong one, for a file."""


class StructureError(HyperspanError, ValueError):
    """A structure, encoding or score array cannot be used."""


class FeatureError(HyperspanError, ValueError):
    """A template, column, cluster or lexicon file cannot be used."""


class LearningError(HyperspanError, ValueError):
    """Training cannot start or continue."""


class ModelError(HyperspanError, ValueError):
    """A model file cannot be used, or a recognizer has no weights."""


class UsageError(HyperspanError, ValueError):
    """An option or argument makes no sense."""


class WorkerError(HyperspanError, RuntimeError):
    """A worker process ended without an answer."""


class MissingExtraError(HyperspanError, ImportError):
    """An optional dependency is not installed.

    Parameters
    ----------
    what : str
        What needs it, as the subject of a sentence: ``"The annotator 'hanta'"``.
    package : str
        The missing package.
    extra : str
        The extra of hyperspan that installs it.
    """

    def __init__(self, what: str, package: str, extra: str) -> None:
        super().__init__(f"{what} needs the package {package!r}. Install it with: {install_command(extra)}")
        self.what = what
        self.package = package
        self.extra = extra

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str, str]]:
        return type(self), (self.what, self.package, self.extra)


def install_command(extra: str) -> str:
    """Return the command that installs the packages of an extra into the running Python.

    It names the packages themselves, so it works wherever hyperspan was installed from.
    """
    from importlib.metadata import PackageNotFoundError, requires  # here, since it is slow to load

    try:
        needed = [
            name for name, _, marker in map(_partition, requires("hyperspan") or ()) if extra in marker.split("'")
        ]
    except PackageNotFoundError:
        needed = []
    packages = " ".join(f"'{name}'" for name in needed or [f"hyperspan[{extra}]"])
    return f"{shlex.quote(sys.executable or 'python')} -m pip install {packages}"


def _partition(requirement: str) -> tuple[str, str, str]:
    name, semicolon, marker = requirement.partition(";")
    return name.strip(), semicolon, marker.replace('"', "'")


def location(path: str | None, line: int | None = None) -> str:
    """Format a location in a file the way compilers do: ``file:line``."""
    name = "<input>" if path is None else str(path)
    return name if line is None else f"{name}:{line}"
