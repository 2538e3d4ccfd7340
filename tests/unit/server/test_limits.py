"""Limits are checked when they are made."""

from __future__ import annotations

import pytest

from hyperspan.errors import UsageError
from hyperspan.server import Limits


def test_places_are_for_those_that_run_and_those_that_wait():
    assert Limits(threads=3, queue=0).places == 3
    assert Limits().threads >= 1


@pytest.mark.parametrize("name", ["body", "words", "explained_words", "threads", "seconds"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf")])
def test_a_limit_is_more_than_nothing(name, value):
    with pytest.raises(UsageError, match=rf"^the limit {name} is {value!r}; expected more than 0$"):
        Limits(**{name: value})
