"""Reports faults that pass, such as a full disk, and restarts what they have stopped once they have passed."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from core.domain.candle import Market
from core.domain.clock import Clock
from core.domain.events import Severity
from core.domain.passing_faults import PassingFault
from core.market.feeds.base import FeedState
from core.storage.database import look_whether_writable
from core.storage.folder import DataFolder
from desktop.state.markets import MarketRow
from desktop.state.run_state import RunState
from desktop.ui.banner import Banner, Notice
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_LOOK_EVERY_MS = 5_000
_LONGEST_MS = 300_000
_SOON_S = 120.0
"""A restart that stops again sooner was in vain: the next check comes later."""
_KEY = "passing fault"


class PassingFaultWatch(QObject):
    """Looks whether the database can be written again while a feed or training waits for it. A feed that was opened
    waits by itself (`core.market.pipeline`)."""

    restart_requested = Signal(bool, bool)
    """Whether to restart the feed, and training."""
    _looked = Signal(bool)
    """From another thread: whether the database can be written."""

    def __init__(
        self,
        state: RunState,
        banner: Banner,
        folder: DataFolder,
        clock: Clock,
        parent: QObject | None = None,
        look_every_ms: int = _LOOK_EVERY_MS,
    ) -> None:
        super().__init__(parent)
        self._state, self._banner, self._folder, self._clock = state, banner, folder, clock
        self._first_pause_ms = self._last_pause_ms = look_every_ms
        self._tried_s: float | None = None
        self._shown_text = ""
        self._is_closed = self._is_looking = False
        self._stopped: dict[Market, PassingFault] = {}
        """Why feeds wait, of markets of the run, on the chart or not."""
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._look)
        self._looked.connect(self._on_looked)
        for changed in (state.feed_changed, state.status_changed, state.run_changed):
            changed.connect(self._on_change)
        state.markets.changed.connect(self._on_market)
        state.markets.listed.connect(self._on_listed)

    @Slot()
    def try_now(self) -> None:
        """Request a restart, whether the fault has passed or not."""
        self._restart(feed=bool(self._feed_faults()))

    def close(self) -> None:
        self._is_closed = True
        self._timer.stop()

    def _restart(self, *, feed: bool) -> None:
        training = self._training_fault() is not None
        if feed or training:
            self._tried_s = self._clock.monotonic_s()
            self.restart_requested.emit(feed, training)

    def _feed_faults(self) -> list[PassingFault]:
        shown = None if self._state.feed is None else self._state.feed.passing
        return [*(() if shown is None else (shown,)), *self._stopped.values()]

    def _training_fault(self) -> PassingFault | None:
        """None if it does not wait, or is starting."""
        failure = self._state.failure
        return None if failure is None or self._state.is_starting else failure.passing

    @Slot(object)
    def _on_market(self, market: Market) -> None:
        """Called with each price, many times a second, and when its feed has stopped or continues."""
        fault = _fault_of(self._state.markets.row(market))
        if fault is not self._stopped.get(market):
            self._on_listed()

    @Slot()
    def _on_listed(self) -> None:
        found = ((row.market, _fault_of(row)) for row in self._state.markets.rows())
        self._stopped = {market: fault for market, fault in found if fault is not None}
        self._on_change()

    @Slot()
    def _on_change(self) -> None:
        feeds, training = self._feed_faults(), self._training_fault()
        faults = [*feeds, *(() if training is None else (training,))]
        if faults:
            self._update_banner(faults[0], feed=bool(feeds), training=training is not None)
            if not self._timer.isActive() and not self._is_closed:
                # The next look: later each time that it stopped again soon after continuing.
                was_in_vain = self._tried_s is not None and self._clock.monotonic_s() - self._tried_s < _SOON_S
                self._last_pause_ms = min(2 * self._last_pause_ms, _LONGEST_MS) if was_in_vain else self._first_pause_ms
                self._timer.start(self._last_pause_ms)
        else:
            self._timer.stop()
            if self._shown_text:
                self._banner.withdraw_storage_error()  # of other parts, with the same cause
            self._shown_text = ""
            self._banner.withdraw(_KEY)

    @Slot()
    def _look(self) -> None:
        if not self._is_looking:  # else a share hangs
            self._is_looking = True
            needs_room = PassingFault.FULL_DISK in [*self._feed_faults(), self._training_fault()]
            look_whether_writable(self._folder.database, needs_room=needs_room, answer=self._looked.emit)

    @Slot(bool)
    def _on_looked(self, is_writable: bool) -> None:
        self._is_looking = False
        if is_writable and not self._is_closed:
            feed = self._state.feed
            self._restart(feed=feed is not None and feed.passing is not None and feed.state is FeedState.FAILED)

    def _update_banner(self, fault: PassingFault, *, feed: bool, training: bool) -> None:
        happened, advice = _WORDS[fault]
        if feed and training:
            stopped = translate("Window", "Storing candles and training are stopped.")
        elif feed:
            stopped = translate("Window", "Storing candles is stopped.")
        else:
            stopped = translate("Window", "Training is stopped.")
        automatic = translate("Window", "It continues automatically, and catches up.")
        said = translate("Window", happened).format(self._folder.root)
        text = f"{said} {stopped} {translate('Window', advice)} {automatic}"
        if text != self._shown_text:  # one that was dismissed stays away until there is something new to say
            self._shown_text = text
            again = translate("Window", "Try again now")
            self._banner.show_notice(Notice(_KEY, Severity.ERROR, text, action=again, on_action=self.try_now))


_WORDS = {
    PassingFault.FULL_DISK: (
        QT_TRANSLATE_NOOP("Window", "The disk of {0} is full."),
        QT_TRANSLATE_NOOP("Window", "Free some space."),
    ),
    PassingFault.HELD: (
        QT_TRANSLATE_NOOP("Window", "Another program holds the database in {0}."),
        QT_TRANSLATE_NOOP("Window", "Save your changes there, or close it."),
    ),
    PassingFault.AWAY: (
        QT_TRANSLATE_NOOP("Window", "The disk of {0} does not answer."),
        QT_TRANSLATE_NOOP("Window", "Connect it again."),
    ),
}


def _fault_of(row: MarketRow) -> PassingFault | None:
    return row.passing if row.is_in_run else None
