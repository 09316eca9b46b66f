"""The insides that stored finer candles of the same market give stored candles."""

from __future__ import annotations

import logging

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import Inside, Market
from core.market.history.insides import LARGEST_DIFFERENCE, difference_of, join_columns
from core.market.inside import finer_market, insides
from core.market.shown_names import shown_market
from core.storage.candles import CandleStore

_FINER_AT_ONCE = 50_000
_log = logging.getLogger("ghostcandle.feed")


def store_insides(store: CandleStore, market: Market, after_ms: int | None) -> int:
    """Give stored candles that opened after `after_ms` (all without it) and have no inside theirs, if finer ones are
    stored. Returns how many got one. Raises StorageError."""
    finer = finer_market(store.markets(), market)
    if finer is None:
        return 0
    opened = store.times_without_inside(market, after_ms)
    step, count = max(1, _FINER_AT_ONCE * finer.interval.duration_ms // market.interval.duration_ms), 0
    for first in range(0, opened.size, step):
        found = _insides_of(store, market, finer, opened[first : first + step])
        if found is None:
            _log.warning(
                "The closes of the stored candles %s are far from those of %s, so they are not used as their inside. "
                "Import the right ones with --replace.",
                shown_market(finer),
                shown_market(market),
            )
            return count
        count += store.add_insides(market, found)
    return count


def _insides_of(
    store: CandleStore, market: Market, finer: Market, opened: NDArray[np.int64]
) -> dict[int, Inside] | None:
    """Of the candles with these opening times, ascending. None if the finer ones seem to be of another market."""
    first_ms, stop_ms = int(opened[0]), market.interval.close_time_ms(int(opened[-1]))
    parts = store.columns_between(finer, first_ms, stop_ms)
    if not len(parts):
        return {}
    joined = join_columns(parts, finer.interval, market.interval)
    difference = difference_of(store.columns_between(market, first_ms, stop_ms), joined)
    if difference is not None and difference > LARGEST_DIFFERENCE:
        return None
    found = insides(parts.open_time_ms, parts.values, finer.interval, market.interval)
    return {time_ms: found[time_ms] for time_ms in opened.tolist() if time_ms in found}
