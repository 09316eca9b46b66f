"""The window's services for every controller."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtWidgets import QWidget

from desktop.actions import ActionRegistry
from desktop.state.settings_store import SettingsStore
from desktop.ui.banner import Banner


@dataclass(frozen=True, slots=True)
class Shell:
    """Passed to controllers by the composition root. window: the parent of dialogs and of the controllers."""

    window: QWidget
    settings: SettingsStore
    actions: ActionRegistry
    banner: Banner
