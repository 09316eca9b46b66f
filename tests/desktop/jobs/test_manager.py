"""The job manager of a window: messages and ends of its child processes, played by scripts of a few lines."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from core.domain.candle import Interval, Market
from core.domain.events import EventBatch, JobProgress, Severity, TrainerState
from core.domain.watchlist import WatchedMarket
from core.settings.tree import MarketSettings, Settings
from core.storage.browsing import BrowsedRows
from core.storage.folder import DataFolder
from core.training.hosting.catch_up import JOB_ID
from desktop.actions import ActionId
from desktop.app.composition import Application
from desktop.jobs.child import ChildProcess, Ending
from desktop.jobs.history_dialogs import ImportDialog
from desktop.jobs.job_commands import Order, evaluate_order, import_order, pretrain_order
from desktop.jobs.manager import MOST_AT_ONCE, JobManager
from desktop.state.database import WindowDatabase
from desktop.state.job_list import Job, JobState
from tests.core.storage.samples import checkpoint, open_record
from tests.core.storage.summaries import summary
from tests.desktop import scenario
from tests.desktop.conftest import Bench, MakeBench, fill
from tests.desktop.whole_window import CandleGate, IdleWorker, context, run_window, until

Stub = Callable[[str], None]
UNTIL_ASKED = 'import sys; print(\'{"say": "I am here."}\', file=sys.stderr, flush=True); sys.stdin.read(); '


FOUND = {
    "venue": "binance",
    "symbol": "BTC/USDT",
    "file": "a.csv",
    "rows": 1201,
    "candles": 1200,
    "interval": "1h",
    "first_ms": 1_700_000_000_000,
    "last_ms": 1_704_316_400_000,
    "new": 1100,
    "rejected": {"not a number": 1},
    "left_out": [{"reason": "not a number", "count": 1, "example": ""}],
    "holes": 0,
    "missing": 0,
}


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Stub:
    """Sets the Python code that runs instead of Ghostcandle."""

    def take(code: str) -> None:
        monkeypatch.setattr("desktop.jobs.child.own_program", lambda: [sys.executable, "-I", "-S", "-c", code])

    return take


def answers(result: dict[str, Any], *lines: object, code: int = 0) -> str:
    """A program that prints these progress lines, and this result at its end."""
    on_the_way = "".join(f"print({json.dumps(json.dumps(line))}, file=sys.stderr); " for line in lines)
    return f"import sys; {on_the_way}print({json.dumps(json.dumps(result))}); sys.exit({code})"


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check a file in the next turn of the event loop, instead of after a pause in typing."""
    monkeypatch.setattr("desktop.jobs.history_dialogs._PAUSE_MS", 0)
    monkeypatch.setattr("desktop.dialogs.file_check._PAUSE_MS", 0)
    monkeypatch.setattr("desktop.dialogs.file_check._ASKED_EVERY_MS", 1)


@pytest.fixture
def bench(make_bench: MakeBench) -> Bench:
    return make_bench(scenario.checkpoints())


@pytest.fixture
def folder(data_dir: Path) -> DataFolder:
    folder = DataFolder(data_dir)
    folder.ensure()
    return folder


@pytest.fixture
def manager(bench: Bench, folder: DataFolder) -> Iterator[JobManager]:
    database = WindowDatabase(folder)
    database.open()
    panels = bench.window.panels
    manager = JobManager(bench.shell, bench.state, bench.source, panels.jobs, bench.market_choice, database, folder)
    manager.began.connect(lambda: bench.window.show_dock(ActionId.SHOW_JOBS))
    panels.checkpoints.evaluate_requested.connect(manager.ask_evaluation)
    panels.checkpoints.page_requested.connect(manager.open_page)
    yield manager
    manager.let_close()
    manager.kill()
    asyncio.run(manager.close())
    database.close()


def order(**changes: Any) -> Order:
    given = {
        "title": "Import walk.csv",
        "arguments": ("import", "walk.csv"),
        "summarise": lambda summary: summary["words"],
    }
    return Order(**{**given, **changes})


def newest(bench: Bench) -> Job:
    return bench.state.jobs.jobs()[0]


def done(qtbot: QtBot, bench: Bench, manager: JobManager, ordered: Order) -> Job:
    manager.begin(ordered)
    return ended(qtbot, bench)


