"""One process, or several that train the same model together: the values they must agree on."""

from __future__ import annotations

import contextlib
from typing import Any, Protocol

import torch
from torch import Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel


class Replicas(Protocol):
    """The interface of one replica."""

    @property
    def model(self) -> nn.Module:
        """The model for the forward pass."""
        ...

    def without_exchange(self) -> contextlib.AbstractContextManager[Any]:
        """Context for forward and backward of all micro-batches but the last: gradients are not exchanged."""
        ...

    def share_of_weight(self, weight: Tensor) -> Tensor:
        """The divisor of this replica's loss, so that the mean of all gradients is that of the whole batch."""
        ...

    def sum_of_parts(self, parts: Tensor) -> Tensor:
        """The whole batch's loss, from those of the replicas."""
        ...

    def agree(self, is_skipped: Tensor) -> Tensor:
        """True if any replica skips the step: then all skip it."""
        ...


class SingleReplica:
    """One process."""

    def __init__(self, model: nn.Module) -> None:
        self.model = model

    def without_exchange(self) -> contextlib.AbstractContextManager[Any]:
        return contextlib.nullcontext()

    def share_of_weight(self, weight: Tensor) -> Tensor:
        return weight.clamp_min(torch.finfo(weight.dtype).tiny)

    def sum_of_parts(self, parts: Tensor) -> Tensor:
        return parts

    def agree(self, is_skipped: Tensor) -> Tensor:
        return is_skipped


class DistributedReplicas:
    """Several processes, joined by torch.distributed, whose default group must exist."""

    def __init__(self, model: nn.Module) -> None:
        self._ddp = DistributedDataParallel(model, forward_sync_buffers=False)  # the model's buffers are constants

    @property
    def model(self) -> nn.Module:
        return self._ddp

    def without_exchange(self) -> contextlib.AbstractContextManager[Any]:
        sync: contextlib.AbstractContextManager[Any] = self._ddp.no_sync()
        return sync

    def share_of_weight(self, weight: Tensor) -> Tensor:
        total = weight.clone()
        distributed.all_reduce(total)
        return (total / distributed.get_world_size()).clamp_min(torch.finfo(weight.dtype).tiny)

    def sum_of_parts(self, parts: Tensor) -> Tensor:
        total = parts.clone()
        distributed.all_reduce(total)
        return total / distributed.get_world_size()

    def agree(self, is_skipped: Tensor) -> Tensor:
        flag = is_skipped.to(torch.int32)
        distributed.all_reduce(flag, distributed.ReduceOp.MAX)
        return flag.bool()
