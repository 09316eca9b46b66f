"""When a forecaster that has ended is started again.

Counted in candles, not in seconds, so that the same candles give the same forecasts at any speed.
"""

from __future__ import annotations

MOST_DEATHS = 5
RECOVERED_AFTER = 20
"""Candles answered in time after which earlier deaths no longer count."""


class Lives:
    """Starts again with the next candle, after a second death one candle later, then 3 and 7; after the fifth it is
    suspended."""

    def __init__(self) -> None:
        self._deaths = 0
        self._answered = 0
        self.left_out = 0
        """Candles to come without it."""

    @property
    def is_suspended(self) -> bool:
        return self._deaths >= MOST_DEATHS

    def died(self) -> None:
        self._answered = 0
        self.left_out = 2**self._deaths - 1
        self._deaths += 1

    def answered(self) -> None:
        """It has forecast a candle in time."""
        self._answered += 1
        if self._answered >= RECOVERED_AFTER:
            self._deaths = 0

    def may_start(self) -> bool:
        """Whether to start it with the close that has begun. To be asked once for each close without it."""
        if self.is_suspended:
            return False
        self.left_out -= 1
        return self.left_out < 0

    def resumed(self) -> None:
        """Forget all deaths: the user wants it to be tried again."""
        self._deaths = self.left_out = 0
