"""Missing stored candles by SQL, against sets."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from core.domain.candle import Candle, Interval, Market
from core.domain.spans import TimeSpan
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.holes import HoleStore

MARKET = Market("binance", "BTC/USDT", Interval(60_000))
STEP_MS = 60_000


def test_missing_times_are_those_not_stored(folder: DataFolder) -> None:
    with open_database(folder.database) as db:
        numbers = itertools.count()

        @given(st.sets(st.integers(0, 40)), st.integers(0, 30), st.integers(1, 20))
        def look(stored: set[int], first: int, count: int) -> None:
            market = Market("binance", f"TEST{next(numbers)}", MARKET.interval)
            CandleStore(db).save(market, [Candle(n * STEP_MS, 1.0, 1.0, 1.0, 1.0, 1.0) for n in stored])
            missing = HoleStore(db).missing(market, TimeSpan(first * STEP_MS, (first + count) * STEP_MS))
            found = {ms // STEP_MS for part in missing for ms in range(part.first_ms, part.stop_ms, STEP_MS)}
            assert found == set(range(first, first + count)) - stored
            assert missing == sorted(missing)

        look()


def test_known_gaps_of_the_exchange_are_stored(folder: DataFolder) -> None:
    with open_database(folder.database) as db:
        HoleStore(db).add_of_exchange(MARKET, [TimeSpan(0, 60_000), TimeSpan(600_000, 720_000)], 5)
        HoleStore(db).add_of_exchange(MARKET, [TimeSpan(600_000, 660_000)], 6)
    with open_database(folder.database, readonly=True) as db:
        holes = HoleStore(db)
        assert holes.of_exchange(MARKET, TimeSpan(0, 10**9)) == [TimeSpan(0, 60_000), TimeSpan(600_000, 720_000)]
        assert holes.of_exchange(MARKET, TimeSpan(60_000, 600_000)) == []
        assert holes.of_exchange(Market("kraken", "BTC/USDT", MARKET.interval), TimeSpan(0, 10**9)) == []
