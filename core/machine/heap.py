"""How much freed memory glibc's malloc retains. Other systems and C libraries are left alone.

glibc itself raises its limits with the largest block that was freed, to 32 and 64 MB. See mallopt(3).
"""

from __future__ import annotations

import ctypes
import sys

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""The numbers of mallopt's parameters in glibc's malloc.h."""
_MB = 1 << 20


def return_freed_memory() -> None:
    """Have each freed block of a megabyte or more returned to the system, and in each thread's heap what exceeds 8 MB
    at its end. For a process whose needs vary: small blocks among large ones retain the memory of all."""
    _limit(block_bytes=_MB, end_bytes=8 * _MB)


def retain_freed_memory() -> None:
    """Have freed memory retained. For training, of which each step takes the same blocks again: the system would clear
    and map each page again, which cost 5 to 11 % of the time."""
    _limit(block_bytes=32 * _MB, end_bytes=256 * _MB)  # glibc allows no larger blocks


def _limit(block_bytes: int, end_bytes: int) -> None:
    if sys.platform != "linux":
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, block_bytes)
        mallopt(_TRIM_THRESHOLD, end_bytes)
