"""The scenes of the golden images. A new one is a row in `SCENES`, and a function if none of these fits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from core.domain.candle import Candle, Interval
from core.domain.candle_series import CandleSeries
from core.domain.drawings import Anchor
from core.domain.events import ForecastMade, ForecastMode
from core.domain.price_lines import LineKind, PriceLine
from core.domain.time_zones import find
from core.indicators.spec import IndicatorSpec
from core.market.known_holes import KnownHoles
from desktop.chart.axes.price_scale import ScaleKind
from desktop.chart.items.hindsight import HindsightLayer
from desktop.chart.items.indicator import IndicatorLayer
from desktop.chart.items.markers import Marker, MarkerKind, MarkersLayer, MarkerTrack
from desktop.chart.items.measure import MeasureLayer, Measurement
from desktop.chart.items.placed import Placed
from desktop.chart.items.price_lines import PriceLinesLayer
from desktop.chart.style import CandleStyle
from tests.benchmarks.chart import scenario
from tests.desktop.chart.support import (
    MINUTE_MS,
    START_MS,
    forecast_after,
    forming_after,
    ghost,
    outcome_of,
    random_series,
)
from tests.golden import conditions, drawn, views
from tests.golden.stage import Scene, Stage

TITLE = "BTC/USDT · 1m · test"
EVERY_SCALE = (1.0, 1.5, 2.0)
COUNT = 120
_GAPS = frozenset((*range(70, 79), 90, 100, 101))
_OVER_PRICES = ("sma", "ema", "bollinger", "vwap")
_IN_PANES = ("rsi", "macd", "atr")


def candles(stage: Stage, style: CandleStyle = CandleStyle.CANDLES, scale: ScaleKind = ScaleKind.LINEAR) -> None:
    """Closed candles and a forming one."""
    series = random_series(COUNT)
    stage.chart.restyle(candles=style, scale=scale)
    stage.chart.set_series(series, TITLE)
    stage.chart.set_forming(forming_after(series))


def wide_range(stage: Stage, scale: ScaleKind) -> None:
    """Prices that grow a hundredfold."""
    series = CandleSeries(Interval.parse("1m"))
    for index, candle in enumerate(random_series(40)):
        factor = 10.0 ** (index / 20) / 1_000
        prices = (candle.open, candle.high + 800, candle.low - 600, candle.close)
        opened, high, low, close = (round(price * factor, 2) for price in prices)
        close = round(close * (1.1 if index % 3 else 0.97), 2)
        series.add(Candle(candle.open_time_ms, opened, max(high, close), min(low, close), close, candle.volume))
    stage.chart.restyle(scale=scale)
    stage.chart.set_series(series, "GROWN/USDT · 1m · test")


def gaps(stage: Stage) -> None:
    stage.chart.set_series(random_series(COUNT, skip=_GAPS), TITLE)


def holes(stage: Stage) -> None:
    """The exchange is known to have no candle in the first of two gaps."""
    gaps(stage)
    model = stage.chart.model
    after = next(index for index in range(1, model.count) if model.missing_before(index))
    first_ms, stop_ms = model.time_at(after - 1), model.time_at(after)
    assert first_ms is not None and stop_ms is not None
    stage.chart.set_holes(KnownHoles(np.array([[first_ms + 1, stop_ms]])))


def absent_candles(stage: Stage) -> None:
    """Over the first candle after such a hole."""
    holes(stage)
    model = stage.chart.model
    after = next(index for index in range(1, model.count) if model.missing_before(index))
    stage.point_at(after, stage_price(stage, 0.6))


def ghosts(stage: Stage, mode: ForecastMode = ForecastMode.LIVE, *, is_forming: bool = True) -> None:
    """A forecast with its bands; the first ghost lies behind the forming candle."""
    series = random_series(COUNT)
    stage.chart.set_series(series, TITLE)
    stage.chart.set_forecast(forecast_after(series, mode=mode))
    if is_forming:
        stage.chart.set_forming(forming_after(series, -4.0))


def zoomed_ghosts(stage: Stage, factor: float, mode: ForecastMode = ForecastMode.LIVE) -> None:
    ghosts(stage, mode)
    stage.chart.zoom(factor)


def plain(stage: Stage) -> None:
    """Neither volume nor bands."""
    ghosts(stage)
    stage.chart.restyle(shows_volume=False, shows_bands=False)


def without_readout(stage: Stage) -> None:
    """A tile of the Overview: the market's name and price are written above it."""
    ghosts(stage)
    stage.chart.restyle(shows_volume=False, shows_readout=False)
    stage.chart.zoom(0.6)


