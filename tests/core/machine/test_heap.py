"""Freed memory goes back to the system although small blocks are left among it."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from tests.support import commands

BURST = """
import psutil

from core.machine.heap import return_freed_memory

resident = psutil.Process().memory_info
bytearray(31 << 20)  # freed at once: glibc retains larger blocks from then on
before = resident().rss
large, small = [], []
for _ in range(50):
    large.append(b"1" * (2 << 20))
    small.append(b"1" * 1000)
large.clear()
retained = resident().rss
return_freed_memory()
print(retained - before, resident().rss - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc is asked")
def test_large_blocks_are_returned_though_small_ones_are_left() -> None:
    done = subprocess.run([sys.executable, "-c", BURST], capture_output=True, text=True, cwd=commands.ROOT, check=True)
    retained, left = (int(number) >> 20 for number in done.stdout.split())
    assert retained >= 20 and left < 10
