"""*Release GPU* while the trainer is still being started, in the whole program."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QLabel

from desktop.actions import ActionId
from desktop.app.composition import Application
from desktop.layouts.arrangements import TRAIN
from desktop.ui.panel_base import EmptyState
from tests.desktop.whole_window import CandleGate, context, run_window, step_of, until

FREE = "Training is paused, and its device released"


def said(application: Application) -> list[str]:
    """All texts that the window shows."""
    labels = (label.text() for label in application.window.findChildren(QLabel) if label.isVisible())
    return [*labels, application.chart.model.note]


def empty_words(application: Application) -> list[str]:
    return [label.text() for label in application.window.findChildren(EmptyState)]


async def take_a_break(application: Application) -> None:
    """While the trainer is being started; then resume by a click."""
    window, state = application.window, application.state
    window.resize(1280, 720)
    window.arrange(TRAIN)
    await until(lambda: state.is_starting, "the start")
    window.shell.actions[ActionId.FREE_DEVICE].trigger()
    await until(lambda: not window.has_stale_panels(), "the panels")
    assert not any("starting" in text for text in said(application))
    await until(lambda: not state.has_trainer, "the trainer's end")
    assert not application.trainer.is_running and window.shell.actions[ActionId.START].isEnabled()
    await until(lambda: window.status.trainer.text() == "Paused, device released", "the status bar")
    await until(lambda: sum(text.startswith(FREE) for text in empty_words(application)) >= 2, "the panels' words")
    assert application.chart.model.note.startswith(FREE) and window.banner.text.text().startswith(FREE)
    assert not any("starting" in text for text in said(application))
    window.banner.action.click()
    await until(lambda: application.trainer.is_running, "the next start")


def test_no_text_keeps_saying_that_training_starts(
    qapp: QApplication, tmp_path: Path, gate: CandleGate, idle_trainer: None
) -> None:
    async def story(application: Application) -> None:
        await take_a_break(application)
        await until(lambda: not any(FREE in text for text in said(application)), "that it starts again")

    run_window(qapp, context(tmp_path), story)


@pytest.mark.slow
def test_a_trainer_process_is_stopped_while_it_starts_and_started_again(qapp: QApplication, tmp_path: Path) -> None:
    async def story(application: Application) -> None:
        await take_a_break(application)
        await until(lambda: step_of(application) > 3, "training again")

    run_window(qapp, context(tmp_path, "process"), story)
