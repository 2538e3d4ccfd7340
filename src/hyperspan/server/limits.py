"""The limits of the server."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields

from hyperspan.errors import UsageError


def _cores() -> int:
    return os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of the server; requests beyond them get an error.

    Parameters
    ----------
    body : int
        The maximum number of bytes in a request's body.
    words : int
        The maximum number of words in a sentence.
    explained_words : int
        The maximum number of words in a sentence to be explained, which takes time quadratic in its length.
    threads : int
        How many pieces of work run at a time, each in its own process; by default one per core.
    queue : int
        How many requests may wait in addition to those that run.
    seconds : float
        The time from the acceptance of a request to the end of its response. Work that takes longer is terminated.
    memory : int
        The maximum number of bytes that a piece of work may use in addition to the models.
    connections : int
        How many clients may be connected at a time, active or idle.

    Examples
    --------
    >>> Limits(threads=2, queue=3).places
    5
    >>> Limits(queue=-1)
    Traceback (most recent call last):
    ...
    hyperspan.errors.UsageError: the limit queue is -1; expected 0 or more
    """

    body: int = 2_000_000
    words: int = 2_000
    explained_words: int = 200
    threads: int = field(default_factory=_cores)
    queue: int = 256
    seconds: float = 30.0
    memory: int = 2_000_000_000
    connections: int = 1_000

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name == "queue" and value < 0:
                raise UsageError(f"the limit queue is {value!r}; expected 0 or more")
            if each.name != "queue" and not 0 < value < float("inf"):
                raise UsageError(f"the limit {each.name} is {value!r}; expected more than 0")

    @property
    def places(self) -> int:
        """How many requests can be in progress at a time, waiting or running."""
        return self.threads + self.queue
