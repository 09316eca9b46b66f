"""Gradient clipping in six modes, without waiting for the device: all numbers stay tensors.

It runs once a step, after the backward pass and the unscaling. A step whose norm is not finite is skipped (see
`TrainingEngine`), so that norm never reaches the gradients.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from core.settings.tree import GradientSettings

RECENT_NORMS = 200
_FEWEST_NORMS = 20
_EPSILON = 1e-6
_NO_NORM = -1.0
_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class Clipped:
    """The result of clipping, as 0-d tensors."""

    norm_after: Tensor
    threshold: Tensor


class Clipper:
    """Owns the recent norms, which determine the adaptive threshold. layers: for mode layer."""

    def __init__(self, settings: GradientSettings, device: torch.device, layers: list[list[Tensor]]) -> None:
        self.settings = settings
        self._layers = layers
        self.bound = torch.tensor(settings.clip_norm, dtype=torch.float32, device=device)
        """The threshold of the modes norm, layer and observe. A tensor: a captured step reads its newest value."""
        self.recent = torch.full((RECENT_NORMS,), torch.nan, dtype=torch.float32, device=device)
        self.seen = torch.zeros((), dtype=torch.int64, device=device)

    def clip(self, gradients: list[Tensor], norm: Tensor, is_skipped: Tensor, factor: Tensor) -> Clipped:
        """Clip in place. factor: multiplies the threshold (less than 1 in a spike). Skipped steps leave no trace."""
        threshold = self._threshold() * factor
        self._remember(norm, is_skipped)
        match self.settings.clip_mode:
            case "norm" | "adaptive":
                return self._by_norm(gradients, norm, threshold)
            case "value":
                return self._by_value(gradients, norm, self.settings.clip_value * factor)
            case "layer":
                return self._by_layer(gradients, norm, threshold)
            case "observe":
                return Clipped(norm, threshold)
        return Clipped(norm, torch.full_like(norm, torch.inf))

    def did_clip(self, norm: float, norm_after: float, threshold: float) -> bool:
        """Whether a gradient was reduced; in mode observe, whether mode norm would have reduced it.

        norm, norm_after, threshold: of the step. In modes value and layer the total must have shrunk by more than
        float32 rounding.
        """
        if self.settings.clip_mode in ("value", "layer"):
            return norm_after < norm * (1.0 - _ROUNDING)
        return norm > threshold

    @property
    def live(self) -> list[Tensor]:
        """The tensors that a step changes."""
        return [self.recent, self.seen]

    def tensors(self) -> dict[str, Tensor]:
        """Finite numbers only: an empty place holds -1."""
        return {"recent": torch.nan_to_num(self.recent, nan=_NO_NORM), "seen": self.seen}

    def restore(self, tensors: dict[str, Tensor]) -> None:
        recent = tensors["recent"]
        self.recent.copy_(torch.where(recent >= 0.0, recent, torch.nan))
        self.seen.copy_(tensors["seen"])

    def _threshold(self) -> Tensor:
        if self.settings.clip_mode != "adaptive":
            return self.bound
        percentile = torch.nanquantile(self.recent, self.settings.clip_percentile / 100.0)
        return torch.where(self.seen >= _FEWEST_NORMS, percentile, self.bound)

    def _remember(self, norm: Tensor, is_skipped: Tensor) -> None:
        if self.settings.clip_mode != "adaptive":
            return
        place = self.seen.remainder(RECENT_NORMS)
        former = self.recent.index_select(0, place.view(1))  # plain indexing would wait for the device
        self.recent.index_copy_(0, place.view(1), torch.where(is_skipped, former, norm.to(self.recent.dtype)))
        self.seen.add_(torch.where(is_skipped, 0, 1))

    @staticmethod
    def _by_norm(gradients: list[Tensor], norm: Tensor, threshold: Tensor) -> Clipped:
        coefficient = torch.clamp(threshold / (norm + _EPSILON), max=1.0)
        torch._foreach_mul_(gradients, coefficient)
        return Clipped(norm * coefficient, threshold.to(norm.dtype))

    @staticmethod
    def _by_value(gradients: list[Tensor], norm: Tensor, bound: Tensor) -> Clipped:
        for gradient in gradients:
            torch.clamp(gradient, -bound, bound, out=gradient)
        after = torch.nn.utils.get_total_norm(gradients)
        return Clipped(after, bound.to(norm.dtype))

    def _by_layer(self, gradients: list[Tensor], norm: Tensor, threshold: Tensor) -> Clipped:
        """Clip each layer to the threshold (its weight and bias together)."""
        for members in self._layers:
            own = torch.nn.utils.get_total_norm(members)
            torch._foreach_mul_(members, torch.clamp(threshold / (own + _EPSILON), max=1.0))
        return Clipped(torch.nn.utils.get_total_norm(gradients), threshold.to(norm.dtype))
