"""Losses, in forms that stay finite at extremes."""

from __future__ import annotations

import torch
from torch import Tensor


def quantiles_of(reference: Tensor, corrections: Tensor) -> Tensor:
    """The model's quantiles: reference plus corrections, put in ascending order. [..., L] each."""
    return torch.sort(reference + corrections, dim=-1).values


def pinball(outcome: Tensor, quantiles: Tensor, levels: Tensor) -> Tensor:
    """Mean pinball loss over the levels (Koenker and Bassett, 1978). outcome [...], quantiles [..., L] to [...].

    Linear in the error on both sides: no exponent, no logarithm, finite for every finite input.
    """
    error = outcome.unsqueeze(-1) - quantiles
    return torch.maximum(levels * error, (levels - 1.0) * error).mean(dim=-1)


def weighted_mean(losses: Tensor, weights: Tensor) -> Tensor:
    """Sum of weighted losses over the sum of weights. A place of weight 0 adds nothing, not even NaN."""
    counted = torch.where(weights > 0.0, losses, torch.zeros_like(losses))
    return (counted * weights).sum() / weights.sum().clamp_min(torch.finfo(weights.dtype).tiny)
