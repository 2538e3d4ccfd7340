"""Speed and memory, measured beside those of peers in one run on the same data.

Every task first checks that both sides give the same results, then takes turns with them, and reports medians with
their spread. `run` yields rows; ``hyperspan bench`` prints them.

>>> from hyperspan.bench import TASKS
>>> "iteration" in TASKS
True
"""

from hyperspan.bench.harness import Aim, Disagreement, Figure, Row, environment, in_turns
from hyperspan.bench.setting import Setting
from hyperspan.bench.tasks import TASKS, run

__all__ = ["TASKS", "Aim", "Disagreement", "Figure", "Row", "Setting", "environment", "in_turns", "run"]