@cache
def _million_candles() -> CandleSeries:
    return scenario.series(1_000_000)


def million(stage: Stage, style: CandleStyle = CandleStyle.CANDLES) -> None:
    """A million candles, all in view."""
    stage.chart.restyle(candles=style)
    stage.chart.set_series(_million_candles(), TITLE)
    stage.settle()
    stage.chart.zoom(1e-6)


def grouped(stage: Stage) -> None:
    """A few candles to a pixel."""
    stage.chart.set_series(random_series(4_000), TITLE)
    stage.settle()
    stage.chart.zoom(0.02)


def one_candle(stage: Stage) -> None:
    stage.chart.set_series(random_series(1), TITLE)


def forming_alone(stage: Stage) -> None:
    stage.chart.set_series(CandleSeries(Interval.parse("1m")), TITLE)
    stage.chart.set_forming(random_series(1)[0])


def no_candles(stage: Stage) -> None:
    stage.chart.set_series(CandleSeries(Interval.parse("1m")), TITLE)
    stage.chart.set_empty_text("Waiting for the first candle of BTC/USDT …")


def flat(stage: Stage, price: float = 1.0) -> None:
    """A market whose price never changes."""
    series = CandleSeries(Interval.parse("1m"))
    series.extend(Candle(START_MS + i * MINUTE_MS, price, price, price, price, 0.0) for i in range(COUNT))
    stage.chart.set_series(series, "FLAT/USDT · 1m · test")


def priced(stage: Stage, factor: float, decimals: int) -> None:
    """The same walk at another price."""
    series = CandleSeries(Interval.parse("1m"))
    for candle in random_series(COUNT):
        prices = (candle.open, candle.high, candle.low, candle.close)
        series.add(Candle(candle.open_time_ms, *(round(price * factor, decimals) for price in prices), candle.volume))
    stage.chart.set_series(series, f"ODD/USDT · 1m · × {factor:g}")
    stage.chart.set_forecast(_forecast_at(series, factor))


def _forecast_at(series: CandleSeries, factor: float) -> ForecastMade:
    """The zigzag of `forecast_after`, about prices of any size."""
    plain_series = random_series(COUNT)
    made = forecast_after(plain_series)
    scaled = tuple(
        replace(
            ghost,
            open=ghost.open * factor,
            high=ghost.high * factor,
            low=ghost.low * factor,
            close=ghost.close * factor,
            close_quantiles=tuple(price * factor for price in ghost.close_quantiles),
        )
        for ghost in made.ghosts
    )
    return replace(made, origin_close=series[-1].close, ghosts=scaled)


def crosshair(stage: Stage) -> None:
    """Over a past candle without a past forecast."""
    ghosts(stage)
    stage.point_at(92, stage_price(stage, 0.7))


def crosshair_over_ghost(stage: Stage) -> None:
    ghosts(stage)
    stage.point_at(COUNT + 3, stage_price(stage, 0.5))


def dodged(stage: Stage) -> None:
    """The cursor is at the readout's usual place."""
    ghosts(stage)
    stage.settle()
    stage.move_mouse(60, 20)


