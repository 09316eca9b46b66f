"""Pictures of the feed's dock: the real window over an exchange on 127.0.0.1 with faults."""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import Callable
from pathlib import Path

from aiohttp import web
from PySide6.QtWidgets import QApplication

from core.domain.candle import Candle, Interval
from core.domain.events import TrainerState
from core.domain.watchlist import WatchedMarket
from core.market.feeds.base import FeedState
from core.market.feeds.venue import ExchangeUrls
from core.settings.tree import MarketSettings, Settings, TrainingSettings
from core.settings.window import WatchlistSettings
from core.storage.folder import DataFolder
from desktop.actions import ActionId
from desktop.app.composition import Application
from desktop.app.context import Context
from desktop.chart.labels.forecast import legend_text
from tests.support.loopback_exchange import AcceleratedClock, LoopbackExchange, loopback_thread
from tests.support.loopback_tickers import LoopbackTickers
from tests.support.tape import Tape, generated_tape

_SECOND = Interval.parse("1s")
_PRICES = {"BTC/USDT": 64_250.11, "ETH/USDT": 3_214.07, "SOL/USDT": 151.42, "XRP/USDT": 2.1734}
_WATCHED = (
    *(WatchedMarket("binance", symbol, each) for symbol, each in zip(_PRICES, ("1s", "1m", "15m", "1h"), strict=True)),
)
_SIZE = (1280, 720)
_THEMES = ("dark", "light")


class WholeExchange(LoopbackExchange):
    """Streams one market, and answers for the prices of several."""

    def __init__(self, prices: LoopbackTickers, clock: AcceleratedClock) -> None:
        super().__init__(_dear(generated_tape(_SECOND, clock(), 400, future=4_000)), clock)
        self.tickers = prices
        self._price_bitcoin()

    def _price_bitcoin(self) -> None:
        forming = self.tape.forming(self.now_ms())
        if forming is not None:
            self.tickers.prices["BTC/USDT"] = round(forming.close, 2)

    def _application(self) -> web.Application:
        application = super()._application()
        application.middlewares.append(self._prices)
        return application

    @web.middleware
    async def _prices(
        self, request: web.Request, handler: Callable[[web.Request], web.StreamResponse]
    ) -> web.StreamResponse:
        self._price_bitcoin()
        answer = await self.tickers.answer_if_its_own(request)
        return await handler(request) if answer is None else answer  # type: ignore[misc]


def _dear(tape: Tape) -> Tape:
    """The same walk at the price of a bitcoin."""
    factor = _PRICES["BTC/USDT"] / tape.candles[0].open
    candles = [
        Candle(
            each.open_time_ms,
            *(round(price * factor, 2) for price in (each.open, each.high, each.low, each.close)),
            each.volume,
        )
        for each in tape.candles
    ]
    return Tape(candles, tape.interval)


async def shoot(qt: QApplication, folder: Path, data: Path) -> None:
    """Write ``feed-<theme>.png``."""
    clock = AcceleratedClock(time.time_ns() // 1_000_000)
    exchange = WholeExchange(LoopbackTickers(_PRICES), clock)
    with loopback_thread(exchange) as control:
        application = Application(_context(data, exchange.urls), qt)
        application.window.resize(*_SIZE)
        application.start()
        try:
            await _until(lambda: _state(application) is FeedState.LIVE and _is_caught_up(application))
            await _have_a_day(application, control, exchange)
            for theme in _THEMES:
                application.window.show_feed()
                await _one(application, theme, ActionId.SHOW_EVENTS, folder / f"feed-{theme}.png")
        finally:
            application.window.close()
            await application.close()


async def _have_a_day(
    application: Application, control: Callable[[Callable[[], None]], None], exchange: LoopbackExchange
) -> None:
    """A disconnect, a rate limit, and recovery."""
    control(lambda: exchange.answer(429, retry_after_s=4))
    control(exchange.cut)
    await _until(lambda: _state(application) is FeedState.RECONNECTING)
    control(exchange.resume)
    await _until(lambda: _state(application) is FeedState.LIVE)
    await asyncio.sleep(3.0)


async def _one(application: Application, theme: str, dock: ActionId, path: Path) -> None:
    window = application.window
    appearance = dataclasses.replace(window.shell.settings.current.appearance, theme=theme)
    window.shell.settings.change(dataclasses.replace(window.shell.settings.current, appearance=appearance))
    window.resize(*_SIZE)
    window.show_dock(dock)
    while window.banner.shown is not None:
        window.banner.dismiss()
    await asyncio.sleep(1.2)
    assert window.grab().save(str(path)), path


def _context(data: Path, urls: ExchangeUrls) -> Context:
    market = MarketSettings(feed="live", interval="1s", catch_up_candles=120)
    settings = Settings(market=market, training=TrainingSettings(seed=1), watchlist=WatchlistSettings(markets=_WATCHED))
    context = Context(settings, DataFolder(data), as_json=False, urls=urls)
    context.folder.ensure()
    return context


def _state(application: Application) -> FeedState | None:
    status = application.state.feed_record.status
    return None if status is None else status.state


def _is_caught_up(application: Application) -> bool:
    state, chart = application.state, application.chart
    has_news = chart.model.note not in ("", legend_text(chart.model, chart.style_shown))
    return state.trainer_state is TrainerState.TRAINING and state.forecast is not None and not has_news


async def _until(condition: Callable[[], bool], timeout_s: float = 600.0) -> None:
    async with asyncio.timeout(timeout_s):
        while not condition():  # noqa: ASYNC110 - what is waited for is Qt's, and has no asyncio event
            await asyncio.sleep(0.1)