def ended(qtbot: QtBot, bench: Bench) -> Job:
    """The newest one, once it has ended."""
    qtbot.waitUntil(lambda: any(job.state.is_over for job in bench.state.jobs.jobs()[:1]))
    return newest(bench)


def process_ids(manager: JobManager) -> list[int]:
    return [child.process_id for child in manager.findChildren(ChildProcess) if child.process_id]


def test_a_child_reports_progress_and_result(
    qtbot: QtBot, bench: Bench, manager: JobManager, folder: DataFolder, stub: Stub
) -> None:
    on_the_way = [
        {"progress": {"title": "Reading", "done": 1, "total": 2, "seconds_left": 3.5}},
        {"say": "Half of it is well."},
    ]
    stub(answers({"words": "3,000 candles stored."}, *on_the_way))
    seen: list[tuple[str, str, float | None]] = []
    bench.state.jobs_changed.connect(
        lambda: seen.append((newest(bench).doing, newest(bench).result, newest(bench).report.seconds_left))
    )
    over: list[Job] = []
    manager.job_ended.connect(over.append)
    job = done(qtbot, bench, manager, order())
    assert (job.state, job.result) == (JobState.DONE, "3,000 candles stored.") and over == [job]
    assert any(doing == "Reading" and left == 3.5 for doing, _, left in seen)
    assert any(said == "Half of it is well." for _, said, _ in seen)
    assert not bench.window.docks[ActionId.SHOW_JOBS].isHidden()
    assert (
        bench.window.banner.shown is not None
        and bench.window.banner.shown.text == "Import walk.csv: 3,000 candles stored."
    )
    assert process_ids(manager) == [] and list(folder.jobs.glob("*")) == [], "no temporary file is left"


def test_a_finished_import_offers_to_open_its_market(
    qtbot: QtBot, bench: Bench, manager: JobManager, stub: Stub
) -> None:
    file = {"venue": "kraken", "symbol": "ETH/EUR", "interval": "1h", "stored": 9, "same": 0, "rejected": {}}
    stub(answers({"files": [file]}))
    done(qtbot, bench, manager, import_order([Path("eth.csv")]))
    banner, chosen = bench.window.banner, list[MarketSettings]()
    bench.market_choice.chosen.connect(chosen.append)
    assert banner.action.isVisible() and banner.action.text() == "Open ETH/EUR"
    banner.action.click()
    assert (chosen[0].venue, chosen[0].symbol, chosen[0].interval) == ("kraken", "ETH/EUR", "1h")
    done(qtbot, bench, manager, import_order([Path("eth.csv")]))
    assert banner.action.isVisible(), "another one is on the chart still"
    bench.state.show_market(Market("kraken", "ETH/EUR", Interval.parse("1h")), MarketSettings())
    done(qtbot, bench, manager, import_order([Path("eth.csv")]))
    assert not banner.action.isVisible(), "it is on the chart already"


@pytest.mark.parametrize(("kind", "files"), [("candles", 1), ("candles", 2), ("trades", 1)])
def test_a_single_imported_candle_file_can_be_replayed(
    qtbot: QtBot, bench: Bench, manager: JobManager, stub: Stub, kind: str, files: int
) -> None:
    file = {"venue": "file", "symbol": "ETH", "interval": "1h", "stored": 9, "same": 0, "rejected": {}, "kind": kind}
    stub(answers({"files": [file] * files}))
    job = done(qtbot, bench, manager, import_order([Path(f"/data/eth{number}.csv") for number in range(files)]))
    notice = bench.window.banner.shown
    assert notice is not None and notice.option == ("Replay eth0.csv" if kind == "candles" and files == 1 else "")
    panel, replays = bench.window.panels.jobs, ActionId.JOB_REPLAY
    panel.select(job.job_id)
    assert panel.actions_of_panel[replays].isEnabled() is (notice.on_option is not None)
    for offer in (notice.on_option, panel.actions_of_panel[replays].trigger):  # the banner, then the job's row
        bench.shell.settings.change(Settings())
        if notice.on_option is not None and offer is not None:
            offer()
            chosen = bench.shell.settings.current.market
            assert (chosen.feed, chosen.file) == ("replay", "/data/eth0.csv")