def outcome(stage: Stage) -> None:
    """Over a candle with a past forecast."""
    ghosts(stage)
    series = stage.chart.model.series
    assert series is not None
    stage.chart.model.past.add(outcome_of(series[95]))
    stage.point_at(95, (series[95].open + series[95].close) / 2)


def missing_candles(stage: Stage) -> None:
    """Over the first candle after a gap."""
    gaps(stage)
    stage.point_at(70, stage_price(stage, 0.6))


def stage_price(stage: Stage, share: float) -> float:
    """The price at a share of the height, from the bottom."""
    stage.settle()
    return stage.chart.frame.prices.value_at(share)


def countdown(stage: Stage) -> None:
    """An open market: 43 s until the candle closes."""
    candles(stage)
    forming = stage.chart.model.forming
    assert forming is not None
    stage.clock.advance_ms(forming.open_time_ms + 17_000 - stage.clock.now_ms())
    stage.chart.set_live(True)


def panned_back(stage: Stage) -> None:
    """The newest candle is out of view, and the button leads to it."""
    ghosts(stage)
    stage.settle()
    QTest.keyClick(stage.chart, Qt.Key.Key_Home)


def held_prices(stage: Stage) -> None:
    """A manual price range: candles extend beyond it above and below."""
    ghosts(stage)
    stage.settle()
    stage.chart.hold_prices(stage.chart.frame.prices.between(0.35, 0.7))


def indicators(stage: Stage, kinds: tuple[str, ...]) -> None:
    ghosts(stage)
    for number, kind in enumerate(kinds):
        stage.chart.add_layer(IndicatorLayer(IndicatorSpec.of(kind), number))


def in_zone(stage: Stage, name: str) -> None:
    candles(stage)
    stage.chart.restyle(time_zone=find(name))


def _each_style() -> tuple[Scene, ...]:
    """All shapes of candles in both themes; those with thin lines at every scale."""
    built: list[Scene] = []
    for style in CandleStyle:
        build: Callable[[Stage], object] = partial(candles, style=style)
        name = style.value.replace("_", "-")
        built.append(Scene(f"{name}-dark", build, scales=EVERY_SCALE))
        built.append(Scene(f"{name}-light", build, "light"))
    return tuple(built)


def hindsight(stage: Stage, factor: float = 1.0) -> None:
    """Past forecasts over the outcome; every fifth was made during catch-up."""
    series = random_series(COUNT)
    stage.chart.set_series(series, TITLE)
    stage.chart.set_forecast(forecast_after(series))
    stage.chart.add_layer(HindsightLayer())
    for index in range(COUNT):
        candle, miss = series[index], ((index * 7) % 11 - 5) / 4_000
        forecast = ghost(candle.open_time_ms, candle.open, candle.close / (1.0 + miss), spread=25.0)
        mode = ForecastMode.CATCH_UP if index % 5 == 0 else ForecastMode.LIVE
        inside = {"inside_50": abs(miss) < 0.0006, "inside_90": abs(miss) < 0.0011, "direction_hit": index % 3 > 0}
        stage.chart.model.past.add(outcome_of(candle, ghost=forecast, mode=mode, **inside))
    stage.chart.layers_changed()
    stage.chart.zoom(factor)


def narrow(stage: Stage) -> None:
    """Indicators and hindsight without room for their full text, with a manual price scale."""
    hindsight(stage)
    for number, kind in enumerate(_OVER_PRICES):
        stage.chart.add_layer(IndicatorLayer(IndicatorSpec.of(kind), number))
    stage.settle()
    stage.chart.hold_prices(stage.chart.frame.prices)


