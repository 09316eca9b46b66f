"""Scenes of other views of a market: at a coarser interval, beside another one, at a past moment."""

from __future__ import annotations

from core.domain.candle import Candle, Interval
from core.domain.candle_series import CandleSeries
from core.market.resample import ResampledSeries
from desktop.chart.axes.price_scale import ScaleKind
from desktop.chart.data.model import Moment
from desktop.chart.items.comparison import Comparison, ComparisonLayer
from desktop.chart.items.forecast import FuturesLayer
from tests.desktop.chart.support import forecast_after, forecast_with_paths, forming_after, random_series
from tests.golden.stage import Stage

TITLE = "BTC/USDT · 1m · test"


def joined_ghosts(stage: Stage) -> None:
    """Forecasts of minutes on five-minute candles: one continues the forming candle, the other is all forecast."""
    series = random_series(602)
    coarse = ResampledSeries(series, Interval.parse("5m"))
    stage.chart.set_series(coarse.series, f"{TITLE} · shown as 5m")
    stage.chart.set_forming(coarse.forming(forming_after(series)))
    stage.chart.set_forecast(forecast_after(series))
    stage.settle()
    stage.chart.zoom(2.0)


def compared(stage: Stage) -> None:
    """Another market's line, in percent; missing candles break it."""
    series = random_series(120)
    stage.chart.restyle(scale=ScaleKind.PERCENT)
    stage.chart.set_series(series, TITLE)
    stage.chart.set_forming(forming_after(series))
    other = CandleSeries(series.interval)
    for index, each in enumerate(random_series(120, seed=11, skip=frozenset(range(98, 102)))):
        close = each.close * (0.05 + index / 400_000)
        other.add(Candle(each.open_time_ms, close, close, close, close, 1.0))
    layer = ComparisonLayer()
    layer.shown = Comparison("ETH/USDT", other)
    stage.chart.add_layer(layer)


def past_moment(stage: Stage) -> None:
    """The ghosts of a past candle, and nothing later: neither candles nor the forming one."""
    series = random_series(120)
    stage.chart.set_series(series, TITLE)
    stage.chart.set_forming(forming_after(series))
    stage.chart.set_forecast(forecast_after(series))
    then = CandleSeries.from_columns(series.interval, series.open_time_ms[:90], series.values[:, :90])
    made = forecast_after(then)
    stage.chart.show_moment(Moment(made.inputs_until_ms, made))


def sample_paths(stage: Stage) -> None:
    """Possible futures, the ghosts from the second on along the most central one, and the readout of the third."""
    series = random_series(400)
    made = forecast_with_paths(series)
    stage.chart.set_series(series, TITLE)
    stage.chart.set_forecast(made)
    make = stage.chart.model.futures.begin(made, series)
    assert make is not None
    make()
    stage.chart.add_layer(FuturesLayer())
    stage.chart.restyle(shows_paths=True)
    stage.settle()
    stage.chart.zoom(2.0)
    stage.point_at(402, made.origin_close)
