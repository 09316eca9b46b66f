"""A trader at the chart: finding a market, comparing two, full screen; a replay and its past."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QApplication, QDockWidget, QToolButton

from core.domain.candle import Candle
from core.domain.events import ForecastMade
from core.settings.tree import MarketSettings
from core.storage.folder import DataFolder
from desktop.app.context import Context
from desktop.chart.axes.price_scale import ScaleKind
from desktop.chart.controllers.market_bar import MarketBar
from tests.stranger import screen
from tests.stranger.day import MINUTE, QUICK, exchange
from tests.stranger.program import chart, has_ghosts_of_the_model, main_window, play, title, words_of_chart
from tests.stranger.user import User
from tests.support.exchange.clock import wall_ms
from tests.support.market_hall import priced_tape

pytestmark = [pytest.mark.stranger, pytest.mark.slow, pytest.mark.timeout(700)]

STEPS = 10
AT_ONCE = 60
"""Candles of the replay that are there at its start."""


def test_a_market_is_found_by_typing_compared_and_shown_full_screen(
    qt: QApplication, user: User, tmp_path: Path
) -> None:
    with exchange() as hall:
        context = Context(QUICK, DataFolder(tmp_path / "data"), as_json=False, urls=hall.urls)
        play(qt, context, two_markets, user, longest_s=300.0)


def test_a_replay_is_paused_stepped_back_and_resumed(qt: QApplication, user: User, tmp_path: Path) -> None:
    file = tmp_path / "a-morning.csv"
    write_candles(file, priced_tape(64_250.0, MINUTE, wall_ms(), 400).closed(wall_ms()))
    market = MarketSettings(feed="replay", file=str(file), speed=2.0, catch_up_candles=AT_ONCE)
    context = Context(replace(QUICK, market=market), DataFolder(tmp_path / "data"), as_json=False)
    play(qt, context, a_replay, user, longest_s=300.0)


async def two_markets(user: User) -> None:
    await user.read("Live")
    await user.until(lambda: shown_in_bar() == "BTC/USDT" and not chart().model.is_empty, "the first market")
    await type_a_market(user)
    await compare(user)
    await whole_screen(user)
    await stop_comparing(user)
    await user.menu("File", "Quit")


async def type_a_market(user: User) -> None:
    await user.click_at(chart(), middle())
    await user.type("eth")
    await user.read("ETH/USDT")
    await user.picture("30-letters-on-the-chart")
    await user.press("Return")
    await user.until(lambda: shown_in_bar() == "ETH/USDT", "the market of these letters in the bar")
    await user.until(lambda: "ETH/USDT" in title() and not chart().model.is_empty, "its candles")
    await user.until(has_ghosts_of_the_model, "the model's candles", patience_s=180.0)
    await user.picture("31-the-market-of-these-letters")


async def compare(user: User) -> None:
    """With the stored candles of the previous market."""
    await user.press("Ctrl+Alt+C")
    await user.picture("32-which-to-compare")
    await user.click("BTC/USDT · 1m on Binance", within="Compare with")
    await user.click("Compare", within="Compare with")
    await user.until(lambda: "BTC/USDT" in words_of_chart() and "%" in compared_row(), "the other market, in percent")
    assert chart().style_shown.scale is ScaleKind.PERCENT
    await user.picture("33-compared")


async def whole_screen(user: User) -> None:
    window, before, docks = main_window(), main_window().geometry(), places_of_docks()
    whole, there = window.screen().geometry(), shown_docks()
    await user.press("F11")
    await user.until(window.isFullScreen, "the whole screen")
    has_desktop = await user.has_within_a_moment(lambda: window.geometry() == whole)
    if not has_desktop:
        await user.place(window, whole)
    await user.until(lambda: window.geometry() == whole, "all of it")
    assert shown_docks() == there
    await user.picture("34-whole-screen")
    await user.press("F11")
    await user.until(lambda: not window.isFullScreen(), "a window again")
    if not has_desktop:
        await user.place(window, before)
    await user.until(lambda: window.geometry() == before and places_of_docks() == docks, "all where it was")
    await user.picture("35-a-window-again")


async def stop_comparing(user: User) -> None:
    await user.menu("Chart", "Stop comparing")
    await user.until(lambda: not compared_row(), "one market alone")
    assert chart().style_shown.scale is ScaleKind.LINEAR


async def a_replay(user: User) -> None:
    model, made = chart().model, Made()
    await user.read("Replay at")
    await user.until(made.is_of_the_newest, "a trainer that has caught up")
    first = model.count
    await user.until(lambda: made.is_of_the_newest() and model.count > first + STEPS, "candles of the replay")
    await user.press("F9")
    await user.read("Paused at")
    await user.until(made.is_of_the_newest, "the forecast of the newest candle")
    newest = model.count
    await user.picture("36-a-replay-paused")
    for _ in range(STEPS):
        await user.press("Alt+Left")
    await user.read(f"{STEPS} candles ago")
    await user.until(lambda: model.count == newest - STEPS and model.forecast is not None, "the ghosts of then")
    assert_shown_as_then(made)
    await user.picture("37-ten-candles-back")
    await user.press("F9")
    await user.read("Replay at")
    await user.until(lambda: model.count > newest, "candles that had not come before")
    await user.picture("38-going-on")
    await user.press("Ctrl+Q")


class Made:
    """The forecasts that were seen as they were made, by the candle they were made at."""

    def __init__(self) -> None:
        self.by_candle: dict[int, ForecastMade] = {}

    def is_of_the_newest(self) -> bool:
        """Whether the model's forecast of what follows the newest candle is on the chart; remembered, if so."""
        newest, made = chart().model.newest, chart().model.forecast
        if newest is None or made is None or made.is_by_simple_rules:
            return False
        self.by_candle[made.origin_open_time_ms] = made
        return made.origin_open_time_ms == newest.open_time_ms