def lines(stage: Stage) -> None:
    """An alert, a triggered one, a selected note, a measurement and training markers."""
    series = random_series(COUNT)
    stage.chart.set_series(series, TITLE)
    newest = series[-1]
    crossed_at_ms = newest.open_time_ms
    shown = (
        PriceLine(newest.close + 40.0, LineKind.ALERT, "breakout", is_armed=True, number=1),
        PriceLine(newest.close - 25.0, LineKind.ALERT, crossed_at_ms=crossed_at_ms, number=2),
        PriceLine(newest.close + 15.0, LineKind.NOTE, "bought here", number=3),
    )
    price_lines, measure, markers = PriceLinesLayer(), MeasureLayer(), MarkersLayer()
    price_lines.shown = replace(price_lines.shown, things=shown, selected=3)
    start, end = series[COUNT - 40], series[COUNT - 20]
    ends = Anchor(start.open_time_ms, start.low), Anchor(end.open_time_ms, end.high)
    measure.shown = Placed((Measurement(*ends),))
    for layer in (markers, price_lines, measure):
        stage.chart.add_layer(layer)
    kinds = list(MarkerKind) * 2
    shown = [Marker(series[COUNT - 50 + 4 * i].open_time_ms, kind, "", None) for i, kind in enumerate(kinds)]
    markers.track = MarkerTrack(shown)
    stage.chart.layers_changed()


def lines_together(stage: Stage, scale: ScaleKind = ScaleKind.LINEAR) -> None:
    """Lines at nearly the same price, and a selected one out of view."""
    series = random_series(COUNT)
    stage.chart.restyle(scale=scale)
    stage.chart.set_series(series, TITLE)
    base = series[-1].close + 30.0
    shown = (
        PriceLine(base, LineKind.ALERT, "breakout", is_armed=True, number=1),
        PriceLine(base + 0.4, LineKind.NOTE, "yesterday's high", number=2),
        PriceLine(base - 0.4, LineKind.ALERT, crossed_at_ms=series[-1].open_time_ms, number=3),
        PriceLine(base + 900.0, LineKind.ALERT, "far away", is_armed=True, number=4),
    )
    layer = PriceLinesLayer()
    layer.shown = replace(layer.shown, things=shown, selected=4)
    stage.chart.add_layer(layer)


def lines_aside(stage: Stage) -> None:
    """Lines at the readout and the last price, and a measurement whose numbers would be under the readout."""
    series = random_series(COUNT)
    stage.chart.set_series(series, TITLE)
    stage.settle()
    frame, newest = stage.chart.frame, series[-1]
    stage.chart.hold_prices(frame.prices)
    top = frame.price_pane.value_at(4.0)
    shown = (
        PriceLine(top, LineKind.ALERT, "under the readout", is_armed=True, number=1),
        PriceLine(newest.close + 0.5, LineKind.ALERT, "just above", is_armed=True, number=2),
        PriceLine(newest.close - 0.5, LineKind.NOTE, "just below", number=3),
    )
    price_lines, measure = PriceLinesLayer(), MeasureLayer()
    price_lines.shown = replace(price_lines.shown, things=shown)
    start, end = series[round(frame.left) + 12], series[round(frame.left) + 30]
    ends = Anchor(start.open_time_ms, start.low), Anchor(end.open_time_ms, frame.price_pane.value_at(50.0))
    measure.shown = Placed((Measurement(*ends),))
    stage.chart.add_layer(price_lines)
    stage.chart.add_layer(measure)


