"""Classifies an exception by its device fault: out of memory, unusable in this process, or device gone.

It uses the error's number, if any. The numbers are CUDA's `cudaError` (driver_types.h of the toolkit, CUDA 13.0), in
`torch.AcceleratorError.error_code`. Texts are used only if torch raises a plain RuntimeError, as for the states of
cuBLAS and cuDNN (c10's Exceptions.h; cublasStatus_t and cudnnStatus_t in their manuals). Imports no torch: an error of
torch can only occur if torch is loaded already.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from enum import StrEnum


class DeviceError(Exception):
    """A requested device cannot be used. The message is a sentence for the user."""


class DeviceFault(StrEnum):
    """Each needs another response: use less memory; restart the process; change the device."""

    NONE = "none"
    OUT_OF_MEMORY = "out of memory"
    STICKY = "sticky device error"
    GONE = "device gone"


_OUT_OF_MEMORY_CODES = frozenset({2})
_STICKY_CODES = frozenset({226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911})
"""Codes after which, by the header, all CUDA work fails and the process must be relaunched."""
_DEAD_CONTEXT_CODES = frozenset({214, 220, 709})
"""Uncorrectable memory or link errors and a destroyed context: undocumented, but nothing works afterwards either."""
_GONE_CODES = frozenset({3, 34, 35, 46, 100, 101, 102, 304, 802, 803, 804, 805, 807, 999})
"""No driver, no device, or a device that is not available; 999 is reported by a card that fell off the bus."""

_OUT_OF_MEMORY_TEXTS = (
    "DefaultCPUAllocator: can't allocate memory",
    "DefaultCPUAllocator: not enough memory",  # Windows
    "CUDA out of memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "CUDNN_STATUS_ALLOC_FAILED",
    "CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED",
    "CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED",
)
_STICKY_TEXTS = (
    "an illegal memory access was encountered",
    "device-side assert triggered",
    "unspecified launch failure",
    "misaligned address",
    "an illegal instruction was encountered",
    "the launch timed out and was terminated",
    "CUBLAS_STATUS_EXECUTION_FAILED",
    "CUBLAS_STATUS_INTERNAL_ERROR",
    "CUBLAS_STATUS_MAPPING_ERROR",
    "CUBLAS_STATUS_NOT_INITIALIZED",
    "CUDNN_STATUS_EXECUTION_FAILED",
    "CUDNN_STATUS_INTERNAL_ERROR",
    "CUDNN_STATUS_MAPPING_ERROR",
    "CUDNN_STATUS_NOT_INITIALIZED",
)
"""States of a kernel or the library that failed on the device: torch raises a RuntimeError without a number for them,
and the next use of the handle fails too. A new process makes new handles. States that blame the call (INVALID_VALUE,
NOT_SUPPORTED, ARCH_MISMATCH) are no device faults."""
_GONE_TEXTS = (
    "No CUDA GPUs are available",
    "no CUDA-capable device",
    "CUDA-capable device(s) is/are busy or unavailable",
    "Found no NVIDIA driver",
    "CUDA unknown error",
)


def classify(error: BaseException) -> DeviceFault:
    """The device fault of this error, or of the one it was raised from; else NONE."""
    faults = (_classify_one(link) for link in _chain(error))
    return next((fault for fault in faults if fault is not DeviceFault.NONE), DeviceFault.NONE)


def _classify_one(error: BaseException) -> DeviceFault:
    if isinstance(error, MemoryError):
        return DeviceFault.OUT_OF_MEMORY
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(error, RuntimeError):
        return DeviceFault.NONE
    if isinstance(error, torch.OutOfMemoryError):
        return DeviceFault.OUT_OF_MEMORY
    code = getattr(error, "error_code", None) if isinstance(error, torch.AcceleratorError) else None
    return _by_text(str(error)) if code is None else _by_code(int(code))


def _by_code(code: int) -> DeviceFault:
    if code in _OUT_OF_MEMORY_CODES:
        return DeviceFault.OUT_OF_MEMORY
    if code in _STICKY_CODES | _DEAD_CONTEXT_CODES:
        return DeviceFault.STICKY
    return DeviceFault.GONE if code in _GONE_CODES else DeviceFault.NONE


def _by_text(text: str) -> DeviceFault:
    for texts, fault in (
        (_OUT_OF_MEMORY_TEXTS, DeviceFault.OUT_OF_MEMORY),
        (_STICKY_TEXTS, DeviceFault.STICKY),
        (_GONE_TEXTS, DeviceFault.GONE),
    ):
        if any(part in text for part in texts):
            return fault
    return DeviceFault.NONE


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and its causes. A chain can be made to loop, so each is visited once."""
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
