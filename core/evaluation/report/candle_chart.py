"""The newest candles, the band that was forecast for each, and the ghosts after them, as one SVG element."""

from __future__ import annotations

from itertools import pairwise
from xml.etree.ElementTree import Element

import numpy as np

from core.domain.dates import utc_text
from core.domain.quantities import BAND_50, BAND_90
from core.evaluation.report import svg
from core.evaluation.report.charts import scale_of_time
from core.evaluation.sharing import NewestCandles

_BODY_SHARE = 0.35
"""Half of a body's width, in candles."""
_SIGNIFICANT_DIGITS = 10


def newest_candles(newest: NewestCandles) -> Element | None:
    """None without candles."""
    n = newest.open_time_ms.size
    if not n:
        return None
    across = svg.across(-0.5, n + len(newest.ghosts) - 0.5)
    levels = [price for ghost in newest.ghosts for price in (ghost.low, ghost.high, *_ends(ghost.close_quantiles))]
    upward = svg.upward([*newest.prices.ravel().tolist(), *newest.band_90.ravel().tolist(), *levels])
    drawn = [
        *svg.scale_left(upward, price_text, "price"),
        *scale_of_time(newest.open_time_ms, across),
        *_gaps(newest, across),
        *_past_bands(newest, across, upward),
        *_bands(newest, across, upward),
        *_candles(newest, across, upward),
        *svg.legend([("ghosts", "curve ghost"), ("candles", "candle up")]),
    ]
    return svg.chart("newest", "The newest candles and the ghosts after them", _described(newest), drawn)


def price_text(price: float) -> str:
    """Without insignificant digits and without an exponent."""
    return np.format_float_positional(price, precision=_SIGNIFICANT_DIGITS, unique=False, fractional=False, trim="-")


def _described(newest: NewestCandles) -> str:
    last = utc_text(int(newest.open_time_ms[-1]), "%Y-%m-%d %H:%M")
    ghosts = ", ".join(price_text(ghost.close) for ghost in newest.ghosts)
    return f"The candle of {last} UTC closed at {price_text(float(newest.prices[3, -1]))}. Forecast closes: {ghosts}."


def _gaps(newest: NewestCandles, across: svg.Axis) -> list[Element]:
    """A dashed line where candles are missing, as over a session break."""
    after = np.nonzero(np.diff(newest.open_time_ms) > newest.interval.duration_ms)[0]
    places = [across.at(float(row) + 0.5) for row in after]
    return [svg.line(x, svg.TOP, x, svg.BOTTOM, "zero") for x in places]


def _past_bands(newest: NewestCandles, across: svg.Axis, upward: svg.Axis) -> list[Element]:
    return [
        _box(across, upward, float(row), low, high, "band-90")
        for row, (low, high) in enumerate(newest.band_90.T.tolist())
        if np.isfinite(low)
    ]


def _bands(newest: NewestCandles, across: svg.Axis, upward: svg.Axis) -> list[Element]:
    """Of the ghosts' closes, from the last close on."""
    first, close = newest.open_time_ms.size - 1, float(newest.prices[3, -1])
    drawn = []
    for (low, high), class_ in ((BAND_90, "band-90"), (BAND_50, "band-50")):
        ends = [(close, close), *((ghost.close_quantiles[low], ghost.close_quantiles[high]) for ghost in newest.ghosts)]
        for row, ((low_1, high_1), (low_2, high_2)) in enumerate(pairwise(ends), first):
            x_1, x_2 = across.at(float(row)), across.at(float(row + 1))
            corners = [(x_1, low_1), (x_1, high_1), (x_2, high_2), (x_2, low_2)]
            drawn.append(svg.area([(x, upward.at(price)) for x, price in corners], class_))
    return drawn


def _candles(newest: NewestCandles, across: svg.Axis, upward: svg.Axis) -> list[Element]:
    """The candles, then the ghosts."""
    shown = [(prices, "candle up" if prices[3] >= prices[0] else "candle down") for prices in newest.prices.T.tolist()]
    shown += [([ghost.open, ghost.high, ghost.low, ghost.close], "candle ghost") for ghost in newest.ghosts]
    drawn = []
    for row, ((opened, high, low, close), class_) in enumerate(shown):
        x = across.at(float(row))
        drawn.append(svg.line(x, upward.at(high), x, upward.at(low), class_))
        drawn.append(_box(across, upward, float(row), min(opened, close), max(opened, close), class_))
    return drawn


def _box(across: svg.Axis, upward: svg.Axis, row: float, low: float, high: float, class_: str) -> Element:
    left, right = across.at(row - _BODY_SHARE), across.at(row + _BODY_SHARE)
    top, bottom = upward.at(high), upward.at(low)
    return svg.area([(left, top), (right, top), (right, bottom), (left, bottom)], class_)


def _ends(quantiles: tuple[float, ...]) -> tuple[float, float]:
    return quantiles[BAND_90[0]], quantiles[BAND_90[1]]
