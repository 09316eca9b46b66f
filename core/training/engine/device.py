"""Chooses the device, and sets up the thread that trains."""

from __future__ import annotations

import logging
import warnings
from dataclasses import dataclass

import torch

from core.domain.counts import counted
from core.machine.heap import retain_freed_memory
from core.training.engine.device_faults import DeviceError

_NO_GPU = ("no CUDA device was found", "this build of torch has no CUDA")
"""The reasons for a build of torch with CUDA and for one without."""
_log = logging.getLogger("ghostcandle.training")


@dataclass(frozen=True, slots=True)
class Device:
    """A usable device and its label."""

    torch_device: torch.device
    label: str


def choose_device(requested: str) -> Device:
    """``auto`` uses CUDA if a first product on it is correct, else the CPU. ``cuda:1`` is that GPU, which becomes the
    calling thread's current one. Raises DeviceError."""
    cpu = Device(torch.device("cpu"), cpu_label(1))
    if requested == "cpu":
        return cpu
    try:
        return _cuda(requested)
    except DeviceError as error:
        if requested == "auto":
            if str(error) not in _NO_GPU:
                _log.warning("Training uses the CPU: %s. `ghostcandle doctor` names the cure.", error)
            return cpu
        name = "CUDA" if requested == "cuda" else requested
        raise DeviceError(f"{name} cannot be used: {error}. Start with --device cpu, or auto.") from error


def prepare_thread() -> None:
    """Set up the calling thread for training: one CPU thread for now, for reproducible results (see
    `core.training.hosting.threads`); denormals flushed, so that tiny moments do not slow steps down. Its process
    retains the memory that a step frees."""
    retain_freed_memory()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)


def release_thread() -> None:
    """Restore the calling thread: other code on it may rely on denormals."""
    torch.set_flush_denormal(False)


def cpu_label(threads: int) -> str:
    return f"CPU, {counted(threads, 'thread')}"


def _cuda(requested: str) -> Device:
    """Raises DeviceError with the reason. torch only warns of old drivers and old GPUs, and its first use of CUDA may
    raise any kind of error: DeferredCudaCallError is a plain Exception."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            return _try_cuda(requested)
        except Exception as error:
            reasons = [_first_line(error), *(f"torch: {_first_line(each.message)}" for each in caught)]
            raise DeviceError("; ".join(dict.fromkeys(reasons))) from error


def _try_cuda(requested: str) -> Device:
    if torch.version.hip is not None:  # ROCm answers to the name of CUDA
        raise DeviceError("this build of torch is for AMD GPUs (ROCm), which are not supported")
    if not torch.cuda.is_available():
        raise DeviceError(_NO_GPU[torch.version.cuda is None])
    if requested.startswith("cuda:"):
        index, count = int(requested.removeprefix("cuda:")), torch.cuda.device_count()
        if index >= count:
            raise DeviceError(f"torch finds {counted(count, 'GPU')}, and the first is cuda:0")
        torch.cuda.set_device(index)
    device = torch.device("cuda", torch.cuda.current_device())
    product = torch.ones(8, 8, device=device) @ torch.ones(8, 8, device=device)
    if not bool((product == 8.0).all()):
        raise DeviceError("the device computed a wrong product")
    return Device(device, f"CUDA: {torch.cuda.get_device_name(device)}")


def _first_line(message: object) -> str:
    """A warning's first line, without the place in torch's source at its end and without the full stop."""
    line = str(message).strip().partition("\n")[0]
    return line.partition(" (Triggered internally")[0].rstrip(".")
