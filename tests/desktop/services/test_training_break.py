from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from core.domain.clock import ManualClock
from core.domain.events import TrainerState
from desktop.services.training_break import TrainingBreak
from desktop.state.run_state import RunState
from desktop.ui.banner import Banner
from tests.desktop import scenario


@pytest.fixture
def pause(state: RunState, banner: Banner, clock: ManualClock) -> Iterator[TrainingBreak]:
    state.trainer_starts(has_run=False)
    state.apply(scenario.status(TrainerState.TRAINING))
    state.is_starting = False
    pause = TrainingBreak(state, banner, clock)
    yield pause
    pause.close()


def look(pause: TrainingBreak) -> None:
    """Fire the timer that ticks once a second during a limited break."""
    assert pause._timer.isActive()
    pause._timer.timeout.emit()


def test_the_device_is_reported_free_only_once_training_has_stopped(
    qtbot: QtBot, pause: TrainingBreak, state: RunState, banner: Banner
) -> None:
    with qtbot.waitSignal(pause.stop_requested):
        pause.begin(None)
    assert "is stopping" in banner.text.text()
    state.trainer_is_over()
    assert "its device released." in banner.text.text()


def test_training_resumes_when_the_break_is_over(
    qtbot: QtBot, pause: TrainingBreak, state: RunState, banner: Banner, clock: ManualClock
) -> None:
    pause.begin(15)
    state.trainer_is_over()
    assert ", until " in banner.text.text()
    with qtbot.assertNotEmitted(pause.start_requested):
        clock.advance_ms(14 * 60_000)
        look(pause)
    with qtbot.waitSignal(pause.start_requested):
        clock.advance_ms(60_000)
        look(pause)
    assert not state.is_on_break and banner.isHidden()


def test_a_click_resumes_at_once(qtbot: QtBot, pause: TrainingBreak, state: RunState, banner: Banner) -> None:
    pause.begin(60)
    state.trainer_is_over()
    with qtbot.waitSignal(pause.start_requested):
        qtbot.mouseClick(banner.action, Qt.MouseButton.LeftButton)
    assert not state.is_on_break


def test_a_starting_trainer_is_stopped_and_does_not_end_the_break(
    qtbot: QtBot, pause: TrainingBreak, state: RunState, banner: Banner, clock: ManualClock
) -> None:
    state.trainer_is_over()
    state.trainer_starts(has_run=True)
    pause.begin(15)
    state.status_changed.emit()
    assert state.is_on_break and "is stopping" in banner.text.text(), "it holds the device until it has ended"
    state.trainer_is_over()
    assert state.is_on_break and "its device released" in banner.text.text()
    with qtbot.waitSignal(pause.start_requested):
        clock.advance_ms(15 * 60_000)
        look(pause)


def test_starting_training_elsewhere_ends_the_break(
    qtbot: QtBot, pause: TrainingBreak, state: RunState, banner: Banner
) -> None:
    pause.begin(60)
    state.trainer_is_over()
    with qtbot.assertNotEmitted(pause.start_requested):
        state.trainer_starts(has_run=True)
    assert not state.is_on_break and banner.isHidden()


def test_a_dismissed_banner_stays_dismissed(pause: TrainingBreak, state: RunState, banner: Banner) -> None:
    pause.begin(60)
    state.trainer_is_over()
    banner.dismiss()
    state.status_changed.emit()
    assert banner.isHidden() and state.is_on_break
