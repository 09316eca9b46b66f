"""The scores of one horizon as columns, read on from where one was: what the Accuracy dock is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.events import QUANTILE_LEVELS, ForecastMode
from core.storage.database import select
from core.storage.past import NEWEST_VERSION
from core.storage.rows import FLOAT, Row

if TYPE_CHECKING:
    from sqlite_utils import Database

REGIMES = ("calm", "trending", "volatile")
"""The columns of the table `conditions`, which a database from before there were regimes does not have."""
_CLOSE_BYTES = len(QUANTILE_LEVELS) * FLOAT.itemsize
"""The close is the first quantity of a stored forecast."""

# CROSS JOIN: the scores are the outer loop.
_SCORED = f"""
SELECT s.target_open_time_ms, s.after_gap, s.loss, s.range_loss, s.inside_50, s.inside_90, s.direction_hit,
    s.expert_losses, f.origin_close, substr(f.quantiles, 1, {_CLOSE_BYTES}), {{regimes}}
FROM scores AS s CROSS JOIN forecasts AS f
    ON f.run_id = s.run_id AND f.origin_open_time_ms = s.origin_open_time_ms AND f.horizon = s.horizon
{{join}}
WHERE s.run_id = ? AND s.horizon = ? AND s.target_open_time_ms > ? AND s.mode = ?
AND {NEWEST_VERSION}
ORDER BY s.target_open_time_ms LIMIT ?
"""
_CONDITIONS = "LEFT JOIN conditions AS c ON c.run_id = s.run_id AND c.origin_open_time_ms = s.origin_open_time_ms"
_START = """
SELECT target_open_time_ms FROM scores AS s
WHERE run_id = ? AND horizon = ? AND version = 1 ORDER BY target_open_time_ms DESC LIMIT 1 OFFSET ?
"""
_ORIGINS = """
SELECT origin_open_time_ms, origin_close FROM forecasts
WHERE run_id = ? AND horizon = 1 AND origin_open_time_ms > ? ORDER BY origin_open_time_ms LIMIT ?
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

    def __len__(self) -> int:
        return len(self.target_open_time_ms)


class ScoredReader:
    """Reads one run. All methods raise StorageError."""

    def __init__(self, db: Database, run_id: str, own_mode: ForecastMode) -> None:
        """own_mode: forecasts of other modes are scored apart, and so are not read."""
        self._db = db
        self._run_id = run_id
        self._own_mode = own_mode
        has_regimes = bool(select(db, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'conditions'"))
        regimes = ", ".join(f"c.{name}" for name in REGIMES) if has_regimes else "NULL, NULL, NULL"
        self._sql = _SCORED.format(regimes=regimes, join=_CONDITIONS if has_regimes else "")

    def scores(self, horizon: int, after_ms: int, most: int) -> ScoredRows:
        """The first `most` scores of targets that opened after this time, each in its newest version."""
        wanted = (self._run_id, horizon, after_ms, self._own_mode.value, most)
        return _to_columns(select(self._db, self._sql, wanted))

    def start(self, newest: int) -> int:
        """A time after which not many more than the `newest` targets opened, as they are at horizon 1."""
        rows = select(self._db, _START, (self._run_id, 1, newest))
        return int(rows[0][0]) if rows else -(2**63)

    def origins(self, after_ms: int, most: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Of the first `most` candles after this time from which a forecast was made: opening time and close."""
        rows = select(self._db, _ORIGINS, (self._run_id, after_ms, most))
        opened, closes = zip(*rows, strict=True) if rows else ((), ())
        return np.array(opened, dtype=np.int64), np.array(closes, dtype=np.float64)


def _to_columns(rows: Sequence[Row]) -> ScoredRows:
    columns: list[Sequence[object]] = list(zip(*rows, strict=True)) if rows else [()] * 13
    target, after_gap, loss, range_loss, in_50, in_90, hit, losses, origin_close, close, *regimes = columns
    return ScoredRows(
        target_open_time_ms=np.array(target, dtype=np.int64),
        after_gap=np.array(after_gap, dtype=np.bool_),
        loss=np.array(loss, dtype=np.float64),
        range_loss=np.array(range_loss, dtype=np.float64),
        inside_50=np.array(in_50, dtype=np.bool_),
        inside_90=np.array(in_90, dtype=np.bool_),
        direction_hit=np.array([-1 if each is None else each for each in hit], dtype=np.int8),
        losses=tuple(losses),  # type: ignore[arg-type]
        origin_close=np.array(origin_close, dtype=np.float64),
        close=np.frombuffer(b"".join(close), FLOAT).reshape(len(rows), len(QUANTILE_LEVELS)),  # type: ignore[arg-type]
        regime=_likeliest(np.array(regimes, dtype=np.float64).T),
    )


def _likeliest(probabilities: NDArray[np.float64]) -> NDArray[np.int8]:
    """[n, 3], NaN where unknown, to [n]."""
    if not len(probabilities):
        return np.empty(0, dtype=np.int8)
    known = np.isfinite(probabilities).all(axis=1)
    place: NDArray[np.int8] = np.where(known, np.argmax(probabilities, axis=1), -1).astype(np.int8)
    return place
