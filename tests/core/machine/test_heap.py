"""Whether freed memory goes back to the system."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from tests.support import commands

pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has these limits")

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
print((retained - before) >> 20, (resident().rss - before) >> 20)
"""
STEPS = """
import resource
from core.training.engine.device import prepare_thread

prepare_thread()

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

blocks = [b"1" * (8 << 20) for _ in range(8)]
del blocks
before = faults()
for _ in range(10):
    blocks = [b"1" * (8 << 20) for _ in range(8)]
    del blocks
print(faults() - before)
"""


def printed(program: str) -> list[int]:
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, cwd=commands.ROOT, check=True)
    return [int(number) for number in done.stdout.splitlines()[-1].split()]


def test_large_blocks_are_returned_though_small_ones_are_left() -> None:
    retained, left = printed(BURST)
    assert retained >= 20 and left < 10


def test_training_does_not_page_in_again_what_a_step_freed() -> None:
    (faults,) = printed(STEPS)
    assert faults < 2_000, "each of the ten rounds would have some 16,000"
