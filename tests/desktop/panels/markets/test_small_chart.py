from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QColor, QImage, QPainter

from core.domain.candle import Candle
from core.market.feeds.base import FeedState, FeedStatus
from desktop.panels.markets.row import Row
from desktop.panels.markets.small_chart import SmallCharts, ghosts_ahead, paint
from desktop.state.markets import MarketRow
from desktop.state.quotes import QuoteState, Standing
from desktop.ui.theme import Palette, Theme
from tests.desktop import scenario, watch_scenario

SIZE = QSize(100, 32)
MINUTE_MS = scenario.MINUTE.duration_ms
CANDLES = watch_scenario.candles_of(1)
CLOSED, FORMING = CANDLES[:-1], CANDLES[-1]
FORECAST = scenario.forecast(CLOSED)
KNOWN = MarketRow(watch_scenario.SIMULATED[0], candles=tuple(CLOSED), forming=FORMING, committed=FORECAST)


def row(known: MarketRow = KNOWN, state: QuoteState = QuoteState.FRESH) -> Row:
    return Row(known, Standing(state, None), None)


def painted(known: MarketRow, palette: Palette) -> QImage:
    image = QImage(SIZE, QImage.Format.Format_ARGB32)
    image.fill(QColor(0, 0, 0, 0))
    painter = QPainter(image)
    paint(painter, QRectF(0, 0, SIZE.width(), SIZE.height()), row(known), palette, is_selected=False)
    painter.end()
    return image


def columns_with(image: QImage, *colours: QColor) -> list[int]:
    """The pixel columns that have one of these colours."""
    wanted = {colour.rgb() for colour in colours}
    return [x for x in range(image.width()) if any(image.pixel(x, y) in wanted for y in range(image.height()))]


@pytest.mark.parametrize(("after", "count"), [(0, 8), (1, 8), (2, 0)])
def test_ghosts_are_shown_while_their_forecast_is_the_newest(after: int, count: int) -> None:
    """after: how many candles after the forecast's origin the newest one is, closed or forming."""
    newest = replace(FORMING, open_time_ms=CLOSED[-1].open_time_ms + after * MINUTE_MS)
    assert len(ghosts_ahead(FORECAST, newest, 20, MINUTE_MS)) == count


def test_candles_are_at_the_left_and_ghosts_ahead_of_them(theme: Theme) -> None:
    palette = theme.palette
    image = painted(KNOWN, palette)
    candles, ghosts = columns_with(image, palette.up, palette.down), columns_with(image, palette.ghost_up)
    ghosts += columns_with(image, palette.ghost_down)
    assert candles and ghosts and max(candles) < min(ghosts)


def test_without_a_forecast_candles_reach_the_right_edge(theme: Theme) -> None:
    palette = theme.palette
    image = painted(replace(KNOWN, committed=None), palette)
    assert max(columns_with(image, palette.up, palette.down)) > SIZE.width() - 10


def test_a_hole_stays_a_hole(theme: Theme) -> None:
    palette = theme.palette
    holed = tuple(each for number, each in enumerate(CLOSED) if not len(CLOSED) - 6 <= number < len(CLOSED) - 3)
    whole, gap = (
        columns_with(painted(replace(KNOWN, candles=candles, committed=None), palette), palette.up, palette.down)
        for candles in (tuple(CLOSED), holed)
    )
    assert len(whole) - len(gap) == 9 and set(gap) < set(whole)


@pytest.mark.parametrize("price", [1e-9, 1.0, 1e9])
def test_a_flat_market_is_painted(theme: Theme, price: float) -> None:
    flat = Candle(FORMING.open_time_ms, price, price, price, price, 0.0)
    palette = theme.palette
    image = painted(MarketRow(watch_scenario.SIMULATED[0], forming=flat), palette)
    assert columns_with(image, palette.up, palette.down)


def test_a_picture_is_painted_again_only_when_it_differs(theme: Theme) -> None:
    charts, palette = SmallCharts(), theme.palette

    def picture(shown: Row, size: QSize = SIZE, *, is_selected: bool = False) -> int:
        charts.picture(shown, size, 1.0, palette, is_selected=is_selected)
        return charts.painted

    assert picture(row()) == picture(row()) == 1
    feed_changed = replace(KNOWN, feed_status=FeedStatus(FeedState.LIVE, "Something else.", 0), run_id="another")
    assert picture(row(feed_changed)) == 1, "it is not in the picture"
    assert picture(row(replace(KNOWN, forming=replace(FORMING, close=FORMING.open)))) == 2
    assert picture(row(), QSize(120, 32)) == 3
    assert picture(row(), QSize(120, 32), is_selected=True) == 4
    assert picture(row(state=QuoteState.OLD), QSize(120, 32)) == 5
