"""The conventions of scikit-learn without depending on it: parameters by name, and ``repr``."""

from __future__ import annotations

import inspect
from typing import Any, TypeVar

from hyperspan.errors import UsageError
from hyperspan.recognizer.settings import shown

AnyEstimator = TypeVar("AnyEstimator", bound="Estimator")


class Estimator:
    """The interface that scikit-learn's ``clone``, ``GridSearchCV`` and ``cross_val_score`` expect."""

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        parameters = inspect.signature(cls.__init__).parameters
        return {name: value.default for name, value in parameters.items() if name != "self"}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the constructor's arguments by name."""
        return {name: getattr(self, name) for name in self._defaults()}

    def set_params(self: AnyEstimator, **params: Any) -> AnyEstimator:
        """Change constructor arguments."""
        known = self._defaults()
        for name, value in params.items():
            if name not in known:
                kind = type(self).__name__
                raise UsageError(f"a {kind} has no parameter {name!r}; expected one of {', '.join(known)}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = self._defaults()
        changed = [f"{name}={shown(value)}" for name, value in self.get_params().items() if value != defaults[name]]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=False), input_tags=InputTags())
