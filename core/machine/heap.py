"""How much freed memory glibc's malloc retains."""

from __future__ import annotations

import ctypes
import sys

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""The numbers of mallopt's parameters in glibc's malloc.h."""
_LARGE_BYTES = 1 << 20
_FREE_BYTES = 8 << 20


def limit_free_heap() -> None:
    """Have glibc return each freed block of a megabyte or more to the system, and in each thread's heap what exceeds 8
    MB at its end. Other systems and C libraries are left alone.

    glibc itself raises both limits with the largest block that was freed, to 32 and 64 MB, so that small blocks among
    large ones retain the memory of all. See mallopt(3).
    """
    if sys.platform != "linux":
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, _LARGE_BYTES)
        mallopt(_TRIM_THRESHOLD, _FREE_BYTES)
