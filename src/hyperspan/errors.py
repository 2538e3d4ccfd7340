"""What can go wrong, as one tree.

HyperspanError
├── MentionError      (ValueError)    a mention, sentence or document that breaks its own rules
│   └── AlignmentError                a mention whose boundary does not fit the tokens
├── CorpusError       (ValueError)    a file that is not what its format promises
│   └── FormatError                   no format, or the wrong one, for a file
├── StructureError    (ValueError)    a structure, encoding or score array that cannot be used
├── FeatureError      (ValueError)    a template, column, cluster or lexicon file that cannot be used
├── LearningError     (ValueError)    training that cannot begin or go on
├── ModelError        (ValueError)    a model file that cannot be used, or a recognizer without weights
├── UsageError        (ValueError)    an option or argument that makes no sense
└── MissingExtraError (ImportError)   an optional dependency that is not installed

Every class also inherits the built-in that a caller would expect, so ``except ValueError`` keeps working.
"""

from __future__ import annotations

import shlex
import sys


class HyperspanError(Exception):
    """The root of everything this package raises on purpose."""


class MentionError(HyperspanError, ValueError):
    """A mention, sentence or document breaks its own rules."""


class AlignmentError(MentionError):
    """A mention's boundary does not fit the tokens."""


class CorpusError(HyperspanError, ValueError):
    """A file is not what its format promises.

    Parameters
    ----------
    message : str
        What was seen, what was expected and what to do.
    path : str, optional
        The file.
    line : int, optional
        The line in it, counted from 1.
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
    """Training cannot begin or go on."""


class ModelError(HyperspanError, ValueError):
    """A model file cannot be used, or a recognizer has no weights."""


class UsageError(HyperspanError, ValueError):
    """An option or argument makes no sense."""


class MissingExtraError(HyperspanError, ImportError):
    """An optional dependency is not installed.

    Parameters
    ----------
    what : str
        What needs it, as the beginning of a sentence: ``"The annotator 'hanta'"``.
    package : str
        The package that was looked for.
    extra : str
        The extra of this package that brings it.
    """

    def __init__(self, what: str, package: str, extra: str) -> None:
        super().__init__(f"{what} needs the package {package!r}. Install it with: {install_command(extra)}")
        self.what = what
        self.package = package
        self.extra = extra

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str, str]]:
        return type(self), (self.what, self.package, self.extra)


def install_command(extra: str) -> str:
    """Return the command that installs what an extra brings into the Python that is running.

    It names the packages, so that it works wherever this package itself came from.
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
    """Write a place in a file the way compilers do: ``file:line``."""
    name = "<input>" if path is None else str(path)
    return name if line is None else f"{name}:{line}"
