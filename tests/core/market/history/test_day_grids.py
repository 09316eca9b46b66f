"""Backfill of days that open elsewhere than at midnight UTC, through ccxt's own object on virtual time."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from core.domain.backoff import Backoff
from core.domain.candle import DAY_MS, Candle
from core.market.history.backfilling import Backfill, BackfillReport
from core.market.history.errors import HistoryError
from core.market.history.import_plan import HistoryWriter
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.holes import HoleStore
from tests.support.exchange.streaming import StreamingExchange
from tests.support.exchange.watching import HONG_KONG_MS, htx, now_ms, open_of
from tests.support.feeds import Silent
from tests.support.virtual_network import loop_time

DAYS = 30


async def filled(
    folder: Path, exchange: StreamingExchange, interval: str, stored: list[Candle] | None = None
) -> tuple[BackfillReport, list[Candle]]:
    """What a backfill of the last days reports and stores."""
    market = exchange.market(interval)
    with open_database(folder / "one.sqlite3") as db:
        store = CandleStore(db)
        store.save(market, stored or [])
        async with exchange.running():
            job = Backfill(
                market,
                store,
                HoleStore(db),
                HistoryWriter(db),
                loop_time(),
                lambda: exchange.open_venue(market),
                Silent(),
                backoff=Backoff(1.0, 2.0, Random(1)),
            )
            return await job.run(now_ms() - DAYS * DAY_MS), store.load(market)


async def test_days_are_stored_where_the_exchange_has_them_open(tmp_path: Path) -> None:
    report, candles = await filled(tmp_path, htx(DAY_MS, HONG_KONG_MS), "1d")
    assert (report.stored, report.absent, report.left, report.rejected) == (len(candles), 0, 0, {})
    assert len(candles) >= DAYS - 1
    assert {each.open_time_ms % DAY_MS for each in candles} == {HONG_KONG_MS}


async def test_a_day_off_the_phases_of_the_others_is_refused(tmp_path: Path) -> None:
    report, candles = await filled(tmp_path, htx(DAY_MS, HONG_KONG_MS, odd_ms=3_600_000), "1d")
    assert {each.open_time_ms % DAY_MS for each in candles} == {HONG_KONG_MS}
    assert set(report.rejected) == {"time off the grid"} and report.left == 0


async def test_candles_of_another_length_are_refused_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(HistoryError, match="has no candles of 1w: those that it sends are 3d apart"):
        await filled(tmp_path, htx(3 * DAY_MS, 0), "1w")


async def test_days_that_do_not_fit_the_stored_ones_are_refused_with_a_sentence(tmp_path: Path) -> None:
    stored = [Candle(open_of(now_ms(), DAY_MS) - 2 * DAY_MS, 50.0, 50.0, 50.0, 50.0, 1.0)]
    with pytest.raises(HistoryError, match="do not fit the stored ones"):
        await filled(tmp_path, htx(DAY_MS, HONG_KONG_MS), "1d", stored)
