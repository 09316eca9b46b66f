"""How much faster a sweep is on several workers than one cell after the other."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.domain.candle import Interval
from core.domain.clock import Clock
from tests.support.candles import random_walk, write_csv

ROOT = Path(__file__).resolve().parents[2]
_MINUTE = Interval(60_000)
_PLAN = """
files = "*.csv"
models = ["transformer", "nlinear"]
seeds = [1, 2]
candles = {candles}
[settings]
training.learning_rate = [1e-5, 3e-5]
"""
CELLS = 24


def measure_sweep(
    folder: Path, candles: int, workers: int, options: tuple[str, ...], clock: Clock, say: Callable[[str], object]
) -> dict[str, Any]:
    """CELLS cells on one worker and on `workers`: seconds of the whole command, their ratio, and whether the tables
    have the same bytes."""
    for number in range(3):
        write_csv(folder / f"market-{number}.csv", random_walk(candles, seed=number, interval=_MINUTE))
    (folder / "SWEEP.toml").write_text(_PLAN.format(candles=candles))
    found = {}
    for count in (1, workers):
        say(f"{CELLS} cells on {count} of {workers} workers")
        began_s = clock.monotonic_s()
        digest = _run(folder, count, options)
        found[count] = clock.monotonic_s() - began_s, digest
    (one_s, first), (many_s, second) = found[1], found[workers]
    return {
        "candles": candles,
        "workers": workers,
        "one_s": round(one_s, 1),
        "many_s": round(many_s, 1),
        "times_as_fast": round(one_s / many_s, 3),
        "same_bytes": first == second,
    }


def _run(folder: Path, workers: int, options: tuple[str, ...]) -> str:
    place = ("--folder", str(folder / f"on-{workers}"), "--data-dir", str(folder / "data"))
    command = [sys.executable, "-m", "desktop", "sweep", str(folder / "SWEEP.toml"), "--workers", str(workers)]
    done = subprocess.run([*command, *place, *options, "--json"], stdout=subprocess.PIPE, check=True, cwd=ROOT)
    found = json.loads(done.stdout)
    assert found["done"] == CELLS, found
    return str(found["digest"])
