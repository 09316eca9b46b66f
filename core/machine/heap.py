"""Freed memory that glibc's malloc retains."""

from __future__ import annotations

import ctypes
import sys


def return_freed_memory() -> None:
    """Have glibc return all free pages of the process to the system: some milliseconds, in which other threads may wait
    for memory. Other systems and C libraries are left alone.

    By itself glibc returns only the ends of its heaps, so that small blocks among large ones retain the memory of all.
    See malloc_trim(3).
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)
