"""A small causal transformer over candles, and its quantile head.

Pre-norm residual blocks (Xiong et al., 2020) with GELU. Every stage assigns a new name and nothing is changed in place,
so autograd's saved tensors stay intact.

Shapes: B batch, T context, F features, W width, H horizons, Q quantities, L levels.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from models.head import QuantileHead
from models.shape import ModelShape

_ACTIVATIONS = {"gelu": nn.GELU, "relu": nn.ReLU, "silu": nn.SiLU, "tanh": nn.Tanh}
_CUTS_A_HALF = frozenset({"relu", "gelu", "silu"})


class CausalSelfAttention(nn.Module):
    """Multi-head attention to the same and earlier candles."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        if width % heads:
            raise ValueError(f"{heads} attention heads do not divide a width of {width}")
        self._heads = heads
        self.project_in = nn.Linear(width, 3 * width)
        self.project_out = nn.Linear(width, width)

    def forward(self, states: Tensor, may_attend: Tensor, outputs: int) -> Tensor:
        """Attention output of the newest `outputs` candles: states [B, T, W], may_attend [B, 1, T, T] bool to
        [B, outputs, W]."""
        batch, length, width = states.shape
        weights = torch.split(self.project_in.weight, [width, 2 * width])
        biases = torch.split(self.project_in.bias, [width, 2 * width])
        query = functional.linear(states[:, length - outputs :], weights[0], biases[0])
        key, value = functional.linear(states, weights[1], biases[1]).chunk(2, dim=-1)
        attended = functional.scaled_dot_product_attention(
            self._by_head(query),
            self._by_head(key),
            self._by_head(value),
            attn_mask=may_attend[:, :, length - outputs :],
        )
        merged = attended.transpose(1, 2).reshape(batch, outputs, width)
        out: Tensor = self.project_out(merged)
        return out

    def _by_head(self, states: Tensor) -> Tensor:
        """[B, T, W] to [B, heads, T, W / heads]."""
        batch, length, width = states.shape
        return states.view(batch, length, self._heads, width // self._heads).transpose(1, 2)


class ResidualBlock(nn.Module):
    """Attention, then a feed-forward net; each reads a normalised copy and adds to the stream."""

    def __init__(self, width: int, heads: int, activation: str = "gelu") -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(width)
        self.attention = CausalSelfAttention(width, heads)
        self.feed_forward_norm = nn.LayerNorm(width)
        self.widen = nn.Linear(width, 4 * width)
        self.activation = _ACTIVATIONS[activation]()
        self.narrow = nn.Linear(4 * width, width)

    def forward(self, states: Tensor, may_attend: Tensor, outputs: int) -> Tensor:
        """The newest `outputs` candles' states: [B, T, W] to [B, outputs, W]."""
        newest = states[:, states.shape[1] - outputs :]
        attended = newest + self.attention(self.attention_norm(states), may_attend, outputs)
        widened = self.activation(self.widen(self.feed_forward_norm(attended)))
        transformed: Tensor = attended + self.narrow(widened)
        return transformed


class CandleTransformer(nn.Module):
    """Features of the last T candles to corrections of the normalised quantiles of a cheap forecast.

    The head starts at zero: an untrained model returns exactly that forecast. So do the weights of other markets, which
    a model that does not read them does not have.
    """

    def __init__(self, shape: ModelShape) -> None:
        super().__init__()
        self.shape = shape
        self.embed = nn.Linear(shape.features, shape.width)
        self.position = nn.Parameter(torch.randn(shape.context, shape.width) * 0.02)
        self.blocks = nn.ModuleList(
            ResidualBlock(shape.width, shape.heads, shape.activation) for _ in range(shape.layers)
        )
        self.final_norm = nn.LayerNorm(shape.width)
        self.head = QuantileHead(shape.width, shape)
        self.embed_others = _zeros(shape.others, shape.width) if shape.others else None
        earlier_or_same = torch.ones(shape.context, shape.context, dtype=torch.bool).tril()
        self.register_buffer("causal", earlier_or_same, persistent=False)
        self.register_buffer("same", torch.eye(shape.context, dtype=torch.bool), persistent=False)
        self.state = torch.empty(0, shape.width)
        """The last states [B, W] of the newest forward pass; no gradient flows back through them."""

    def forward(self, features: Tensor, is_real: Tensor) -> Tensor:
        """features [B, T, inputs], is_real [B, T] bool (False is padding on the left) to [B, H, Q, L]."""
        own = features[..., : self.shape.features]
        states: Tensor = self.embed(own) + self.position
        if self.embed_others is not None:
            states = states + self.embed_others(features[..., self.shape.features :])
        may_attend = self._may_attend(is_real)
        for index, block in enumerate(self.blocks, start=1):
            outputs = 1 if index == len(self.blocks) else self.shape.context  # the head reads only the newest
            if self.shape.recompute and self.training:
                # No block draws random numbers, and their generator cannot be read while a graph is captured.
                states = checkpoint(block, states, may_attend, outputs, use_reentrant=False, preserve_rng_state=False)
            else:
                states = block(states, may_attend, outputs)
        newest = self.final_norm(states[:, -1])
        self.state = newest.detach()
        corrections: Tensor = self.head(newest)
        return corrections

    def _may_attend(self, is_real: Tensor) -> Tensor:
        """[B, 1, T, T]. A padded position sees itself, so that no softmax is empty (which would be NaN)."""
        causal, same = self.get_buffer("causal"), self.get_buffer("same")
        allowed = (causal & is_real[:, None, :]) | same
        return allowed[:, None]


def _zeros(inputs: int, width: int) -> nn.Linear:
    layer = nn.Linear(inputs, width, bias=False)
    nn.init.zeros_(layer.weight)
    return layer


def initialise_by_activation(model: CandleTransformer) -> None:
    """He's weights before a non-linearity that cuts off one half, Xavier's before the others: drawn again from torch's
    global generator; biases become zero. The head stays zero.

    He et al., 2015 (Delving deep into rectifiers); Glorot and Bengio, 2010 (Understanding the difficulty of training).

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
