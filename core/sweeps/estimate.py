"""How long a sweep takes and how much disk it needs, before it begins and while it runs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from core.files.durable import write_durably
from core.sweeps.grid import Extent
from core.sweeps.rows import CellRow, CellState

RATE_FILE = "rate.json"
"""In the folder of all sweeps: the rate of the newest."""
_GUESSED_S = 1.0 / 30.0
"""A candle of the default model on a core of a laptop of 2020, with training on."""
_STORED_BYTES_PER_CANDLE, _STORED_BYTES_PER_CELL = 18, 700
_TEMPORARY_BYTES_PER_CANDLE, _TEMPORARY_BYTES = 14_000, 25_000_000
"""The folder of an evaluation: its record, and its checkpoints."""


@dataclass(frozen=True, slots=True)
class Rate:
    """Seconds for each candle of a cell. source: in words, as a guess is to be called one."""

    seconds_per_candle: float
    source: str


def rate_of(rows: Iterable[CellRow]) -> Rate | None:
    """As measured by the cells of this sweep that are done; None before the first."""
    done = [row for row in rows if row.state is CellState.DONE and row.seconds and row.candles]
    seconds, candles = sum(row.seconds or 0.0 for row in done), sum(row.candles or 0 for row in done)
    return Rate(seconds / candles, f"measured by {len(done):,} cells of this sweep") if candles else None


def stored_rate(sweeps: Path) -> Rate:
    """The rate of the newest sweep here, else a guess."""
    try:
        seconds = float(json.loads((sweeps / RATE_FILE).read_text(encoding="utf-8"))["seconds_per_candle"])
    except (OSError, ValueError, KeyError, TypeError):
        return Rate(_GUESSED_S, "a guess: nothing was measured on this machine yet")
    return Rate(seconds, "a guess from the newest sweep here, whose models may have been larger or smaller")


def store_rate(sweeps: Path, rate: Rate) -> None:
    """Raises OSError."""
    sweeps.mkdir(parents=True, exist_ok=True)
    write_durably(sweeps / RATE_FILE, json.dumps({"seconds_per_candle": rate.seconds_per_candle}).encode())


def seconds_for(candles: int, workers: int, rate: Rate) -> float:
    return candles * rate.seconds_per_candle / workers


def table_bytes(extent: Extent) -> int:
    """What stays in the sweep's folder."""
    return extent.cells * _STORED_BYTES_PER_CELL + extent.candles * _STORED_BYTES_PER_CANDLE


def temporary_bytes(extent: Extent, workers: int) -> int:
    """What the cells that run at once have on their machines until they end."""
    largest = extent.candles // max(extent.cells, 1)
    return min(workers, extent.cells) * (_TEMPORARY_BYTES + largest * _TEMPORARY_BYTES_PER_CANDLE)
