"""What the server puts up with."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields

from hyperspan.errors import UsageError


def _cores() -> int:
    return os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Limits:
    """What the server puts up with; whatever goes beyond is refused with a sentence.

    Parameters
    ----------
    body : int
        Bytes of a request's body.
    words : int
        Of one sentence.
    explained_words : int
        Of a sentence to be explained: the time for that grows with the square of its length.
    threads : int
        How many pieces of work run at a time, each in a process of its own; as many as there are cores, if not given.
    queue : int
        How many requests may wait beside those that run.
    seconds : float
        From the moment a request is accepted to the end of its answer. Work that takes longer is ended.
    memory : int
        Bytes that a piece of work may take beside the models.
    connections : int
        How many clients may be connected at a time, whether they ask for anything or not.

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
        """How many requests can be under way at a time, waiting or not."""
        return self.threads + self.queue