def test_the_job_list_offers_the_imported_market(qtbot: QtBot, bench: Bench, manager: JobManager, stub: Stub) -> None:
    """The banner's button disappears after half a minute."""
    file = {"venue": "kraken", "symbol": "ETH/EUR", "interval": "1h", "stored": 9, "same": 0, "rejected": {}}
    panel, chosen, opens = bench.window.panels.jobs, list[MarketSettings](), ActionId.JOB_OPEN
    bench.market_choice.chosen.connect(chosen.append)
    stub(answers({"files": [file]}))
    job = done(qtbot, bench, manager, import_order([Path("eth.csv")]))
    bench.window.banner.passing.timeout.emit()
    panel.select(job.job_id)
    assert panel.actions_of_panel[opens].isEnabled()
    place = panel.table.visualRect(panel.model.index(0, 0)).center()
    QTest.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    QTest.mouseDClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert [(one.venue, one.symbol, one.interval) for one in chosen] == [("kraken", "ETH/EUR", "1h")]
    bench.state.show_market(Market("kraken", "ETH/EUR", Interval.parse("1h")), MarketSettings())
    panel.actions_of_panel[opens].trigger()
    assert len(chosen) == 1 and "on the chart already" in bench.window.banner.text.text()
    stub(answers({"words": "Nothing to open."}))
    panel.select(done(qtbot, bench, manager, order()).job_id)
    assert not panel.actions_of_panel[opens].isEnabled()


def test_the_import_notice_precedes_older_ones_and_ends_with_the_chart(
    qtbot: QtBot, bench: Bench, manager: JobManager, stub: Stub
) -> None:
    file = {"venue": "kraken", "symbol": "ETH/EUR", "interval": "1h", "stored": 9, "same": 0, "rejected": {}}
    banner, window = bench.window.banner, bench.window
    stub(answers({"files": [file]}))
    window.banner.notify("The sample is replayed.", Severity.WARNING, key="fell back")
    done(qtbot, bench, manager, import_order([Path("eth.csv")]))
    assert banner.text.text() == "Import eth.csv: 9 candles of ETH/EUR 1h (kraken) stored."
    assert banner.action.isVisible() and banner.action.text() == "Open ETH/EUR"
    bench.market_choice.watch(WatchedMarket("binance", "SOL/USDT", "1h"))
    assert banner.text.text() == "The sample is replayed.", "another chart does not show the import notice"


@pytest.mark.filterwarnings("ignore:Function. 'QDragEnterEvent:DeprecationWarning")  # of 6.12; before it had no other
def test_dropped_files_are_offered_for_import(
    qtbot: QtBot, bench: Bench, manager: JobManager, stub: Stub, tmp_path: Path
) -> None:
    stub(UNTIL_ASKED)
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for file in files:
        file.write_text("time,open,high,low,close\n")
    dropped = QMimeData()
    dropped.setUrls([QUrl.fromLocalFile(str(file)) for file in files])
    where, copy = QPointF(200.0, 300.0), Qt.DropAction.CopyAction
    buttons = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(where.toPoint(), copy, dropped, *buttons)
    QApplication.sendEvent(bench.window, enter)
    assert enter.isAccepted()
    QApplication.sendEvent(bench.window, QDropEvent(where, copy, dropped, *buttons))
    (dialog,) = bench.window.findChildren(ImportDialog)
    assert dialog.isVisible() and dialog.picker.files() == [file.resolve() for file in files]
    dialog.reject()


def test_the_import_dialog_shows_the_files_contents(
    qtbot: QtBot, manager: JobManager, stub: Stub, tmp_path: Path
) -> None:
    file = tmp_path / "a.csv"
    file.write_text("time,open,high,low,close\n")
    two = {"files": [FOUND, {**FOUND, "file": "b.csv", "new": None, "holes": 2, "missing": 5}]}
    none = {"files": [], "errors": ["a.csv has no column of closes; name --interval."]}
    for result, words in (
        (
            two,
            ["a.csv: 1,201 rows, 1,200 candles of 1h", "1,100 new", "1 (not a number)", "b.csv", "5 candles missing"],
        ),
        (none, ["no column", "“Interval”"]),
    ):
        stub(answers(result, code=int("errors" in result)))
        dialog = manager.ask_import([file])
        assert dialog.found.text() == "Reading…"
        qtbot.waitUntil(lambda: all(word in dialog.found.text() for word in words))  # noqa: B023 - called here alone
        dialog.reject()


