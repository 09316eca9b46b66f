"""What a step measures of its gradients, packed into one tensor on the device and read back in one piece."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from core.events import GradientStatistics, LayerStatistics, NonFiniteOrigin

_PER_LAYER = 6  # norm, mean, std, largest, parameter norm, update norm


@dataclass(frozen=True, slots=True)
class Layer:
    """Parameters of one module; `members` is its place among the model's parameters."""

    name: str
    members: slice


def layers_of(model: nn.Module) -> list[Layer]:
    """The model's layers, in the order in which they were registered: a module with parameters of its own is one."""
    layers: list[Layer] = []
    for index, (name, _) in enumerate(model.named_parameters()):
        owner = name.rpartition(".")[0] or name
        if layers and layers[-1].name == owner:
            layers[-1] = Layer(owner, slice(layers[-1].members.start, index + 1))
        else:
            layers.append(Layer(owner, slice(index, index + 1)))
    return layers


class Gauge:
    """Measures gradients, parameters and the change of a step, layer by layer."""

    def __init__(self, model: nn.Module, layers: list[Layer]) -> None:
        self._parameters = list(model.parameters())
        sizes = [parameter.numel() for parameter in self._parameters]
        self._sizes = [sum(sizes[layer.members]) for layer in layers]
        self._before = self._flat_parameters()

    def forget(self) -> None:
        """The parameters were changed from outside: by a restore."""
        self._before.copy_(self._flat_parameters())

    def gradients(self) -> Tensor:
        """[layers, 4]: norm, mean, standard deviation and largest absolute value, before clipping."""
        gradients = [parameter.grad for parameter in self._parameters]
        assert all(gradient is not None for gradient in gradients)
        flat = torch.cat([gradient.reshape(-1) for gradient in gradients if gradient is not None])
        parts = torch.split(flat, self._sizes)
        norms = torch.stack(torch._foreach_norm(parts))
        moments = [torch.std_mean(part, correction=0) for part in parts]
        means, spreads = torch.stack([mean for _, mean in moments]), torch.stack([spread for spread, _ in moments])
        largest = torch.stack([part.max() for part in torch.split(flat.abs_(), self._sizes)])
        return torch.stack((norms, means, spreads, largest), dim=1)

    def change(self) -> Tensor:
        """[layers, 2]: norms of the parameters and of what the step changed of them."""
        after = self._flat_parameters()
        norms = torch._foreach_norm(torch.split(after, self._sizes))
        updates = torch._foreach_norm(torch.split(after - self._before, self._sizes))
        self._before.copy_(after)
        return torch.stack((torch.stack(norms), torch.stack(updates)), dim=1)

    def _flat_parameters(self) -> Tensor:
        return torch.cat([parameter.detach().reshape(-1) for parameter in self._parameters])


def layer_statistics(rows: list[list[float]]) -> tuple[LayerStatistics, ...]:
    """rows: [layers, 6], gradients then change."""
    return tuple(
        LayerStatistics(
            finite(norm), finite(mean), finite(std), finite(largest), ratio(norm, parameters), ratio(update, parameters)
        )
        for norm, mean, std, largest, parameters, update in rows
    )


def statistics(
    rows: list[list[float]],
    norm_after: float,
    loss_parts: list[float],
    loss_scale: float | None,
    origin: NonFiniteOrigin | None,
) -> GradientStatistics:
    """All of a step's numbers, with None in the place of those that are not finite."""
    parameter_norm = math.hypot(*(row[4] for row in rows))
    update_norm = math.hypot(*(row[5] for row in rows))
    return GradientStatistics(
        layers=layer_statistics(rows),
        norm_after=finite(norm_after),
        parameter_norm=finite(parameter_norm),
        update_ratio=ratio(update_norm, parameter_norm),
        loss_parts=tuple(finite(part) for part in loss_parts),
        loss_scale=loss_scale,
        non_finite=origin,
    )


def finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def ratio(part: float, whole: float) -> float | None:
    return finite(part / whole) if whole > 0.0 else None
