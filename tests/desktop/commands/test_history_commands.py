"""import, export and backfill as processes: what they print, what they store, and what a kill leaves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import resources
from core.market.candle import Interval, Market
from core.market.history.importing import plan_import
from core.market.history.reading import read_candle_table
from core.market.history.writing import DatabaseWriter
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.ownership import own
from desktop.commands.backfill import backfill
from desktop.commands.import_candles import import_candles
from tests.support import commands
from tests.support.candles import MINUTE, random_walk
from tests.support.loopback_exchange import LoopbackExchange, loopback_thread
from tests.support.tape import generated_tape

MARKET = Market("binance", "BTC/USDT", MINUTE)
NAMED = ("--venue", "binance", "--symbol", "BTC/USDT", "--interval", "1m")
NOW_MS = 1_700_000_000_000 - 1_700_000_000_000 % 60_000 + 30_000
HISTORY = 12_000
TAPE = generated_tape(MINUTE, NOW_MS, HISTORY, 10)
CLOSED = list(TAPE.candles[:HISTORY])
SINCE = time.strftime("%Y-%m-%dT%H:%M", time.gmtime(CLOSED[0].open_time_ms / 1000))
SAMPLE = Path(resources.__file__).parent / "sample_eurusd_1h.csv"


def stored(data: Path, market: Market = MARKET) -> list[object]:
    with open_database(DataFolder(data).database, readonly=True) as db:
        return list(CandleStore(db).load(market))


def test_import_dry_run_import_again_and_export(tmp_path: Path) -> None:
    data, candles = tmp_path / "data", random_walk(200)
    del candles[50:53]
    file = tmp_path / "Binance_BTCUSDT_1m.csv"
    rows = [f"{c.open_time_ms},{c.open},{c.high},{c.low},{c.close},{c.volume}" for c in reversed(candles)]
    file.write_text("Timestamp,Open,High,Low,Close,Volume\n" + "\n".join([*rows, "soon,1,2,3,4,5"]) + "\n")
    where = ("--data-dir", str(data))
    dry = commands.run_json("import", str(file), "--dry-run", *where)["files"][0]
    wanted = {"venue": "binance", "symbol": "BTC/USDT", "interval": "1m", "rows": 198, "candles": 197, "stored": 0}
    assert wanted.items() <= dry.items()
    assert (dry["holes"], dry["missing"], dry["new"]) == (1, 3, 197) and sum(dry["rejected"].values()) == 1
    assert not DataFolder(data).database.exists()
    assert commands.run_json("import", str(file), *where)["files"][0]["stored"] == 197
    assert stored(data) == candles
    out = tmp_path / "out.csv.gz"
    assert commands.run_json("export", str(out), *NAMED, *where)["candles"] == 197
    assert read_candle_table(out).columns.values.T.tolist() == [
        [c.open, c.high, c.low, c.close, c.volume] for c in candles
    ]
    text = commands.run("import", str(file), *where)
    assert text.returncode == 0 and "197 the same" in text.stdout and "1 (time cannot be read)" in text.stdout


def test_what_cannot_be_told_or_read_is_a_sentence(tmp_path: Path) -> None:
    picture = tmp_path / "BTCUSDT.csv"
    picture.write_bytes(b"\x89PNG\xff\xfe")
    sample = tmp_path / "sample.csv"
    sample.write_bytes(SAMPLE.read_bytes())
    cases = [
        ((str(sample), "--venue", "file"), "--symbol"),
        ((str(sample), "--venue", "binnace", "--symbol", "EUR/USD"), "binance"),
        ((str(sample), "--venue", "binance", "--symbol", "EUR USD"), "no symbol of an exchange"),
        ((str(picture), "--venue", "file"), "not text"),
    ]
    for arguments, words in cases:
        done = commands.run("import", *arguments, "--json", "--data-dir", str(tmp_path / "data"))
        assert done.returncode == 1 and words in json.loads(done.stdout)["error"], (arguments, done.stdout)
        assert "Traceback" not in done.stderr


def test_a_dry_run_needs_no_market_and_tells_what_to_name(tmp_path: Path) -> None:
    sample = tmp_path / "sample.csv"
    sample.write_bytes(SAMPLE.read_bytes())
    where = ("--data-dir", str(tmp_path / "data"))
    (found,) = commands.run_json("import", str(sample), "--dry-run", *where)["files"]
    assert (found["venue"], found["symbol"], found["new"]) == (None, None, None)
    assert found["interval"] == "1h" and found["candles"] > 1_000
    assert "--venue" in found["unnamed"] and "--symbol" in found["unnamed"]
    (found,) = commands.run_json("import", str(sample), "--dry-run", "--symbol", "EUR/USD", *where)["files"]
    assert (found["venue"], found["symbol"]) == (None, "EUR/USD") and "--symbol" not in found["unnamed"]
    text = commands.run("import", str(sample), "--dry-run", *where)
    assert text.returncode == 0 and "Candles" in text.stdout and "--venue" in text.stdout
    assert not DataFolder(tmp_path / "data").database.exists()


def test_a_dry_run_of_several_files_tells_the_good_ones_and_what_is_wrong_with_the_bad(tmp_path: Path) -> None:
    good = [tmp_path / name for name in ("Binance_BTCUSDT_1m.csv", "Kraken_ETHUSD_1m.csv")]
    for file in good:
        rows = [f"{c.open_time_ms},{c.open},{c.high},{c.low},{c.close},{c.volume}" for c in random_walk(60)]
        file.write_text("Timestamp,Open,High,Low,Close,Volume\n" + "\n".join(rows) + "\n")
    bad = tmp_path / "Binance_SOLUSDT_1m.csv"
    bad.write_bytes(b"\x89PNG\xff\xfe")
    arguments = ("import", str(good[0]), str(bad), str(good[1]), "--dry-run", "--data-dir", str(tmp_path / "data"))
    text = commands.run(*arguments)
    assert text.returncode == 1 and all(file.name in text.stdout for file in good)
    assert bad.name in text.stderr and "not text" in text.stderr and "Traceback" not in text.stderr
    told = commands.run(*arguments, "--json")
    found = json.loads(told.stdout)
    assert told.returncode == 1 and [each["candles"] for each in found["files"]] == [60, 60]
    assert len(found["errors"]) == 1 and "not text" in found["errors"][0]


@pytest.mark.parametrize(("venue", "words"), [("file", "come from no exchange"), ("binnace", "binance")])
def test_a_backfill_is_from_an_exchange(tmp_path: Path, venue: str, words: str) -> None:
    where = ("--symbol", "BTC/USDT", "--interval", "1m", "--since", "2024-01-01", "--data-dir", str(tmp_path / "data"))
    done = commands.run("backfill", "--venue", venue, *where)
    assert done.returncode == 1 and words in done.stderr and "--venue file" not in done.stderr


def test_the_help_offers_only_venues_that_can_be_asked() -> None:
    shown = {command: CliRunner().invoke(command, ["--help"]).output for command in (backfill, import_candles)}
    assert "--venue" in shown[backfill] and "'file'" not in shown[backfill] and "'file'" in shown[import_candles]


def test_a_folder_that_another_command_uses_is_left_alone(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "data")
    folder.ensure()
    with own(folder, "headless"):
        done = commands.run(
            "import", str(SAMPLE), "--venue", "file", "--symbol", "EUR/USD", "--data-dir", str(folder.root)
        )
    assert done.returncode == 1 and "in use by a headless" in done.stderr


@pytest.fixture
def exchange() -> Iterator[LoopbackExchange]:
    served = LoopbackExchange(TAPE, lambda: NOW_MS)
    with loopback_thread(served):
        yield served


def start(exchange: LoopbackExchange, data: Path) -> subprocess.Popen[str]:
    urls = {"public": exchange.urls.public, "ws": exchange.urls.ws}
    return subprocess.Popen(
        commands.command("backfill", *NAMED, "--since", SINCE, "--json", "--data-dir", str(data)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=commands.ROOT,
        env={**os.environ, "GHOSTCANDLE_EXCHANGE_URLS": json.dumps(urls)},
    )


def wait_for(condition: Callable[[], bool]) -> None:
    until_s = time.monotonic() + 60.0
    while not condition():
        assert time.monotonic() < until_s, "it did not come"
        time.sleep(0.01)


@pytest.mark.venue
def test_a_backfill_that_is_interrupted_and_killed_goes_on_and_leaves_no_hole(
    exchange: LoopbackExchange, tmp_path: Path
) -> None:
    """By Ctrl+C, then by SIGKILL at a moment that nobody chose, then to the end."""
    data = tmp_path / "data"
    exchange.hidden = {CLOSED[n].open_time_ms for n in (3_000, 3_001, 9_999)}
    expected = [candle for candle in CLOSED if candle.open_time_ms not in exchange.hidden]

    def pages() -> int:
        return sum("/klines" in request for request in exchange.requests)

    for number in (signal.SIGINT, signal.SIGKILL):
        before = pages()
        process = start(exchange, data)
        wait_for(lambda before=before: pages() >= before + 2)
        process.send_signal(number)
        out, _ = process.communicate(timeout=60)
        if number == signal.SIGINT:
            assert process.returncode == 130 and "goes on from there" in json.loads(out)["error"]
    so_far = stored(data)
    assert 0 < len(so_far) < len(expected) and so_far == expected[: len(so_far)]
    out, err = start(exchange, data).communicate(timeout=60)
    told = json.loads(out)
    assert told["stored"] == len(expected) - len(so_far), err
    assert (told["all_absent"], told["left"]) == (3, 0)
    assert stored(data) == expected


def test_old_candles_do_not_reach_a_trainer_that_is_past_them(tmp_path: Path) -> None:
    """The queue goes forward only: what is imported before its position is drawn, and not learned from."""
    run = ("--feed", "replay", "--file", str(SAMPLE), "--candles", "40", "--seed", "3", "--device", "cpu")
    where = ("--data-dir", str(tmp_path))
    first = commands.run_json("headless", *run, *where)
    with open_database(DataFolder(tmp_path).database) as db:
        venue, symbol, interval_ms = db.execute("SELECT venue, symbol, interval_ms FROM markets").fetchone()
        market = Market(venue, symbol, Interval(interval_ms))
        began_ms = CandleStore(db).load(market)[0].open_time_ms
        older = random_walk(300, start_ms=began_ms - 300 * interval_ms, interval=market.interval)
        file = tmp_path / "older.csv"
        file.write_text("".join(f"{c.open_time_ms},{c.open},{c.high},{c.low},{c.close},{c.volume}\n" for c in older))
        plan = plan_import(read_candle_table(file), market, CandleStore(db), NOW_MS, replaces=False)
        assert DatabaseWriter(db).put(market, plan.to_store, replaces=False) == 300
    again = commands.run_json("headless", *run, *where)
    assert (again["steps"], again["candles"]) == (first["steps"], first["candles"])
    assert again["forecasts_sha256"] == first["forecasts_sha256"]
