"""Enables the training actions by the trainer's state, and names Pause."""

from __future__ import annotations

from PySide6.QtCore import QObject

from core.domain.events import TrainerState
from desktop.actions import ActionId, ActionRegistry
from desktop.state.remaining_candles import is_finished
from desktop.state.run_state import RunState
from desktop.ui.theme import Theme
from desktop.ui.translation import translate
from desktop.window.controls import PAUSING, RESUME, RESUMING, TrainingInputs
from desktop.window.rates import as_setting

_RESTING = frozenset({None, TrainerState.STOPPED, TrainerState.FAILED})
_COMING_UP = frozenset({TrainerState.STARTING, TrainerState.RESTARTING})
_WHILE_AT_WORK = (ActionId.STOP, ActionId.FREE_DEVICE, ActionId.FREE_DEVICE_SHORT, ActionId.FREE_DEVICE_LONG)
_WHILE_UP = (ActionId.PAUSE, ActionId.STEP_ONCE, ActionId.SAVE_CHECKPOINT)
_WHILE_LEARNING = (ActionId.PAUSE, ActionId.STEP_ONCE)
"""Of those, the ones without effect once there is nothing left to learn."""


class TrainingOffer(QObject):
    """Follows the state, from its first look on."""

    def __init__(
        self, state: RunState, actions: ActionRegistry, inputs: TrainingInputs, theme: Theme, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._state, self._actions, self._inputs, self._theme = state, actions, inputs, theme
        self._shown: tuple[bool, bool | None] = (False, None)
        state.status_changed.connect(self._on_status)
        state.run_changed.connect(self._on_status)
        for signal in (state.feed_changed, state.jobs_changed, state.forecast_changed):
            signal.connect(self._offer)
        self._on_status()

    def _on_status(self) -> None:
        self._offer()
        self._present_pause()
        status = self._state.status
        if status is not None and not self._state.is_starting:  # what is typed meanwhile will be in force
            self._inputs.show_values(as_setting(status.learning_rate, self._state), status.clip_norm)
        self._inputs.show_rate_now(None if status is None else self._state.learning_rate)

    def _offer(self) -> None:
        state = self._state.trainer_state
        is_resting, is_coming_up = state in _RESTING, state in _COMING_UP
        self._actions[ActionId.START].setEnabled(is_resting)
        for action_id in _WHILE_AT_WORK:
            self._actions[action_id].setEnabled(not is_resting)
        for action_id in _WHILE_UP:
            is_idle = action_id in _WHILE_LEARNING and is_finished(self._state)
            self._actions[action_id].setEnabled(not is_resting and not is_coming_up and not is_idle)

    def _present_pause(self) -> None:
        shown = (self._state.trainer_state is TrainerState.PAUSED, self._state.pause_asked)
        if shown == self._shown:
            return
        self._shown = shown
        texts = (
            (translate("Actions", RESUME), translate("Actions", "Resume learning"), "play-pause")
            if shown[0]
            else (
                translate("Actions", "&Pause"),
                translate("Actions", "Pause learning; candles are still forecast and scored"),
                "pause",
            )
        )
        if shown[1] is not None:
            soon = translate("Actions", "Takes effect after the current step")
            texts = (translate("Actions", PAUSING if shown[1] else RESUMING), soon, texts[2])
        self._actions.present(ActionId.PAUSE, *texts, self._theme.palette)
