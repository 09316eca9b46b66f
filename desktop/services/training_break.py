"""A break of training that releases its device, and ends by itself or on a click."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from core.domain.clock import Clock
from core.domain.events import Severity
from desktop.state.run_state import RunState
from desktop.ui.banner import Banner, Notice
from desktop.ui.formatting import format_clock
from desktop.ui.translation import translate

SHORT_MINUTES, LONG_MINUTES = 15, 60
_KEY = "training break"
_LOOK_EVERY_MS = 1_000
"""The wall clock is read this often: a timer of an hour would sleep with the machine."""


class TrainingBreak(QObject):
    """A paused trainer still occupies memory on the GPU; only an ended one releases it. Candles that close meanwhile
    are stored, and learned afterwards. `RunState.is_on_break` from `begin` until training restarts, for whatever
    reason."""

    stop_requested = Signal()
    start_requested = Signal()

    def __init__(self, state: RunState, banner: Banner, clock: Clock, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state, self._banner, self._clock = state, banner, clock
        self._until_ms: int | None = None
        self._was_starting = False
        """The trainer was still starting when the break began: that start does not end it."""
        self._shown_text = ""
        self._timer = QTimer(self, interval=_LOOK_EVERY_MS)
        self._timer.timeout.connect(self._look)
        state.status_changed.connect(self._on_status)
        state.run_changed.connect(self.close)

    def begin(self, minutes: int | None) -> None:
        """Stop training; None: until `end`."""
        self._was_starting = self._state.is_starting
        self._state.set_break(is_on=True)
        self._until_ms = None if minutes is None else self._clock.now_ms() + minutes * 60_000
        self.stop_requested.emit()
        if self._until_ms is not None:
            self._timer.start()
        self._update_banner()

    def end(self) -> None:
        """Request training now."""
        if self._state.is_on_break:
            self.close()
            self.start_requested.emit()

    def _look(self) -> None:
        if self._until_ms is not None and self._clock.now_ms() >= self._until_ms:
            self.end()

    def _on_status(self) -> None:
        """Starting training ends the break; it continues while the trainer is still ending."""
        if self._state.is_on_break and self._state.is_starting and not self._was_starting:
            self.close()
        elif self._state.is_on_break:
            self._was_starting = self._state.is_starting
            self._update_banner()

    def close(self) -> None:
        """Forget the break; it no longer starts training."""
        self._until_ms, self._shown_text = None, ""
        self._timer.stop()
        self._banner.withdraw(_KEY)
        self._state.set_break(is_on=False)

    def _update_banner(self) -> None:
        is_free = not self._state.has_trainer
        if is_free and self._until_ms is None:
            said = translate("Window", "Training is paused, and its device released.")
        elif is_free:
            said = translate("Window", "Training is paused, and its device released, until {0}.")
        elif self._until_ms is None:
            said = translate("Window", "Training is stopping to release its device.")
        else:
            said = translate("Window", "Training is stopping to release its device until {0}.")
        meanwhile = translate("Window", "Candles are still stored, and training catches up afterwards.")
        text = f"{said.format(format_clock(self._until_ms))} {meanwhile}"
        if text != self._shown_text:  # one that was dismissed stays away until there is something new to say
            self._shown_text = text
            self._banner.show_notice(
                Notice(_KEY, Severity.INFO, text, action=translate("Window", "Resume training now"), on_action=self.end)
            )