def assert_shown_as_then(made: Made) -> None:
    """Nothing that came later, and the ghosts that were there when this candle was the newest."""
    model = chart().model
    assert model.series is not None and model.whole is not None and model.forecast is not None
    assert model.forming is None and len(model.series) == model.count < len(model.whole)
    then = made.by_candle[model.series[-1].open_time_ms]
    assert model.forecast.origin_open_time_ms == then.origin_open_time_ms
    assert [placed.index for placed in model.ghosts()] == [model.count + place for place in range(len(then.ghosts))]
    for placed, ghost in zip(model.ghosts(), then.ghosts, strict=True):
        assert astuple(placed.ghost)[:-1] == pytest.approx(astuple(ghost)[:-1])
        assert placed.ghost.close_quantiles == pytest.approx(ghost.close_quantiles)


def shown_in_bar() -> str:
    """The market that the button over the chart names."""
    bar = main_window().findChild(MarketBar)
    texts = [screen.plain(button.text()) for button in bar.findChildren(QToolButton)]
    return texts[0]


def compared_row() -> str:
    """The readout's text on the other market; empty without one."""
    return next((row for row in words_of_chart().splitlines() if row.startswith("BTC/USDT")), "")


def places_of_docks() -> dict[str, tuple[bool, QRect]]:
    docks = main_window().findChildren(QDockWidget)
    return {dock.objectName(): (dock.isVisible(), dock.geometry()) for dock in docks}


def shown_docks() -> list[str]:
    return [name for name, (is_shown, _place) in places_of_docks().items() if is_shown]


def middle() -> QPoint:
    return QPoint(chart().width() // 2, chart().height() // 2)


def write_candles(path: Path, candles: Sequence[Candle]) -> None:
    rows = [f"{c.open_time_ms},{c.open},{c.high},{c.low},{c.close},{c.volume}" for c in candles]
    path.write_text("\n".join(["open_time_ms,open,high,low,close,volume", *rows]) + "\n", encoding="utf-8")
