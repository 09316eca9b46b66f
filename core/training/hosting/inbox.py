"""Messages from other threads to the driver."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, field

from core.domain.candle import Market
from core.market.feeds.base import FeedState
from core.training.commands import TrainerCommand


@dataclass(slots=True)
class Inbox:
    """Every method may be called from any thread."""

    _wake: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _commands: deque[TrainerCommand] = field(default_factory=deque)
    _live: set[tuple[Market, int]] = field(default_factory=set)
    ended: frozenset[Market] = frozenset()
    """The markets whose feeds have ended; all their candles are stored."""
    are_caught_up: frozenset[Market] = frozenset()
    """The markets whose past candles are stored, as far as they can be had."""
    are_reconnecting: frozenset[Market] = frozenset()
    """The markets that have lost their connection: missed candles are fetched once it is back."""
    is_stopped: bool = False

    def candles_stored(self, market: Market, live_open_times_ms: tuple[int, ...] = ()) -> None:
        """Candles of this market were stored; those with these opening times came live."""
        with self._lock:
            self._live.update((market, open_time_ms) for open_time_ms in live_open_times_ms)
        self._wake.set()

    def send(self, command: TrainerCommand) -> None:
        """Queue a command. It overtakes candles that were not sent to the host yet."""
        with self._lock:
            self._commands.append(command)
        self._wake.set()

    def caught_up(self, market: Market) -> None:
        """The past candles of this market are stored, or cannot be had for now: from here on it may be late."""
        with self._lock:
            self.are_caught_up |= {market}
        self._wake.set()

    def feed_changed(self, market: Market, state: FeedState) -> None:
        """The feed of this market is in this state now; all candles that came before are stored."""
        with self._lock:
            if state is FeedState.RECONNECTING:
                self.are_reconnecting |= {market}
            elif not state.is_loading_history:  # while it fetches what it missed, it is not back yet
                self.are_reconnecting -= {market}
            if not state.is_loading_history:
                self.are_caught_up |= {market}
        self._wake.set()

    def feed_ended(self, market: Market) -> None:
        """No more candles of this market will come: the driver ends when all are taken, of all markets."""
        with self._lock:
            self.ended |= {market}
        self._wake.set()

    def feed_begins(self, market: Market) -> None:
        """Candles of this market may come again, the past ones first."""
        with self._lock:
            self.ended -= {market}
            self.are_caught_up -= {market}
            self.are_reconnecting -= {market}

    def stop(self) -> None:
        """End after the current candle."""
        self.is_stopped = True
        self._wake.set()

    @property
    def has_commands(self) -> bool:
        """Whether commands wait to be taken."""
        with self._lock:
            return bool(self._commands)

    def pop_command(self) -> TrainerCommand | None:
        """The oldest command; the others stay queued in case the host dies of this one."""
        with self._lock:
            return self._commands.popleft() if self._commands else None

    def pop_live(self, market: Market, open_time_ms: int) -> bool:
        """Whether this candle came live. Called once per candle."""
        with self._lock:
            if (market, open_time_ms) not in self._live:
                return False
            self._live.discard((market, open_time_ms))
            return True

    def has_live_since(self, open_time_ms: int) -> bool:
        """Whether a candle that opened at `open_time_ms` or later came live and was not taken yet."""
        with self._lock:
            return any(opened_ms >= open_time_ms for _, opened_ms in self._live)

    def wait(self, timeout_s: float) -> None:
        self._wake.wait(timeout_s)
        self._wake.clear()
