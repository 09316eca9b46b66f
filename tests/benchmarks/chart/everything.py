"""A chart with everything switched on: all indicators, hindsight, the market's regime, the volume profile, another
market, and a drawing of each kind."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, QTimer, Slot

from core.domain.candle import Interval
from core.domain.candle_series import CandleSeries
from core.domain.drawings import Anchor, Drawing, DrawingKind
from core.domain.events import QUANTILE_LEVELS, ForecastMode
from core.domain.regimes import Regime
from core.indicators.registry import INDICATORS
from core.indicators.spec import IndicatorSpec
from core.storage.record_reader import RecordReader
from core.storage.records import ConditionRows, PastRows
from desktop.chart.items.comparison import Comparison, ComparisonLayer
from desktop.chart.items.drawings import DrawingsLayer
from desktop.chart.items.hindsight import HindsightLayer
from desktop.chart.items.indicator import IndicatorLayer
from desktop.chart.items.placed import Placed
from desktop.chart.items.regimes import RegimeLayer
from desktop.chart.items.volume_profile import VolumeProfileLayer
from desktop.chart.panes.layer import Layer
from desktop.chart.widget import ChartWidget

_DRAWN_EVERY, _DRAWN_LONG = 30, 45
"""Candles between the first anchors of two drawings, and between the two anchors of one."""
_VOLATILITY = 4e-4
_QUANTITIES = 6
_CLOSE, _WICKS, _LEVELS_ABOVE = 0, slice(2, 4), slice(4, 6)


class WalkedPast(RecordReader):
    """A record in which every candle of a series was forecast: what the chart asks of the database, without one."""

    def __init__(self, candles: CandleSeries) -> None:
        self._times, self._closes = candles.open_time_ms.copy(), candles.close.copy()

    def scored_span(self, horizon: int) -> tuple[int, int] | None:
        """First and last target."""
        return int(self._times[horizon]), int(self._times[-1])

    def conditions(self, before_ms: int, most: int) -> ConditionRows:
        """Regimes that last 40 candles each."""
        stop = int(np.searchsorted(self._times, before_ms))
        rows = np.arange(max(stop - most, 0), stop)
        regimes = np.full((rows.size, len(Regime)), 0.1)
        regimes[np.arange(rows.size), rows // 40 % len(Regime)] = 0.8
        return ConditionRows(self._times[rows], regimes, regimes)

    def past_forecasts(self, horizon: int, first_ms: int, stop_ms: int, most: int) -> PastRows:
        """The same rows whenever these are asked for."""
        first, stop = (int(place) for place in np.searchsorted(self._times, (first_ms, stop_ms)))
        target = np.arange(max(first, horizon), min(stop, max(first, horizon) + most))
        random = np.random.default_rng([first_ms // 1_000, horizon])
        origin_close = self._closes[target - horizon]
        quantiles = _quantiles(random, target.size)
        missed = np.abs(np.log(self._closes[target] / origin_close) - quantiles[:, _CLOSE, len(QUANTILE_LEVELS) // 2])
        return PastRows(
            target_open_time_ms=self._times[target],
            origin_open_time_ms=self._times[target - horizon],
            made_at_ms=self._times[target] + 250,
            step=target,
            mode=(ForecastMode.LIVE,) * target.size,
            checkpoint_id=(None,) * target.size,
            origin_close=origin_close,
            quantiles=quantiles,
            before=np.zeros(target.size),
            after_gap=np.zeros(target.size, np.bool_),
            inside_50=missed < _VOLATILITY * 0.7,
            inside_90=missed < _VOLATILITY * 1.6,
            direction_hit=random.integers(-1, 2, target.size).astype(np.int8),
        )


def _quantiles(random: np.random.Generator, count: int) -> NDArray[np.float64]:
    """[count, quantity, level] of plausible candles, ascending."""
    rows = np.sort(random.normal(0.0, _VOLATILITY, (count, _QUANTITIES, len(QUANTILE_LEVELS))), axis=2)
    rows[:, _WICKS] = np.sort(np.abs(rows[:, _WICKS]), axis=2)
    rows[:, _LEVELS_ABOVE] = np.log(1e-3) + rows[:, _LEVELS_ABOVE] * 100.0
    return rows


def compare_with_other(own: CandleSeries) -> ComparisonLayer:
    """Another market, whose line crosses the candles: it moves half as far."""
    layer = ComparisonLayer()
    columns = np.vstack((np.sqrt((own.open, own.high, own.low, own.close)), own.volume))
    layer.shown = Comparison("Other", CandleSeries.from_columns(own.interval, own.open_time_ms.copy(), columns))
    return layer


def draw_each_kind(own: CandleSeries) -> DrawingsLayer:
    """One of each kind over the newest candles."""
    layer, drawings = DrawingsLayer(), []
    for number, kind in enumerate(DrawingKind, 1):
        first = max(len(own) - _DRAWN_EVERY * (number + 1), 0)
        ends = [own[min(first + _DRAWN_LONG * step, len(own) - 1)] for step in range(kind.anchors)]
        text = "Breakout" if kind is DrawingKind.TEXT else ""
        anchors = tuple(Anchor(end.open_time_ms, end.high) for end in ends)
        drawings.append(Drawing(kind, anchors, text, number=number))
    layer.shown = Placed(tuple(drawings))
    return layer


class Everything(QObject):
    """Lays it all over a chart; reads past forecasts between frames, as the window does."""

    def __init__(self, chart: ChartWidget, past: WalkedPast, interval: Interval) -> None:
        super().__init__(chart)
        self._chart = chart
        self._indicators = [IndicatorLayer(IndicatorSpec.of(kind), number) for number, kind in enumerate(INDICATORS)]
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._read)
        own = chart.model.series
        studies: tuple[Layer, ...] = (*self._indicators, HindsightLayer(), RegimeLayer(), VolumeProfileLayer())
        for layer in (*studies, compare_with_other(own), draw_each_kind(own)):
            chart.add_layer(layer)
        for read in (chart.model.past, chart.model.regimes):
            read.on_wanted = self._start_reading
        chart.model.regimes.begin(past)
        chart.model.past.begin(past, interval.duration_ms)

    @property
    def is_whole(self) -> bool:
        """Whether nothing is waited for: neither indicators nor past forecasts."""
        model = self._chart.model
        is_reading = model.past.is_waiting or model.regimes.is_waiting
        return not is_reading and not any(layer.is_waiting(model) for layer in self._indicators)

    def finish(self) -> bool:
        """Make now what is made between frames else. Says whether there was anything."""
        if self.is_whole:
            return False
        model = self._chart.model
        for layer in self._indicators:
            while layer.is_waiting(model):
                make = layer.begin(model)
                if make is not None:
                    make()
        while model.past.load_next() or model.regimes.load_next():
            pass
        self._chart.layers_changed()
        return True

    def _start_reading(self) -> None:
        if not self._timer.isActive():
            self._timer.start(0)

    @Slot()
    def _read(self) -> None:
        model = self._chart.model
        model.past.load_next()
        model.regimes.load_next()
        self._chart.layers_changed()
        if model.past.is_waiting or model.regimes.is_waiting:
            self._start_reading()
