"""The opening times of a market's candles. Up to half a day they count from the epoch; longer candles follow the
exchange: midnight in its time zone, Mondays."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from core.domain.candle import DAY_MS, Interval
from core.domain.dates import YEAR_2010_MS, utc_text

_ENOUGH = 3
"""Rows that show a grid: of fewer one may be wrong."""
_ENOUGH_FAR_APART = 20
"""Rows that show a longer interval: a market without trades has holes, but not at regular distances."""
_ZONE_MS = 900_000
"""Time zones differ by quarters of an hour."""


class CandleGrid:
    """Learned from the first rows. A row off the grid is then refused."""

    def __init__(self, interval: Interval) -> None:
        self._interval = interval
        self._is_known = self._is_of_stored = False
        self.phase_ms = 0
        """How far opening times lie off the epoch's grid."""

    @property
    def is_own(self) -> bool:
        """Whether opening times may lie off the epoch's grid."""
        return self._interval.duration_ms >= DAY_MS

    def place(self, open_time_ms: int) -> None:
        """Use the grid of a stored candle, which later ones have to fit."""
        if self.is_own:
            self.phase_ms = open_time_ms % self._interval.duration_ms
            self._is_known = self._is_of_stored = True

    def learn(self, times_ms: Sequence[int]) -> None:
        """Learn from the rows of one response, ascending: the grid of more than half of them. One or two rows are
        believed until there are more."""
        sound = _sound(times_ms)
        if not self.is_own or self._is_known or not sound:
            return
        phase_ms, count = self._common_phase(sound)
        if phase_ms % _ZONE_MS == 0 and (count * 2 > len(sound) or len(sound) < _ENOUGH):
            self.phase_ms, self._is_known = phase_ms, len(sound) >= _ENOUGH

    def refusal(self, name: str, times_ms: Sequence[int]) -> str | None:
        """The sentence why the rows of a response are no candles of this interval; None if they are, or are too few.
        name: the exchange's. To be called after `learn`."""
        sound = _sound(times_ms)
        if len(sound) < _ENOUGH:
            return None
        fitting = [time_ms for time_ms in sound if (time_ms - self.phase_ms) % self._interval.duration_ms == 0]
        if len(fitting) * 2 <= len(sound):
            return self._refusal_of_unfitting(name, sound)
        apart_ms = math.gcd(*(after - before for before, after in pairwise(fitting)))
        is_longer = len(fitting) >= _ENOUGH_FAR_APART and apart_ms > self._interval.duration_ms
        return self._wrong_length(name, apart_ms) if is_longer else None

    def _refusal_of_unfitting(self, name: str, times_ms: list[int]) -> str | None:
        _, count = self._common_phase(times_ms)
        if count * 2 > len(times_ms):
            opens = f"{utc_text(times_ms[-1], '%Y-%m-%d %H:%M:%S')} UTC"
            fit = "the stored ones" if self._is_of_stored else "those of other exchanges"
            return (
                f"{name}'s candles of {self._interval} do not fit {fit}: one opens at {opens}. Choose another "
                "interval or exchange."
            )
        apart_ms, gaps = Counter(after - before for before, after in pairwise(times_ms)).most_common(1)[0]
        return self._wrong_length(name, apart_ms) if gaps * 2 > len(times_ms) - 1 else None

    def _wrong_length(self, name: str, apart_ms: int) -> str:
        return (
            f"{name} has no candles of {self._interval}: those that it sends are {Interval(apart_ms)} apart. Choose "
            "another interval."
        )

    def _common_phase(self, times_ms: list[int]) -> tuple[int, int]:
        """The most frequent phase, of the newest row if there are several, and its count."""
        phases = Counter(time_ms % self._interval.duration_ms for time_ms in reversed(times_ms))
        return phases.most_common(1)[0]


def _sound(times_ms: Sequence[int]) -> list[int]:
    return sorted({time_ms for time_ms in times_ms if time_ms >= YEAR_2010_MS})
