"""What an exchange has asked of all who ask it: to be left alone for a while. Heard by one, honoured by all."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from typing import TypeVar

from core.domain.clock import Clock
from core.market.feeds.trouble import VenueError

_EARLY_S = 0.02
"""A timer that waits for the end may be early by so much."""
T = TypeVar("T")


class HeldError(VenueError):
    """Nothing was asked, because the exchange wants to be left alone for `wait_s` more seconds. The sentence says why,
    as it was told to whoever heard it."""


class VenueHold:
    """One exchange's. May be used from several threads, with the same clock on all of them."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._until_s = 0.0
        self._heard: VenueError | None = None

    @property
    def held(self) -> HeldError | None:
        """Why nothing may be asked, and for how long; None where it may."""
        with self._lock:
            left_s, heard = self._until_s - self._clock.monotonic_s(), self._heard
        if heard is None or left_s <= _EARLY_S:
            return None
        return HeldError(str(heard), wait_s=left_s, is_of_venue=heard.is_of_venue)

    @property
    def left_s(self) -> float:
        """Seconds until it may be asked again; nought where it may be asked now."""
        held = self.held
        return 0.0 if held is None else held.wait_s

    def hear(self, trouble: VenueError) -> None:
        """Take note, where the exchange has asked for a wait."""
        if not trouble.is_asked:
            return
        with self._lock:
            until_s = self._clock.monotonic_s() + trouble.wait_s
            if self._heard is None or until_s > self._until_s:
                self._until_s, self._heard = until_s, trouble

    def drop(self) -> None:
        """The user wants another try, come what may."""
        with self._lock:
            self._heard = None

    def check(self) -> None:
        """Raises HeldError while the exchange is to be left alone."""
        held = self.held
        if held is not None:
            raise held

    async def ask(self, request: Callable[[], Awaitable[T]]) -> T:
        """Make a request, if it may be made, and hear what comes of it. Raises VenueError."""
        self.check()
        try:
            return await request()
        except VenueError as trouble:
            self.hear(trouble)
            raise


class VenueHolds:
    """One for each exchange, by its ccxt id. Shared by all parts of the program that ask exchanges."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._holds: dict[str, VenueHold] = {}

    def of(self, venue: str) -> VenueHold:
        """Always the same one for the same exchange."""
        with self._lock:
            return self._holds.setdefault(venue, VenueHold(self._clock))
