"""Losses, in forms that stay finite at extremes."""

from __future__ import annotations

import torch
from torch import Tensor


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
