"""One candle in view, known by its time: candles that come late must not push what is in view aside."""

from __future__ import annotations

from desktop.chart.axes.time_scale import TimeScale
from desktop.chart.data.model import ChartModel


class ViewAnchor:
    """Says by how much the indices of what is in view have shifted."""

    def __init__(self, model: ChartModel, scale: TimeScale) -> None:
        self._model, self._scale = model, scale
        self._held: tuple[int, int] | None = None

    def forget(self) -> None:
        """Another market."""
        self._held = None

    def drop(self) -> None:
        """Remember the candle at the right edge, or the newest one where that lies further right."""
        index = min(max(round(self._scale.right), 0), self._model.count - 1)
        time_ms = self._model.time_at(index)
        self._held = None if time_ms is None or index >= self._model.count else (index, time_ms)

    def shifted(self) -> int:
        """How many candles were inserted before it since."""
        series = self._model.series
        if self._held is None or series is None:
            return 0
        index, time_ms = self._held
        found = series.index_at(time_ms)
        return 0 if found is None else found - index
