"""Dilated causal convolutions over candles, in residual blocks.

Source: Bai, Kolter and Koltun, An empirical evaluation of generic convolutional and recurrent networks for sequence
modeling (2018).
"""

from __future__ import annotations

import math

from torch import Tensor, nn
from torch.nn import functional

from models.head import QuantileHead
from models.shape import ModelShape

_KERNEL = 3


class CausalBlock(nn.Module):
    """Adds to each candle's state a convolution of it and two earlier ones, `dilation` and twice that before."""

    def __init__(self, width: int, dilation: int) -> None:
        super().__init__()
        self._before = (_KERNEL - 1) * dilation
        self.norm = nn.LayerNorm(width)
        self.convolution = nn.Conv1d(width, width, _KERNEL, dilation=dilation)
        self.mix = nn.Linear(width, width)

    def forward(self, states: Tensor, is_real: Tensor) -> Tensor:
        """states [B, T, W] to the same; is_real [B, T, 1], 0 for padding, which counts as nothing."""
        own = (self.norm(states) * is_real).transpose(1, 2)
        convolved = self.convolution(functional.pad(own, (self._before, 0))).transpose(1, 2)
        added: Tensor = states + self.mix(functional.gelu(convolved))
        return added


class CandleTCN(nn.Module):
    """Blocks with dilations 1, 2, 4 and so on, until the newest state has seen the whole context."""

    def __init__(self, shape: ModelShape) -> None:
        super().__init__()
        blocks = max(1, math.ceil(math.log2((shape.context - 1) / (_KERNEL - 1) + 1)))
        self.embed = nn.Linear(shape.inputs, shape.width)
        self.blocks = nn.ModuleList(CausalBlock(shape.width, 2**place) for place in range(blocks))
        self.final_norm = nn.LayerNorm(shape.width)
        self.head = QuantileHead(shape.width, shape)

    def forward(self, features: Tensor, is_real: Tensor) -> Tensor:
        """features [B, T, inputs], is_real [B, T] bool (False is padding on the left) to [B, H, Q, L]."""
        states, real = self.embed(features), is_real[..., None].to(features.dtype)
        for block in self.blocks:
            states = block(states, real)
        corrections: Tensor = self.head(self.final_norm(states[:, -1]))
        return corrections