def test_closing_the_dialog_ends_its_preview_process(
    qtbot: QtBot, manager: JobManager, stub: Stub, tmp_path: Path
) -> None:
    file = tmp_path / "a.csv"
    file.write_text("time,open,high,low,close\n")
    stub(UNTIL_ASKED)
    dialog = manager.ask_import([file])
    qtbot.waitUntil(lambda: any(child.process_id for child in dialog.findChildren(ChildProcess)))
    (process_id,) = [child.process_id for child in dialog.findChildren(ChildProcess)]
    dialog.reject()
    assert not psutil.pid_exists(process_id) or psutil.Process(process_id).status() == psutil.STATUS_ZOMBIE


CANNOT = {
    "its sentence": (answers({"error": "walk.csv is no table; name it with --venue."}, code=1), "it with “Exchange”"),
    "a crash": ("import os, sys; print('its last word', file=sys.stderr, flush=True); os.abort()", "its last word"),
    "a code": ("import sys; print('no object'); sys.exit(3)", "code 3"),
    "an odd answer": ("print('{\"other\": 1}')", "could not be read"),
    "too much": ("print('x' * 17_000_000)", "more output than"),
}


def test_a_failed_job_shows_its_message_in_list_and_banner(
    qtbot: QtBot, bench: Bench, manager: JobManager, stub: Stub
) -> None:
    over: list[Job] = []
    manager.job_ended.connect(over.append)
    for kind, (code, said) in CANNOT.items():
        stub(code)
        job = done(qtbot, bench, manager, order())
        assert job.state is JobState.FAILED and said in job.result and over == [job], kind
        assert bench.window.banner.shown is not None and said in bench.window.banner.shown.text, kind
        over.clear()


def test_an_evaluations_result_is_stored_with_its_checkpoint(
    qtbot: QtBot, bench: Bench, manager: JobManager, folder: DataFolder, stub: Stub
) -> None:
    record = open_record(manager._database.db)
    kept = checkpoint(record.reader.run_id, 1)
    with record.write():
        record.add_checkpoint(kept)
    read_again: list[list[str]] = []
    bench.source.read_again = read_again.append  # type: ignore[method-assign]
    page = folder.reports / "found.html"
    folder.reports.mkdir(parents=True)
    page.write_text("found")
    stub(answers({**summary(kept.checkpoint_id), "words": "It is good."}))
    job = done(qtbot, bench, manager, order(page=page, checkpoint_id=kept.checkpoint_id))
    assert job.state is JobState.DONE and "It is good." in job.result and job.page == page
    (row,) = BrowsedRows(manager._database.db).of([kept.checkpoint_id])
    found = row.evaluation
    assert found is not None and (found.file, found.judged, found.page) == ("later.csv", 480, "reports/found.html")
    assert read_again == [[kept.checkpoint_id]]
    unknown = done(qtbot, bench, manager, order(checkpoint_id="unknown"))
    assert unknown.state is JobState.DONE and "could not be stored" not in unknown.result
    stub(answers({**summary("unknown"), "words": "It is good."}))
    unknown = done(qtbot, bench, manager, order(checkpoint_id="unknown"))
    assert "It is good. It could not be stored" in unknown.result


def test_the_run_on_the_chart_is_shared_as_one_page(
    qtbot: QtBot, bench: Bench, manager: JobManager, folder: DataFolder, stub: Stub
) -> None:
    share = bench.shell.actions[ActionId.SHARE_RUN]
    scenario.watch(bench.state, None)
    share.trigger()
    notice = bench.window.banner.shown
    assert notice is not None and "no run to share yet" in notice.text and not bench.state.jobs.jobs()
    fill(bench)
    stub("import sys, json; page = sys.argv[-1]; open(page, 'w').close(); print(json.dumps({'file': page}))")
    share.trigger()
    job = ended(qtbot, bench)
    assert job.state is JobState.DONE and job.page is not None and job.page.parent == folder.reports
    assert job.page.suffix == ".html" and str(job.page) in job.result and "BTC/USDT" in job.report.title
    notice = bench.window.banner.shown
    assert notice is not None and notice.action == "Open report"


