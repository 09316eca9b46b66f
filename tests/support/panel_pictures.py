"""Pictures of single panels and dialogs for the docs."""

from __future__ import annotations

import asyncio
import dataclasses
from pathlib import Path

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QDialog

from core.domain.events import Incident, Severity
from desktop.actions import ActionId
from desktop.app.composition import Application
from desktop.layouts.arrangements import TRAIN
from desktop.panels.events.rows import EventKind
from tests.support.picture_names import PANELS

_SIZES = {
    ActionId.SHOW_LOSS: QSize(480, 380),
    ActionId.SHOW_EVENTS: QSize(940, 260),
}
_SHEET_SIZE = QSize(1200, 1040)
_SETTLED_S = 0.8


async def shoot(application: Application, folder: Path) -> None:
    """Write a picture of each panel of `PANELS`, of the Preferences and of the sheet of shortcuts."""
    window = application.window
    appearance = dataclasses.replace(window.shell.settings.current.appearance, theme="dark")
    window.shell.settings.change(dataclasses.replace(window.shell.settings.current, appearance=appearance))
    incidents = _incidents(application)
    for incident in incidents:
        application.state.apply(incident)
    window.panels.events.show_kind(EventKind.INCIDENT)
    for action_id, name in PANELS.items():
        dock = window.docks[action_id]
        dock.setFloating(True)
        dock.show()
        dock.resize(_SIZES[action_id])
        window.panels.events.select(incidents[-1])
        await asyncio.sleep(_SETTLED_S)
        assert dock.widget().grab().save(str(folder / f"{name}-dark.png"))
    window.panels.events.show_kind(EventKind.LOG)
    await asyncio.sleep(_SETTLED_S)
    assert window.panels.events.grab().save(str(folder / "log-dark.png"))
    window.arrange(TRAIN)
    await _dialog(window.open_preferences(), folder / "preferences-dark.png")
    before = set(window.findChildren(QDialog))
    window.shell.actions[ActionId.SHORTCUTS].trigger()
    (sheet,) = set(window.findChildren(QDialog)) - before
    sheet.resize(_SHEET_SIZE)
    await _dialog(sheet, folder / "shortcuts-dark.png")


async def _dialog(dialog: QDialog, path: Path) -> None:
    await asyncio.sleep(_SETTLED_S)
    assert dialog.grab().save(str(path))
    dialog.reject()


def _incidents(application: Application) -> list[Incident]:
    """As on a bad day; the run of the pictures has none."""
    trainer = application.state.trainer
    run_id = "" if trainer is None else trainer.run_id
    now_ms = application.state.clock.now_ms()
    return [
        Incident(
            run_id,
            now_ms - 3_000_000,
            Severity.WARNING,
            "training.skipped",
            "A gradient was not finite.",
            "The step was skipped and the weights were left as they were.",
            "One step.",
            "step 214, total norm nan",
        ),
        Incident(
            run_id,
            now_ms - 600_000,
            Severity.ERROR,
            "trainer.died",
            "The trainer process ended unexpectedly (signal 9).",
            "It was started again from checkpoint 310.",
            "20 steps were repeated; no candle was missed.",
        ),
    ]
