"""A stored forecast as it is drawn: what stays of it for as long as the record lasts is enough."""

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
    """The forecast that these rows, one a horizon, were stored from; old ones that were thinned will do.

    conditions: what is stored beside them.
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
