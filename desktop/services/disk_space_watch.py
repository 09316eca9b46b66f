"""Restarts the feed and training, stopped by a full disk, once there is space."""

from __future__ import annotations

import shutil
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from core.domain.candle import Market
from core.domain.clock import Clock
from core.domain.events import Severity
from desktop.state.markets import MarketRow
from desktop.state.run_state import RunState
from desktop.ui.banner import Banner, Notice
from desktop.ui.translation import translate

_ENOUGH_BYTES = 50_000_000
_SHARE_OF_SMALL = 8
"""On a small disk, an eighth of its size is required instead."""
_LOOK_EVERY_MS = 5_000
_LONGEST_MS = 300_000
_SOON_S = 120.0
"""A restart that stops again sooner was in vain: the next check comes later."""
_KEY = "no room"


class DiskSpaceWatch(QObject):
    """Looks for free space while a feed or training waits for it."""

    restart_requested = Signal(bool, bool)
    """Whether to restart the feed, and training."""

    def __init__(
        self,
        state: RunState,
        banner: Banner,
        folder: Path,
        clock: Clock,
        parent: QObject | None = None,
        look_every_ms: int = _LOOK_EVERY_MS,
    ) -> None:
        super().__init__(parent)
        self._state, self._banner, self._folder, self._clock = state, banner, folder, clock
        self._first_pause_ms = self._last_pause_ms = look_every_ms
        self._tried_s: float | None = None
        self._shown_text = ""
        self._is_closed = False
        self._stopped: set[Market] = set()
        """Markets of the run whose feeds wait for space, on the chart or not."""
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._look)
        for changed in (state.feed_changed, state.status_changed, state.run_changed):
            changed.connect(self._on_change)
        state.markets.changed.connect(self._on_market)
        state.markets.listed.connect(self._on_listed)

    @Slot()
    def try_now(self) -> None:
        """Request a restart, whether there is space or not."""
        feed, training = self._waiting()
        if feed or training:
            self._tried_s = self._clock.monotonic_s()
            self.restart_requested.emit(feed, training)

    def close(self) -> None:
        self._is_closed = True
        self._timer.stop()

    def _waiting(self) -> tuple[bool, bool]:
        """Whether a feed waits, and whether training does; a starting one no longer waits."""
        feed, failure = self._state.feed, self._state.failure
        has_failed = failure is not None and failure.needs_room and not self._state.is_starting
        return bool(self._stopped) or (feed is not None and feed.needs_room), has_failed

    @Slot(object)
    def _on_market(self, market: Market) -> None:
        """Called with each price, many times a second, and when its feed has stopped or continues."""
        if (market in self._stopped) != _is_stopped(self._state.markets.row(market)):
            self._stopped ^= {market}
            self._on_change()

    @Slot()
    def _on_listed(self) -> None:
        self._stopped = {row.market for row in self._state.markets.rows() if _is_stopped(row)}
        self._on_change()

    @Slot()
    def _on_change(self) -> None:
        feed, training = self._waiting()
        if feed or training:
            self._update_banner(feed=feed, training=training)
            if not self._timer.isActive() and not self._is_closed:
                # The next look: later each time that it stopped again soon after continuing.
                was_in_vain = self._tried_s is not None and self._clock.monotonic_s() - self._tried_s < _SOON_S
                self._last_pause_ms = min(2 * self._last_pause_ms, _LONGEST_MS) if was_in_vain else self._first_pause_ms
                self._timer.start(self._last_pause_ms)
        else:
            self._timer.stop()
            self._shown_text = ""
            self._banner.withdraw(_KEY)

    @Slot()
    def _look(self) -> None:
        try:
            usage = shutil.disk_usage(self._folder)
        except OSError:
            return  # the disk is away for the moment
        # Enough for a log of SQLite's and some checkpoints, so that it does not stop again at once.
        if usage.free >= min(_ENOUGH_BYTES, usage.total // _SHARE_OF_SMALL):
            self.try_now()

    def _update_banner(self, *, feed: bool, training: bool) -> None:
        if feed and training:
            words = translate("Window", "The disk of {0} is full: storing candles and training are stopped.")
        elif feed:
            words = translate("Window", "The disk of {0} is full: storing candles is stopped.")
        else:
            words = translate("Window", "The disk of {0} is full: training is stopped.")
        advice = translate("Window", "Free some space: it continues automatically, and catches up.")
        text = f"{words.format(self._folder)} {advice}"
        if text != self._shown_text:  # one that was dismissed stays away until there is something new to say
            self._shown_text = text
            again = translate("Window", "Try again now")
            self._banner.show_notice(Notice(_KEY, Severity.ERROR, text, action=again, on_action=self.try_now))


def _is_stopped(row: MarketRow) -> bool:
    return row.is_in_run and row.needs_room
