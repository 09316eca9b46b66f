"""A stranger's first day: from the first start to the second."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication

from core.domain.candle import Interval
from core.domain.drawings import DrawingKind
from core.settings import tree as settings_file
from core.settings.tree import MarketSettings, ModelSettings, Settings, TrainingSettings
from core.storage.folder import DataFolder
from desktop.app.context import Context
from tests.stranger import eyes
from tests.stranger.hands import RIGHT, Hands
from tests.stranger.program import chart, drawings_of_chart, has_ghosts_of_the_model, play, title, words_of_chart
from tests.support.exchange.clock import wall_ms
from tests.support.loopback_exchange import loopback_thread
from tests.support.market_hall import MarketHall, priced_tape

pytestmark = [pytest.mark.stranger, pytest.mark.slow, pytest.mark.timeout(700)]

MINUTE = Interval.parse("1m")
QUICK = Settings(
    market=MarketSettings(catch_up_candles=300),
    model=ModelSettings(width=8, layers=1, heads=2, context=16),
    training=TrainingSettings(seed=1),
)
"""The defaults, but for a small model and little to catch up with."""


@contextmanager
def exchange() -> Iterator[MarketHall]:
    tapes = {
        "BTC/USDT": priced_tape(64_250.0, MINUTE, wall_ms(), 1_500, seed=7, trades=301),
        "ETH/USDT": priced_tape(3_214.0, MINUTE, wall_ms(), 1_500, seed=11, trades=301),
    }
    hall = MarketHall(tapes, wall_ms)
    with loopback_thread(hall):
        yield hall


def test_from_the_first_start_to_the_second(qt: QApplication, hands: Hands, tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "data")
    with exchange() as hall:
        first = Context(QUICK, folder, as_json=False, urls=hall.urls, is_first_start=True)
        alerts: list[str] = []
        play(qt, first, lambda hands: first_day(hands, alerts), hands, longest_s=300.0)
        settings, warnings = settings_file.load(folder.settings)
        assert warnings == ()
        play(
            qt,
            replace(first, settings=settings, is_first_start=False),
            lambda hands: second_day(hands, alerts[0]),
            hands,
            longest_s=300.0,
        )


async def first_day(hands: Hands, alerts: list[str]) -> None:
    await first_start(hands)
    await change_symbol(hands)
    await add_an_indicator(hands)
    alerts.append(await set_an_alert(hands))
    await draw(hands)
    await pause_and_resume(hands)
    await switch_theme(hands)
    await hands.menu("File", "Quit")


async def first_start(hands: Hands) -> None:
    await hands.read("Welcome to Ghostcandle")
    await hands.picture("01-first-start")
    await hands.click("BTC/USDT", within="Welcome")
    await hands.click("Live from Binance", within="Welcome")
    await hands.click("Start watching", within="Welcome")
    await hands.read("BTC/USDT", "Live")
    await hands.until(lambda: not chart().model.is_empty, "candles")
    await hands.picture("02-first-candles")


async def change_symbol(hands: Hands) -> None:
    await hands.menu("File", "Choose market")
    await hands.click("Symbol", within="Choose market")
    await hands.press("Ctrl+A")
    await hands.type("ETH/USDT")
    await hands.picture("03-change-symbol")
    await hands.click("Watch", within="Choose market")
    await hands.until(lambda: "ETH/USDT" in title(), "the other market")
    await hands.until(lambda: not chart().model.is_empty and "ETH/USDT" in chart().model.title, "its candles")
    await hands.until(has_ghosts_of_the_model, "the model's candles", patience_s=180.0)
    await hands.picture("04-another-symbol")


async def add_an_indicator(hands: Hands) -> None:
    await hands.menu("Chart", "Indicators")
    await hands.click("Add", within="Indicators")
    await hands.picture("05-which-indicator")
    await hands.click("Exponential moving average (EMA)")
    await hands.read("EMA")
    await hands.picture("06-add-an-indicator")
    await hands.click("Close", within="Indicators")
    await hands.until(lambda: "EMA 20" in words_of_chart(), "the line")
    await hands.picture("07-an-indicator")


async def set_an_alert(hands: Hands) -> str:
    """Its price, as the chart writes it."""
    shown = chart()
    place = QPoint(shown.width() // 2, shown.height() // 4)
    await hands.click_at(shown, place, RIGHT)
    await hands.read("Alert at")
    await hands.picture("08-where-the-alert-goes")
    entry = next(spot for spot in eyes.spots() if spot.text.startswith("Alert at"))
    await hands.click_on(entry)
    price = entry.text.removeprefix("Alert at ")
    await hands.until(lambda: price in words_of_chart(), "the line")
    await hands.picture("09-an-alert")
    return price


async def draw(hands: Hands) -> None:
    """A trend line, one end of it dragged elsewhere, and that taken back; then the levels of a retracement."""
    shown = chart()

    def place(across: float, down: float) -> QPoint:
        return QPoint(round(shown.width() * across), round(shown.height() * down))

    await hands.menu("Chart", "Drawings", "Trend line")
    await hands.drag(shown, place(0.2, 0.6), place(0.4, 0.4))
    await hands.until(lambda: len(drawings_of_chart()) == 1, "the trend line")
    (line,) = drawings_of_chart()
    await hands.drag(shown, place(0.4, 0.4), place(0.45, 0.3))
    await hands.until(lambda: drawings_of_chart()[0].anchors[1] != line.anchors[1], "the line's other end")
    assert drawings_of_chart()[0].anchors[0] == line.anchors[0]
    await hands.picture("09-a-trend-line")
    await hands.press("Ctrl+Z")
    await hands.until(lambda: drawings_of_chart() == [line], "the end where it was")
    await hands.menu("Chart", "Drawings", "Fibonacci retracement")
    await hands.click_at(shown, place(0.3, 0.7))
    await hands.click_at(shown, place(0.6, 0.35))
    await hands.until(lambda: len(drawings_of_chart()) == 2, "the levels")
    await hands.picture("09-fibonacci")


async def pause_and_resume(hands: Hands) -> None:
    await hands.click("Pause")
    await hands.read("Paused")
    await hands.picture("10-paused")
    await hands.click("Resume")
    await hands.until(lambda: "Paused" not in eyes.words_on_screen(), "the resuming")
    await hands.picture("11-resumed")


async def switch_theme(hands: Hands) -> None:
    await hands.menu("View", "Theme", "Dark")
    await hands.until(lambda: chart().palette().window().color().lightness() < 100, "darkness")
    await hands.picture("12-dark")


async def second_day(hands: Hands, alert: str) -> None:
    await hands.until(lambda: "ETH/USDT" in title(), "the market of the first day")
    await hands.read("Live")
    assert "Welcome" not in eyes.words_on_screen()
    await hands.until(has_ghosts_of_the_model, "the forecast", patience_s=120.0)
    assert "EMA 20" in words_of_chart() and alert in words_of_chart()
    assert {drawing.kind for drawing in drawings_of_chart()} == {DrawingKind.TREND_LINE, DrawingKind.FIBONACCI}
    assert chart().palette().window().color().lightness() < 100
    await hands.picture("13-the-second-start")
    await hands.press("Ctrl+Q")
