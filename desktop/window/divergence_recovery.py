"""What the button against a diverged model does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.domain.diagnosis import DivergenceRecovery
from core.domain.events import Severity
from desktop.dialogs.setting_words import setting, with_change
from desktop.state.run_state import RunState
from desktop.state.training_words import cannot_go_back
from desktop.ui.formatting import format_count
from desktop.ui.translation import translate

if TYPE_CHECKING:
    from desktop.window.main_window import MainWindow

_KEY = "restored"
"""Of the notice that it was done, which takes the place of the one that it was asked for."""


def start_recovery(window: MainWindow, state: RunState, way: DivergenceRecovery) -> None:
    """Take back what led to it, and restore the checkpoint from before. Where no trainer answers,
    nothing is done, and that is said."""
    if way.checkpoint_id is not None and not state.has_answering_trainer:
        window.tell(cannot_go_back(state), Severity.ERROR, key=_KEY, is_answer=True)
        return
    before = after = window.settings
    for change in way.changes:
        after = with_change(after, change)
    window.change_settings(after)  # which tells the trainer of what differs
    for change in way.changes:
        if setting(before, change.group, change.name) == change.value:  # the trainer goes by another value all the same
            signals = {"learning_rate": window.learning_rate_changed, "clip_norm": window.clip_norm_changed}
            signals[change.name].emit(change.value)
    if way.checkpoint_id is not None:
        step = format_count(way.checkpoint_step or 0)
        window.tell(translate("Window", "Going back to step {0} …").format(step), key=_KEY, is_answer=True)
        window.recovery_started.emit(way)
