"""Stored forecasts as events for drawing. The columns that are kept permanently are enough."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.domain.candle import Interval
from core.domain.events import ForecastMade
from core.domain.regimes import MarketConditions
from core.forecast.ghosts import ghosts
from core.storage.records import StoredForecast


def drawn_from_rows(
    rows: Sequence[StoredForecast], run_id: str, interval: Interval, conditions: MarketConditions | None
) -> ForecastMade:
    """The forecast stored in these rows, one a horizon; thinned old rows are enough.

    conditions: the market conditions stored with it.
    """
    ordered = sorted(rows, key=lambda row: row.horizon)
    first = ordered[0]
    natural = np.stack([row.quantiles for row in ordered])
    return ForecastMade(
        run_id=run_id,
        origin_open_time_ms=first.origin_open_time_ms,
        inputs_until_ms=first.inputs_until_ms,
        made_at_ms=first.made_at_ms,
        mode=first.mode,
        step=first.step,
        checkpoint_id=first.checkpoint_id,
        origin_close=first.origin_close,
        ghosts=ghosts(natural, first.origin_close, first.origin_open_time_ms, interval),
        conditions=conditions,
    )
