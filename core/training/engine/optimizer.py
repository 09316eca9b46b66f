"""AdamW, fused, with decay for the matrices only; and its moments to tensors and back."""

from __future__ import annotations

import torch
from torch import Tensor, nn

_BETAS = (0.9, 0.95)
_MOMENTS = ("step", "exp_avg", "exp_avg_sq")


def build_optimizer(model: nn.Module, learning_rate: float, weight_decay: float) -> torch.optim.AdamW:
    """Biases, norms and positions are not decayed: pulling them to zero only biases the model.

    On CUDA the rate is a tensor, so that a captured step reads its newest value.
    """
    decayed = [parameter for name, parameter in model.named_parameters() if _is_decayed(name, parameter)]
    plain = [parameter for name, parameter in model.named_parameters() if not _is_decayed(name, parameter)]
    is_cuda = (decayed or plain)[0].device.type == "cuda"
    rate = torch.tensor(learning_rate, device="cuda") if is_cuda else learning_rate
    groups = [
        {"params": group, "weight_decay": decay} for group, decay in ((decayed, weight_decay), (plain, 0.0)) if group
    ]
    return torch.optim.AdamW(groups, lr=rate, betas=_BETAS, fused=True, capturable=is_cuda)


def set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    for group in optimizer.param_groups:
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(rate)
        else:
            group["lr"] = rate


def is_usable(moments: dict[str, Tensor], parameters: int) -> bool:
    """Whether these are whole and finite moments for so many parameters. moments: by "<index>.<name>"."""
    wanted = {f"{index}.{name}" for index in range(parameters) for name in _MOMENTS}
    return set(moments) == wanted and all(bool(torch.isfinite(tensor).all()) for tensor in moments.values())


def load_optimizer(optimizer: torch.optim.Optimizer, moments: dict[str, Tensor]) -> None:
    entries: dict[int, dict[str, Tensor]] = {}
    for key, tensor in moments.items():
        index, _, name = key.partition(".")
        entries.setdefault(int(index), {})[name] = tensor
    optimizer.load_state_dict({"state": entries, "param_groups": optimizer.state_dict()["param_groups"]})


def _is_decayed(name: str, parameter: nn.Parameter) -> bool:
    return parameter.dim() >= 2 and not name.endswith("position")
