"""What is known of the inside of candles, read between frames and cached."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from core.domain.candle import Candle, Inside, Interval
from core.domain.candle_series import CandleSeries

_MOST_CACHED = 1_000


@dataclass(frozen=True)
class KnownInside:
    """A candle's inside, and the finer candles themselves if they are stored."""

    inside: Inside
    parts: tuple[Candle, ...] = ()
    finer: Interval | None = None
    """The interval of `parts`."""


Read = Callable[[int], KnownInside | None]
"""From the opening time of a candle. Raises StorageError."""


class Insides:
    """The insides of one market's candles. Painting uses only what is cached; what is missing is queued, and
    `load_next` reads it."""

    def __init__(self) -> None:
        self.on_wanted: Callable[[], None] = lambda: None
        """Called when something has to be read."""
        self.begin(None, None)

    def begin(self, read: Read | None, interval: Interval | None) -> None:
        """Start with another market, or none."""
        self._read, self._interval = read, interval
        self._known: OrderedDict[int, KnownInside | None] = OrderedDict()
        self._wanted: int | None = None

    def at(self, series: CandleSeries, index: int) -> KnownInside | None:
        """Of one closed candle; None without one, or if it is not read yet. Reads nothing."""
        if self._read is None or series.interval != self._interval or not 0 <= index < len(series):
            return None
        time_ms = int(series.open_time_ms[index])
        if time_ms not in self._known:
            self._wanted = time_ms  # only the newest: the mouse has left the others
            self.on_wanted()
        return self._known.get(time_ms)

    def load_next(self) -> bool:
        """Read the newest requested one. Whether there was any. Raises StorageError."""
        if self._read is None or self._wanted is None:
            return False
        time_ms, self._wanted = self._wanted, None
        self._known[time_ms] = self._read(time_ms)
        if len(self._known) > _MOST_CACHED:
            self._known.popitem(last=False)
        return True
