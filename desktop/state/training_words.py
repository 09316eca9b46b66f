"""What is said of a break of training, wherever the window would else say how training goes; and of what only a running
trainer can do."""

from __future__ import annotations

from core.domain.events import TrainerState
from desktop.state.run_state import RunState
from desktop.ui.translation import translate


def break_words(state: RunState) -> str:
    """Without a full stop; nothing where training is not on a break."""
    if not state.is_on_break:
        return ""
    if state.has_trainer:
        return translate("Window", "Training is stopping to release its device")
    return translate("Window", "Training is paused, and its device released")


def break_sentence(state: RunState) -> str:
    """The same with a full stop."""
    words = break_words(state)
    return f"{words}." if words else ""


def cannot_go_back(state: RunState) -> str:
    """To a checkpoint, where no trainer answers."""
    what = translate("Checkpoints", "Restoring a checkpoint needs a running trainer; nothing was changed.")
    return f"{what} {_when_it_can(state)}"


def cannot_forecast(state: RunState) -> str:
    """With a checkpoint, where no trainer answers."""
    what = translate("Checkpoints", "A checkpoint's forecast needs a running trainer.")
    return f"{what} {_when_it_can(state)}"


def _when_it_can(state: RunState) -> str:
    if state.trainer_state in (TrainerState.STARTING, TrainerState.RESTARTING):
        return translate("Checkpoints", "Training is starting: try again once it is running.")
    return translate("Checkpoints", "Start training, then try again.")
