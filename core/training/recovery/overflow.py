"""Separates overflows by which fp16 finds its loss scale from those of bad gradients."""

from __future__ import annotations

from typing import Any

from core.domain.diagnosis import NonFiniteOrigin
from core.training.engine.result import StepResult

_FREE_IN_A_ROW = 3
"""At a scale that was fine before: gradients up to eight times as large are accepted silently."""


class ScaleSearch:
    """Owns the scale at which a step last had finite gradients.

    Infinity and NaN are treated alike: in the backward pass an overflow becomes NaN as soon as it is multiplied by 0.
    """

    def __init__(self) -> None:
        self._fitting: float | None = None
        self._in_a_row = 0

    def explains(self, result: StepResult) -> bool:
        """Take a step's result. Whether its gradients were non-finite only because of the scale."""
        scale = None if result.gradients is None else result.gradients.loss_scale
        if scale is None:
            return False
        if result.origin is None:
            self._fitting, self._in_a_row = scale, 0
        if result.origin is not NonFiniteOrigin.GRADIENTS or scale <= 1.0:
            return False
        if self._fitting is None or scale > self._fitting:
            return True
        self._in_a_row += 1
        return self._in_a_row <= _FREE_IN_A_ROW

    def reset_count(self) -> None:
        """After a rollback, or when the user resumed."""
        self._in_a_row = 0

    def state(self) -> dict[str, Any]:
        """As JSON."""
        return {"fitting": self._fitting, "in_a_row": self._in_a_row}

    def restore(self, state: dict[str, Any]) -> None:
        self._fitting, self._in_a_row = state["fitting"], int(state["in_a_row"])
