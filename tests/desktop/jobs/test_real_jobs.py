"""Jobs in the whole window: our own commands as child processes, the real database, the real dialogs."""

from __future__ import annotations

import dataclasses
import json
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton

from core.domain.candle import Market
from core.settings.tree import save
from core.storage.candles import CandleStore
from core.storage.database import open_database, select
from core.storage.ownership import own
from desktop.actions import ActionId
from desktop.app.composition import Application
from desktop.app.context import Context
from desktop.jobs.child import ChildProcess
from desktop.jobs.history_dialogs import BackfillDialog, ImportDialog
from desktop.jobs.job_commands import Order, pretrain_order
from desktop.jobs.model_dialogs import EvaluateDialog
from desktop.state.job_list import Job, JobState
from tests.desktop.whole_window import Story, context, run_window, step_of, until
from tests.support.candles import HOUR, MINUTE, random_walk, write_csv
from tests.support.commands import ROOT
from tests.support.loopback_exchange import LoopbackExchange, loopback_thread
from tests.support.tape import generated_tape
from tests.support.waiting import wait_until

PATIENCE_S = 120.0
pytestmark = pytest.mark.slow


def with_settings(within: Context) -> Context:
    """The children read the file."""
    save(within.settings, within.folder.settings)
    return within


def run_owned(qapp: QApplication, within: Context, story: Story) -> None:
    """As `run` composes it: history commands find the folder owned by a window."""
    with own(within.folder, "window"):
        run_window(qapp, within, story)


def newest(application: Application) -> Job:
    return own_jobs(application)[0]


def own_jobs(application: Application) -> list[Job]:
    return [job for job in application.state.jobs.jobs() if job.job_id.startswith("own job")]


async def until_over(application: Application) -> Job:
    await until(lambda: bool(own_jobs(application)), "the order, once the files were checked")
    await until(lambda: newest(application).state.is_over, "the job", PATIENCE_S)
    return newest(application)


def endless(tmp_path: Path) -> Order:
    """A pretraining that would take hours."""
    file = write_csv(tmp_path / "walk.csv", random_walk(400, interval=MINUTE))
    return pretrain_order([file], epochs=100_000, validation_share=0.2, patience=100_000, batch_size=32, device="cpu")


def test_a_checkpoint_is_evaluated_from_the_browser_and_keeps_the_result(qapp: QApplication, tmp_path: Path) -> None:
    within = with_settings(context(tmp_path / "data", speed=0.01))

    async def story(application: Application) -> None:
        window = application.window
        await until(lambda: step_of(application) >= 30, "training", PATIENCE_S)
        await until(lambda: bool(application.source.checkpoints()), "a checkpoint")
        info = application.source.checkpoints()[0]
        market = application.state.market
        assert market is not None
        later = random_walk(80, start_ms=info.candle_open_time_ms + HOUR.duration_ms, interval=market.interval)
        file = write_csv(tmp_path / "later.csv", later)
        panel = window.panels.checkpoints
        panel.refresh()
        assert panel.reveal(info.checkpoint_id)
        panel.actions_of_panel[ActionId.CHECKPOINT_EVALUATE].trigger()
        dialog = window.findChild(EvaluateDialog)
        assert dialog is not None and dialog.checkpoint.currentData() == info.checkpoint_id
        assert not ok(dialog).isEnabled() and "Choose" in dialog.message.text()
        dialog.picker.line.setText(str(file))
        ok(dialog).click()
        await until(lambda: bool(own_jobs(application)), "the order, once the file was checked")
        assert newest(application).state is JobState.RUNNING and not window.docks[ActionId.SHOW_JOBS].isHidden()
        texts: set[str] = set()
        application.state.jobs_changed.connect(lambda: texts.add(newest(application).doing))
        application.state.jobs_changed.connect(lambda: texts.add(newest(application).result))
        done = await until_over(application)
        assert not any("was reached" in each for each in texts), "it has not ended with its file"
        assert {"Evaluating candles of later.csv", "Judging the forecasts"} <= texts
        assert done.state is JobState.DONE, done.result
        assert f"step {info.step}" in done.result and "kept learning" in done.result
        assert done.page is not None and info.checkpoint_id in done.page.read_text(encoding="utf-8")
        row = application.source.catalog.get(info.checkpoint_id)
        assert row is not None
        found = row.evaluation
        assert found is not None and found.file == "later.csv" and found.candles == 80 and found.judged > 60
        panel.refresh()
        assert panel.reveal(info.checkpoint_id)
        assert panel.actions_of_panel[ActionId.CHECKPOINT_REPORT].isEnabled()
        assert not panel.table.isColumnHidden(place_of("evaluated"))
        assert list(within.folder.jobs.glob("*")) == [], "no temporary file is left"
        evaluated = "SELECT checkpoint_id, at_ms FROM evaluations"
        assert select(application.database.db, evaluated) == [(info.checkpoint_id, found.at_ms)]

    run_window(qapp, within, story)


def place_of(name: str) -> int:
    from desktop.checkpoints.columns import PLACE  # noqa: PLC0415

    return PLACE[name]


def ok(dialog: EvaluateDialog | ImportDialog | BackfillDialog) -> QPushButton:
    return dialog.buttons.button(dialog.buttons.StandardButton.Ok)


