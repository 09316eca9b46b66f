"""A model's parameters as two flat tensors: one that decays, one that does not.

Each parameter of the model becomes a view of its flat tensor, so the optimizer, the guard, clipping and the statistics
work on two tensors instead of dozens: on a CPU that is what pays for all that is measured (docs/training.md).
Biases, norms and positions do not decay: pulling them to zero only biases the model.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True, slots=True)
class Segment:
    """The numbers of one layer within a flat tensor."""

    layer: int
    start: int
    stop: int


class FlatGroup:
    """Some of a model's parameters, behind each other in one tensor, with one tensor of gradients."""

    def __init__(self, members: list[nn.Parameter], layer_of: list[int], weight_decay: float) -> None:
        self.weight_decay = weight_decay
        self._members = members
        self.parameter = nn.Parameter(torch.cat([member.detach().reshape(-1) for member in members]))
        self.gradient = torch.zeros_like(self.parameter)
        self._zeros = torch.zeros_like(self.gradient)
        self.segments = self._adopt(layer_of)

    def collect(self) -> None:
        """Bring the members' gradients together. One that the loss does not depend on has zeros."""
        parts, place = [], 0
        for member in self._members:
            stop = place + member.numel()
            parts.append(self._zeros[place:stop] if member.grad is None else member.grad.reshape(-1))
            place = stop
        with torch.no_grad():
            torch.cat(parts, out=self.gradient)
        self.parameter.grad = self.gradient

    def clear(self) -> None:
        """No gradient is left, neither here nor with the members."""
        self.parameter.grad = None
        for member in self._members:
            member.grad = None

    def _adopt(self, layer_of: list[int]) -> list[Segment]:
        """Make each member a view of the flat tensor. Returns the layers' places, in order."""
        segments: list[Segment] = []
        place = 0
        for member, layer in zip(self._members, layer_of, strict=True):
            stop = place + member.numel()
            member.data = self.parameter.data[place:stop].view(member.shape)
            if segments and segments[-1].layer == layer:
                segments[-1] = Segment(layer, segments[-1].start, stop)
            else:
                segments.append(Segment(layer, place, stop))
            place = stop
        return segments


class FlatParameters:
    """Both groups, and the model's layers: a module with parameters of its own is one, in order of registration."""

    def __init__(self, model: nn.Module, weight_decay: float) -> None:
        named = list(model.named_parameters())
        owners = [name.rpartition(".")[0] or name for name, _ in named]
        self.layers = tuple(dict.fromkeys(owners))
        index = {name: number for number, name in enumerate(self.layers)}
        self.groups: list[FlatGroup] = []
        for is_decayed in (True, False):
            chosen = [place for place, (name, member) in enumerate(named) if _is_decayed(name, member) is is_decayed]
            if chosen:
                members = [named[place][1] for place in chosen]
                of = [index[owners[place]] for place in chosen]
                self.groups.append(FlatGroup(members, of, weight_decay if is_decayed else 0.0))
        self.count = sum(member.numel() for _, member in named)

    @property
    def parameters(self) -> list[Tensor]:
        return [group.parameter for group in self.groups]

    @property
    def gradients(self) -> list[Tensor]:
        return [group.gradient for group in self.groups]

    def layer_gradients(self) -> list[list[Tensor]]:
        """For each layer, the parts of the flat gradients that are its own."""
        views: list[list[Tensor]] = [[] for _ in self.layers]
        for group in self.groups:
            for segment in group.segments:
                views[segment.layer].append(group.gradient[segment.start : segment.stop])
        return views

    def collect(self) -> None:
        for group in self.groups:
            group.collect()

    def clear(self) -> None:
        for group in self.groups:
            group.clear()


def _is_decayed(name: str, parameter: nn.Parameter) -> bool:
    return parameter.dim() >= 2 and not name.endswith("position")
