"""The scores of one horizon as columns, read on from where one was: what the Accuracy dock is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.events import ForecastMode
from core.storage.blocks import BlockReader, OnDamage
from core.storage.database import select
from core.storage.packed_scores import MODES, flag
from core.storage.record_tables import RUN

if TYPE_CHECKING:
    from sqlite_utils import Database

REGIMES = ("calm", "trending", "volatile")
"""The columns of the table `conditions`."""
_CONDITIONS = f"""
SELECT origin_open_time_ms, {", ".join(REGIMES)} FROM conditions
WHERE run_id = ? AND origin_open_time_ms BETWEEN ? AND ? ORDER BY origin_open_time_ms
"""
_START = f"""
SELECT target_open_time_ms FROM scores
WHERE run = {RUN} AND version = 1 ORDER BY target_open_time_ms DESC LIMIT 1 OFFSET ?
"""
_ORIGINS = f"""
SELECT origin_open_time_ms, origin_close FROM forecasts
WHERE run = {RUN} AND origin_open_time_ms > ? ORDER BY origin_open_time_ms LIMIT ?
"""
_NTH_ORIGIN = f"""
SELECT origin_open_time_ms FROM forecasts WHERE run = {RUN} ORDER BY origin_open_time_ms LIMIT 1 OFFSET ?
"""


@dataclass(frozen=True, slots=True, eq=False)
class ScoredRows:
    """n scores of one horizon, ascending by target.

    after_gap: a hole lies before the target. direction_hit: 1 hit, 0 missed, -1 not counted. losses: [n], packed
    (`core.forecast.experts.pack_losses`).
    close: [n, level], the quantiles of the close return that were shown. regime: [n], the place in REGIMES of the one
    that was likeliest where the forecast was made; -1 where none is known.
    """

    target_open_time_ms: NDArray[np.int64]
    after_gap: NDArray[np.bool_]
    loss: NDArray[np.float64]
    range_loss: NDArray[np.float64]
    inside_50: NDArray[np.bool_]
    inside_90: NDArray[np.bool_]
    direction_hit: NDArray[np.int8]
    losses: tuple[bytes, ...]
    origin_close: NDArray[np.float64]
    close: NDArray[np.float64]
    regime: NDArray[np.int8]
    read_until_ms: int
    """The newest target that was looked at, also one that is not among them."""
    is_end: bool
    """Whether nothing follows it."""

    def __len__(self) -> int:
        return len(self.target_open_time_ms)


class ScoredReader:
    """Reads one run. All methods raise StorageError."""

    def __init__(
        self, db: Database, run_id: str, own_mode: ForecastMode, on_damage: OnDamage = lambda table, id_: None
    ) -> None:
        """own_mode: forecasts of other modes are scored apart, and so are not read."""
        self._db = db
        self._run_id = run_id
        self._own_mode = own_mode
        self._blocks = BlockReader(db, run_id, on_damage)

    def scores(self, horizon: int, after_ms: int, most: int) -> ScoredRows:
        """Scores among the first `most` targets that opened after this time, each in its newest version."""
        block = self._blocks.scores(horizon, after_ms + 1, most=most, with_losses=True)
        block = block.taken(block.records["mode"] == MODES[self._own_mode])
        block, made = self._blocks.with_forecasts(block)
        records = block.records
        return ScoredRows(
            target_open_time_ms=block.target_open_time_ms,
            after_gap=flag(records, "after_gap"),
            loss=records["loss"].astype(np.float64),
            range_loss=records["range_loss"].astype(np.float64),
            inside_50=flag(records, "inside_50"),
            inside_90=flag(records, "inside_90"),
            direction_hit=records["direction_hit"].astype(np.int8),
            losses=tuple(block.losses),
            origin_close=made.origin_close,
            close=made.quantiles[:, 0],
            regime=self._regimes(records["origin_open_time_ms"].astype(np.int64)),
            read_until_ms=block.read_until_ms,
            is_end=block.is_end,
        )

    def start(self, newest: int) -> int:
        """A time after which not many more than the `newest` targets opened, as they are at horizon 1."""
        rows = select(self._db, _START, (self._run_id, newest))
        return int(rows[0][0]) if rows else -(2**63)

    def nth_origin(self, number: int) -> int | None:
        """The opening time of the candle from which forecast `number` (from 0 on) was made; None before there is."""
        rows = select(self._db, _NTH_ORIGIN, (self._run_id, number))
        return int(rows[0][0]) if rows else None

    def origins(self, after_ms: int, most: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Of the first `most` candles after this time from which a forecast was made: opening time and close."""
        rows = select(self._db, _ORIGINS, (self._run_id, after_ms, most))
        opened, closes = zip(*rows, strict=True) if rows else ((), ())
        return np.array(opened, dtype=np.int64), np.array(closes, dtype=np.float64)

    def _regimes(self, origins: NDArray[np.int64]) -> NDArray[np.int8]:
        """Of the market at these candles, [n]: the place in REGIMES of the likeliest, -1 where none is known."""
        place = np.full(len(origins), -1, dtype=np.int8)
        if not len(origins):
            return place
        rows = select(self._db, _CONDITIONS, (self._run_id, int(origins.min()), int(origins.max())))
        if not rows:
            return place
        table = np.array(rows, dtype=np.float64)
        times = np.array([row[0] for row in rows], dtype=np.int64)
        at = np.minimum(np.searchsorted(times, origins), len(times) - 1)
        known = (times[at] == origins) & np.isfinite(table[at, 1:]).all(axis=1)
        place[known] = np.argmax(table[at[known], 1:], axis=1)
        return place
