"""Chooses the device, and sets up the thread that trains."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from core.training.engine.device_faults import DeviceError


@dataclass(frozen=True, slots=True)
class Device:
    """A usable device and its label."""

    torch_device: torch.device
    label: str


def choose_device(wanted: str) -> Device:
    """``auto`` uses CUDA if a first product on it is correct, else the CPU. Raises DeviceError."""
    if wanted == "cpu":
        return _cpu()
    problem = _cuda_problem()
    if problem is None:
        return Device(torch.device("cuda"), f"CUDA: {torch.cuda.get_device_name(0)}")
    if wanted == "cuda":
        raise DeviceError(f"CUDA cannot be used: {problem}. Start with --device cpu, or auto.")
    return _cpu()


def prepare_thread() -> None:
    """Set up the calling thread for training: one CPU thread for now, for reproducible results (see
    `core.training.hosting.threads`); denormals flushed, so that tiny moments do not slow steps down."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)


def release_thread() -> None:
    """Restore the calling thread: other code on it may rely on denormals."""
    torch.set_flush_denormal(False)


def cpu_label(threads: int) -> str:
    return f"CPU, {threads} thread{'' if threads == 1 else 's'}"


def _cpu() -> Device:
    return Device(torch.device("cpu"), cpu_label(1))


def _cuda_problem() -> str | None:
    if not torch.cuda.is_available():
        return "this build of torch has no CUDA" if torch.version.cuda is None else "no CUDA device was found"
    try:
        product = torch.ones(8, 8, device="cuda") @ torch.ones(8, 8, device="cuda")
        return None if bool((product == 8.0).all()) else "the device computed a wrong product"
    except RuntimeError as error:
        return str(error).splitlines()[0]
