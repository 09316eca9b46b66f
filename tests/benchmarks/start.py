"""How soon the window is painted: in a new process each time, from exec to the first paint, with an empty data
folder. Compiled modules and the files' pages are warm: the first sample is thrown away."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from time import time
from typing import Any

_ROOT = Path(__file__).resolve().parents[2]
_WITHIN_S = 60.0
_CHILD = """
import os, sys, time
from desktop.ui import paint_in_turn

def tell(self):
    print(time.time(), time.process_time(), len(sys.modules), flush=True)
    os._exit(0)

paint_in_turn.FirstPaint._on_timeout = tell
sys.argv[1:] = ["--feed", "simulate", "--data-dir", sys.argv[1]]
from desktop.__main__ import main
main()
"""


def measure_start(repeats: int) -> dict[str, Any]:
    """Medians and each sample, in seconds: `wall_s`, and `cpu_s`, which other load on the machine changes less. Raises
    CalledProcessError."""
    with tempfile.TemporaryDirectory(prefix="ghostcandle-compiled-") as cache:
        samples = [_start(Path(cache)) for _ in range(repeats + 1)][1:]
    wall_s, cpu_s, modules = (list(column) for column in zip(*samples, strict=True))
    return {
        "wall_s": statistics.median(wall_s),
        "cpu_s": statistics.median(cpu_s),
        "modules": int(modules[0]),
        "samples": {"wall_s": wall_s, "cpu_s": cpu_s},
    }


def _start(cache: Path) -> tuple[float, float, float]:
    with tempfile.TemporaryDirectory(prefix="ghostcandle-start-") as folder:
        command = [sys.executable, "-c", _CHILD, folder]
        compiled = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(cache)}
        environment = {**os.environ, **compiled, "QT_QPA_PLATFORM": "offscreen"}
        began = time()
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, cwd=_ROOT, env=environment, timeout=_WITHIN_S
        )
    painted, cpu_s, modules = (float(number) for number in done.stdout.split())
    return painted - began, cpu_s, modules
