"""The whole program against the loopback exchange, through ccxt.pro: live candles, a disconnect, no gap."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from core.domain.candle import Candle, Interval, Market
from core.domain.events import ForecastMode
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.storage.runs import RunStore
from tests.support import commands
from tests.support.loopback_exchange import LoopbackExchange, loopback_thread
from tests.support.tape import generated_tape
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.venue, pytest.mark.slow]

SECOND = Interval.parse("1s")
MARKET = Market("binance", "BTC/USDT", SECOND)
CATCH_UP = 60
_SETTINGS = {
    "market": {"catch_up_candles": CATCH_UP},
    "model": {"width": 16, "layers": 1, "heads": 2, "context": 16, "horizons": 4},
    "training": {"replay_samples": 3},
}


def start(command: str, data: Path, exchange: LoopbackExchange) -> subprocess.Popen[str]:
    data.mkdir()
    (data / "settings.json").write_text(json.dumps(_SETTINGS))
    arguments = (command, "--feed", "live", "--symbol", "BTC/USDT", "--interval", "1s", "--data-dir", str(data))
    return subprocess.Popen(
        commands.command(*arguments, "--device", "cpu"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=commands.ROOT,
        env={
            **os.environ,
            "QT_QPA_PLATFORM": "offscreen",
            "GHOSTCANDLE_EXCHANGE_URLS": json.dumps(asdict(exchange.urls)),
        },
    )


def stored(data: Path) -> tuple[list[Candle], int, int]:
    """Candles, how many of them were scored one step ahead, and how many forecasts were live."""
    try:
        db = open_database(DataFolder(data).database, readonly=True)
    except StorageError:
        return [], 0, 0
    try:
        candles = CandleStore(db).load(MARKET)
        runs = RunStore(db).list()
        scores = RecordReader(db, runs[0].run_id).scores() if runs else []
        return candles, len(scores), sum(score.mode is ForecastMode.LIVE for score in scores)
    finally:
        db.close()


def has_learned(data: Path, least: int) -> bool:
    """Whether so many candles are stored, and scored but for the newest few."""
    candles, scored, _ = stored(data)
    return len(candles) >= least and scored >= len(candles) - 10


def libraries_of(pid: int) -> str:
    return Path(f"/proc/{pid}/maps").read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("command", ["headless", "run"])
def test_live_training_continues_and_disconnects_leave_no_gap(tmp_path: Path, command: str) -> None:
    exchange = LoopbackExchange(generated_tape(SECOND, time.time_ns() // 1_000_000, history=500))
    with loopback_thread(exchange) as control:
        data = tmp_path / "data"
        process = start(command, data, exchange)
        try:
            wait_until(lambda: stored(data)[2] >= 5, "five live forecasts to be scored", process=process)
            if command == "run" and sys.platform == "linux":
                assert "torch" not in libraries_of(process.pid), "the window's process has torch in it"
            before_cut, sockets = len(stored(data)[0]), exchange.sockets_opened
            control(exchange.cut)
            wait_until(lambda: has_learned(data, before_cut + 10), "scores after the cut", process=process)
        finally:
            process.send_signal(signal.SIGTERM)
            output = process.communicate(timeout=120)[0]
    assert process.returncode == 0, output
    assert "Traceback" not in output
    candles, scored, live = stored(data)
    times = np.array([candle.open_time_ms for candle in candles])
    assert (np.diff(times) == SECOND.duration_ms).all(), "there is a hole in the candles"
    assert len(candles) > CATCH_UP
    for candle in candles:
        assert candle == exchange.tape.candle(candle.open_time_ms), "a stored candle is not the exchange's"
    assert scored >= before_cut and live > 5
    assert exchange.sockets_opened > sockets
