"""Brings a batch to the device: to a GPU by one copy from pinned memory, to the same addresses each time.

A copy from pageable memory first waits for the stream (*API synchronization behavior*, CUDA Runtime API), and a
captured step reads its batch where it was captured.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

_ALIGNMENT = 256
_KEPT = 8
"""Sets of shapes whose memory is kept: of steps, forecasts and their regimes, with a late market and without, and the
scores of a checkpoint, whose number varies."""
_Form = tuple[tuple[int, ...], bool]
"""An array's shape, and whether it holds flags."""


class Staging:
    """Owns the memory that batches pass through. dtype: of numbers on the device."""

    def __init__(self, device: torch.device, dtype: torch.dtype, *, is_fixed: bool) -> None:
        """is_fixed: arrays of the same shapes come to the same tensors. Else, on a CPU, none is copied without need."""
        self._device, self._dtype, self._is_fixed = device, dtype, is_fixed
        self._memory = functools.lru_cache(_KEPT)(lambda *forms: _Memory(device, dtype, forms))

    def place(self, *arrays: NDArray[Any]) -> tuple[Tensor, ...]:
        """The arrays on the device, valid until the next call with arrays of the same shapes."""
        if self._is_fixed:
            return self._memory(*((array.shape, array.dtype == np.bool_) for array in arrays)).place(arrays)
        given = (torch.from_numpy(np.ascontiguousarray(array)) for array in arrays)
        return tuple(each if each.dtype == torch.bool else each.to(self._dtype) for each in given)


class _Memory:
    """Memory for arrays of some shapes, one behind the other: the device's, and pinned memory to copy from."""

    def __init__(self, device: torch.device, dtype: torch.dtype, forms: Sequence[_Form]) -> None:
        size = sum(_bytes_of(form, dtype) for form in forms)
        is_cuda = device.type == "cuda"
        self._host = torch.empty(size, dtype=torch.uint8, pin_memory=is_cuda)
        self._device = torch.empty(size, dtype=torch.uint8, device=device) if is_cuda else self._host
        self._arrays = [each.numpy() for each in _views(self._host, dtype, forms)]
        self._tensors = tuple(_views(self._device, dtype, forms))
        self._copied = torch.cuda.Event() if is_cuda else None  # type: ignore[no-untyped-call]

    def place(self, arrays: Sequence[NDArray[Any]]) -> tuple[Tensor, ...]:
        if self._copied is not None:
            self._copied.synchronize()  # after a step that raised, its copy may not have been made yet
        for own, array in zip(self._arrays, arrays, strict=True):
            np.copyto(own, array, casting="same_kind")
        if self._copied is not None:
            self._device.copy_(self._host, non_blocking=True)
            self._copied.record()
        return self._tensors


def _bytes_of(form: _Form, dtype: torch.dtype) -> int:
    """Rounded up, so that the next array is aligned."""
    shape, is_flag = form
    return -(-math.prod(shape) * (1 if is_flag else dtype.itemsize) // _ALIGNMENT) * _ALIGNMENT


def _views(memory: Tensor, dtype: torch.dtype, forms: Sequence[_Form]) -> Iterator[Tensor]:
    start = 0
    for shape, is_flag in forms:
        kind = torch.bool if is_flag else dtype
        size = math.prod(shape) * kind.itemsize
        yield memory[start : start + size].view(kind).view(shape)
        start += _bytes_of((shape, is_flag), dtype)
