"""History commands while a window owns the data folder: they store in parts, and end with the window."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from core.domain.candle import Market
from core.market.history.import_plan import ROWS_PER_PART
from core.settings.tree import Settings
from core.storage.candles import CandleStore, StoredColumns
from core.storage.database import open_database, write
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from core.storage.ownership import Ownership, mark_ready, own
from desktop.app.context import Context
from desktop.app.terminal_progress import TerminalProgress
from desktop.commands import history_store
from desktop.commands.history_store import open_history
from tests.support.candles import MINUTE, random_walk, write_csv
from tests.support.commands import ROOT, command, configure, invoke, invoke_json
from tests.support.loopback_exchange import LoopbackExchange, loopback_thread
from tests.support.tape import generated_tape
from tests.support.waiting import wait_until

MARKET = Market("binance", "BTC/USDT", MINUTE)
NAMED = ("--venue", "binance", "--symbol", "BTC/USDT")
CANDLES = random_walk(2 * ROWS_PER_PART + 500)


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    folder = DataFolder(configure(tmp_path / "data"))
    folder.ensure()
    open_database(folder.database).close()
    return folder


@pytest.fixture
def window(folder: DataFolder) -> Iterator[Ownership]:
    with own(folder, "window") as ownership:
        mark_ready(folder)
        yield ownership


def columns() -> StoredColumns:
    values = [[c.open, c.high, c.low, c.close, c.volume] for c in CANDLES]
    return StoredColumns(np.array([c.open_time_ms for c in CANDLES]), np.array(values).T)


def stored(folder: DataFolder) -> int:
    with closing(open_database(folder.database, readonly=True)) as db:
        return CandleStore(db).count(MARKET)


def put(folder: DataFolder, after_part: list[int], owner: Ownership) -> None:
    """Import the candles; the window closes after the first part."""

    def on_progress(rows: int) -> None:
        after_part.append(rows)
        owner.close()

    context = Context(Settings(), folder, as_json=True)
    with (
        TerminalProgress(is_shown=False) as progress,
        open_history(context, "import", "Importing", progress) as history,
    ):
        history.writer.put(MARKET, columns(), replaces=False, on_progress=on_progress)


@pytest.mark.usefixtures("window")
def test_an_import_is_complete_although_another_connection_writes(folder: DataFolder, tmp_path: Path) -> None:
    found = invoke_json("import", str(write_csv(tmp_path / "c.csv", CANDLES)), *NAMED, "--data-dir", str(folder.root))
    assert found["files"][0]["stored"] == stored(folder) == len(CANDLES)


def test_each_part_is_one_transaction_and_the_command_ends_with_the_window(
    folder: DataFolder, window: Ownership
) -> None:
    parts: list[int] = []
    with pytest.raises(StorageError, match=r"closed meanwhile.*are kept"):
        put(folder, parts, window)
    assert parts == [ROWS_PER_PART] and stored(folder) == ROWS_PER_PART


@pytest.mark.usefixtures("window")
def test_the_window_writes_between_two_parts(folder: DataFolder) -> None:
    context, later = Context(Settings(), folder, as_json=True), CANDLES[-1].open_time_ms + 60_000
    with (
        closing(open_database(folder.database, busy_timeout_ms=0)) as of_window,
        TerminalProgress(is_shown=False) as progress,
        open_history(context, "import", "Importing", progress) as history,
    ):
        last = random_walk(1, start_ms=later)
        history.writer.put(
            MARKET, columns(), replaces=False, on_progress=lambda _: CandleStore(of_window).save(MARKET, last)
        )
    assert stored(folder) == len(CANDLES) + 1


def test_a_window_that_checks_its_database_is_waited_for(
    folder: DataFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_store, "_STARTS_WITHIN_S", 0.0)
    monkeypatch.setattr(history_store, "_LOOK_S", 0.0)
    before = folder.database.read_bytes()
    with own(folder, "window"):
        done = invoke("import", str(write_csv(tmp_path / "c.csv", CANDLES)), *NAMED, "--data-dir", str(folder.root))
    assert done.returncode == 1 and "still starting" in done.stderr
    assert folder.database.read_bytes() == before


@pytest.mark.usefixtures("window")
def test_a_database_locked_for_longer_than_the_timeout_is_named(
    folder: DataFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_store, "open_database", partial(open_database, busy_timeout_ms=50))
    with closing(open_database(folder.database)) as db, write(db):
        done = invoke("import", str(write_csv(tmp_path / "c.csv", CANDLES)), *NAMED, "--data-dir", str(folder.root))
    assert done.returncode == 1 and "locked by another program" in done.stderr
    assert stored(folder) == 0


@pytest.mark.venue
@pytest.mark.usefixtures("window")
def test_a_backfill_beside_a_window_can_be_interrupted(folder: DataFolder) -> None:
    now_ms = 1_700_000_000_000
    tape = generated_tape(MINUTE, now_ms, 6_000, 10)
    closed = list(tape.candles[:6_000])
    exchange = LoopbackExchange(tape, lambda: now_ms)
    exchange.hidden = {closed[77].open_time_ms}
    expected = [candle for candle in closed if candle.open_time_ms not in exchange.hidden]
    since = datetime.fromtimestamp(closed[0].open_time_ms / 1000, UTC).isoformat()
    named = (*NAMED, "--interval", "1m", "--since", since)
    with loopback_thread(exchange):
        urls = json.dumps({"public": exchange.urls.public, "ws": exchange.urls.ws})
        for is_interrupted in (True, False):
            process = subprocess.Popen(
                command("backfill", *named, "--json", "--data-dir", str(folder.root)),
                cwd=ROOT,
                stdout=subprocess.PIPE,
                env={**os.environ, "GHOSTCANDLE_EXCHANGE_URLS": urls},
            )
            if is_interrupted:
                wait_until(lambda: stored(folder) > 0, "its first page")
                process.send_signal(signal.SIGINT)
            account = json.loads(process.communicate(timeout=120)[0])
            assert process.returncode == (130 if is_interrupted else 0), account
    assert account["left"] == 0 and account["all_absent"] == 1
    with closing(open_database(folder.database, readonly=True)) as db:
        assert CandleStore(db).load(MARKET) == expected