def test_a_cancelled_job_ends_and_leaves_no_temporary_file(
    qtbot: QtBot, bench: Bench, manager: JobManager, folder: DataFolder, stub: Stub
) -> None:
    panel, over = bench.window.panels.jobs, []
    manager.job_ended.connect(over.append)
    half = 'print(\'{"interrupted": true, "words": "Half."}\')'
    for ending, words in ((half, "Half."), ("sys.exit(130)", "Nothing was kept.")):
        stub(UNTIL_ASKED + ending)
        job_id = manager.begin(order(cancelled="Nothing was kept.", works_aside=True))
        assert job_id is not None and panel.selected() is not None
        (process_id,) = process_ids(manager)
        qtbot.waitUntil(lambda: newest(bench).result == "I am here.")
        assert list(folder.jobs.iterdir())
        panel.refresh()
        assert "I am here." in panel.details.toPlainText()
        panel.actions_of_panel[ActionId.JOB_CANCEL].trigger()
        assert newest(bench).state is JobState.CANCELLING
        job = ended(qtbot, bench)
        assert (job.state, job.result) == (JobState.CANCELLED, words)
        notice = bench.window.banner.shown
        assert notice is not None and notice.text == f"Import walk.csv: cancelled. {words}" and not notice.action
        assert not psutil.pid_exists(process_id) and not list(folder.jobs.glob("*")) and over == []
        panel.refresh()
        panel.actions_of_panel[ActionId.JOB_CLEAR].trigger()
        assert bench.state.jobs.jobs() == ()


def test_the_number_of_concurrent_jobs_is_limited(bench: Bench, manager: JobManager, stub: Stub) -> None:
    stub(UNTIL_ASKED)
    begun = [manager.begin(order()) for _ in range(MOST_AT_ONCE + 1)]
    assert begun[-1] is None and len(set(begun)) == MOST_AT_ONCE + 1 == len(process_ids(manager)) + 1
    assert bench.window.banner.shown is not None and "are running" in bench.window.banner.shown.text


def test_a_window_with_jobs_asks_before_it_closes_and_ends_them(
    qtbot: QtBot, bench: Bench, manager: JobManager, stub: Stub
) -> None:
    stub(UNTIL_ASKED)
    manager.begin(order())
    window, closed = bench.window, []
    window.closing.connect(lambda: closed.append(True))
    window.close()
    box = window.findChild(QMessageBox)
    assert box is not None and window.isVisible() and not closed and "walk.csv" in box.text()
    button(box, "Keep").click()
    qtbot.waitUntil(lambda: window.findChild(QMessageBox) is None)
    assert window.isVisible() and newest(bench).state is JobState.RUNNING
    window.close()
    again = window.findChild(QMessageBox)
    assert again is not None
    button(again, "End").click()
    assert closed == [True]
    manager.begin_to_close()
    assert ended(qtbot, bench).state is JobState.CANCELLED and manager.begin(order()) is None


