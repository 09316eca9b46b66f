"""A linear map of the window, relative to its newest candle.

Source: Zeng, Chen, Zhang and Xu, Are transformers effective for time series forecasting? (2023). Their NLinear
subtracts the newest value before its map and adds it after. Here the features are far more than the values of a series,
so the map in time, shared by all features as there, has a few outputs, and a second one reads them.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from models.head import QuantileHead
from models.shape import ModelShape

_VIEWS = 8
"""Outputs of the map in time."""


class NLinear(nn.Module):
    """Linear from the features to the corrections: no activation, no norm."""

    def __init__(self, shape: ModelShape) -> None:
        super().__init__()
        self.in_time = nn.Linear(shape.context, _VIEWS, bias=False)
        self.head = QuantileHead((_VIEWS + 1) * shape.inputs, shape)

    def forward(self, features: Tensor, is_real: Tensor) -> Tensor:
        """features [B, T, inputs], is_real [B, T] bool (False is padding on the left) to [B, H, Q, L]."""
        newest = features[:, -1]
        before = (features - newest[:, None]).masked_fill(~is_real[..., None], 0.0)
        views: Tensor = self.in_time(before.transpose(1, 2)).flatten(1)
        corrections: Tensor = self.head(torch.cat([newest, views], dim=1))
        return corrections
