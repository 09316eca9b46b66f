"""The scores of one horizon as columns, read incrementally for the Accuracy dock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.domain.events import ForecastMode
from core.storage.checksums import Row
from core.storage.database import select
from core.storage.packed_scores import MODES, flag
from core.storage.record_tables import RUN, scores_at
from core.storage.records import SHOWN_LOSSES
from core.storage.score_blocks import BlockReader, OnDamage, Origins, ScoreBlock

if TYPE_CHECKING:
    from sqlite_utils import Database

_START = f"""
SELECT target_open_time_ms FROM scores
WHERE run = {RUN} AND version = 1 ORDER BY target_open_time_ms DESC LIMIT 1 OFFSET ?
"""
_NTH_ORIGIN = f"""
SELECT origin_open_time_ms FROM forecasts WHERE run = {RUN} ORDER BY origin_open_time_ms LIMIT 1 OFFSET ?
"""


@dataclass(frozen=True, slots=True, eq=False)
class ScoredRows:
    """n scores of one horizon, ascending by target.

    after_gap: a hole lies before the target. direction_hit: 1 hit, 0 missed, -1 not counted. losses: [n], packed
    (`core.forecast.experts.pack_losses`).
    close: [n, level], the quantiles of the close return that were shown. regime: [n], the place in REGIME_COLUMNS of
    the one that was likeliest where the forecast was made; -1 where none is known.
    """

    target_open_time_ms: NDArray[np.int64]
    after_gap: NDArray[np.bool_]
    loss: NDArray[np.float64]
    range_loss: NDArray[np.float64]
    body_loss: NDArray[np.float64]
    """Of the shown forecast, like the two above; NaN in old scores. Also the three below."""
    upper_wick_loss: NDArray[np.float64]
    lower_wick_loss: NDArray[np.float64]
    volume_loss: NDArray[np.float64]
    inside_50: NDArray[np.bool_]
    inside_90: NDArray[np.bool_]
    direction_hit: NDArray[np.int8]
    losses: tuple[bytes, ...]
    origin_close: NDArray[np.float64]
    close: NDArray[np.float64]
    regime: NDArray[np.int8]
    read_until_ms: int
    """The newest target read, even if it is not among these scores."""
    is_end: bool
    """Whether it is the last one."""

    def __len__(self) -> int:
        return len(self.target_open_time_ms)


class ScoredReader:
    """Reads one run. All methods raise StorageError."""

    def __init__(self, db: Database, run_id: str, own_mode: ForecastMode, on_damage: OnDamage) -> None:
        """own_mode: forecasts of other modes are scored separately, and are not read."""
        self._db = db
        self._run_id = run_id
        self._own_mode = own_mode
        self._blocks = BlockReader(db, run_id, on_damage)

    def scores(self, horizons: Sequence[int], after_ms: int, most: int) -> dict[int, ScoredRows]:
        """Scores among the first `most` targets that opened after this time, each in its newest version, by horizon.

        horizons: those that are stored together: the first one, or further ones."""
        table = scores_at(horizons[0])
        block = self._blocks.scores(table, after_ms + 1, most=most, with_losses=True)
        forecasts = self._blocks.forecasts(block)
        regimes = {origin: regime.index(max(regime)) for origin, regime in self._blocks.regimes(block).items()}
        return {horizon: self._rows(block.at(horizon).newest, forecasts, regimes) for horizon in horizons}

    def _rows(self, block: ScoreBlock, forecasts: dict[int, Row], regimes: dict[int, int]) -> ScoredRows:
        block = block.taken(block.records["mode"] == MODES[self._own_mode])
        block, made = self._blocks.with_forecasts(block, forecasts)
        records = block.records
        regime = [regimes.get(origin, -1) for origin in records["origin_open_time_ms"].tolist()]
        return ScoredRows(
            target_open_time_ms=block.target_open_time_ms,
            after_gap=flag(records, "after_gap"),
            **{name: records[name].astype(np.float64) for name in SHOWN_LOSSES.values()},
            inside_50=flag(records, "inside_50"),
            inside_90=flag(records, "inside_90"),
            direction_hit=records["direction_hit"].astype(np.int8),
            losses=tuple(block.losses),
            origin_close=made.origin_close,
            close=made.quantiles[:, 0],
            regime=np.array(regime, dtype=np.int8),
            read_until_ms=block.read_until_ms,
            is_end=block.is_end,
        )

    def start(self, newest: int) -> int:
        """A time after which slightly more than the `newest` targets opened, by horizon 1."""
        rows = select(self._db, _START, (self._run_id, newest))
        return int(rows[0][0]) if rows else -(2**63)

    def nth_origin(self, number: int) -> int | None:
        """The opening time of the origin of forecast `number` (from 0 on); None if it does not exist."""
        rows = select(self._db, _NTH_ORIGIN, (self._run_id, number))
        return int(rows[0][0]) if rows else None

    def origins(self, after_ms: int, most: int) -> Origins:
        """As `BlockReader.origins`."""
        return self._blocks.origins(after_ms, most)
