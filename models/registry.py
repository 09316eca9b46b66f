"""Models by name. A checkpoint stores the name, so that another architecture's weights are refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import nn

from models.gru import CandleGRU
from models.nlinear import NLinear
from models.shape import ModelShape
from models.tcn import CandleTCN
from models.transformer import CandleTransformer, initialise_by_activation

ModelMaker = Callable[[ModelShape], nn.Module]
"""A class, mostly."""

MODELS: dict[str, ModelMaker] = {
    "transformer": CandleTransformer,
    "gru": CandleGRU,
    "tcn": CandleTCN,
    "nlinear": NLinear,
}
"""The first is the main model of every run; each of the others can challenge it."""


def build_model(name: str, shape: ModelShape, seed: int, initialisation: str = "torch") -> nn.Module:
    """A new model whose initial weights depend on `seed` alone; the global generator is not changed.

    initialisation: "torch" (each torch module's own), or "by-activation" for the transformer.

    Raises KeyError for a name that is not registered.
    """
    with _seeded(seed):
        model = MODELS[name](shape)
        if initialisation == "by-activation" and isinstance(model, CandleTransformer):
            initialise_by_activation(model)
        return model


def build_with_seed(make: ModelMaker, shape: ModelShape, seed: int) -> nn.Module:
    """A new model of any kind, with its own initial weights, which depend on `seed` alone. Raises what `make`
    raises."""
    with _seeded(seed):
        return make(shape)


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield
