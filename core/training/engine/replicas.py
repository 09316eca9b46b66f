"""One process, or several that train the same model together: the values they must agree on."""

from __future__ import annotations

import contextlib
from typing import Any

import torch
from torch import Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel


class Replicas:
    """The copies of the model; here the only one, in one process."""

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        """The model for the forward pass."""

    def without_exchange(self) -> contextlib.AbstractContextManager[Any]:
        """Context for forward and backward of all micro-batches but the last: gradients are not exchanged."""
        return contextlib.nullcontext()

    def share_of_weight(self, weight: Tensor) -> Tensor:
        """The divisor of this replica's loss, so that the mean of all gradients is the whole batch's."""
        return self.mean(weight).clamp_min(torch.finfo(weight.dtype).tiny)

    def mean(self, own: Tensor) -> Tensor:
        """The mean over all replicas. For losses it is the whole batch's: each divides by its share of the weight."""
        return own

    def agree(self, is_skipped: Tensor) -> Tensor:
        """True if any replica skips the step: then all skip it."""
        return is_skipped


class DistributedReplicas(Replicas):
    """Several processes, joined by torch.distributed, whose default group must exist."""

    def __init__(self, model: nn.Module) -> None:
        self._ddp = DistributedDataParallel(model, forward_sync_buffers=False)  # the model's buffers are constants
        super().__init__(self._ddp)

    def without_exchange(self) -> contextlib.AbstractContextManager[Any]:
        sync: contextlib.AbstractContextManager[Any] = self._ddp.no_sync()
        return sync

    def mean(self, own: Tensor) -> Tensor:
        total = own.clone()
        distributed.all_reduce(total)
        return total / distributed.get_world_size()

    def agree(self, is_skipped: Tensor) -> Tensor:
        flag = is_skipped.to(torch.int32)
        distributed.all_reduce(flag, distributed.ReduceOp.MAX)
        return flag.bool()
