"""Decides on the device whether a step counts: non-finite losses and gradients never do, spikes as configured."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor

from core.domain.diagnosis import NonFiniteOrigin
from core.training.engine.replicas import Replicas

_SPIKE_CLIPS_TO = 0.1


class StepGuard:
    """Checks each step before it is clipped. spike_action: ``mark``, ``skip`` or ``clip``."""

    def __init__(self, spike_action: str, replicas: Replicas, dtype: torch.dtype, device: torch.device) -> None:
        self._spike_action = spike_action
        self._replicas = replicas
        self._one = torch.ones((), dtype=dtype, device=device)
        self._limit = torch.full((), torch.inf, dtype=torch.float32, device=device)
        self.limit = math.inf
        """The loss above which a step is a spike. The same number as the tensor's, to be read without waiting."""

    def expect_loss_below(self, limit: float | None) -> None:
        """None: no loss is a spike."""
        self.limit = math.inf if limit is None else limit
        self._limit.fill_(self.limit)

    def check(self, parts: Tensor, norm: Tensor) -> tuple[Tensor, Tensor]:
        """Whether the step is skipped, and the factor of the clip threshold, as 0-d tensors. Runs before clipping:
        clipping by a NaN norm makes every gradient NaN."""
        loss = parts.sum()
        is_skipped = (loss * 0.0 + norm * 0.0) != 0.0  # NaN if either is not finite; their product could overflow
        factor = self._one
        if self._spike_action == "skip":
            is_skipped = is_skipped | (loss > self._limit)
        if self._spike_action == "clip":
            factor = torch.where(loss > self._limit, _SPIKE_CLIPS_TO, self._one)
        return self._replicas.agree(is_skipped), factor


def all_finite(tensors: Iterable[Tensor]) -> bool:
    """Whether every number is finite: one pass over each tensor, one wait. A NaN is its tensor's smallest and largest
    number; a norm or a sum could overflow."""
    extremes = [extreme for tensor in tensors for extreme in torch.aminmax(tensor)]
    return bool(torch.isfinite(torch.stack(extremes)).all())


def origin_of(loss_is_finite: bool, norm_is_finite: bool, parameters_are_finite: bool) -> NonFiniteOrigin | None:
    """The first of a step's numbers that was not finite."""
    if not parameters_are_finite:
        return NonFiniteOrigin.PARAMETERS
    if not loss_is_finite:
        return NonFiniteOrigin.LOSS
    return None if norm_is_finite else NonFiniteOrigin.GRADIENTS


def skip_reason(origin: NonFiniteOrigin | None) -> str:
    """Why a step was skipped, within a sentence. None: all was finite, the loss was a spike."""
    if origin is None:
        return "the loss was far above the usual"
    return f"the {origin.value} {'was' if origin is NonFiniteOrigin.LOSS else 'were'} not finite"
