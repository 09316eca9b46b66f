"""The scores of one horizon as columns, read at once or incrementally."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.domain.events import ForecastMode
from core.storage.packed_scores import MODES, flag
from core.storage.record_tables import scores_at
from core.storage.records import ONLINE_LOSSES, SHOWN_LOSSES
from core.storage.score_blocks import BlockReader, ForecastBlock, ScoreBlock


@dataclass(frozen=True, slots=True, eq=False)
class ScoredRows:
    """n scores of one horizon, ascending by target."""

    columns: dict[str, NDArray[Any]]
    """[n] each, named as in `StoredScore`; direction_hit: 1 hit, 0 missed, -1 not counted; of SHOWN_LOSSES and
    ONLINE_LOSSES those that a score does not have are NaN. And origin_close; close [n, level], the quantiles of the
    close return that were shown; regime, the place in REGIME_COLUMNS of the one that was likeliest where the forecast
    was made, -1 where none is known."""
    losses: Sequence[bytes]
    """[n], packed (`core.forecast.experts.pack_losses`)."""
    read_until_ms: int
    """The newest target read, even if it is not among these scores."""
    is_end: bool
    """Whether it is the last one."""

    def __len__(self) -> int:
        return len(self.losses)


def read_scored(
    blocks: BlockReader, own_mode: ForecastMode, horizons: Sequence[int], after_ms: int, most: int
) -> dict[int, ScoredRows]:
    """A run's scores among the first `most` targets (-1: of all) that opened after this time, each in its newest
    version, by horizon. Raises StorageError.

    own_mode: forecasts of other modes are scored separately, and are left out. horizons: those that are stored
    together: the first one, or further ones.
    """
    block = blocks.scores(scores_at(horizons[0]), after_ms + 1, most=most, with_losses=True)
    forecasts = blocks.forecasts(block)
    regimes = {origin: regime.index(max(regime)) for origin, regime in blocks.regimes(block).items()}

    def rows(of: ScoreBlock) -> ScoredRows:
        own, made = blocks.with_forecasts(of.taken(of.records["mode"] == MODES[own_mode]), forecasts)
        return _rows(own, made, regimes)

    return {horizon: rows(block.at(horizon).newest) for horizon in horizons}


def _rows(block: ScoreBlock, made: ForecastBlock, regimes: dict[int, int]) -> ScoredRows:
    records = block.records
    regime = [regimes.get(origin, -1) for origin in records["origin_open_time_ms"].tolist()]
    columns = {
        "target_open_time_ms": block.target_open_time_ms,
        "version": block.version,
        **{name: flag(records, name) for name in ("after_gap", "inside_50", "inside_90")},
        **{name: records[name] for name in (*SHOWN_LOSSES.values(), *ONLINE_LOSSES, "direction_hit")},
        "origin_close": made.origin_close,
        "close": made.quantiles[:, 0],
        "regime": np.array(regime, dtype=np.int8),
    }
    return ScoredRows(columns, block.losses, block.read_until_ms, block.is_end)
