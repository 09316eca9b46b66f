"""Where the anchors of drawings lie among the candles that are shown, and where they go when they are moved."""

from __future__ import annotations

from core.domain.drawings import FARTHEST_MS, Anchor
from core.domain.validation import HIGHEST_PRICE, LOWEST_PRICE
from desktop.chart.data.model import ChartModel


def bounded(time_ms: int, price: float) -> Anchor:
    """An anchor there, or at the nearest price that can be stored."""
    return Anchor(time_ms, min(max(price, LOWEST_PRICE), HIGHEST_PRICE))


def index_at(model: ChartModel, time_ms: int) -> int:
    """The index of the candle that a time lies in, in a gap that of the next. Before the first candle indices go on
    below zero, as they do beyond the newest: the older ones may not be read yet."""
    series, first, ahead = model.series, model.time_at(0), model.time_at(model.count)
    if first is None or ahead is None:
        return 0
    step = series.interval.duration_ms
    if time_ms < first:
        return (time_ms - first) // step
    if time_ms >= ahead:
        return model.count + (time_ms - ahead) // step
    found = series.insertion_index(time_ms + 1) - 1
    return found if time_ms - int(series.open_time_ms[found]) < step else found + 1


def time_at(model: ChartModel, index: int) -> int:
    """The opening time at an index, also before the first candle."""
    first = model.time_at(0)
    if first is None:
        return 0
    found = model.time_at(index) if index >= 0 else first + index * model.series.interval.duration_ms
    return _within(first if found is None else found)


def shifted(model: ChartModel, time_ms: int, candles: int) -> int:
    """The time so many of the shown candles later; the part of a candle that has gone by stays, so that what was
    drawn over short candles keeps its form when it is moved over long ones."""
    if candles == 0:
        return time_ms
    index = index_at(model, time_ms)
    gone = time_ms - time_at(model, index)
    return _within(time_at(model, index + candles) + (gone if 0 <= gone < model.series.interval.duration_ms else 0))


def _within(time_ms: int) -> int:
    return min(max(time_ms, -FARTHEST_MS), FARTHEST_MS)
