"""AdamW, fused, on a model's flat parameters; and loading its moments."""

from __future__ import annotations

import torch
from torch import Tensor

from core.training.engine.flat_parameters import FlatParameters

_BETAS = (0.9, 0.95)
_MOMENTS = ("step", "exp_avg", "exp_avg_sq")


def build_optimizer(flat: FlatParameters, learning_rate: float) -> torch.optim.AdamW:
    """On CUDA the rate is a tensor, so that a captured step reads its newest value."""
    groups = [{"params": [parameter], "weight_decay": decay} for parameter, decay, _ in flat.groups]
    is_cuda = flat.values.device.type == "cuda"
    rate = torch.tensor(learning_rate, device="cuda") if is_cuda else learning_rate
    return torch.optim.AdamW(groups, lr=rate, betas=_BETAS, fused=True, capturable=is_cuda)


def set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    for group in optimizer.param_groups:
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(rate)
        else:
            group["lr"] = rate


def is_usable(moments: dict[str, Tensor], flat: FlatParameters) -> bool:
    """Whether these are complete and finite moments for these parameters. moments: by "<group>.<name>"."""
    wanted = {f"{index}.{name}" for index in range(len(flat.groups)) for name in _MOMENTS}
    return set(moments) == wanted and all(bool(torch.isfinite(tensor).all()) for tensor in moments.values())


def load_optimizer(optimizer: torch.optim.Optimizer, moments: dict[str, Tensor]) -> None:
    """Load copies of the moments: torch would otherwise keep training in the given tensors."""
    entries: dict[int, dict[str, Tensor]] = {}
    for key, tensor in moments.items():
        index, _, name = key.partition(".")
        entries.setdefault(int(index), {})[name] = tensor.clone()
    optimizer.load_state_dict({"state": entries, "param_groups": optimizer.state_dict()["param_groups"]})
