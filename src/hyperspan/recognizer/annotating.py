"""Warn if sentences are annotated differently from the training data."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hyperspan.mentions import Sentence
from hyperspan.recognizer.model import AnyUnit

_log = logging.getLogger(__name__)


def warn_of_difference(used: Mapping[str, Any], here: Mapping[str, Any]) -> None:
    """Log a warning if the installed annotator differs from that of the training data, given the records of both.

    Examples
    --------
    >>> spacy = {"name": "spacy", "version": "3.8.2", "language": "en", "columns": ["pos"], "tagset": "penn"}
    >>> described({**spacy, "model": "en_core_web_sm 3.8.0"})
    "'spacy' 3.8.2 (en_core_web_sm 3.8.0, language 'en', tags 'penn')"
    >>> described({"name": "none", "version": "", "language": "", "columns": [], "tagset": ""})
    "'none'"
    """
    if dict(used) != dict(here):
        _log.warning(
            "this model was trained with the annotator %s, but here it is %s. Parts of speech and lemmas may differ "
            "from those in training, so mentions may be missed. Install what it was trained with, or train again",
            described(used),
            described(here),
        )


def watched(units: Iterable[AnyUnit], used: Sequence[str], warned: set[str]) -> Iterator[AnyUnit]:
    """Yield sentences or documents unchanged; warn once if they lack a column that the model was trained with.

    Parameters
    ----------
    units : iterable of Sentence or Document
        The input; documents have no columns.
    used : sequence of str
        The columns of words that the model was trained with.
    warned : set of str
        Columns that a warning has already named; new ones are added.
    """
    wanted = [name for name in used if name not in warned]
    for unit in units:
        columns = unit.columns if isinstance(unit, Sentence) else ()
        if wanted and (missing := [name for name in wanted if name not in columns]):
            warned.update(missing)
            wanted = [name for name in wanted if name not in missing]
            _log.warning(
                "this model was trained with %s, but the given sentences have none, so mentions may be missed. "
                'Give it with the sentences (as "pos" or "columns" in JSON lines), or train again with --annotator, '
                "which then annotates here too",
                " and ".join(f"the column {name!r}" for name in missing),
            )
        yield unit


def described(record: Mapping[str, Any]) -> str:
    """Describe an annotator in words, given its record."""
    members = record.get("members")
    if members:
        return " + ".join(map(described, members))
    named = f"{record.get('name')!r} {record.get('version', '')}".rstrip()
    details = [str(record["model"])] if record.get("model") else []
    details += [f"language {record['language']!r}"] if record.get("language") else []
    details += [f"tags {record['tagset']!r}"] if record.get("tagset") else []
    return f"{named} ({', '.join(details)})" if details else named
