"""History commands while a window owns the data folder: real sockets, real child processes, the real window."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QObject, QThread
from PySide6.QtNetwork import QLocalSocket
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.domain.candle import Candle, Interval, Market
from core.domain.clock import ManualClock
from core.domain.spans import TimeSpan
from core.market.history.importing import ROWS_PER_TURN, HistoryWriter
from core.storage.candles import CandleStore, StoredColumns
from core.storage.database import open_database
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from core.storage.ownership import own
from desktop.app.composition import Application
from desktop.services.remote_client import OpenWindow
from desktop.services.remote_commands import RemoteCommands
from desktop.services.remote_protocol import GREETING, market_fields, packed
from desktop.services.single_instance import SingleInstance, address
from desktop.state.job_list import JobList, JobState
from tests.desktop.whole_window import CATCH_UP, CandleGate, context, run_window, step_of, until
from tests.support.candles import MINUTE, random_walk
from tests.support.commands import ROOT, command
from tests.support.loopback_exchange import LoopbackExchange, loopback_thread
from tests.support.tape import generated_tape

MARKET = Market("binance", "BTC/USDT", MINUTE)


@pytest.fixture
def commands(qapp: QApplication, tmp_path: Path) -> Iterator[RemoteCommands]:
    """A window's socket and its command handler, without the window."""
    instance_lock = SingleInstance(tmp_path)
    instance_lock.listen()
    owner = QObject()
    with open_database(tmp_path / "ghostcandle.sqlite3"):
        served = RemoteCommands(lambda: True, owner)
        instance_lock.history_requested.connect(served.serve)
        yield served
        served.close()
        instance_lock.release()


STORE = {"op": "store", **market_fields(MARKET)}


@pytest.mark.parametrize("wrong", [[{"op": "store"}], [STORE, STORE]], ids=["malformed", "out of turn"])
def test_a_command_that_violates_the_protocol_is_answered_and_disconnected(
    qtbot: QtBot, commands: RemoteCommands, tmp_path: Path, wrong: list[dict[str, object]]
) -> None:
    socket = QLocalSocket()
    socket.connectToServer(address(tmp_path))
    assert socket.waitForConnected(60_000)
    with qtbot.waitSignal(socket.disconnected):
        socket.write(GREETING + packed({"op": "begin", "title": "Mischief"}) + b"".join(map(packed, wrong)))
        socket.flush()
    assert b"does not understand" in bytes(socket.readAll().data())


@pytest.mark.parametrize(
    ("last", "state"), [({"op": "end"}, JobState.DONE), (None, JobState.ENDED)], ids=["done", "interrupted"]
)
def test_a_command_is_done_only_if_it_says_so(
    qtbot: QtBot, commands: RemoteCommands, tmp_path: Path, last: dict[str, str] | None, state: JobState
) -> None:
    """Regression: one that was interrupted before it had counted anything was listed as done."""
    jobs = JobList(ManualClock())
    commands.progressed.connect(jobs.apply)
    socket = QLocalSocket()
    socket.connectToServer(address(tmp_path))
    assert socket.waitForConnected(60_000)
    with qtbot.waitSignal(commands.progressed):
        socket.write(GREETING + packed({"op": "begin", "title": "Fetching"}))
        socket.flush()
    if last is not None:
        socket.write(packed(last))
    socket.disconnectFromServer()
    qtbot.waitUntil(lambda: not jobs.running())
    assert [job.state for job in jobs.jobs()] == [state]


def test_a_command_cancelled_in_its_turn_ends_once_its_part_is_stored(
    qtbot: QtBot, commands: RemoteCommands, tmp_path: Path
) -> None:
    jobs, summaries = JobList(ManualClock()), list[str]()
    commands.progressed.connect(jobs.apply)
    commands.summary_ready.connect(summaries.append)
    socket = QLocalSocket()
    socket.connectToServer(address(tmp_path))
    assert socket.waitForConnected(60_000)
    socket.write(GREETING + packed({"op": "begin", "title": "Fetching"}) + packed(STORE))
    socket.flush()
    qtbot.waitUntil(lambda: socket.bytesAvailable() >= 2 * len(packed({"ok": True})), timeout=60_000)
    socket.readAll()
    (job,) = jobs.running()
    with qtbot.waitSignal(socket.readyRead, timeout=60_000):
        commands.cancel(job.job_id)
    assert b"cancelled in the window" in bytes(socket.readAll().data())
    assert jobs.running() and not summaries, "it may be storing"
    socket.write(packed({"op": "stored", "changed": 3}))
    socket.disconnectFromServer()
    qtbot.waitUntil(lambda: not jobs.running(), timeout=60_000)
    assert summaries == ["Fetching: 3 candles stored."]


def columns_from(candles: Sequence[Candle]) -> StoredColumns:
    values = [[c.open, c.high, c.low, c.close, c.volume] for c in candles]
    return StoredColumns(np.array([c.open_time_ms for c in candles]), np.array(values).T)


