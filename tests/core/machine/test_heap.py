"""Whether freed memory goes back to the system, where it is set up."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from tests.support import commands

pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has these limits")

AS_WINDOW = """
import sys
from desktop.__main__ import main

sys.argv = ["ghostcandle", "--help"]
try:
    main()
except SystemExit:
    pass
"""
BURST = """
import psutil

resident = psutil.Process().memory_info
bytearray(31 << 20)  # freed at once: glibc's limits rise with it
before = resident().rss
large, small = [], []
for _ in range(50):
    large.append(b"1" * (2 << 20))
    small.append(b"1" * 1000)
most = resident().rss
large.clear()
print(before >> 20, most >> 20, resident().rss >> 20, file=sys.__stdout__)
"""
AS_TRAINER = """
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
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=commands.ROOT, check=True
    )
    return [int(number) for number in done.stdout.splitlines()[-1].split()]


def test_a_window_returns_large_blocks_though_small_ones_are_left() -> None:
    before, most, after = printed(AS_WINDOW + BURST)
    assert most - before >= 100 and after - before < 10


def test_a_trainer_does_not_page_in_again_what_a_step_freed() -> None:
    (faults,) = printed(AS_TRAINER)
    assert faults < 2_000, "each of the ten rounds would have some 16,000"
