"""Choose what to annotate next, and find doubtful annotations."""

from hyperspan.annotation.audit import Audit, Doubt, audit
from hyperspan.annotation.planting import Planted, plant
from hyperspan.annotation.selection import STRATEGIES, Selection, select, worth
from hyperspan.annotation.simulation import Curve, Point, curves, simulate
from hyperspan.annotation.uncertainty import Candidate, Uncertainty, candidates, uncertainties

__all__ = [
    "STRATEGIES",
    "Audit",
    "Candidate",
    "Curve",
    "Doubt",
    "Planted",
    "Point",
    "Selection",
    "Uncertainty",
    "audit",
    "candidates",
    "curves",
    "plant",
    "select",
    "simulate",
    "uncertainties",
    "worth",
]