class Command(QThread):
    """A history command: stores columns of candles in the window's turns, and records what happens."""

    def __init__(self, folder: Path, market: Market, candles: Sequence[Candle], parent: QObject) -> None:
        super().__init__(parent)
        self._folder, self._market, self._columns = folder, market, columns_from(candles)
        self.holes: list[TimeSpan] = []
        self.changed = 0
        self.error = ""

    def run(self) -> None:
        try:
            with (
                OpenWindow(self._folder, "Importing candles") as window,
                closing(open_database(DataFolder(self._folder).database)) as db,
            ):
                writer = HistoryWriter(db, window.in_turn)
                window.show(0, len(self._columns))
                self.changed = writer.put(self._market, self._columns, replaces=False, on_progress=self.has_stored)
                writer.put_holes(self._market, self.holes, 1_000)
        except StorageError as error:
            self.error = str(error)

    def has_stored(self, rows: int) -> None:
        """So many are stored by now."""


def test_a_killed_commands_last_rows_are_shown(qtbot: QtBot, commands: RemoteCommands, tmp_path: Path) -> None:
    """It may have stored them before it could say so."""
    shown: list[Market] = []
    commands.shown.connect(shown.append)
    socket = QLocalSocket()
    socket.connectToServer(address(tmp_path))
    assert socket.waitForConnected(60_000)
    with qtbot.waitSignal(socket.readyRead, timeout=60_000):
        socket.write(GREETING + packed({"op": "begin", "title": "Fetching"}))
        socket.flush()
    socket.readAll()
    with qtbot.waitSignal(socket.readyRead, timeout=60_000):
        socket.write(packed(STORE))
        socket.flush()
    assert shown == []
    socket.abort()
    qtbot.waitUntil(lambda: shown == [MARKET], timeout=60_000)


@contextmanager
def command_socket(application: Application) -> Iterator[None]:
    """As `run` composes it: commands find the window."""
    instance_lock = SingleInstance(application._context.folder.root)
    instance_lock.listen()
    instance_lock.history_requested.connect(application.remote_commands.serve)
    try:
        yield
    finally:
        instance_lock.release()


def older(first_ms: int, count: int, interval: Interval) -> list[Candle]:
    return random_walk(count, start_ms=first_ms - count * interval.duration_ms, interval=interval)


def test_candles_stored_by_a_command_are_shown(
    qapp: QApplication, tmp_path: Path, gate: CandleGate, idle_trainer: None
) -> None:
    async def story(application: Application) -> None:
        with command_socket(application):
            await until(lambda: application.series is not None and len(application.series) == CATCH_UP, "the catch-up")
            series, market = application.series, application.charting.candles._market
            assert series is not None and market is not None
            sent = older(int(series.open_time_ms[0]), 2_002, market.interval)
            hole = TimeSpan(sent[100].open_time_ms, sent[102].open_time_ms)
            sent = [*sent[:100], *sent[102:]]
            titles: set[str] = set()
            application.remote_commands.progressed.connect(lambda job: titles.add(job.title))
            command = Command(tmp_path, market, sent, application)
            command.holes = [hole]
            command.start()
            shown_count = len(sent) + CATCH_UP
            await until(lambda: application.series is not None and len(application.series) == shown_count, "the chart")
            await until(command.isFinished, "the command's end")
            await until(lambda: not application.state.jobs.running(), "the job's end")
            assert (command.changed, command.error) == (len(sent), "")
            assert application.database.holes.of_exchange(market, hole) == [hole]
            shown = application.series
            assert shown is not None and [*shown][: len(sent)] == sent
            assert titles == {"Importing candles"} and application.state.jobs.running() == ()
            notice = application.window.banner.shown
            assert notice is not None and "2,000 candles stored" in notice.text
            assert application.database.candles.count(market) == shown_count

    run_window(qapp, context(tmp_path), story)


@pytest.mark.slow
@pytest.mark.parametrize("is_cancelled", [True, False], ids=["cancelled in the window", "the window closes"])
def test_a_command_cancelled_by_the_window_says_so_and_keeps_stored_candles(
    qapp: QApplication, tmp_path: Path, gate: CandleGate, idle_trainer: None, is_cancelled: bool
) -> None:
    candles = random_walk(3 * ROWS_PER_TURN)

    async def story(application: Application) -> None:
        with command_socket(application):
            await until(lambda: application.database.is_open, "the database")
            command = Command(tmp_path, MARKET, candles, application)
            stored, go_on = threading.Event(), threading.Event()

            def has_stored(_rows: int) -> None:
                stored.set()
                assert go_on.wait(60.0)

            command.has_stored = has_stored  # type: ignore[method-assign]
            command.start()
            await until(stored.is_set, "the first rows")
            if is_cancelled:
                (remote,) = application.remote_commands._commands
                application.remote_commands.cancel(remote.job_id)
            else:
                application.remote_commands.close()
            go_on.set()
            await until(command.isFinished, "the command's end")
            assert "are kept" in command.error and ("cancelled" in command.error) is is_cancelled
            assert application.database.candles.load(MARKET) == candles[:ROWS_PER_TURN]

    run_window(qapp, context(tmp_path), story)


