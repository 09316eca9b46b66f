"""Where the panels' checkpoints come from: read once for all of them, and only when something changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from PySide6.QtCore import QObject, Signal

from core.clock import Clock
from core.events import CheckpointInfo
from core.storage.errors import StorageError
from desktop.formatting import MISSING, format_number, format_percent
from desktop.state import RunState


class CheckpointLibrary(Protocol):
    """The table of checkpoints. All methods raise StorageError with a sentence for the user."""

    def list(self, run_id: str) -> Sequence[CheckpointInfo]:
        """All that are kept, newest first."""
        ...

    def set_pinned(self, checkpoint_id: str, is_pinned: bool) -> None:
        """Keep it for good, or no longer."""
        ...

    def set_note(self, checkpoint_id: str, note: str) -> None:
        """Replace its note."""
        ...

    def request_deletion(self, ids: Sequence[str]) -> None:
        """Ask the trainer to delete these."""
        ...


class CheckpointSource(QObject):
    """The kept checkpoints of the watched run. `trouble` carries the sentence of a failed read or write."""

    changed = Signal()
    trouble = Signal(str)
    deletion_requested = Signal()
    """Requests to delete were written down: the trainer may be told."""

    def __init__(self, library: CheckpointLibrary, state: RunState, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._library = library
        self._state = state
        self._cache: tuple[CheckpointInfo, ...] | None = None
        state.checkpoints_changed.connect(self._on_change)
        state.run_changed.connect(self._on_change)

    @property
    def clock(self) -> Clock:
        return self._state.clock

    def checkpoints(self) -> tuple[CheckpointInfo, ...]:
        """All that are kept, with the one in use marked. Empty before there is a run, or when it cannot be read."""
        if self._cache is None:
            self._cache = self._read()
        return self._cache

    @property
    def is_loading(self) -> bool:
        """There is a run, of which nothing is known yet."""
        return self._state.is_loading

    def set_pinned(self, ids: Sequence[str], is_pinned: bool) -> None:
        """Pin or unpin all of `ids`."""

        def change() -> None:
            for checkpoint_id in ids:
                self._library.set_pinned(checkpoint_id, is_pinned)

        self._write(change)

    def set_note(self, checkpoint_id: str, note: str) -> None:
        """Replace a note."""
        self._write(lambda: self._library.set_note(checkpoint_id, note))

    def request_deletion(self, ids: Sequence[str]) -> None:
        """Ask the trainer to delete `ids`; they vanish when it has done so."""
        if self._write(lambda: self._library.request_deletion(ids)):
            self.deletion_requested.emit()

    def _read(self) -> tuple[CheckpointInfo, ...]:
        if self._state.run_id is None:
            return ()
        try:
            infos = self._library.list(self._state.run_id)
        except StorageError as error:
            self.trouble.emit(str(error))
            return ()
        in_use = self._state.checkpoint_in_use
        if in_use is None:
            return tuple(infos)
        return tuple(replace(info, is_in_use=info.checkpoint_id == in_use) for info in infos)

    def _write(self, change: Callable[[], None]) -> bool:
        try:
            change()
        except StorageError as error:
            self.trouble.emit(str(error))
            return False
        finally:
            self._on_change()
        return True

    def _on_change(self) -> None:
        self._cache = None
        self.changed.emit()


SCORE_MEANING = (
    "Score: the mean of the close skill and the range skill over the newest 300 candles that had been scored when it "
    "was saved, with its 95 % interval. It compares checkpoints; it is not the close skill of the Accuracy panel.\n"
    "0 % is no better than the reference, “no change”."
)


def score_text(info: CheckpointInfo) -> str:
    """``+1.2 % (0.3 to 2.1)``; without an interval where there is none."""
    if info.skill is None:
        return MISSING
    value = format_percent(info.skill, 1, signed=True)
    if info.skill_low is None or info.skill_high is None:
        return value
    low, high = format_number(info.skill_low * 100, 1), format_number(info.skill_high * 100, 1)
    return f"{value} ({low} to {high})"
