"""The processes that pretrain one model together: a single one, or those started by torchrun.

Decisions about the control flow are made by all of them together; otherwise one would wait for the others forever.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping

import torch
from torch import distributed, nn

from core.domain.quantities import FloatArray
from core.training.engine.device import Device, choose_device
from core.training.engine.device_faults import DeviceError
from core.training.engine.replicas import DistributedReplicas, Replicas
from core.training.pretraining.errors import PretrainingError

_VARIABLES = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")


class Team:
    """One process alone. If several train together, each calls every method, in the same order."""

    rank = 0
    """This process's number; process 0 writes and reports."""
    world_size = 1
    join: Callable[[nn.Module], Replicas] | None = None
    """Turns a model into one of several replicas; None for a single process."""

    def __init__(self, device: Device) -> None:
        self.device = device

    def any(self, flag: bool) -> bool:
        """Whether it is true in any of them."""
        return flag

    def total(self, numbers: FloatArray) -> FloatArray:
        """The sum over all processes."""
        return numbers

    def from_first(self, number: int) -> int:
        """The number that process 0 passes."""
        return number


class JoinedProcess(Team):
    """One of several processes. The default group must exist. Agreements use gloo, not the GPU."""

    join = DistributedReplicas

    def __init__(self, device: Device) -> None:
        super().__init__(device)
        self.rank = distributed.get_rank()
        self.world_size = distributed.get_world_size()

    def any(self, flag: bool) -> bool:
        raised = torch.tensor(int(flag))
        distributed.all_reduce(raised, distributed.ReduceOp.MAX)
        return bool(raised)

    def total(self, numbers: FloatArray) -> FloatArray:
        summed = torch.from_numpy(numbers.copy())
        distributed.all_reduce(summed)
        total: FloatArray = summed.numpy()
        return total

    def from_first(self, number: int) -> int:
        shared = torch.tensor(number, dtype=torch.int64)
        distributed.broadcast(shared, 0)
        return int(shared)


def is_one_of_several(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether torchrun (or a compatible launcher) started this process."""
    return "RANK" in environment and "WORLD_SIZE" in environment


@contextlib.contextmanager
def join_team(wanted_device: str, environment: Mapping[str, str] = os.environ) -> Iterator[Team]:
    """Join the other processes, if there are any. Raises DeviceError and PretrainingError."""
    if not is_one_of_several(environment):
        yield Team(choose_device(wanted_device))
        return
    missing = [name for name in _VARIABLES if name not in environment]
    if missing:
        raise PretrainingError(
            f"RANK and WORLD_SIZE are set, so this is one of several processes, but without {', '.join(missing)}. "
            "Start them with torchrun, or unset RANK and WORLD_SIZE."
        )
    yield from _join_group(wanted_device, int(environment["LOCAL_RANK"]))


def _join_group(wanted_device: str, local_rank: int) -> Iterator[Team]:
    """The group is not destroyed after other exceptions: that would wait for processes that may have exited.
    PretrainingError is raised by all alike, or by the first once the others are done."""
    device = _own_device(wanted_device, local_rank)
    is_cuda = device.torch_device.type == "cuda"
    try:
        distributed.init_process_group("cpu:gloo,cuda:nccl" if is_cuda else "gloo")
    except (RuntimeError, ValueError) as error:
        raise PretrainingError(f"The processes could not connect: {str(error).splitlines()[0]}.") from error
    team = JoinedProcess(device)
    if team.any(is_cuda) and team.any(not is_cuda):
        raise PretrainingError("Some processes have CUDA and some do not. Start all with --device cpu.")
    try:
        yield team
    except PretrainingError:
        distributed.destroy_process_group()
        raise
    distributed.destroy_process_group()


def _own_device(wanted_device: str, local_rank: int) -> Device:
    """Each process on a machine uses the GPU with its number."""
    if wanted_device.startswith("cuda:"):
        raise DeviceError(
            f"Several processes train together, each on the GPU of its number, so --device {wanted_device} fits one of "
            "them at most. Start with --device cuda."
        )
    if wanted_device != "cpu" and torch.cuda.is_available():
        count = torch.cuda.device_count()
        if local_rank >= count:
            raise DeviceError(
                f"This machine has {count} GPUs, one for each process: number {local_rank + 1} has none. "
                f"Start with --nproc-per-node {count}, or with --device cpu."
            )
        torch.cuda.set_device(local_rank)
    return choose_device(wanted_device)
