"""The Jobs dock and the dialog that evaluates a checkpoint, with real jobs: for the docs, and to be looked at.

python -m tests.support.job_pictures FOLDER takes only these, over a short replay, and the whole window with the dock in
front at each size.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication
from qasync import QEventLoop

import resources
from core.settings.tree import MarketSettings, ModelSettings, Settings, TrainingSettings, save
from core.storage.folder import DataFolder
from desktop.actions import ActionId
from desktop.app.composition import Application
from desktop.app.context import Context
from desktop.jobs.child import ChildProcess
from desktop.jobs.job_commands import import_order, pretrain_order

SAMPLE = Path(resources.__file__).parent / "sample_eurusd_1h.csv"
SIZES = ((1600, 900), (1280, 720))
THEMES = ("dark", "light")
DOCK_SIZE = (1180, 250)
_LATER_ROWS = slice(1_500, 1_900)
_PATIENCE_S = 240.0


async def shoot(application: Application, folder: Path, aside: Path) -> None:
    """The dock alone in both themes, with an evaluation that is done, an import that failed, and a pretraining under
    way; and the dialog that ordered the evaluation."""
    await _begin(application, folder, aside)
    await _dock(application, folder)
    await _end(application)


async def _dock(application: Application, folder: Path) -> None:
    window = application.window
    dock = window.docks[ActionId.SHOW_JOBS]
    dock.setFloating(True)
    dock.show()
    for theme in THEMES:
        _wear(application, theme)
        dock.resize(*DOCK_SIZE)
        await asyncio.sleep(0.8)
        assert dock.widget().grab().save(str(folder / f"jobs-{theme}.png"))
    window.reset_layout()


async def _begin(application: Application, folder: Path, aside: Path) -> None:
    window, jobs = application.window, application.jobs
    later, odd = aside / "eurusd-later.csv", aside / "notes.csv"
    header, *rows = SAMPLE.read_text(encoding="utf-8").splitlines(keepends=True)
    later.write_text(header + "".join(rows[_LATER_ROWS]), encoding="utf-8")
    odd.write_text("these,are,my\nnotes,on,the market\n", encoding="utf-8")
    window.show_dock(ActionId.SHOW_CHECKPOINTS)
    await _until(lambda: bool(application.source.checkpoints()))
    panel = window.panels.checkpoints
    panel.refresh()
    panel.reveal(application.source.checkpoints()[0].checkpoint_id)
    application.source.set_name(application.source.checkpoints()[0].checkpoint_id, "Calm evening")
    dialog = jobs.ask_evaluation(panel.model.row(panel.table.selected_rows()[0]))
    dialog.picker.line.setText(str(later))
    _wear(application, "light")
    await asyncio.sleep(0.8)
    dialog.picker.line.setText("/home/you/eurusd-later.csv")  # a picture names no place of this machine
    dialog.message.hide()
    dialog.buttons.button(dialog.buttons.StandardButton.Ok).setEnabled(True)
    assert dialog.grab().save(str(folder / "jobs-evaluate-light.png"))
    dialog.picker.line.setText(str(later))
    dialog.accept()
    jobs.begin(import_order([odd]))
    await _until(lambda: not application.jobs.findChildren(ChildProcess))
    endless = pretrain_order([later], epochs=400, validation_share=0.2, patience=400, batch_size=32, device="cpu")
    jobs.begin(endless)
    await _until(
        lambda: any(job.doing == "Pretraining" and job.report.seconds_left for job in application.state.jobs.jobs())
    )
    done = next(job for job in application.state.jobs.jobs() if job.page is not None)
    window.panels.jobs.select(done.job_id)
    while window.banner.shown is not None:
        window.banner.dismiss()


async def _end(application: Application) -> None:
    for job in application.state.jobs.running():
        application.jobs.cancel(job.job_id)
    await _until(lambda: not application.jobs.findChildren(ChildProcess))


def _wear(application: Application, theme: str) -> None:
    window = application.window
    appearance = dataclasses.replace(window.shell.settings.current.appearance, theme=theme)
    window.shell.settings.change(dataclasses.replace(window.shell.settings.current, appearance=appearance))


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(_PATIENCE_S):
        while not condition():  # noqa: ASYNC110 - what is waited for is Qt's, and has no asyncio event
            await asyncio.sleep(0.1)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    qt = QApplication(["ghostcandle"])
    qt.setQuitOnLastWindowClosed(False)
    with tempfile.TemporaryDirectory() as data, QEventLoop(qt) as loop:
        asyncio.set_event_loop(loop)
        loop.run_until_complete(_alone(qt, chosen.folder, Path(data)))


async def _alone(qt: QApplication, folder: Path, data: Path) -> None:
    market = MarketSettings(feed="replay", file=str(SAMPLE), speed=0.2, catch_up_candles=60)
    model = ModelSettings(width=16, layers=1, heads=2, context=16)
    settings = Settings(market=market, model=model, training=TrainingSettings(seed=1, device="cpu"))
    context = Context(settings, DataFolder(data), as_json=False)
    context.folder.ensure()
    save(settings, context.folder.settings)
    application = Application(context, qt)
    application.window.resize(*SIZES[0])
    application.start()
    try:
        await _until(lambda: application.state.status is not None and application.state.status.step > 40)
        await _begin(application, folder, data)
        await _dock(application, folder)
        for theme in THEMES:
            _wear(application, theme)
            for size in SIZES:
                application.window.resize(*size)
                application.window.show_dock(ActionId.SHOW_JOBS)
                await asyncio.sleep(0.8)
                assert application.window.grab().save(str(folder / f"jobs-window-{theme}-{size[0]}x{size[1]}.png"))
                application.window.show_dock(ActionId.SHOW_CHECKPOINTS)
                await asyncio.sleep(0.5)
                name = f"jobs-browser-{theme}-{size[0]}x{size[1]}.png"
                assert application.window.docks[ActionId.SHOW_CHECKPOINTS].widget().grab().save(str(folder / name))
        application.window.show_dock(ActionId.SHOW_JOBS)
        await _end(application)
        assert application.window.panels.jobs.grab().save(str(folder / "jobs-cancelled.png"))
    finally:
        application.jobs.let_close()
        application.window.close()
        await application.close()


if __name__ == "__main__":
    main()
