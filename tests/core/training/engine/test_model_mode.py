"""Switching a model between training and forecasting."""

from __future__ import annotations

import pytest
from torch import nn

from core.training.engine.model_mode import set_mode
from tests.core.training.engine.rigs import CPU


class Frozen(nn.Dropout):
    """Never trains."""

    def train(self, mode: bool = True) -> Frozen:
        super().train(False)
        return self


def flags(model: nn.Module) -> list[bool]:
    return [each.training for each in model.modules()]


@pytest.mark.parametrize("inner", [nn.Dropout(), Frozen()], ids=["usual", "with an own train"])
def test_every_module_has_the_mode_that_torch_gives_it(inner: nn.Module) -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Sequential(inner, nn.LayerNorm(2))).to(CPU)
    for trains in (False, True, True, False):
        set_mode(model, trains=trains)
        found = flags(model)
        model.train(trains)
        assert found == flags(model) and model.training is trains
