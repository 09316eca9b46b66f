"""Series, forecasts and a shown chart for the chart's tests."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from PySide6.QtCore import QPoint

from core.domain.candle import Candle, Interval
from core.domain.candle_series import CandleSeries
from core.domain.events import ForecastMade, ForecastMode, ForecastScored, Ghost
from core.domain.quantities import Quantity
from core.forecast.ghosts import ghosts
from core.training.online.forecast_events import packed_quantiles
from desktop.chart.axes.visible_candles import TimeScale
from desktop.chart.widget import ChartWidget
from tests.core.forecast.paths import spread_quantiles

START_MS = 1_606_780_800_000
MINUTE_MS = 60_000


def candle(
    index: int, close: float, *, opened: float | None = None, reach: float = 0.5, volume: float = 10.0
) -> Candle:
    """A valid candle at its minute."""
    before = close if opened is None else opened
    return Candle(
        START_MS + index * MINUTE_MS, before, max(before, close) + reach, min(before, close) - reach, close, volume
    )


def random_series(count: int, seed: int = 7, skip: frozenset[int] = frozenset()) -> CandleSeries:
    """A random walk around 20,000 in cents; the minutes in `skip` are missing."""
    random = np.random.default_rng(seed)
    closes = np.round(20_000 + np.cumsum(random.normal(0, 8, count)), 2)
    reaches = np.round(random.uniform(0.5, 12, count), 2)
    volumes = np.round(random.uniform(1, 300, count), 3)
    series = CandleSeries(Interval.parse("1m"))
    for index in range(count):
        if index not in skip:
            opened = float(closes[max(index - 1, 0)])
            series.add(
                candle(
                    index,
                    float(closes[index]),
                    opened=opened,
                    reach=float(reaches[index]),
                    volume=float(volumes[index]),
                )
            )
    return series


def joined(source: list[Candle], minutes: int) -> list[Candle]:
    """Candles of a minute merged into longer ones by a plain loop."""
    found: list[Candle] = []
    for each in source:
        bucket = each.open_time_ms - each.open_time_ms % (minutes * 60_000)
        if not found or found[-1].open_time_ms != bucket:
            found.append(Candle(bucket, each.open, each.high, each.low, each.close, each.volume))
            continue
        last = found[-1]
        high, low = max(last.high, each.high), min(last.low, each.low)
        found[-1] = Candle(bucket, last.open, high, low, each.close, last.volume + each.volume)
    return found


def ghost(open_time_ms: int, opened: float, close: float, spread: float = 20.0, volume: float = 50.0) -> Ghost:
    """A ghost whose bands are `spread` wide on either side at 90 %."""
    quantiles = tuple(close + spread * share for share in (-1.0, -0.8, -0.4, 0.0, 0.4, 0.8, 1.0))
    return Ghost(open_time_ms, opened, max(opened, close) + 3, min(opened, close) - 3, close, volume, quantiles)


def forecast_after(series: CandleSeries, horizon: int = 8, mode: ForecastMode = ForecastMode.LIVE) -> ForecastMade:
    """A zigzag forecast made when the series' newest candle closed."""
    newest = series[-1]
    ahead_of_it, opened = [], newest.close
    for ahead in range(1, horizon + 1):
        close = opened + (9.0 if ahead % 2 else -6.0)
        ahead_of_it.append(ghost(newest.open_time_ms + ahead * MINUTE_MS, opened, close, spread=8.0 * ahead**0.5))
        opened = close
    return ForecastMade(
        "run",
        newest.open_time_ms,
        newest.open_time_ms + MINUTE_MS,
        newest.open_time_ms + MINUTE_MS + 300,
        mode,
        42,
        None,
        newest.close,
        tuple(ahead_of_it),
    )


def forecast_with_paths(series: CandleSeries, drift: float = 0.0) -> ForecastMade:
    """A forecast from quantiles, of which sample paths can be drawn. drift: log return a candle."""
    made, natural = forecast_after(series), spread_quantiles()
    natural[:, Quantity.CLOSE] += drift * np.arange(1, len(natural) + 1)[:, None]
    ahead = ghosts(natural, made.origin_close, made.origin_open_time_ms, series.interval)
    return replace(made, ghosts=ahead, quantiles=packed_quantiles(natural))


def forming_after(series: CandleSeries, move: float = 2.0) -> Candle:
    """The candle forming after the series' newest."""
    newest = series[-1]
    close = newest.close + move
    high, low = max(newest.close, close) + 1, min(newest.close, close) - 1
    return Candle(newest.open_time_ms + MINUTE_MS, newest.close, high, low, close, 20.0)


def outcome_of(candle: Candle, **changes: object) -> ForecastScored:
    """A one-step outcome of a candle, forecast 0.1 % too high."""
    forecast_close = candle.close * 1.001
    fields: dict[str, object] = {
        "run_id": "run",
        "origin_open_time_ms": candle.open_time_ms - MINUTE_MS,
        "target_open_time_ms": candle.open_time_ms,
        "horizon": 1,
        "mode": ForecastMode.LIVE,
        "after_gap": False,
        "ghost": ghost(candle.open_time_ms, candle.open, forecast_close),
        "actual_close": candle.close,
        "loss": 0.3,
        "model_loss": 0.3,
        "reference_loss": 0.31,
        "inside_50": False,
        "inside_90": True,
        "direction_hit": True,
    }
    return ForecastScored(**(fields | changes))  # type: ignore[arg-type]


def x_of(scale: TimeScale, index: float) -> float:
    """The x of a candle's centre."""
    return scale.width - (scale.right - index) * scale.spacing


def point_over(chart: ChartWidget, index: int, price: float) -> QPoint:
    """The logical point over a candle at a price."""
    frame = chart.frame
    return QPoint(round(frame.x(index) / frame.ratio), round(frame.y(price) / frame.ratio))


def texts(rows: tuple[tuple[object, ...], ...]) -> str:
    """All texts of a box, for substring checks."""
    return " | ".join("".join(f"{span.text} " for span in row) for row in rows)  # type: ignore[attr-defined]
