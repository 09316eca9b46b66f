"""Notices that another program has stored history in the window's database."""

from __future__ import annotations

from contextlib import suppress

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from core.domain.candle import Market
from core.storage.database import select
from core.storage.errors import StorageError
from core.storage.markets import history_versions
from desktop.state.database import WindowDatabase

_LOOK_EVERY_MS = 5_000


class HistoryWatch(QObject):
    """Looks from `start` to `close`, every few seconds and when asked. Lives in the window's thread."""

    changed = Signal(object)
    """Market: candles of it were imported or fetched, or holes of its exchange are known now."""

    def __init__(self, database: WindowDatabase, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._database = database
        self._data_version = -1
        self._versions: dict[Market, int] = {}
        self._timer = QTimer(self, interval=_LOOK_EVERY_MS)
        self._timer.timeout.connect(self.look)

    def start(self) -> None:
        """The database is open. Raises StorageError."""
        self._data_version, self._versions = self._read_data_version(), history_versions(self._database.db)
        self._timer.start()

    def close(self) -> None:
        self._timer.stop()

    @Slot()
    def look(self) -> None:
        """Look for changed history by market, as the trainer changes the database too."""
        if not self._timer.isActive():
            return
        with suppress(StorageError):  # the next look tries again
            data_version = self._read_data_version()
            if data_version == self._data_version:
                return
            versions = history_versions(self._database.db)
            changed = [market for market, version in versions.items() if version != self._versions.get(market, 0)]
            self._data_version, self._versions = data_version, versions
            for market in changed:
                self.changed.emit(market)

    def _read_data_version(self) -> int:
        """A number that changes once another connection has changed the database."""
        return int(select(self._database.db, "PRAGMA data_version")[0][0])
