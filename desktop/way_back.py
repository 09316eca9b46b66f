"""What the button against a diverged model does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.diagnosis import WayBack
from desktop.dialogs.setting_words import setting, with_change

if TYPE_CHECKING:
    from desktop.window import MainWindow


def take_way_back(window: MainWindow, way: WayBack) -> None:
    """Take back what led to it, and restore the checkpoint from before."""
    before = after = window.settings
    for change in way.changes:
        after = with_change(after, change)
    window.change_settings(after)  # which tells the trainer of what differs
    for change in way.changes:
        if setting(before, change.group, change.name) == change.value:  # the trainer goes by another value all the same
            signals = {"learning_rate": window.learning_rate_changed, "clip_norm": window.clip_norm_changed}
            signals[change.name].emit(change.value)
    if way.checkpoint_id is not None:
        window.way_back_taken.emit(way)
