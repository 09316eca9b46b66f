"""What is said of a break of training, wherever the window would else say how training goes."""

from __future__ import annotations

from desktop.state import RunState
from desktop.translation import translate


def break_words(state: RunState) -> str:
    """Without a full stop; nothing where training is not on a break."""
    if not state.is_on_break:
        return ""
    if state.has_trainer:
        return translate("Window", "Training is ending, to free its device")
    return translate("Window", "Training is paused, and its device is free")


def break_sentence(state: RunState) -> str:
    """The same with a full stop."""
    words = break_words(state)
    return f"{words}." if words else ""
