"""The loopback exchange with several markets and a price of each, for switching between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from aiohttp import web

from core.domain.candle import Candle, Interval
from tests.support.exchange.many import ManyMarkets
from tests.support.loopback_tickers import LoopbackTickers
from tests.support.tape import Tape, generated_tape

_DECIMALS = 2


class MarketHall(ManyMarkets):
    """Streams the markets of `tapes`, by symbol, and answers for the prices of all of them."""

    def __init__(self, tapes: Mapping[str, Tape], now_ms: Callable[[], int]) -> None:
        super().__init__(tapes, now_ms)
        self.tickers = LoopbackTickers(dict.fromkeys(tapes, 1.0), now_ms)
        self._price()

    def _price(self) -> None:
        for market in self.markets.values():
            forming = market.tape.forming(self.now_ms())
            if forming is not None:
                self.tickers.prices[market.symbol] = forming.close

    def _application(self) -> web.Application:
        application = super()._application()
        application.middlewares.insert(1, self._prices)
        return application

    @web.middleware
    async def _prices(
        self, request: web.Request, handler: Callable[[web.Request], web.StreamResponse]
    ) -> web.StreamResponse:
        self._price()
        answer = await self.tickers.answer_if_its_own(request)
        return await handler(request) if answer is None else answer  # type: ignore[misc]


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
