"""Positions of drawing anchors among the shown candles, and how they move."""

from __future__ import annotations

from core.domain.candle_faults import HIGHEST_PRICE, LOWEST_PRICE
from core.domain.drawings import FARTHEST_MS, Anchor
from desktop.chart.data.model import ChartModel


def bounded(time_ms: int, price: float) -> Anchor:
    """An anchor there, or at the nearest price that can be stored."""
    return Anchor(time_ms, min(max(price, LOWEST_PRICE), HIGHEST_PRICE))


def index_at(model: ChartModel, time_ms: int) -> int:
    """The index of the candle that contains a time; in a gap, of the next candle. Indices continue below zero before
    the first candle, as they do beyond the newest: older candles may not be loaded yet."""
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
    """The opening time at an index, including before the first candle."""
    first = model.time_at(0)
    if first is None:
        return 0
    found = model.time_at(index) if index >= 0 else first + index * model.series.interval.duration_ms
    return _within(first if found is None else found)


def shifted(model: ChartModel, time_ms: int, candles: int) -> int:
    """The time this many shown candles later, keeping the offset within the candle, so that drawings made on a short
    interval keep their shape when moved on a long one."""
    if candles == 0:
        return time_ms
    index = index_at(model, time_ms)
    gone = time_ms - time_at(model, index)
    return _within(time_at(model, index + candles) + (gone if 0 <= gone < model.series.interval.duration_ms else 0))


def _within(time_ms: int) -> int:
    return min(max(time_ms, -FARTHEST_MS), FARTHEST_MS)
