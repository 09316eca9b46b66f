"""Models by name. A checkpoint stores the name, so that another architecture's weights are refused."""

from __future__ import annotations

import torch
from torch import nn

from models.initialise import initialise_by_activation
from models.transformer import CandleTransformer, ModelShape

_MODELS = {"transformer": CandleTransformer}


def build_model(name: str, shape: ModelShape, seed: int, initialisation: str = "torch") -> nn.Module:
    """A new model whose initial weights depend on `seed` alone; the global generator is not changed.

    initialisation: "torch" (that of each torch module) or "by-activation" (see `models.initialise`).

    Raises KeyError for a name that is not registered.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = _MODELS[name](shape)
        if initialisation == "by-activation":
            initialise_by_activation(model)
        return model


def names() -> tuple[str, ...]:
    """The registered names."""
    return tuple(_MODELS)
