"""Freed memory goes back to the system although small blocks are left among it."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import commands

AS_WINDOW = """
import sys
from desktop.__main__ import main

sys.argv = ["ghostcandle", "--help"]
try:
    main()
except SystemExit:
    pass
"""
AS_TRAINER = """
import sys, types
from multiprocessing import Pipe
from pathlib import Path
from core.settings.tree import Settings
from core.training.hosting.trainer_process import run_trainer
from core.training.online.trainer_spec import SessionSpec
from tests.support.candles import MARKET

sys.modules["core.training.hosting.service"] = types.SimpleNamespace(TrainingService=None)  # no torch, which is slow
parent, child = Pipe()
parent.close()
run_trainer(SessionSpec(Path(sys.argv[1]), MARKET, Settings()), child)
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
print(before, most, resident().rss, file=sys.__stdout__)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc is limited")
@pytest.mark.parametrize("started", [AS_WINDOW, AS_TRAINER], ids=["window", "trainer"])
def test_large_blocks_are_returned_though_small_ones_are_left(tmp_path: Path, started: str) -> None:
    command = [sys.executable, "-c", started + BURST, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=commands.ROOT, check=True)
    before, most, after = (int(number) >> 20 for number in done.stdout.splitlines()[-1].split())
    assert most - before >= 100 and after - before < 10
