"""`ghostcandle selftest`: each part once, for real, in a temporary data folder."""

from __future__ import annotations

import asyncio
import dataclasses
import importlib
import os
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from core.domain.candle import Interval
from core.domain.clock import SystemClock
from core.domain.events import EventBatch, TrainerReady
from core.evaluation.summary import summarise
from core.market.feeds.simulated import SimulatedFeed
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.runs import Run, RunStore
from core.training.hosting.headless import HeadlessRun
from core.training.online.trainer_spec import SessionSpec
from desktop.app.context import Context
from desktop.commands.options import common_options, print_json, with_context

_CANDLES = 31
_FEWEST_STEPS = 5
_FEWEST_COLOURS = 12


@click.command()
@common_options
@with_context
def selftest(context: Context) -> None:
    """Test each part once: trainer process, training steps, checkpoint and resume, a painted window, ccxt.

    Exit code 1 if one fails.
    """
    training = dataclasses.replace(context.settings.training, seed=1)
    settings = dataclasses.replace(context.settings, training=training)
    with tempfile.TemporaryDirectory(prefix="ghostcandle-selftest-") as folder:
        tested = dataclasses.replace(context, folder=DataFolder(Path(folder)), settings=settings)
        tested.folder.ensure()
        checks = [
            _check("trainer", lambda: _train(tested)),
            _check("resume", lambda: _resume(tested)),
            _check("window", lambda: _paint(tested)),
            _check("ccxt", _import_ccxt),
        ]
    ok = all(check["ok"] for check in checks)
    if context.as_json:
        print_json({"ok": ok, "checks": {check.pop("name"): check for check in checks}})
    else:
        for check in checks:
            click.echo(
                f"{'ok ' if check['ok'] else 'BAD'} {check['name']:<10} {check['seconds']:>6.2f} s  {check['what']}"
            )
    if not ok:
        raise SystemExit(1)


def _check(name: str, work: Callable[[], str]) -> dict[str, Any]:
    """Run one part; an exception becomes the finding."""
    started = time.monotonic()
    try:
        what, ok = work(), True
    except Exception as error:
        what, ok = f"{type(error).__name__}: {error}", False
        traceback.print_exc()
    return {"name": name, "ok": ok, "what": what, "seconds": round(time.monotonic() - started, 2)}


def _run(context: Context, candles: int) -> list[TrainerReady]:
    ready: list[TrainerReady] = []

    def take(batch: EventBatch) -> None:
        ready.extend(event for event in batch.events if isinstance(event, TrainerReady))

    open_database(context.folder.database).close()
    clock = SystemClock()
    training = dataclasses.replace(context.settings.training, host="process")
    feed = SimulatedFeed(Interval.parse("1m"), seed=1, clock=clock, speed=0.0, catch_up=candles, limit=candles)
    settings = dataclasses.replace(context.settings, training=training)
    run = HeadlessRun([feed], SessionSpec(context.folder.root, feed.market, settings), clock, take, lambda _: None)
    asyncio.run(run.run())
    if run.failure is not None:
        raise RuntimeError(run.failure)
    return ready


def _train(context: Context) -> str:
    ready = _run(context, _CANDLES)
    summary = _stored(context)[1]
    steps, kept = summary["steps"], summary["checkpoints"]["kept"]
    if steps < _FEWEST_STEPS or kept < 1:
        raise RuntimeError(f"only {steps} steps and {kept} checkpoints were made")
    return f"{steps} steps in a child process on {ready[0].device}, {kept} checkpoints"


def _resume(context: Context) -> str:
    before = _stored(context)[1]["steps"]
    ready = _run(context, _CANDLES + 5)
    after = _stored(context)[1]["steps"]
    if ready[0].step != before or after != before + 5:
        raise RuntimeError(f"continued at step {ready[0].step} of {before}, and ended at {after}")
    return f"the checkpoint of step {before} was read back and training continued to step {after}"


def _stored(context: Context) -> tuple[Run, dict[str, Any]]:
    with closing(open_database(context.folder.database, readonly=True)) as db:
        run = RunStore(db).list()[0]
        return run, summarise(db, run)


def _paint(context: Context) -> str:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtWidgets import QApplication  # noqa: PLC0415 - Qt only for this part

    from desktop.app.composition import Application  # noqa: PLC0415
    from desktop.ui.qt_messages import useful_qt_messages  # noqa: PLC0415

    qt = QApplication.instance() or QApplication(["ghostcandle"])
    assert isinstance(qt, QApplication)
    with useful_qt_messages():
        application = Application(context, qt)
        try:
            application.window.resize(1280, 720)
            application.database.open()
            application.window.show()
            application.display.show_market(_stored(context)[0].market)
            image = application.window.grab().toImage()
        finally:
            application.window.close()
            application.database.close()
    colours = {image.pixel(x, y) for x in range(0, image.width(), 4) for y in range(0, image.height(), 4)}
    if len(colours) < _FEWEST_COLOURS:
        raise RuntimeError(f"the window has only {len(colours)} colours: it was not painted")
    return f"a window of {image.width()} x {image.height()} with {len(colours)} colours"


def _import_ccxt() -> str:
    module = importlib.import_module("ccxt.pro")
    return f"ccxt {module.__version__} with {len(module.exchanges)} venues for live candles"
