"""import, export and backfill: their output and the stored candles."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import time
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

import pytest
from click.testing import CliRunner

import resources
from core.domain.candle import Candle, Interval, Market
from core.market.history.forms.recognise import FORMS
from core.market.history.import_plan import HistoryWriter, plan_import
from core.market.history.read import read_candle_table
from core.market.history.skipped_rows import UNFINISHED
from core.market.history.utc_times import moment_text
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.ownership import own
from desktop.commands import backfill as backfill_command
from desktop.commands.backfill import backfill
from desktop.commands.import_candles import import_candles
from tests.support import commands
from tests.support.candles import MINUTE, random_walk

MARKET = Market("binance", "BTC/USDT", MINUTE)
NAMED = ("--venue", "binance", "--symbol", "BTC/USDT", "--interval", "1m")
NOW_MS = 1_700_000_000_000 - 1_700_000_000_000 % 60_000 + 30_000
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
    dry = commands.invoke_json("import", str(file), "--dry-run", *where)["files"][0]
    wanted = {"venue": "binance", "symbol": "BTC/USDT", "interval": "1m", "rows": 198, "candles": 197, "stored": 0}
    assert wanted.items() <= dry.items()
    assert (dry["holes"], dry["missing"], dry["new"]) == (1, 3, 197) and sum(dry["rejected"].values()) == 1
    assert not DataFolder(data).database.exists()
    assert commands.invoke_json("import", str(file), *where)["files"][0]["stored"] == 197
    assert stored(data) == candles
    out = tmp_path / "out.csv.gz"
    assert commands.invoke_json("export", str(out), *NAMED, *where)["candles"] == 197
    assert read_candle_table(out).columns.values.T.tolist() == [
        [c.open, c.high, c.low, c.close, c.volume] for c in candles
    ]
    text = commands.invoke("import", str(file), *where)
    assert text.returncode == 0 and "197 the same" in text.stdout and "1 (time cannot be read)" in text.stdout


def written(path: Path, candles: list[Candle]) -> str:
    rows = [f"{c.open_time_ms},{c.open},{c.high},{c.low},{c.close},{c.volume}" for c in candles]
    path.write_text("Timestamp,Open,High,Low,Close,Volume\n" + "\n".join(rows) + "\n")
    return str(path)


@pytest.mark.parametrize("name", ["Binance_BTCUSDT_1m.csv", "mine.csv"])
def test_reading_a_file_asks_no_exchange(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    asked: list[object] = []
    for function in ("connect", "connect_ex"):
        monkeypatch.setattr(f"socket.socket.{function}", lambda _socket, address: asked.append(address))
    monkeypatch.setattr("socket.getaddrinfo", lambda *asked_for, **_more: asked.append(asked_for))
    file, where = written(tmp_path / name, random_walk(30)), ("--json", "--data-dir", str(tmp_path / "data"))
    named = ("--venue", "binance", "--symbol", "BTC/USDT") if name == "mine.csv" else ()
    for options in (("--dry-run",), ("--dry-run", *named), named):
        result = CliRunner().invoke(import_candles, [file, *options, *where])
        assert result.exit_code == 0, result.output
    assert stored(tmp_path / "data") == random_walk(30) and not asked


@pytest.mark.parametrize("replaces", [False, True])
def test_stored_candles_are_kept_unless_replacing_is_requested(tmp_path: Path, replaces: bool) -> None:
    candles = random_walk(20)
    other = [replace(candles[7], volume=1.0) if row == 7 else candle for row, candle in enumerate(candles)]
    where = ("--data-dir", str(tmp_path / "data"))
    commands.invoke_json("import", written(tmp_path / "Binance_BTCUSDT_1m.csv", candles), *where)
    again = ("import", written(tmp_path / "Binance_BTCUSDT_1m.csv", other), *(["--replace"] if replaces else []))
    dry = commands.invoke(*again, "--dry-run", *where).stdout
    assert f"{int(replaces)} would be stored" in dry and ("would be replaced" in dry) is replaces
    (result,) = commands.invoke_json(*again, *where)["files"]
    assert (result["same"], result["different"], result["stored"]) == (19, 1, int(replaces))
    assert stored(tmp_path / "data") == (other if replaces else candles)


def test_an_export_has_the_given_span_and_overwrites_only_on_request(tmp_path: Path) -> None:
    candles, out = random_walk(20), tmp_path / "out.csv"
    where = ("--data-dir", str(tmp_path / "data"))
    commands.invoke_json("import", written(tmp_path / "Binance_BTCUSDT_1m.csv", candles), *where)
    since, until = (moment_text(candles[row].open_time_ms) for row in (5, 9))
    export = ("export", str(out), *NAMED, *where)
    assert commands.invoke_json(*export, "--since", since, "--until", until)["candles"] == 4
    assert read_candle_table(out).columns.open_time_ms.tolist() == [each.open_time_ms for each in candles[5:9]]
    before = out.read_bytes()
    assert commands.invoke(*export).returncode == 1 and out.read_bytes() == before
    assert "20 candles" in commands.invoke(*export, "--overwrite").stdout


def test_an_unknown_market_or_unreadable_file_is_an_error_message(tmp_path: Path) -> None:
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
        done = commands.invoke("import", *arguments, "--json", "--data-dir", str(tmp_path / "data"))
        assert done.returncode == 1 and words in json.loads(done.stdout)["error"], (arguments, done.stdout)
        assert "Traceback" not in done.stderr


def test_a_dry_run_needs_no_market_and_names_the_missing_options(tmp_path: Path) -> None:
    sample = tmp_path / "sample.csv"
    sample.write_bytes(SAMPLE.read_bytes())
    where = ("--data-dir", str(tmp_path / "data"))
    (found,) = commands.invoke_json("import", str(sample), "--dry-run", *where)["files"]
    assert (found["venue"], found["symbol"], found["new"]) == (None, None, None)
    assert found["interval"] == "1h" and found["candles"] > 1_000
    assert "--venue" in found["unnamed"]["venue"] and "--symbol" in found["unnamed"]["symbol"]
    (found,) = commands.invoke_json("import", str(sample), "--dry-run", "--symbol", "EUR/USD", *where)["files"]
    assert (found["venue"], found["symbol"]) == (None, "EUR/USD") and "--symbol" not in found["unnamed"]
    text = commands.invoke("import", str(sample), "--dry-run", *where)
    assert text.returncode == 0 and "Candles" in text.stdout and "--venue" in text.stdout
    assert not DataFolder(tmp_path / "data").database.exists()


BUCKETS = "".join(
    f"2024-03-01T00:{row + 1:02}:00.000Z,XBTUSD,{row + 9},{row + 11},{row + 8},{row + 10},5,700,{0.5 + row}\n"
    for row in range(12)
)
BITMEX = "timestamp,symbol,open,high,low,close,trades,volume,homeNotional\n"
LOCAL = "time,open,high,low,close,volume,closed\n" + "".join(
    f"2024-03-01 00:{row:02},9,11,8,10,2.5,{'false' if row == 11 else 'true'}\n" for row in range(12)
)


def test_an_import_reports_how_the_file_was_read(tmp_path: Path) -> None:
    file, data = tmp_path / "buckets.csv", tmp_path / "data"
    file.write_text(BITMEX.replace("homeNotional", "homeNotional,foreignNotional") + BUCKETS.replace("\n", ",1\n"))
    named = ("--venue", "file", "--symbol", "BTC/USD", "--data-dir", str(data))
    (dry,) = commands.invoke_json("import", str(file), "--dry-run", *named)["files"]
    assert (dry["form"], dry["is_zone_assumed"], dry["left_out"]) == ("bitmex-candles", False, [])
    assert "end of each candle" in dry["stamp"] and "homeNotional" in dry["volume"]
    first = {"open_time_ms": 1_709_251_200_000, "open": 9.0, "high": 11.0, "low": 8.0, "close": 10.0, "volume": 0.5}
    assert dry["first"] == first and dry["last"]["open_time_ms"] == first["open_time_ms"] + 11 * 60_000
    text = commands.invoke("import", str(file), *named).stdout
    for words in ("bitmex-candles", "the end of each candle", "2024-03-01 00:00 UTC: open 9, high 11", "12 stored"):
        assert words in " ".join(text.split()), text
    assert max(map(len, text.splitlines())) <= 80


def test_an_assumed_zone_and_rows_left_out_are_reported_with_an_example(tmp_path: Path) -> None:
    file = tmp_path / "local.csv"
    file.write_text(LOCAL)
    named = ("--venue", "file", "--symbol", "BTC/USD", "--dry-run", "--data-dir", str(tmp_path / "data"))
    (found,) = commands.invoke_json("import", str(file), *named)["files"]
    assert found["is_zone_assumed"] and found["form"] is None
    (left_out,) = found["left_out"]
    assert (left_out["count"], left_out["reason"]) == (1, UNFINISHED) and "00:11" in left_out["example"]
    text = " ".join(commands.invoke("import", str(file), *named).stdout.split())
    assert "UTC is assumed" in text and f"1 ({UNFINISHED}) such as line 13: 2024-03-01 00:11,9" in text
    (found,) = commands.invoke_json("import", str(file), "--time-zone", "Europe/Berlin", *named)["files"]
    assert not found["is_zone_assumed"] and "Europe/Berlin" in found["zone"]
    (found,) = commands.invoke_json("import", str(file), "--stamp", "end", *named)["files"]
    assert found["first_ms"] == 1_709_251_200_000 - 60_000
    for zone in ("local", "exchange", "Moon/Base"):
        done = commands.invoke("import", str(file), "--time-zone", zone, *named)
        assert done.returncode == 1 and "Europe/Berlin" in done.stderr


def test_the_known_forms_are_listed_without_a_file_or_a_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GHOSTCANDLE_DATA_DIR", str(tmp_path / "data"))
    forms = commands.invoke_json("import", "--forms")["forms"]
    assert [form["name"] for form in forms] == list(FORMS) and not (tmp_path / "data").exists()
    assert all(form[key] for form in forms for key in ("title", "zone", "stamp", "volume", "source"))
    text = commands.invoke("import", "--forms").stdout
    assert all(name in text for name in FORMS) and max(map(len, text.splitlines())) <= 80
    assert CliRunner().invoke(import_candles, []).exit_code == 2


def test_another_symbol_than_the_files_is_a_note_in_a_dry_run(tmp_path: Path) -> None:
    file = tmp_path / "buckets.csv"
    file.write_text(BITMEX + BUCKETS)
    named = ("--venue", "file", "--symbol", "ETH/USD", "--data-dir", str(tmp_path / "data"))
    (found,) = commands.invoke_json("import", str(file), "--dry-run", *named)["files"]
    assert found["candles"] == 12 and "holds XBTUSD, not ETH/USD" in found["unnamed"]["symbol"]
    assert commands.invoke("import", str(file), *named).returncode == 1


def test_a_dry_run_of_several_files_reports_good_files_and_errors(tmp_path: Path) -> None:
    good = [tmp_path / name for name in ("Binance_BTCUSDT_1m.csv", "Kraken_ETHUSD_1m.csv")]
    for file in good:
        written(file, random_walk(60))
    bad = tmp_path / "Binance_SOLUSDT_1m.csv"
    bad.write_bytes(b"\x89PNG\xff\xfe")
    arguments = ("import", str(good[0]), str(bad), str(good[1]), "--dry-run", "--data-dir", str(tmp_path / "data"))
    text = commands.invoke(*arguments)
    assert text.returncode == 1 and all(file.name in text.stdout for file in good)
    assert bad.name in text.stderr and "not text" in text.stderr and "Traceback" not in text.stderr
    result = commands.invoke(*arguments, "--json")
    found = json.loads(result.stdout)
    assert result.returncode == 1 and [each["candles"] for each in found["files"]] == [60, 60]
    assert len(found["errors"]) == 1 and "not text" in found["errors"][0]


@pytest.mark.parametrize(("venue", "words"), [("file", "come from no exchange"), ("binnace", "binance")])
def test_a_backfill_requires_an_exchange(tmp_path: Path, venue: str, words: str) -> None:
    where = ("--symbol", "BTC/USDT", "--interval", "1m", "--since", "2024-01-01", "--data-dir", str(tmp_path / "data"))
    done = commands.invoke("backfill", "--venue", venue, *where)
    assert done.returncode == 1 and words in done.stderr and "--venue file" not in done.stderr


@dataclass
class Exchange:
    """Answers pages of ten of its candles."""

    listed: list[Candle]
    interrupts_by: int | None = None
    """The signal sent while the third page is awaited."""
    pages: int = 0
    name: str = "Binance"
    page_rows: int = 10
    listed_rows: int | None = None
    farthest_rows: int | None = None

    async def open(self, older: object) -> None:
        """It is one already."""

    async def server_ms(self) -> int:
        return NOW_MS

    async def candles(self, since_ms: int) -> list[Candle]:
        self.pages += 1
        if self.interrupts_by is not None and self.pages == 3:
            os.kill(os.getpid(), self.interrupts_by)
            await asyncio.wait_for(asyncio.Event().wait(), 60.0)
        return [candle for candle in self.listed if candle.open_time_ms >= since_ms][: self.page_rows]

    async def close(self) -> None:
        """No connection to close."""


COUNT = 40
WANTED = random_walk(COUNT, start_ms=NOW_MS // 60_000 * 60_000 - COUNT * 60_000)
SINCE = time.strftime("%Y-%m-%dT%H:%M", time.gmtime(WANTED[0].open_time_ms / 1000))


def fill(data: Path, exchange: Exchange, *options: str) -> subprocess.CompletedProcess[str]:
    with patch.object(backfill_command, "CcxtVenue", lambda market, urls, request_s: exchange):
        return commands.invoke("backfill", *NAMED, "--since", SINCE, *options, "--data-dir", str(data))


def test_a_backfill_stores_missing_candles_and_remembers_absent_ones(tmp_path: Path) -> None:
    there = [*WANTED[:12], *WANTED[15:]]
    until = time.strftime("%Y-%m-%dT%H:%M", time.gmtime(WANTED[30].open_time_ms / 1000))
    result = json.loads(fill(tmp_path, Exchange(there), "--until", until, "--json").stdout)
    assert {
        "venue": "binance",
        "symbol": "BTC/USDT",
        "interval": "1m",
        "wanted": 30,
        "stored": 27,
    }.items() <= result.items()
    assert (result["first_ms"], result["stop_ms"]) == (WANTED[0].open_time_ms, WANTED[30].open_time_ms)
    assert stored(tmp_path) == there[:27]
    text = fill(tmp_path, Exchange(there)).stdout
    assert "10 of 10 missing candles of" in text and stored(tmp_path) == there
    assert "does not have 3 candles; they stay missing" in text
    assert fill(tmp_path, Exchange(WANTED)).stdout.startswith("Nothing was missing")
    text = fill(tmp_path, Exchange(WANTED), "--ask-again").stdout
    assert "3 of 3" in text and stored(tmp_path) == WANTED


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_backfill_keeps_its_pages_and_continues_next_time(tmp_path: Path, number: int) -> None:
    ended = fill(tmp_path, Exchange(WANTED, number), "--json")
    so_far = stored(tmp_path)
    assert ended.returncode == 130 and f"{len(so_far)} candles" in json.loads(ended.stdout)["error"]
    assert 0 < len(so_far) < COUNT and so_far == WANTED[: len(so_far)]
    assert fill(tmp_path, Exchange(WANTED)).returncode == 0 and stored(tmp_path) == WANTED


def test_the_help_lists_only_venues_with_a_backfill() -> None:
    shown = {command: CliRunner().invoke(command, ["--help"]).output for command in (backfill, import_candles)}
    assert "--venue" in shown[backfill] and "'file'" not in shown[backfill] and "'file'" in shown[import_candles]


def test_a_folder_in_use_by_another_command_is_refused(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "data")
    folder.ensure()
    with own(folder, "headless"):
        done = commands.invoke(
            "import", str(SAMPLE), "--venue", "file", "--symbol", "EUR/USD", "--data-dir", str(folder.root)
        )
    assert done.returncode == 1 and "in use by a headless" in done.stderr


def test_candles_before_the_trainers_position_are_not_learned(tmp_path: Path) -> None:
    """The queue moves forward only: candles imported before its position are drawn, but not learned from."""
    run = ("headless", "--file", str(SAMPLE), "--candles", "20", "--data-dir", str(commands.configure(tmp_path)))
    first = commands.invoke_json(*run)
    with open_database(DataFolder(tmp_path).database) as db:
        venue, symbol, interval_ms = db.execute("SELECT venue, symbol, interval_ms FROM markets").fetchone()
        market = Market(venue, symbol, Interval(interval_ms))
        began_ms = CandleStore(db).load(market)[0].open_time_ms
        older = random_walk(300, start_ms=began_ms - 300 * interval_ms, interval=market.interval)
        file = tmp_path / "older.csv"
        file.write_text("".join(f"{c.open_time_ms},{c.open},{c.high},{c.low},{c.close},{c.volume}\n" for c in older))
        plan = plan_import(read_candle_table(file), market, CandleStore(db), NOW_MS, replaces=False)
        assert HistoryWriter(db).put(market, plan.to_store, replaces=False) == 300
    again = commands.invoke_json(*run)
    assert (again["steps"], again["candles"]) == (first["steps"], first["candles"])
    assert again["forecasts_sha256"] == first["forecasts_sha256"]
