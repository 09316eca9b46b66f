"""The whole program learns ten live markets of one exchange over one connection, which is cut once."""

from __future__ import annotations

import json
import os
import subprocess
import time
from dataclasses import asdict
from pathlib import Path

import pytest

from core.domain.candle import Interval, Market
from core.domain.events import ForecastMode
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.storage.runs import RunStore
from tests.support import commands
from tests.support.exchange.many import ManyMarkets
from tests.support.loopback_exchange import loopback_thread
from tests.support.tape import generated_tape
from tests.support.waiting import wait_until
from tests.venue.hall import MARKETS, SYMBOLS

pytestmark = [pytest.mark.venue, pytest.mark.slow]

SECOND = Interval.parse("1s")
CANDLES = 100


def start(data: Path, exchange: ManyMarkets) -> subprocess.Popen[str]:
    commands.configure(data)
    named = [part for symbol in SYMBOLS for part in ("--symbol", symbol)]
    live = ("--feed", "live", "--interval", "1s", "--candles", str(CANDLES))
    return subprocess.Popen(
        commands.command("headless", *live, *named, "--data-dir", str(data), "--json"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=commands.ROOT,
        env={**os.environ, "GHOSTCANDLE_EXCHANGE_URLS": json.dumps(asdict(exchange.urls))},
    )


def live_scores(data: Path) -> dict[Market, int]:
    """How many live forecasts of each market were scored."""
    try:
        db = open_database(DataFolder(data).database, readonly=True)
    except StorageError:
        return {}
    try:
        return {
            run.market: sum(score.mode is ForecastMode.LIVE for score in RecordReader(db, run.run_id).scores())
            for run in RunStore(db).list()
        }
    finally:
        db.close()


def are_all_live(data: Path) -> bool:
    found = live_scores(data)
    return len(found) == len(MARKETS) and min(found.values()) >= 2


def test_ten_live_markets_are_learned_over_one_connection_and_a_cut_leaves_no_gap(tmp_path: Path) -> None:
    now_ms = time.time_ns() // 1_000_000
    tapes = {symbol: generated_tape(SECOND, now_ms, 200, 2_000, seed) for seed, symbol in enumerate(SYMBOLS)}
    exchange, data = ManyMarkets(tapes, lambda: time.time_ns() // 1_000_000), tmp_path / "data"
    with loopback_thread(exchange) as control:
        process = start(data, exchange)
        try:
            wait_until(lambda: are_all_live(data), "live forecasts of all to be scored", process=process)
            assert exchange.sockets_opened == 1
            control(exchange.cut)
            output, errors = process.communicate(timeout=300)
        finally:
            process.kill()
    assert process.returncode == 0 and "Traceback" not in errors, errors
    summary = json.loads(output)
    assert list(summary) == [*map(str, MARKETS), "pooled"]
    assert exchange.sockets_opened in (2, 3)  # on a busy machine the first new one may come too late
    db = open_database(DataFolder(data).database, readonly=True)
    try:
        for market in MARKETS:
            candles = CandleStore(db).load(market)
            assert len(candles) == CANDLES == summary[str(market)]["candles"]
            first_ms, last_ms = candles[0].open_time_ms, candles[-1].open_time_ms
            assert candles == tapes[market.symbol].between(first_ms, last_ms), "its own candles, without a gap"
    finally:
        db.close()
    assert min(live_scores(data).values()) >= 10
