"""What the button against a diverged model does."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from core.domain.diagnosis import DivergenceRecovery
from core.domain.events import Severity
from core.training.commands import RestoreCheckpoint
from desktop.state.run_state import RunState
from desktop.state.training_words import cannot_go_back
from desktop.ui.banner import Banner
from desktop.ui.formatting import format_count
from desktop.ui.translation import translate
from desktop.window.rates import TrainingRates

_KEY = "restored"
"""Of the notice that it was done, which replaces the one that it was requested."""


class RecoveryStarter(QObject):
    """Reverts the settings that led to it, and restores the checkpoint from before."""

    command_requested = Signal(object)
    """TrainerCommand"""

    def __init__(self, state: RunState, rates: TrainingRates, banner: Banner, parent: QObject) -> None:
        super().__init__(parent)
        self._state, self._rates, self._banner = state, rates, banner

    def start(self, recovery: DivergenceRecovery) -> None:
        """Without a trainer that answers nothing is done, and the banner says so."""
        if recovery.checkpoint_id is not None and not self._state.has_answering_trainer:
            self._banner.notify(cannot_go_back(self._state), Severity.ERROR, _KEY, is_answer=True)
            return
        self._rates.change(recovery.changes)
        if recovery.checkpoint_id is not None:
            step = format_count(recovery.checkpoint_step or 0)
            self._banner.notify(translate("Window", "Going back to step {0}…").format(step), key=_KEY, is_answer=True)
            self.command_requested.emit(RestoreCheckpoint(recovery.checkpoint_id, recovery.changes))
