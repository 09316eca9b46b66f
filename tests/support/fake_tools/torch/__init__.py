"""As much of torch as the choice of a device asks for, on a machine that is described in FAKE_MACHINE.

It refuses GPUs as torch 2.13 does: an old driver and an old card are warned of, and an old card raises at the first
product (torch/cuda/__init__.py; c10/cuda/CUDAFunctions.cpp).
"""

from __future__ import annotations

import warnings
from types import SimpleNamespace
from typing import Any

from tests.support.machines import FakeMachine, described

_machine: FakeMachine = described()
__version__ = _machine.torch
version = SimpleNamespace(cuda=_machine.cuda, hip=_machine.hip, xpu=None)
_current = 0


class AcceleratorError(RuntimeError):
    pass


class OutOfMemoryError(RuntimeError):
    pass


class device:  # noqa: N801 - torch's name
    def __init__(self, kind: str, index: int | None = None) -> None:
        self.type, self.index = kind, index


class _Ones:
    def __init__(self, place: device) -> None:
        gpu = _machine.seen_by_cuda[place.index or 0]
        if gpu.capability < _machine.oldest_capability:
            number = "{}.{}".format(*gpu.capability)
            warnings.warn(
                f"Found GPU0 {gpu.name} which is of compute capability (CC) {number}.\nThe list", stacklevel=2
            )
            raise AcceleratorError("CUDA error: no kernel image is available for execution on the device\nCompile with")

    def __matmul__(self, other: object) -> _Ones:
        return self

    def __eq__(self, other: object) -> Any:
        return SimpleNamespace(all=lambda: True)

    __hash__ = None  # type: ignore[assignment]


def ones(*size: int, device: device) -> _Ones:
    return _Ones(device)


def _is_available() -> bool:
    if _machine.cuda is None and _machine.hip is None:
        return False
    if _machine.hip is None and not _machine.driver:
        return False  # without a word, as torch does
    if _machine.is_driver_replaced:
        warnings.warn(
            "CUDA initialization: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before "
            "calling NumCudaDevices() that might have already set an error? Error 803: system has unsupported display "
            "driver / cuda driver combination (Triggered internally at c10/cuda/CUDAFunctions.cpp:109.)",
            stacklevel=2,
        )
        return False
    if _machine.hip is None and _machine.driver_number < _machine.oldest_driver:
        warnings.warn(
            "CUDA initialization: The NVIDIA driver on your system is too old (found version 12040). Please update "
            "your GPU driver. (Triggered internally at c10/cuda/CUDAFunctions.cpp:109.)",
            stacklevel=2,
        )
        return False
    return bool(_machine.seen_by_cuda)


def _set_device(index: int) -> None:
    global _current
    _current = index


cuda = SimpleNamespace(
    is_available=_is_available,
    device_count=lambda: len(_machine.seen_by_cuda) if _is_available() else 0,
    current_device=lambda: _current,
    set_device=_set_device,
    get_device_name=lambda place: _machine.seen_by_cuda[place.index].name,
    get_arch_list=lambda: ["sm_75", "sm_80", "sm_90"] if _machine.cuda else [],
)
