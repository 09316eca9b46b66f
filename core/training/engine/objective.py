"""The training objective: the weighted pinball loss of every quantity, as parts that add up to the loss."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from core.domain.quantities import LEVELS

_SHARED_DIMENSIONS = 3


def quantiles_of(reference: Tensor, corrections: Tensor) -> Tensor:
    """The model's quantiles: reference plus corrections, sorted in ascending order. [..., L] each."""
    return torch.sort(reference + corrections, dim=-1).values


def pinball(outcome: Tensor, quantiles: Tensor, levels: Tensor) -> Tensor:
    """Mean pinball loss over the levels (Koenker and Bassett, 1978). outcome [...], quantiles [..., L] to [...].

    Linear in the error on both sides: no exponent, no logarithm, finite for every finite input.
    """
    error = outcome.unsqueeze(-1) - quantiles
    return torch.maximum(levels * error, (levels - 1.0) * error).mean(dim=-1)


def weighted_parts(losses: Tensor, weights: Tensor, total_weight: Tensor) -> Tensor:
    """Each quantity's part [Q] of the weighted mean of losses [B, H, Q]; the parts add up to it.

    total_weight: the sum of the whole batch's weights, of which these may be a part; above 0. The weights are divided
    rather than the losses, since no gradient flows through them.
    """
    return (losses * (weights / total_weight)).sum(dim=(0, 1))


class DeviceBatch(NamedTuple):
    """A batch on the device. Shapes as in `Batch`.

    reference: [H, Q, L] for all samples, or [B, H, Q, L] if each has its own.
    """

    features: Tensor
    is_real: Tensor
    targets: Tensor
    weights: Tensor
    regimes: Tensor
    reference: Tensor

    @property
    def size(self) -> int:
        return int(self.features.shape[0])

    def split(self, count: int) -> list[DeviceBatch]:
        """At most `count` micro-batches, equal but for the last, which may be shorter."""
        rows = -(-self.size // max(1, min(count, self.size)))
        return [self._rows(start, start + rows) for start in range(0, self.size, rows)]

    def _rows(self, start: int, stop: int) -> DeviceBatch:
        if start == 0 and stop >= self.size:
            return self
        rows = slice(start, stop)
        reference = self.reference if self.reference.dim() == _SHARED_DIMENSIONS else self.reference[rows]
        of_rows = (self.features[rows], self.is_real[rows], self.targets[rows], self.weights[rows], self.regimes[rows])
        return DeviceBatch(*of_rows, reference)


class QuantileObjective:
    """Turns a model's corrections into the loss of each quantity. Computed in the precision of the weights."""

    def __init__(
        self, device: torch.device, dtype: torch.dtype, shrinkage: float = 0.0, penalty_power: int = 1
    ) -> None:
        """shrinkage: the penalty of a squared correction one ahead; penalty_power: of the horizon. See `parts`."""
        self._shrinkage = shrinkage
        self._penalty_power = penalty_power
        self._dtype = dtype
        self._levels = torch.tensor(LEVELS, dtype=dtype, device=device)

    def parts(self, corrections: Tensor, batch: DeviceBatch, total_weight: Tensor) -> Tensor:
        """[Q]: this micro-batch's share of the whole batch's loss. total_weight: the whole batch's.

        Besides the pinball loss, a correction has a penalty: its square times a power of the horizon. Far ahead, fewer
        patterns of the past repeat, and memorised ones did harm (docs/research/forecasts.md has figures).
        """
        corrections = corrections.to(self._dtype)
        losses = pinball(batch.targets, quantiles_of(batch.reference, corrections), self._levels)
        if self._shrinkage > 0.0:
            horizons = torch.arange(1, corrections.shape[1] + 1, dtype=self._dtype, device=corrections.device)
            penalty = self._shrinkage * horizons.pow(self._penalty_power)
            losses = losses + penalty[:, None] * corrections.square().mean(dim=-1)
        return weighted_parts(losses, batch.weights, total_weight)
