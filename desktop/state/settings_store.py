"""The owner of the settings while the program runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from core.settings.tree import Settings


class SettingsStore(QObject):
    """Holds the settings tree. The author of a change gets `changed` like everyone else."""

    changed = Signal(object)
    """Settings: the whole tree. Also emitted when the same settings were chosen again."""

    def __init__(self, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings

    @property
    def current(self) -> Settings:
        return self._settings

    def change(self, settings: Settings) -> None:
        """Replace the whole tree."""
        self._settings = settings
        self.changed.emit(settings)

    def change_chart(self, **changes: Any) -> None:
        """Replace fields of `ChartSettings` by name."""
        self.change(replace(self._settings, chart=replace(self._settings.chart, **changes)))
