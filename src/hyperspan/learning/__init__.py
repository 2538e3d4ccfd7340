"""Train linear weights on annotated sentences: the parameters, the objective, and its optimisation."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hyperspan.learning.lbfgs import State, minimise
from hyperspan.learning.parameters import choose_parameters, first_weights, label_biases
from hyperspan.learning.thresholds import DEFAULT_THRESHOLD, LOWEST_THRESHOLD, ThresholdCurve
from hyperspan.learning.training import L2_CHOICES, Record, Search, new_search

if TYPE_CHECKING:
    from hyperspan.learning.objective import Objective
    from hyperspan.learning.segment_objective import SegmentObjective, choose_segment_parameters

__all__ = [
    "DEFAULT_THRESHOLD",
    "L2_CHOICES",
    "LOWEST_THRESHOLD",
    "Objective",
    "Record",
    "Search",
    "SegmentObjective",
    "State",
    "ThresholdCurve",
    "choose_parameters",
    "choose_segment_parameters",
    "first_weights",
    "label_biases",
    "minimise",
    "new_search",
]


_LAZY = {
    "Objective": "objective",
    "SegmentObjective": "segment_objective",
    "choose_segment_parameters": "segment_objective",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:  # imports compiled code that only training needs, so it is loaded on first use
        return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
