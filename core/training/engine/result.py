"""The result of a step, and a pending result: reading waits for the device, creating does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

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


class PendingStep:
    """A running step. `result` waits once; later calls return the same."""

    def __init__(self, packed: Tensor, unpack: Callable[[list[float]], StepResult]) -> None:
        self._unpack = unpack
        self._result: StepResult | None = None
        self._event: torch.cuda.Event | None = None
        if packed.device.type == "cuda":
            self._numbers = torch.empty(packed.shape, dtype=packed.dtype, pin_memory=True)
            self._numbers.copy_(packed, non_blocking=True)
            self._event = torch.cuda.Event()  # type: ignore[no-untyped-call]
            self._event.record()
        else:
            self._numbers = packed

    def result(self) -> StepResult:
        """Raises the device's errors, which arrive late."""
        if self._result is None:
            if self._event is not None:
                self._event.synchronize()
            self._result = self._unpack(self._numbers.tolist())
        return self._result
