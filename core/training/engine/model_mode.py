"""Switches a model between training and forecasting: with each close there and back."""

from __future__ import annotations

from torch import nn


def set_mode(model: nn.Module, *, trains: bool) -> None:
    """As `model.train(trains)`, which sets each module's flag through `Module.__setattr__`: 2 % of a close of one
    market. A model with a module that has its own `train` is left to it."""
    if model.training is trains:
        return
    modules = list(model.modules())
    if any(type(each).train is not nn.Module.train for each in modules):
        model.train(trains)
        return
    for each in modules:
        each.__dict__["training"] = trains
