"""The loopback exchange with several markets and a price of each, for switching between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from aiohttp import web

from core.domain.candle import Candle, Interval
from tests.support.exchange.client import Client
from tests.support.exchange.server import LoopbackExchange
from tests.support.exchange.toxics import Message
from tests.support.loopback_tickers import QUARTER_MS, LoopbackTickers
from tests.support.tape import Tape, generated_tape

_DECIMALS = 2


class MarketHall(LoopbackExchange):
    """Streams the markets of `tapes`, by symbol, and answers for the prices of all of them."""

    def __init__(self, tapes: Mapping[str, Tape], now_ms: Callable[[], int]) -> None:
        first, *others = tapes
        super().__init__(tapes[first], now_ms, first)
        self._others = [LoopbackExchange(tapes[symbol], now_ms, symbol) for symbol in others]
        self.tickers = LoopbackTickers(dict.fromkeys(tapes, 1.0), now_ms)
        self._price()
        newest_ms = now_ms() // QUARTER_MS * QUARTER_MS
        self.tickers.bases = dict(self.tickers.prices)
        for symbol, price in self.tickers.prices.items():  # so that each day of prices ends with the last one
            self.tickers.bases[symbol] *= price / self.tickers.close_at(symbol, newest_ms)

    def _price(self) -> None:
        for market in (self, *self._others):
            forming = market.tape.forming(self.now_ms())
            if forming is not None:
                self.tickers.prices[market.symbol] = forming.close

    def _application(self) -> web.Application:
        application = super()._application()
        application.middlewares.append(self._by_symbol)
        return application

    @web.middleware
    async def _by_symbol(
        self, request: web.Request, handler: Callable[[web.Request], web.StreamResponse]
    ) -> web.StreamResponse:
        self._price()
        answer = await self.tickers.answer_if_its_own(request)
        if answer is not None:
            return answer
        market = next((each for each in self._others if each._id == request.query.get("symbol")), None)
        if market is not None and request.path.endswith("/klines"):
            return await market._klines(request)
        if market is not None and request.path.endswith(("/trades", "/historicalTrades", "/aggTrades")):
            return await (market._aggregates if request.path.endswith("/aggTrades") else market._trades)(request)
        return await handler(request)  # type: ignore[misc]

    def _due(self, socket: Client) -> Iterable[Message]:
        yield from super()._due(socket)
        for market in self._others:
            yield from market._due(socket)


def priced_tape(
    price: float, interval: Interval, now_ms: int, history: int, *, future: int = 2_000, seed: int = 7, trades: int = 31
) -> Tape:
    """A random walk that begins at this price, in hundredths."""
    tape = generated_tape(interval, now_ms, history, future, seed, trades)
    factor = price / tape.candles[0].open
    candles = [
        Candle(
            each.open_time_ms,
            *(round(number * factor, _DECIMALS) for number in (each.open, each.high, each.low, each.close)),
            each.volume,
        )
        for each in tape.candles
    ]
    return Tape(candles, interval, trades)
