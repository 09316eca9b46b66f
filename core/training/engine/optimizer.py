"""AdamW, fused, on a model's flat parameters; loading its moments; and the average of the weights."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn

from core.training.engine.flat_parameters import FlatParameters
from core.training.engine.guard import all_finite

_BETAS = (0.9, 0.95)
_STEP = "step"


def build_optimizer(flat: FlatParameters, learning_rate: float) -> torch.optim.AdamW:
    """AdamW, on CUDA with the rate as a tensor, so that a captured step reads its newest value."""
    groups = [{"params": [parameter], "weight_decay": decay} for parameter, decay, _ in flat.groups]
    is_cuda = flat.values.device.type == "cuda"
    rate = torch.tensor(learning_rate, device=flat.values.device) if is_cuda else learning_rate
    optimizer = torch.optim.AdamW(groups, lr=rate, betas=_BETAS, fused=True, capturable=is_cuda)
    optimizer._warned_capturable_if_run_uncaptured = True  # the first steps are eager
    return optimizer


def set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    for group in optimizer.param_groups:
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(rate)
        else:
            group["lr"] = rate


def is_usable(moments: dict[str, Tensor], flat: FlatParameters) -> bool:
    """Whether these are complete and finite moments for these parameters. moments: by "<group>.<name>". Of another size
    the fused step would write beyond its memory."""
    sizes = {
        f"{index}.{name}": 1 if name == _STEP else parameter.numel()
        for index, (parameter, _, _) in enumerate(flat.groups)
        for name in (_STEP, "exp_avg", "exp_avg_sq")
    }
    return {name: tensor.numel() for name, tensor in moments.items()} == sizes and all_finite(moments.values())


def load_optimizer(optimizer: torch.optim.Optimizer, moments: dict[str, Tensor]) -> None:
    """Load copies of the moments: torch would otherwise continue training in the passed tensors."""
    entries: dict[int, dict[str, Tensor]] = {}
    for key, tensor in moments.items():
        index, _, name = key.partition(".")
        entries.setdefault(int(index), {})[name] = tensor.clone()
    optimizer.load_state_dict({"state": entries, "param_groups": optimizer.state_dict()["param_groups"]})


class AveragedWeights:
    """A second model of the same shape that follows the first by an exponential moving average, used for forecasts."""

    def __init__(self, model: nn.Module, followed: FlatParameters, decay: float) -> None:
        self.model = copy.deepcopy(model).requires_grad_(False).eval()
        self._decay = decay
        self._followed = followed.values
        self._average = FlatParameters(self.model, 0.0).values

    def follow(self, is_skipped: Tensor) -> None:
        """average += (1 - decay) * (weights - average), or unchanged, bit for bit, if the step was skipped."""
        moved = (self._followed - self._average).mul_(1.0 - self._decay).add_(self._average)
        torch.where(is_skipped, self._average, moved, out=self._average)  # zero times NaN would be NaN

    @property
    def live(self) -> list[Tensor]:
        """The tensors that a step changes."""
        return [self._average]

    def tensors(self) -> dict[str, Tensor]:
        return dict(self.model.state_dict())

    def restore(self, tensors: dict[str, Tensor]) -> None:
        self.model.load_state_dict(tensors)
