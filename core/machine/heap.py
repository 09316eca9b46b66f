"""Freed memory that glibc's malloc retains. Other systems and C libraries are left alone."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""The numbers of mallopt's parameters in glibc's malloc.h."""
_MB = 1 << 20


def retain_freed_memory() -> None:
    """Have freed memory retained, until `return_freed_memory`. For training, of which each step takes the same blocks
    again: the system would clear and map each page again, which cost 5 to 11 % of the time. See mallopt(3)."""
    mallopt = _of_glibc("mallopt")
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, 32 * _MB)  # the largest that glibc accepts
        mallopt(_TRIM_THRESHOLD, 256 * _MB)


def return_freed_memory() -> None:
    """Return all free pages of the process to the system: some milliseconds, in which other threads may wait for
    memory.

    By itself glibc returns only the ends of its heaps, so that small blocks among large ones retain the memory of all.
    See malloc_trim(3).
    """
    trim = _of_glibc("malloc_trim")
    if trim is not None:
        trim(0)


def _of_glibc(name: str) -> Callable[..., int] | None:
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None
