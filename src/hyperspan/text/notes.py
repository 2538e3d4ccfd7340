"""Recognise the kind of a report: discharge summary, echocardiogram, radiology, electrocardiogram, or none of these."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hyperspan.mentions import NOTHING

NOTE_TYPES = ("discharge", "echo", "ecg", "radiology")
"""The kinds of reports that are recognised."""

_KEYS = ("note_type", "notetype", "note type", "report_type", "report type", "category", "type", "description", "kind")

# Names are split at everything that is not a letter, so "RAD" does not match inside "GRADE".
_NAMES = (
    ("discharge", re.compile(r"discharge|\bdc summ|\bd c summ|\bdisch\b|\bdischsumm?\b")),
    ("echo", re.compile(r"\becho|\btte\b|\btee\b")),
    ("ecg", re.compile(r"\be[ck]gs?\b|electrocardiogra")),
    (
        "radiology",
        re.compile(r"radiolog|radiograph|\brad\b|\bx ?rays?\b|\bcxr\b|\bct\b|\bmri?\b|ultrasound|\bimaging\b|mammogra"),
    ),
)


def _pattern(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.IGNORECASE | re.MULTILINE)


# Kind, how much of the text is searched, words of which one must occur (a fast first check), and patterns that must all
# occur.
_CONTENTS = (
    (
        "discharge",
        20_000,
        ("discharge",),
        (_pattern(r"\b(?:date of discharge|discharge (?:date|summary|diagnos|medications|condition|disposition))"),),
    ),
    (
        "echo",
        1_500,
        ("echo", "test information"),
        (_pattern(r"\bechocardiogra\w*|patient/test information|\b(?:transthoracic|transesophageal) echo"),),
    ),
    (
        "radiology",
        20_000,
        ("impression", "conclusion"),
        (
            _pattern(r"^[\W\d_]{0,9}(?:impression|conclusion)s?:"),
            _pattern(r"^[\W\d_]{0,9}(?:findings?|techniques?|comparisons?|reason for (?:this )?exam\w*):"),
        ),
    ),
    (
        "ecg",
        1_500,
        ("rhythm", "tachycardia", "bradycardia", "fibrillation"),
        (
            _pattern(r"\b(?:rhythm|tachycardia|bradycardia|fibrillation)\b"),
            _pattern(
                r"\b(?:st segment|t waves?|q waves?|qrs|bundle branch|compared to the previous tracing|st t|st-t)\b"
            ),
        ),
    ),
)
_LONGEST_LOOK = max(looked_at for _, looked_at, _, _ in _CONTENTS)
_LETTERS = re.compile(r"[^\W\d_]+")


def note_type(text: str, *, attributes: Mapping[str, Any] = NOTHING, name: str = "") -> str | None:
    """Return the kind of a report, one of `NOTE_TYPES`, or None.

    The attributes decide first, then the file name, then the beginning of the text.

    Examples
    --------
    >>> note_type("", attributes={"category": "Radiology"}), note_type("", name="00123-ECHO_REPORT.txt")
    ('radiology', 'echo')
    >>> note_type("Admission Date: [**2014-03-02**]   Discharge Date: [**2014-03-09**]")
    'discharge'
    >>> note_type("Dear colleague,") is None
    True
    """
    for key, value in attributes.items():
        if key.lower() in _KEYS and isinstance(value, str) and (found := _named(value)):
            return found
    return _named(name) or _recognised(text)


def _named(name: str) -> str | None:
    words = " ".join(_LETTERS.findall(name[:1000].lower()))
    return next((kind for kind, pattern in _NAMES if pattern.search(words)), None)


def _recognised(text: str) -> str | None:
    lowered = text[:_LONGEST_LOOK].lower()
    for kind, looked_at, words, patterns in _CONTENTS:
        if any(map(lowered.__contains__, words)) and all(pattern.search(text, 0, looked_at) for pattern in patterns):
            return kind
    return None
