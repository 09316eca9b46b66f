"""A model's parameters in one flat tensor: first those with weight decay, then those without.

Each parameter of the model becomes a view of it, so the optimizer, the guard, clipping and the statistics work on one
or two tensors instead of dozens: on a CPU that pays for all measurements (docs/training.md).
Biases, norms and positions do not decay: pulling them to zero only biases the model.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True, slots=True)
class Segment:
    """Contiguous numbers of one layer in the flat tensor."""

    layer: int
    start: int
    stop: int

    @property
    def size(self) -> int:
        return self.stop - self.start


class FlatParameters:
    """Owns the flat tensors of parameters and gradients.

    layers: the names of modules that have parameters, in the order of registration.
    """

    def __init__(self, model: nn.Module, weight_decay: float) -> None:
        named = list(model.named_parameters())
        owners = [name.rpartition(".")[0] or name for name, _ in named]
        self.layers = tuple(dict.fromkeys(owners))
        order = sorted(range(len(named)), key=lambda place: not _is_decayed(*named[place]))
        self._members = [named[place][1] for place in order]
        self.values = torch.cat([member.detach().reshape(-1) for member in self._members])
        self.gradient = torch.zeros_like(self.values)
        self.segments = self._adopt([self.layers.index(owners[place]) for place in order])
        decayed = sum(member.numel() for name, member in named if _is_decayed(name, member))
        self.groups = [
            (nn.Parameter(self.values[part]), decay, self.gradient[part])
            for part, decay in ((slice(0, decayed), weight_decay), (slice(decayed, None), 0.0))
            if self.values[part].numel()
        ]
        """Groups for the optimizer: parameters, their decay, and their gradients."""

    def layer_gradients(self) -> list[list[Tensor]]:
        """Views of the flat gradient, for each layer."""
        views: list[list[Tensor]] = [[] for _ in self.layers]
        for segment in self.segments:
            views[segment.layer].append(self.gradient[segment.start : segment.stop])
        return views

    def collect(self) -> None:
        """Copy the model's gradients here. A parameter that the loss does not depend on gets zeros."""
        parts = [
            torch.zeros_like(member).reshape(-1) if member.grad is None else member.grad.reshape(-1)
            for member in self._members
        ]
        torch.cat(parts, out=self.gradient)
        for parameter, _, gradient in self.groups:
            parameter.grad = gradient

    def clear(self) -> None:
        """Drop all gradients, here and in the model."""
        for parameter, _, _ in self.groups:
            parameter.grad = None
        for member in self._members:
            member.grad = None

    def _adopt(self, layer_of: list[int]) -> list[Segment]:
        """Make each parameter of the model a view of the flat tensor. Returns the layers' segments, in order."""
        segments: list[Segment] = []
        place = 0
        for member, layer in zip(self._members, layer_of, strict=True):
            stop = place + member.numel()
            member.data = self.values[place:stop].view(member.shape)
            if segments and segments[-1].layer == layer:
                segments[-1] = Segment(layer, segments[-1].start, stop)
            else:
                segments.append(Segment(layer, place, stop))
            place = stop
        return segments


def _is_decayed(name: str, parameter: nn.Parameter) -> bool:
    return parameter.dim() >= 2 and not name.endswith("position")
