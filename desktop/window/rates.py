"""Learning rate, clip threshold and share of the time: one value in inputs, settings and trainer. And the recovery from
values with which a model diverged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject

from core.domain.diagnosis import DivergenceRecovery, SettingChange
from core.domain.events import Severity
from core.settings.tree import Settings
from core.training.commands import SETTING_COMMANDS, RestoreCheckpoint, TrainerCommand
from core.training.online.trainer_spec import rate_factor
from desktop.dialogs.setting_texts import setting, with_change
from desktop.state.run_state import RunState
from desktop.state.settings_store import SettingsStore
from desktop.state.training_words import cannot_go_back
from desktop.ui.banner import Banner
from desktop.ui.formatting import format_count
from desktop.ui.translation import translate
from desktop.window.controls import TrainingInputs
from desktop.window.rate_reason import rate_reason

_REFUSED = "refused input"
_RESTORED = "restored"
"""Key of the notice of a restored checkpoint, which replaces the notice of the request."""
_RATE = ("training", "learning_rate")


class TrainingRates(QObject):
    """Sends the settings to the trainer, wherever they were changed.

    A model of several markets learns at a higher rate than the settings', which is for one (`rate_factor`). The inputs
    show the setting; `recover` receives the rate that the trainer uses.
    """

    def __init__(
        self,
        inputs: TrainingInputs,
        settings: SettingsStore,
        state: RunState,
        banner: Banner,
        send: Callable[[TrainerCommand], object],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._state, self._send = state, send
        self._inputs, self._settings, self._banner = inputs, settings, banner
        self._shown = settings.current
        inputs.learning_rate_changed.connect(lambda rate: self._choose("training", "learning_rate", rate))
        inputs.duty_changed.connect(lambda percent: self._choose("training", "duty_percent", percent))
        inputs.refused.connect(self._on_refused)
        settings.changed.connect(self._on_settings)
        state.status_changed.connect(self._on_status)
        state.run_changed.connect(self._on_status)

    def recover(self, recovery: DivergenceRecovery) -> None:
        """Revert the settings with which the model diverged, and restore the checkpoint from before. Unchanged values
        are sent too: the trainer may use lower ones, after a rollback. Without an answering trainer only the banner
        reports that."""
        if recovery.checkpoint_id is not None and not self._state.has_answering_trainer:
            self._banner.notify(cannot_go_back(self._state), Severity.ERROR, _RESTORED, is_answer=True)
            return
        self._change([self._as_set(change) for change in recovery.changes])
        if recovery.checkpoint_id is not None:
            step = format_count(recovery.checkpoint_step or 0)
            words = translate("Window", "Going back to step {0}…").format(step)
            self._banner.notify(words, key=_RESTORED, is_answer=True)
            self._send(RestoreCheckpoint(recovery.checkpoint_id, recovery.changes))

    def _change(self, changes: Sequence[SettingChange]) -> None:
        after = before = self._settings.current
        for change in changes:
            after = with_change(after, change)
        self._settings.change(after)
        for change in changes:
            if setting(before, change.group, change.name) == change.value:
                self._send_setting(change.group, change.name, change.value)

    def _as_set(self, change: SettingChange) -> SettingChange:
        """A change in the settings' terms: with the learning rate for a single market."""
        is_rate = (change.group, change.name) == _RATE
        return replace(change, value=float(change.value) / self._factor) if is_rate else change

    def _choose(self, group: str, name: str, value: float) -> None:
        self._banner.withdraw(_REFUSED)
        self._change([SettingChange(group, name, value)])

    def _on_refused(self, sentence: str) -> None:
        self._banner.notify(sentence, Severity.WARNING, _REFUSED, is_answer=True)

    def _on_status(self) -> None:
        status = self._state.status
        if status is not None and not self._state.is_starting:  # values typed meanwhile will be in force
            self._inputs.show_rate(status.learning_rate / self._factor)
        self._show_reason()

    def _on_settings(self, settings: Settings) -> None:
        """The inputs follow only a change of the settings: otherwise they show what the trainer uses."""
        before, self._shown = self._shown, settings
        self._inputs.show_duty(settings.training.duty_percent)
        if settings.training.learning_rate != before.training.learning_rate:
            self._inputs.show_rate(settings.training.learning_rate)
        for group, name in SETTING_COMMANDS:
            if setting(settings, group, name) != setting(before, group, name):
                self._send_setting(group, name, setting(settings, group, name))

    def _show_reason(self) -> None:
        status, text = self._state.status, ""
        if status is not None:
            training, in_force = self._settings.current.training, status.learning_rate / self._factor
            text = rate_reason(training, in_force, self._state.learning_rate, status.step, self._markets)
        self._inputs.show_reason(text)

    def _send_setting(self, group: str, name: str, value: Any) -> None:
        command = SETTING_COMMANDS.get((group, name))
        if command is not None:
            in_use = value * self._factor if (group, name) == _RATE else value
            self._send(command(in_use))

    @property
    def _factor(self) -> float:
        return rate_factor(self._markets)

    @property
    def _markets(self) -> int:
        """The universe is known from the start of a trainer, its runs once it is ready."""
        return len(self._state.markets.universe) or len(self._state.members) or 1
