"""A candle series as of an earlier time. It shares the columns of the whole series, so no candle is copied."""

from __future__ import annotations

from core.domain.candle_series import CandleSeries


class PastSeries(CandleSeries):
    """A read-only view of another series' first candles; new candles are added to the whole series.

    Moving forwards or back costs O(log N); followers of its changes only compute the added candles, or the newest.
    """

    def __init__(self, whole: CandleSeries) -> None:
        super().__init__(whole.interval)
        self._whole, self._followed = whole, -1

    def show(self, whole: CandleSeries, count: int) -> None:
        """Show the first `count` candles of a series. Call it again after that series has changed."""
        is_same = whole is self._whole and self._is_as_followed(whole, min(count, self._size))
        former, self._size = self._size, count
        self._whole, self._followed, self.interval = whole, whole.version, whole.interval
        self._time, self._values = whole._time, whole._values
        if not is_same:
            self._pyramid = None
            self._changes.clear()
            self.version += 1  # the first changed candle is unknown
        elif former != count:
            self._resize(former, count)

    def _resize(self, former: int, count: int) -> None:
        """Cells after the newest candle aggregated candles that have been removed or added since."""
        first = max(min(former, count - 1), 0)
        if self._pyramid is not None:
            self._pyramid.rebuild(self._base(), first)
        if count:
            self._note(int(self._time[first]), int(self._time[count - 1]))
        else:
            self._changes.clear()
            self.version += 1

    def _is_as_followed(self, whole: CandleSeries, count: int) -> bool:
        """Whether the first `count` candles are unchanged."""
        changes = whole.changes_since(self._followed)
        if changes is None:
            return False
        return all(whole.insertion_index(first_ms) >= count for first_ms, _ in changes)
