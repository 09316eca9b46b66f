"""The result of a step."""

from __future__ import annotations

from dataclasses import dataclass, replace

from core.domain.diagnosis import GradientStatistics, NonFiniteOrigin


@dataclass(frozen=True, slots=True)
class StepResult:
    """The result of one step. A skipped step has no loss and names its reason; all state is unchanged, bit for bit.

    A completed step that left non-finite parameters has them as its origin.
    """

    loss: float | None
    gradient_norm: float | None
    """Total 2-norm before clipping."""
    clipped: bool
    threshold: float | None
    """The threshold used for clipping; None in mode off."""
    gradients: GradientStatistics | None
    skipped_because: str | None = None
    is_spike: bool = False
    """Far above the usual loss, and finite."""
    parameters_are_finite: bool = True
    learning_rate: float = 0.0

    @property
    def origin(self) -> NonFiniteOrigin | None:
        """The origin of a non-finite number, if any."""
        return None if self.gradients is None else self.gradients.non_finite

    def beside(self, anchor_loss: float | None) -> StepResult:
        """Add the loss of the same samples without the model's corrections."""
        if self.gradients is None:
            return self
        return replace(self, gradients=replace(self.gradients, anchor_loss=anchor_loss))