def test_a_file_is_imported_from_the_window_and_listed_once(qapp: QApplication, tmp_path: Path) -> None:
    within = with_settings(context(tmp_path / "data", speed=0.01))
    candles = random_walk(3_000)
    file = write_csv(tmp_path / "BTCUSDT.csv", candles)

    async def story(application: Application) -> None:
        await until(lambda: application.database.is_open, "the database")
        application.window.shell.actions[ActionId.IMPORT_CANDLES].trigger()
        dialog = application.window.findChild(ImportDialog)
        assert dialog is not None
        dialog.picker.line.setText(str(file))
        dialog.venue.setCurrentText("binance")
        dialog.zone.setText("Middle/Earth")
        assert "not a time zone" in dialog.message.text() and not ok(dialog).isEnabled()
        dialog.zone.setText("UTC")
        await until(ok(dialog).isEnabled, "its rows", PATIENCE_S)
        ok(dialog).click()
        done = await until_over(application)
        assert (done.state, done.result) == (JobState.DONE, "3,000 candles of BTC/USDT 1m (binance) stored.")
        banner = application.window.banner
        assert banner.text.text() == "Import BTCUSDT.csv: 3,000 candles of BTC/USDT 1m (binance) stored."

    run_owned(qapp, within, story)
    with open_database(within.folder.database, readonly=True) as db:
        assert CandleStore(db).count(Market("binance", "BTC/USDT", MINUTE)) == 3_000


def test_a_file_without_an_exchange_is_previewed_imported_and_opened(qapp: QApplication, tmp_path: Path) -> None:
    within = with_settings(context(tmp_path / "data", speed=0.01))
    file = write_csv(tmp_path / "my-rates.csv", random_walk(300))

    async def story(application: Application) -> None:
        window = application.window
        await until(lambda: application.database.is_open, "the database")
        dialog = application.jobs.ask_import([file])
        dialog.venue.setCurrentText("file")
        await until(lambda: "Set it with “Symbol”" in dialog.message.text(), "the preview", PATIENCE_S)
        assert "300 candles of 1m" in dialog.found.text()
        dialog.symbol.setCurrentText("my rates")
        await until(lambda: "300 new" in dialog.found.text(), "the preview of the named market", PATIENCE_S)
        ok(dialog).click()
        assert (await until_over(application)).state is JobState.DONE
        assert window.banner.action.text() == "Open my rates"
        window.banner.action.click()
        chart = application.chart
        await until(lambda: chart.model.count == 300 and bool(chart.model.ghosts()), "its chart", PATIENCE_S)
        assert application.state.market in application.database.stored_markets()

    run_owned(qapp, within, story)


@pytest.mark.venue
def test_history_is_fetched_from_the_window(qapp: QApplication, tmp_path: Path) -> None:
    now_ms = 1_700_000_000_000
    tape = generated_tape(MINUTE, now_ms, 1_500, 10)
    exchange = LoopbackExchange(tape, lambda: now_ms)
    with loopback_thread(exchange):
        within = with_settings(dataclasses.replace(context(tmp_path / "data", speed=0.01), urls=exchange.urls))

        async def story(application: Application) -> None:
            await until(lambda: application.database.is_open, "the database")
            application.window.shell.actions[ActionId.FETCH_HISTORY].trigger()
            dialog = application.window.findChild(BackfillDialog)
            assert dialog is not None
            for box, text in ((dialog.venue, "binance"), (dialog.symbol, "BTC/USDT"), (dialog.interval, "1m")):
                box.setCurrentText(text)
            dialog.since.setText("2999-01-01")
            assert "in the future" in dialog.message.text() and not ok(dialog).isEnabled()
            dialog.since.setText("2023-11-14")
            dialog.until.setText("2023-11-14T01:00")
            ok(dialog).click()
            done = await until_over(application)
            assert done.state is JobState.DONE and done.result, done.result

        run_owned(qapp, within, story)


def test_a_cancelled_job_leaves_no_process_and_no_temporary_file(qapp: QApplication, tmp_path: Path) -> None:
    within = with_settings(context(tmp_path / "data", speed=0.01))

    async def story(application: Application) -> None:
        panel = application.window.panels.jobs
        await until(lambda: application.database.is_open, "the database")
        job_id = application.jobs.begin(endless(tmp_path))
        assert job_id is not None and panel.selected() is not None
        (process_id,) = [child.process_id for child in application.jobs.findChildren(ChildProcess)]
        await until(lambda: newest(application).doing == "Pretraining", "the first step", PATIENCE_S)
        await until(lambda: newest(application).report.seconds_left is not None, "a pace")
        await until(lambda: newest(application).result.startswith("Epoch"), "the first epoch's result", PATIENCE_S)
        panel.refresh()
        assert "skill on" in panel.details.toPlainText()
        panel.table.setFocus()
        QTest.keyClick(panel.table, Qt.Key.Key_Delete)
        assert newest(application).state is JobState.CANCELLING
        done = await until_over(application)
        assert done.state is JobState.CANCELLED and done.result
        assert not psutil.pid_exists(process_id) and not list(within.folder.jobs.glob("*"))
        panel.actions_of_panel[ActionId.JOB_CLEAR].trigger()
        assert not any(job.job_id == job_id for job in application.state.jobs.jobs())

    run_window(qapp, within, story)


_PARENT = """
import json, sys
from PySide6.QtCore import QCoreApplication, QTimer
from desktop.jobs.child import ChildProcess
app = QCoreApplication([])
child = ChildProcess(json.loads(sys.argv[1]), {}, app)
child.progressed.connect(lambda *_progress: print("progress", flush=True))
child.start()
print(child.process_id, flush=True)
app.exec()
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no such end on Windows")
def test_a_window_that_is_killed_leaves_no_orphan(tmp_path: Path) -> None:
    order = endless(tmp_path)
    command, *rest = order.arguments
    arguments = json.dumps([command, "--json", "--progress-lines", "--data-dir", str(tmp_path / "data"), *rest])
    with subprocess.Popen(
        [sys.executable, "-c", _PARENT, arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        assert parent.stdout.readline().strip() == "progress"
        parent.kill()
        parent.wait()
        wait_until(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE, "the child to end")
