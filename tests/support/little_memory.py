"""A memory limit for tests of attacks that would otherwise use all memory of the computer."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_MORE_BYTES = 2 << 30


@contextmanager
def little_memory() -> Iterator[None]:
    """On Linux this process may take 2 GiB more meanwhile; elsewhere nothing is bounded."""
    if sys.platform != "linux":
        yield
        return
    import resource  # noqa: PLC0415 - not on Windows

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + _MORE_BYTES, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
