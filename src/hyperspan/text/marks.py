"""De-identification marks such as ``[**Hospital 12**]``, and what they stand for.

Clinical records are de-identified by replacing names, places and dates with marks. A mark counts as one token, and a
model sees all marks of one category as the same word, which `normal_form` returns.
"""

from __future__ import annotations

import re
from functools import lru_cache

LONGEST_MARK = 200
"""The maximum number of characters between the stars of a mark; anything longer is ordinary text."""

MARK = rf"\[\*\*[^\[\]]{{0,{LONGEST_MARK}}}?\*\*\]"
"""The regular expression for a mark. It never looks past the next bracket, so no input makes it slow."""

_MARK = re.compile(MARK)

_ORDERED_KINDS = (
    (r"doctor|dr\b|physician|attending|dictator|provider|\bmd\b(?! number)|stitle", "doctor_name"),
    (r"street|address(?<!mail address)|apartment|zip|po box|box number", "address"),
    (r"ward", "ward"),
    (r"unit name|hospital unit", "ward"),
    (r"hospital|clinic|infirmary|medical cent", "hospital"),
    (r"university|college|school", "school"),
    (r"company|employer", "company"),
    (r"e ?-? ?mail|\burl\b|web", "contact"),
    (r"telephone|phone|fax|pager|contact", "contact"),
    (r"initials", "initials"),
    (r"name", "name"),
    (r"location|city|town|state|country|county|place", "location"),
    (r"holiday|date|month|year|day\b", "date"),
    (r"age over|\bage\b|year old", "age"),
    (r"number|identifier|\bid\b|\bmd\b|\bssn\b|\bmrn\b|record|clip|serial|social security", "number"),
)
_KINDS = tuple((re.compile(pattern), category) for pattern, category in _ORDERED_KINDS)
_DATE = re.compile(r"\d{1,4}([-/.])\d{1,2}(\1\d{1,4})?|\d{4}")
_SEPARATORS = re.compile(r"[\W\d_]+")

CATEGORIES = tuple(dict.fromkeys([category for _, category in _ORDERED_KINDS] + ["removed"]))
"""What a mark can stand for; ``removed`` if it does not say."""


def is_mark(token: str) -> bool:
    """Return whether a token is a de-identification mark.

    Examples
    --------
    >>> is_mark("[**Hospital 12**]"), is_mark("[12]")
    (True, False)
    """
    return token.startswith("[**") and _MARK.fullmatch(token) is not None


def normal_form(token: str) -> str:
    """Return the category of a mark, or the token itself.

    Examples
    --------
    >>> [normal_form(token) for token in ("[**doctor first name 77**]", "[**2014-03-02**]", "[**Hospital 12**]")]
    ['doctor_name', 'date', 'hospital']
    >>> normal_form("fever")
    'fever'
    """
    return category_of(token) if is_mark(token) else token


@lru_cache(maxsize=4096)
def category_of(mark: str) -> str:
    """Return what a mark stands for, one of `CATEGORIES`.

    Examples
    --------
    >>> category_of("[**Known lastname 5**]"), category_of("[**Telephone/Fax (1) 99**]"), category_of("[** **]")
    ('name', 'contact', 'removed')
    """
    inside = mark[3:-3].strip().lower()
    if _DATE.fullmatch(inside):
        return "date"
    words = _SEPARATORS.sub(" ", inside).strip()
    return next((category for pattern, category in _KINDS if pattern.search(words)), "removed")


def mask_marks(text: str) -> str:
    """Return the text with every mark replaced by a made-up name of the same length, so that offsets stay the same.

    Examples
    --------
    >>> mask_marks("Dr. [**Name 1**] left.")
    'Dr. Xxxxxxxxxxxx left.'
    """
    if "[**" not in text:
        return text
    return _MARK.sub(lambda match: "X" + "x" * (match.end() - match.start() - 1), text)
