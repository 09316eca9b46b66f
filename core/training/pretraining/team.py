"""The processes that pretrain one model together: one alone, or those that torchrun started.

Whatever decides how the work goes on is decided by all of them alike; else one would wait for the others for ever.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

import torch
from torch import distributed, nn

from core.domain.quantities import FloatArray
from core.training.engine.device import Device, choose_device
from core.training.engine.device_faults import DeviceError
from core.training.engine.replicas import DistributedReplicas, Replicas
from core.training.pretraining.errors import PretrainingError

_VARIABLES = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")


class Team(Protocol):
    """Seen from one of its processes. Every method is called by all of them, in the same order."""

    @property
    def device(self) -> Device: ...

    @property
    def rank(self) -> int:
        """This process's number; 0 is the one that writes and speaks."""
        ...

    @property
    def world_size(self) -> int: ...

    @property
    def join(self) -> Callable[[nn.Module], Replicas] | None:
        """Makes a model one of several replicas; None where there is only one."""
        ...

    def any(self, flag: bool) -> bool:
        """Whether it is true in one of them."""
        ...

    def total(self, numbers: FloatArray) -> FloatArray:
        """The sum over all of them."""
        ...

    def first_ones(self, number: int) -> int:
        """The number that process 0 names."""
        ...


class Alone:
    """One process."""

    rank = 0
    world_size = 1
    join = None

    def __init__(self, device: Device) -> None:
        self.device = device

    def any(self, flag: bool) -> bool:
        return flag

    def total(self, numbers: FloatArray) -> FloatArray:
        return numbers

    def first_ones(self, number: int) -> int:
        return number


class Joined:
    """One of several processes. The default group must stand. What is agreed on goes over gloo, past the GPU."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.rank = distributed.get_rank()
        self.world_size = distributed.get_world_size()

    @property
    def join(self) -> Callable[[nn.Module], Replicas]:
        return DistributedReplicas

    def any(self, flag: bool) -> bool:
        raised = torch.tensor(int(flag))
        distributed.all_reduce(raised, distributed.ReduceOp.MAX)
        return bool(raised)

    def total(self, numbers: FloatArray) -> FloatArray:
        summed = torch.from_numpy(numbers.copy())
        distributed.all_reduce(summed)
        total: FloatArray = summed.numpy()
        return total

    def first_ones(self, number: int) -> int:
        shared = torch.tensor(number, dtype=torch.int64)
        distributed.broadcast(shared, 0)
        return int(shared)


def is_one_of_several(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether torchrun (or something that speaks like it) started this process."""
    return "RANK" in environment and "WORLD_SIZE" in environment


@contextlib.contextmanager
def gather(wanted_device: str, environment: Mapping[str, str] = os.environ) -> Iterator[Team]:
    """Join the other processes, where there are some. Raises DeviceError and PretrainingError."""
    if not is_one_of_several(environment):
        yield Alone(choose_device(wanted_device))
        return
    missing = [name for name in _VARIABLES if name not in environment]
    if missing:
        raise PretrainingError(
            f"RANK and WORLD_SIZE are set, so this is one of several processes, but without {', '.join(missing)}. "
            "Start them with torchrun, or unset RANK and WORLD_SIZE."
        )
    yield from _together(wanted_device, int(environment["LOCAL_RANK"]))


def _together(wanted_device: str, local_rank: int) -> Iterator[Team]:
    """Left with an exception of its own, the group is not taken apart: that would wait for processes that may be gone.
    PretrainingError is raised by all alike."""
    device = _own_device(wanted_device, local_rank)
    is_cuda = device.torch_device.type == "cuda"
    try:
        distributed.init_process_group("cpu:gloo,cuda:nccl" if is_cuda else "gloo")
    except (RuntimeError, ValueError) as error:
        raise PretrainingError(f"The processes could not find each other: {str(error).splitlines()[0]}.") from error
    team = Joined(device)
    if team.any(is_cuda) and team.any(not is_cuda):
        raise PretrainingError("Some processes have CUDA and some have not. Start all with --device cpu.")
    try:
        yield team
    except PretrainingError:
        distributed.destroy_process_group()
        raise
    distributed.destroy_process_group()


def _own_device(wanted_device: str, local_rank: int) -> Device:
    """Each process on a machine takes the GPU of its number."""
    if wanted_device != "cpu" and torch.cuda.is_available():
        count = torch.cuda.device_count()
        if local_rank >= count:
            raise DeviceError(
                f"This machine has {count} GPUs, and a process for each: number {local_rank + 1} has none. "
                f"Start with --nproc-per-node {count}, or with --device cpu."
            )
        torch.cuda.set_device(local_rank)
    device = choose_device(wanted_device)
    if device.torch_device.type != "cuda":
        return device
    return Device(torch.device("cuda", local_rank), device.label)
