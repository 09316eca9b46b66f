"""A candle series as it stood at an earlier moment: it shares the columns of the whole, so that no candle is copied."""

from __future__ import annotations

from core.domain.candle_series import CandleSeries


class PastSeries(CandleSeries):
    """The candles of another series up to one of them, in place. It is read only: who adds, adds to the whole.

    Going on or back costs O(log N); those who follow its changes work out only the candles that came, or the newest.
    """

    def __init__(self, whole: CandleSeries) -> None:
        super().__init__(whole.interval)
        self._whole, self._followed = whole, -1

    def show(self, whole: CandleSeries, count: int) -> None:
        """The first `count` candles of a series, as they are now: call it again after a change of that series."""
        is_same = whole is self._whole and self._is_as_followed(whole, min(count, self._size))
        former, self._size = self._size, count
        self._whole, self._followed, self.interval = whole, whole.version, whole.interval
        self._time, self._values = whole._time, whole._values
        if not is_same:
            self._pyramid = None
            self._changes.clear()
            self._version += 1  # nobody can tell from which candle on
        elif former != count:
            self._resize(former, count)

    def _resize(self, former: int, count: int) -> None:
        """What is behind the newest candle was summed up with candles that are not there any more, or are there now."""
        first = max(min(former, count - 1), 0)
        if self._pyramid is not None:
            self._pyramid.rebuild(self._base(), first)
        if count:
            self._note(int(self._time[first]), int(self._time[count - 1]))
        else:
            self._changes.clear()
            self._version += 1

    def _is_as_followed(self, whole: CandleSeries, count: int) -> bool:
        """Whether the first `count` candles are those that they were."""
        changes = whole.changes_since(self._followed)
        if changes is None:
            return False
        return all(whole.insertion_index(first_ms) >= count for first_ms, _ in changes)
