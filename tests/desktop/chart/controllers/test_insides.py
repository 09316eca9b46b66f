"""The inside of the candle under the mouse, from a real database."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from core.domain.candle import Candle, Interval, Market
from core.domain.candle_series import CandleSeries
from core.market.history.stored_insides import store_insides
from core.storage.folder import DataFolder
from desktop.chart.controllers.insides import ChartInsides
from desktop.chart.painting.text import Box
from desktop.chart.widget import ChartWidget
from desktop.state.database import WindowDatabase
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.paint_helpers import hover
from tests.desktop.chart.support import joined, texts
from tests.support.candles import MINUTE, random_walk, without

FIVE = Interval.parse("5m")
MARKET = Market("binance", "BTC/USDT", FIVE)
MINUTES = replace(MARKET, interval=MINUTE)
WALK = random_walk(400)
CANDLES = joined(WALK, 5)
UNKNOWN = 40
"""The candle without an inside: only one of its minutes is stored."""


@dataclass
class Shown:
    chart: ChartWidget
    database: WindowDatabase
    insides: ChartInsides

    def over(self, index: int) -> Box | None:
        hover(self.chart, index, CANDLES[index].close)
        return self.chart.overlay.tooltip

    def read(self, qtbot: QtBot, index: int) -> Box:
        """The tooltip once all is read."""
        self.over(index)
        qtbot.waitUntil(lambda: self.chart.overlay.tooltip is not None)
        found = self.chart.overlay.tooltip
        assert found is not None
        return found


@pytest.fixture
def shown(show_chart: ShowChart, tmp_path: Path) -> Iterator[Shown]:
    folder = DataFolder(tmp_path)
    folder.ensure()
    database = WindowDatabase(folder)
    database.open()
    store = database.candles
    store.save(MARKET, CANDLES)
    store.save(MINUTES, without(WALK, *range(5 * UNKNOWN, 5 * UNKNOWN + 4)))
    store_insides(store, MARKET, None)
    chart = show_chart(series_of(CANDLES))
    insides = ChartInsides(chart, database, chart)
    insides.show_market(MARKET)
    yield Shown(chart, database, insides)
    insides.stop()
    database.close()


def series_of(candles: list[Candle]) -> CandleSeries:
    series = CandleSeries(FIVE)
    series.extend(candles)
    return series


def test_hovering_a_candle_shows_its_minutes(qtbot: QtBot, shown: Shown) -> None:
    tip = shown.read(qtbot, 60)
    assert "5 candles of 1m" in texts(tip.rows)
    assert tip.sketch is not None and len(tip.sketch.bars) == 2 * 5 and not tip.sketch.strokes
    wicks, bodies = tip.sketch.bars[::2], tip.sketch.bars[1::2]
    part = WALK[300:305]
    highest, lowest = max(each.high for each in part), min(each.low for each in part)
    for minute, wick, body in zip(part, wicks, bodies, strict=True):
        assert wick.begin[1] == pytest.approx((highest - minute.high) / (highest - lowest))
        assert wick.end[1] == pytest.approx((highest - minute.low) / (highest - lowest))
        assert wick.begin[1] <= body.begin[1] <= body.end[1] <= wick.end[1]
    assert [wick.begin[0] for wick in wicks] == pytest.approx([0.1, 0.3, 0.5, 0.7, 0.9])


def test_without_the_minutes_only_the_prices_are_joined_whose_times_are_known(qtbot: QtBot, shown: Shown) -> None:
    shown.database.candles.db.execute("DELETE FROM candles WHERE market_id = 2")
    shown.insides.show_market(MARKET)
    tip = shown.read(qtbot, 60)
    assert "5 finer candles" in texts(tip.rows)
    assert tip.sketch is not None and not tip.sketch.bars
    (way,) = tip.sketch.strokes
    assert way.is_dashed and len(way.spots) == 4
    across = [spot[0] for spot in way.spots]
    assert across == sorted(across) and across[0] == 0.0 and across[-1] == 1.0
    part = WALK[300:305]
    high_at = max(range(5), key=lambda place: part[place].high) / 5
    assert [spot[0] for spot in way.spots[1:3] if spot[1] == 0.0] == pytest.approx([high_at])


def test_painting_reads_nothing_and_a_candle_is_read_once(qtbot: QtBot, shown: Shown) -> None:
    statements: list[str] = []
    shown.database.candles.db.conn.set_trace_callback(statements.append)
    assert shown.chart.model.inside(60) is None and not statements
    shown.read(qtbot, 60)
    assert statements
    statements.clear()
    shown.over(61)
    shown.read(qtbot, 61)
    statements.clear()
    assert shown.over(60) is not None and not statements


def test_a_candle_without_an_inside_has_no_tooltip_of_one(qtbot: QtBot, shown: Shown) -> None:
    shown.over(UNKNOWN)
    qtbot.waitUntil(lambda: not shown.insides._timer.isActive())
    settle(shown.chart)
    assert shown.over(UNKNOWN) is None
    assert shown.read(qtbot, UNKNOWN + 1).sketch is not None


def test_joined_to_other_candles_or_after_it_has_stopped_nothing_is_read(shown: Shown) -> None:
    other = CandleSeries(Interval.parse("15m"))
    other.extend(joined(WALK, 15))
    assert shown.chart.model.insides.at(other, 3) is None and not shown.insides._timer.isActive()
    shown.insides.stop()
    assert shown.over(60) is None and not shown.insides._timer.isActive()