SCENES: tuple[Scene, ...] = (
    *_each_style(),
    Scene("colour-blind-dark", ghosts, colours="blue-orange"),
    Scene("colour-blind-light", ghosts, "light", colours="blue-orange"),
    Scene("swapped-colours", ghosts, is_swapped=True),
    Scene("log-scale", partial(wide_range, scale=ScaleKind.LOG)),
    Scene("log-scale-light", partial(wide_range, scale=ScaleKind.LOG), "light"),
    Scene("wide-linear-scale", partial(wide_range, scale=ScaleKind.LINEAR)),
    Scene("percent-scale", partial(candles, scale=ScaleKind.PERCENT)),
    Scene("wide-percent-scale", partial(wide_range, scale=ScaleKind.PERCENT)),
    Scene("gaps-dark", gaps, scales=EVERY_SCALE),
    Scene("gaps-light", gaps, "light"),
    Scene("ghosts-dark", ghosts, scales=EVERY_SCALE),
    Scene("ghosts-light", ghosts, "light"),
    Scene("ghosts-no-forming", partial(ghosts, is_forming=False)),
    Scene("ghosts-catch-up", partial(zoomed_ghosts, factor=1.8, mode=ForecastMode.CATCH_UP)),
    Scene("ghosts-near", partial(zoomed_ghosts, factor=4.0), scales=EVERY_SCALE),
    Scene("ghosts-far", partial(zoomed_ghosts, factor=0.3)),
    Scene("plain", plain),
    Scene("tile", without_readout, "light", size=(300, 120)),
    Scene("grouped", grouped, scales=EVERY_SCALE),
    Scene("million-dark", million),
    Scene("million-light", million, "light"),
    Scene("million-line", partial(million, style=CandleStyle.LINE)),
    Scene("one-candle", one_candle),
    Scene("forming-alone", forming_alone),
    Scene("no-candles", no_candles),
    Scene("flat", flat),
    Scene("flat-tiny", partial(flat, price=1e-8)),
    Scene("price-1e-8", partial(priced, factor=5e-13, decimals=14)),
    Scene("price-1e9", partial(priced, factor=5e4, decimals=2)),
    Scene("crosshair-dark", crosshair, scales=EVERY_SCALE),
    Scene("crosshair-light", crosshair, "light"),
    Scene("crosshair-over-ghost", crosshair_over_ghost),
    Scene("readout-dodges", dodged),
    Scene("outcome-dark", outcome),
    Scene("outcome-light", outcome, "light"),
    Scene("missing-candles", missing_candles),
    Scene("absent-candles", absent_candles),
    Scene("countdown", countdown, scales=EVERY_SCALE),
    Scene("panned-back", panned_back),
    Scene("held-prices", held_prices),
    Scene("studies-over-dark", partial(indicators, kinds=_OVER_PRICES)),
    Scene("studies-over-light", partial(indicators, kinds=_OVER_PRICES), "light"),
    Scene("studies-panes", partial(indicators, kinds=_IN_PANES), size=(640, 520), scales=EVERY_SCALE),
    Scene("hindsight-dark", hindsight, size=(640, 480), scales=EVERY_SCALE),
    Scene("hindsight-light", hindsight, "light", size=(640, 480)),
    Scene("hindsight-near", partial(hindsight, factor=3.0)),
    Scene("hindsight-far", partial(hindsight, factor=0.3)),
    Scene("lines-dark", lines, size=(800, 480), scales=EVERY_SCALE),
    Scene("lines-light", lines, "light", size=(800, 480)),
    Scene("regimes-dark", conditions.regimes, scales=EVERY_SCALE),
    Scene("regimes-light", conditions.regimes, "light"),
    Scene("regimes-far", partial(conditions.regimes, factor=0.02, count=4_000)),
    Scene("profile-over-regimes", conditions.profile, size=(480, 300)),
    Scene("joined-ghosts", views.joined_ghosts, size=(640, 300)),
    Scene("compared", views.compared, size=(480, 260)),
    Scene("past-moment", views.past_moment, size=(480, 260)),
    Scene("sample-paths", views.sample_paths),
    Scene("zone-kolkata", partial(in_zone, name="Asia/Kolkata")),
    Scene("small", ghosts, size=(240, 160)),
    Scene("studies-hindsight-narrow", narrow, size=(420, 520)),
    Scene("lines-together", lines_together, scales=EVERY_SCALE),
    Scene("lines-aside", lines_aside, scales=EVERY_SCALE),
    Scene("drawings-dark", drawn.drawings, size=(800, 480)),
    Scene("drawings-light", drawn.drawings, "light", size=(800, 480)),
    Scene("positions-dark", drawn.positions, size=(800, 480)),
    Scene("lines-percent", partial(lines_together, scale=ScaleKind.PERCENT), "light"),
)
