"""Initial weights by the following non-linearity: He's for those that cut off one half, Xavier's for the others.

He et al., 2015 (Delving deep into rectifiers); Glorot and Bengio, 2010 (Understanding the difficulty of training).
"""

from __future__ import annotations

from torch import nn

from models.transformer import CandleTransformer, ResidualBlock

_CUTS_A_HALF = frozenset({"relu", "gelu", "silu"})


def initialise_by_activation(model: CandleTransformer) -> None:
    """Draw the weights of every matrix again from torch's global generator; biases become zero. The head stays zero.

    Layers without a following non-linearity (embedding, attention, the output projections) get Xavier's, and the last
    matrix of each branch is divided by the square root of the number of branches, so that the stream keeps its size.
    """
    branches = 2 * len(model.blocks)
    _xavier(model.embed)
    for block in model.blocks:
        assert isinstance(block, ResidualBlock)
        _xavier(block.attention.project_in)
        _xavier(block.attention.project_out, gain=branches**-0.5)
        _before_activation(block.widen, model.shape.activation)
        _xavier(block.narrow, gain=branches**-0.5)


def _before_activation(layer: nn.Linear, activation: str) -> None:
    if activation in _CUTS_A_HALF:
        nn.init.kaiming_uniform_(layer.weight, nonlinearity="relu")
        nn.init.zeros_(layer.bias)
    else:
        _xavier(layer, gain=nn.init.calculate_gain("tanh"))


def _xavier(layer: nn.Linear, gain: float = 1.0) -> None:
    nn.init.xavier_uniform_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
