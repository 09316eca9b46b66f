"""Models that break their contract at random, to be loaded by `--model FILE:CLASS`."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from models.nlinear import NLinear
from models.shape import ModelShape

_SOUND_CALLS = 2
"""As a model that is found sound when it is loaded."""


class Chaotic(NLinear):
    """Raises, answers NaN, an infinity or another shape, or changes its inputs, three times in ten."""

    def __init__(self, shape: ModelShape) -> None:
        super().__init__(shape)
        self._calls = 0
        self._luck = torch.Generator().manual_seed(3)

    def forward(self, features: Tensor, is_real: Tensor) -> Tensor:
        made = super().forward(features, is_real)
        self._calls += 1
        if self._calls <= _SOUND_CALLS:
            return made
        luck = int(torch.randint(0, 20, (), generator=self._luck))
        if luck == 0:
            raise RuntimeError("no luck")
        if luck in (1, 2):
            return made * float("nan" if luck == 1 else "inf")
        if luck == 3:
            return made[..., 0]
        if luck == 4:
            return torch.cat([made, made])
        if luck == 5:
            with torch.no_grad():
                features.fill_(float("nan"))
                is_real.fill_(False)
            nn.init.normal_(self.in_time.weight)  # from torch's own generator
        return made


class Hopeless(NLinear):
    """Never answers again."""

    def __init__(self, shape: ModelShape) -> None:
        super().__init__(shape)
        self._calls = 0

    def forward(self, features: Tensor, is_real: Tensor) -> Tensor:
        self._calls += 1
        if self._calls > _SOUND_CALLS:
            raise RuntimeError("never again")
        return super().forward(features, is_real)


class Poisoned(NLinear):
    """Its weights hold a NaN after some steps, and are sound again when they are restored."""

    def forward(self, features: Tensor, is_real: Tensor) -> Tensor:
        if self.training and float(features.sum()) > 0.0:
            with torch.no_grad():
                self.in_time.weight[0, 0] = float("nan")
        return super().forward(features, is_real)


class Drawing(NLinear):
    """Draws from torch's own generator in each pass, as dropout does."""

    def forward(self, features: Tensor, is_real: Tensor) -> Tensor:
        return super().forward(features, is_real) + 0.01 * torch.randn(1)