async def run_command(*arguments: str) -> tuple[int, dict[str, object]]:
    """A child process, waited for on the window's own loop."""
    process = await asyncio.create_subprocess_exec(
        *command(*arguments, "--json"), cwd=ROOT, stdout=asyncio.subprocess.PIPE, stderr=sys.stderr
    )
    out, _ = await process.communicate()
    assert process.returncode is not None
    return process.returncode, json.loads(out)


def write_csv(path: Path, candles: list[Candle]) -> None:
    numbers = ((c.open_time_ms, c.open, c.high, c.low, c.close, c.volume) for c in candles)
    path.write_text("time,open,high,low,close,volume\n" + "".join(",".join(map(repr, row)) + "\n" for row in numbers))


@pytest.mark.slow
def test_candles_imported_beside_the_window_are_on_its_chart(qapp: QApplication, tmp_path: Path) -> None:
    data = tmp_path / "data"
    within = context(data, "thread", speed=0.01, catch_up_candles=80)
    firsts: list[int] = []

    async def story(application: Application) -> None:
        instance_lock = SingleInstance(data)
        instance_lock.listen()
        instance_lock.history_requested.connect(application.remote_commands.serve)
        try:
            await until(lambda: application.series is not None and len(application.series) >= 30, "the catch-up")
            await until(lambda: step_of(application) > 5, "training, which has a position then")
            series = application.series
            assert series is not None
            market = application.charting.candles._market
            assert market is not None
            first_ms = int(series.open_time_ms[0])
            older = random_walk(5_000, start_ms=first_ms - 5_000 * 3_600_000, interval=market.interval)
            write_csv(tmp_path / "older.csv", older)
            titles: set[str] = set()
            application.remote_commands.progressed.connect(lambda job: titles.add(job.title))
            named = ("--venue", market.venue, "--symbol", market.symbol)
            code, result = await run_command("import", str(tmp_path / "older.csv"), *named, "--data-dir", str(data))
            assert code == 0 and result["files"][0]["stored"] == 5_000  # type: ignore[index]
            await until(lambda: application.series is not None and len(application.series) >= 5_030, "the chart")
            shown = application.series
            firsts.append(first_ms)
            assert shown is not None and shown[0] == older[0] and shown[4_999] == older[-1]
            assert titles == {"Importing candles"}
            await until(lambda: application.state.jobs.running() == (), "the import and the catch-up to end")
            notice = application.window.banner.shown
            assert notice is not None and "5,000 candles stored" in notice.text
        finally:
            instance_lock.release()

    with own(within.folder, "window"):
        run_window(qapp, within, story)
    with open_database(within.folder.database, readonly=True) as db:
        assert db.execute("SELECT COUNT(*) FROM candles").fetchone()[0] >= 5_030
        learned_from = db.execute("SELECT MIN(candle_open_time_ms) FROM steps").fetchone()[0]
        assert learned_from >= firsts[0], "the queue goes forward only"


@pytest.mark.venue
def test_a_backfill_beside_a_window_can_be_interrupted(qtbot: QtBot, commands: RemoteCommands, tmp_path: Path) -> None:
    now_ms = 1_700_000_000_000
    tape = generated_tape(MINUTE, now_ms, 6_000, 10)
    closed = list(tape.candles[:6_000])
    exchange = LoopbackExchange(tape, lambda: now_ms)
    exchange.hidden = {closed[77].open_time_ms}
    expected = [candle for candle in closed if candle.open_time_ms not in exchange.hidden]
    since = datetime.fromtimestamp(closed[0].open_time_ms / 1000, UTC).isoformat()
    named = ("--venue", "binance", "--symbol", "BTC/USDT", "--interval", "1m", "--since", since)
    summaries: list[str] = []
    commands.summary_ready.connect(summaries.append)
    with own(DataFolder(tmp_path), "window"), loopback_thread(exchange):
        urls = json.dumps({"public": exchange.urls.public, "ws": exchange.urls.ws})
        for is_interrupted in (True, False):
            process = subprocess.Popen(
                command("backfill", *named, "--json", "--data-dir", str(tmp_path)),
                cwd=ROOT,
                stdout=subprocess.PIPE,
                env={**os.environ, "GHOSTCANDLE_EXCHANGE_URLS": urls},
            )
            if is_interrupted:
                with qtbot.waitSignal(commands.progressed, check_params_cb=lambda job: job.done > 0):
                    pass
                process.send_signal(signal.SIGINT)
            qtbot.waitUntil(lambda process=process: process.poll() is not None)
            account = json.loads(process.communicate()[0])
            assert process.returncode == (130 if is_interrupted else 0), account
    assert account["left"] == 0 and account["all_absent"] == 1
    qtbot.waitUntil(lambda: len(summaries) == 2)
    with open_database(tmp_path / "ghostcandle.sqlite3", readonly=True) as db:
        assert CandleStore(db).load(MARKET) == expected
