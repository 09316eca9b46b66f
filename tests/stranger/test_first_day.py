"""A new user's first day: from the first start to the second."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication

from core.domain.drawings import DrawingKind
from core.settings import tree as settings_file
from core.storage.folder import DataFolder
from desktop.app.context import Context
from tests.stranger import screen
from tests.stranger.day import QUICK, exchange
from tests.stranger.program import chart, drawings_of_chart, has_ghosts_of_the_model, play, title, words_of_chart
from tests.stranger.user import RIGHT, User

pytestmark = [pytest.mark.stranger, pytest.mark.slow, pytest.mark.timeout(700)]


def test_a_first_day_until_the_second_start(qt: QApplication, user: User, tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "data")
    with exchange() as hall:
        first = Context(QUICK, folder, as_json=False, urls=hall.urls, is_first_start=True)
        alerts: list[str] = []
        play(qt, first, lambda user: first_day(user, alerts), user, longest_s=300.0)
        settings, warnings = settings_file.load(folder.settings)
        assert warnings == ()
        play(
            qt,
            replace(first, settings=settings, is_first_start=False),
            lambda user: second_day(user, alerts[0]),
            user,
            longest_s=300.0,
        )


async def first_day(user: User, alerts: list[str]) -> None:
    await first_start(user)
    await change_symbol(user)
    await add_an_indicator(user)
    alerts.append(await set_an_alert(user))
    await draw(user)
    await pause_and_resume(user)
    await switch_theme(user)
    await user.menu("File", "Quit")


async def first_start(user: User) -> None:
    await user.read("Welcome to Ghostcandle")
    await user.picture("01-first-start")
    await user.click("BTC/USDT", within="Welcome")
    await user.click("Live from Binance", within="Welcome")
    await user.click("Start watching", within="Welcome")
    await user.read("BTC/USDT", "Live")
    await user.until(lambda: not chart().model.is_empty, "candles")
    await user.picture("02-first-candles")


async def change_symbol(user: User) -> None:
    await user.menu("File", "Choose market")
    await user.click("Symbol", within="Choose market")
    await user.press("Ctrl+A")
    await user.type("ETH/USDT")
    await user.picture("03-change-symbol")
    await user.click("Watch", within="Choose market")
    await user.until(lambda: "ETH/USDT" in title(), "the other market")
    await user.until(lambda: not chart().model.is_empty and "ETH/USDT" in chart().model.title, "its candles")
    await user.until(has_ghosts_of_the_model, "the model's candles", patience_s=180.0)
    await user.picture("04-another-symbol")


async def add_an_indicator(user: User) -> None:
    await user.menu("Chart", "Indicators")
    await user.click("Add", within="Indicators")
    await user.picture("05-which-indicator")
    await user.click("Exponential moving average (EMA)")
    await user.read("EMA")
    await user.picture("06-add-an-indicator")
    await user.click("Close", within="Indicators")
    await user.until(lambda: "EMA 20" in words_of_chart(), "the line")
    await user.picture("07-an-indicator")


async def set_an_alert(user: User) -> str:
    """Returns the price of the alert as the chart writes it."""
    shown = chart()
    place = QPoint(shown.width() // 2, shown.height() // 4)
    await user.click_at(shown, place, RIGHT)
    await user.read("Alert at")
    await user.picture("08-where-the-alert-goes")
    entry = next(spot for spot in screen.spots() if spot.text.startswith("Alert at"))
    await user.click_on(entry)
    price = entry.text.removeprefix("Alert at ")
    await user.until(lambda: price in words_of_chart(), "the line")
    await user.picture("09-an-alert")
    return price


async def draw(user: User) -> None:
    """Draws a trend line, drags one end and undoes it; then draws a Fibonacci retracement."""
    shown = chart()

    def place(across: float, down: float) -> QPoint:
        return QPoint(round(shown.width() * across), round(shown.height() * down))

    await user.menu("Chart", "Drawings", "Trend line")
    await user.drag(shown, place(0.2, 0.6), place(0.4, 0.4))
    await user.until(lambda: len(drawings_of_chart()) == 1, "the trend line")
    (line,) = drawings_of_chart()
    await user.drag(shown, place(0.4, 0.4), place(0.45, 0.3))
    await user.until(lambda: drawings_of_chart()[0].anchors[1] != line.anchors[1], "the line's other end")
    assert drawings_of_chart()[0].anchors[0] == line.anchors[0]
    await user.picture("09-a-trend-line")
    await user.press("Ctrl+Z")
    await user.until(lambda: drawings_of_chart() == [line], "the end where it was")
    await user.menu("Chart", "Drawings", "Fibonacci retracement")
    await user.click_at(shown, place(0.3, 0.7))
    await user.click_at(shown, place(0.6, 0.35))
    await user.until(lambda: len(drawings_of_chart()) == 2, "the levels")
    await user.picture("09-fibonacci")


async def pause_and_resume(user: User) -> None:
    await user.click("Pause")
    await user.read("Paused")
    await user.picture("10-paused")
    await user.click("Resume")
    await user.until(lambda: "Paused" not in screen.words_on_screen(), "the resuming")
    await user.picture("11-resumed")


async def switch_theme(user: User) -> None:
    await user.menu("View", "Theme", "Dark")
    await user.until(lambda: chart().palette().window().color().lightness() < 100, "darkness")
    await user.picture("12-dark")


async def second_day(user: User, alert: str) -> None:
    await user.until(lambda: "ETH/USDT" in title(), "the market of the first day")
    await user.read("Live")
    assert "Welcome" not in screen.words_on_screen()
    await user.until(has_ghosts_of_the_model, "the forecast", patience_s=120.0)
    assert "EMA 20" in words_of_chart() and alert in words_of_chart()
    assert {drawing.kind for drawing in drawings_of_chart()} == {DrawingKind.TREND_LINE, DrawingKind.FIBONACCI}
    assert chart().palette().window().color().lightness() < 100
    await user.picture("13-the-second-start")
    await user.press("Ctrl+Q")