def test_a_child_that_ignores_stdin_does_not_outlive_the_window(
    qtbot: QtBot, bench: Bench, manager: JobManager, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("desktop.jobs.manager._PATIENCE_S", 0.0)
    stub('import sys, threading; print(\'{"say": "here"}\', file=sys.stderr, flush=True); threading.Event().wait()')
    manager.begin(order())
    (process_id,) = process_ids(manager)
    qtbot.waitUntil(lambda: newest(bench).result == "here")
    asyncio.run(manager.close())
    assert not psutil.pid_exists(process_id)


def button(box: QMessageBox, word: str) -> QPushButton:
    return next(each for each in box.findChildren(QPushButton) if word in each.text().replace("&", ""))


def test_the_dialog_refuses_invalid_and_orders_valid_jobs(
    qtbot: QtBot, bench: Bench, manager: JobManager, stub: Stub, tmp_path: Path
) -> None:
    file = tmp_path / "BTCUSDT.csv"
    file.write_text("time,open,high,low,close,volume\n1700000000000,1.0,1.0,1.0,1.0,1.0\n")
    counted = {"symbol": "BTC/USDT", "interval": "1m", "venue": "binance", "stored": 1, "same": 0, "rejected": {}}
    stub(answers({"files": [{**FOUND, **counted}]}))
    bench.shell.actions[ActionId.IMPORT_CANDLES].trigger()
    dialog = bench.window.findChild(ImportDialog)
    assert dialog is not None
    dialog.picker.line.setText(str(file))
    dialog.venue.setCurrentText("binance")
    dialog.zone.setText("Middle/Earth")
    accept = dialog.buttons.button(dialog.buttons.StandardButton.Ok)
    assert "not a time zone" in dialog.message.text() and not accept.isEnabled()
    dialog.zone.setText("UTC")
    qtbot.waitUntil(accept.isEnabled)
    accept.click()
    assert ended(qtbot, bench).result == "1 candle of BTC/USDT 1m (binance) stored."


def test_an_unresponsive_child_is_killed(
    qtbot: QtBot, qapp: QApplication, bench: Bench, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First by closing its stdin, then by SIGTERM, finally by SIGKILL."""
    monkeypatch.setattr("desktop.jobs.child._POLITE_MS", 1)
    monkeypatch.setattr("desktop.jobs.child._INSISTING_MS", 2)
    stub(
        "import signal, sys, threading; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
        'print(\'{"say": "here"}\', file=sys.stderr, flush=True); threading.Event().wait()'
    )
    child = ChildProcess(["endless"], {}, bench.window)
    with qtbot.waitSignal(child.message_received):
        child.start()
    with qtbot.waitSignal(child.over) as over:
        child.cancel()
    assert over.args == [Ending(None, was_cancelled=True)]


def test_cancelling_the_catch_up_stops_training(
    qapp: QApplication, tmp_path: Path, gate: CandleGate, idle_trainer: None
) -> None:
    async def story(application: Application) -> None:
        jobs, panel = application.state.jobs, application.window.panels.jobs
        await until(lambda: application.trainer.is_running, "a trainer")
        (worker,) = application.trainer.findChildren(IdleWorker)
        worker.batch.emit(EventBatch((scenario.ready(), scenario.status(), JobProgress(JOB_ID, "Learning", 1, 4_000))))
        application.window.show_jobs()
        panel.select(JOB_ID)
        panel.table.setFocus()
        QTest.keyClick(panel.table, Qt.Key.Key_Delete)
        assert worker.inbox.is_stopped
        await until(lambda: application.state.trainer_state is TrainerState.STOPPED, "training's end")
        worker.batch.emit(EventBatch((JobProgress(JOB_ID, "Learning", 1, 4_000, is_over=True),)))
        job = next(job for job in jobs.jobs() if job.job_id == JOB_ID)
        assert job.state is JobState.CANCELLED and "continues from it" in job.result
        assert application.window.shell.actions[ActionId.START].isEnabled()

    run_window(qapp, context(tmp_path / "data"), story)


def test_an_evaluation_reports_candles_that_do_not_count() -> None:
    order = evaluate_order(None, Path("eth.csv"), Path("reports"), datetime(2026, 1, 1, tzinfo=UTC))
    proven = {"value": 0.026, "ci95": [0.011, 0.042], "n": 1_399}
    sizes = {"candles": 1_400, "scored": 1_399, "judged": 400, "left_out": 1_000, "without_detail": 0}
    skill = {"close": proven, "model_gain": proven, "online_gain": proven, "twin_age": 300}
    found = {"accuracy": {"group": "replayed"}, "skill": skill, **sizes}
    assert "Ghosts beat “no change” on the close in replay: +2.6 % (1.1 to 4.2), n = 1,399." in order.summarise(found)
    wanted = "1,400 candles, 1,399 scored, 400 evaluated (not the first 1,000: the reference needs them as its past)."
    assert wanted in order.summarise(found)
    assert "400 candles, 1,399 scored, 400 evaluated." in order.summarise({**found, "candles": 400, "left_out": 0})


def test_a_pretrained_models_skill_is_reported_with_its_interval() -> None:
    validation = {
        "n": 1_199,
        "close_skill": 0.007,
        "close_ci95": [-0.002, 0.017],
        "range_skill": 0.1,
        "range_ci95": None,
    }
    order = pretrain_order([Path("eth.csv")])
    summary = order.summarise({"best_epoch": 1, "epochs": [{"epoch": 1, "validation": validation}]})
    assert "1,199" in summary and "close +0.70 % (−0.20 to 1.70)" in summary and "range +10.00 %." in summary
