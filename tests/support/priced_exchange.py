"""The loopback exchange with a price of its market beside the stream: a feed and a list of prices in one program."""

from __future__ import annotations

import time
from collections.abc import Callable

from aiohttp import web

from core.domain.candle import Interval
from tests.support.exchange.clock import AcceleratedClock
from tests.support.exchange.server import LoopbackExchange
from tests.support.loopback_tickers import LoopbackTickers
from tests.support.tape import generated_tape

SECOND = Interval.parse("1s")


class PricedExchange(LoopbackExchange):
    """Streams one market, and answers for its price."""

    def __init__(
        self,
        speed: float = 5.0,
        sends_final: bool = True,
        now_ms: Callable[[], int] | None = None,
        push_s: float = 0.01,
    ) -> None:
        """speed: of its clock, where none is given."""
        clock = now_ms or AcceleratedClock(time.time_ns() // 1_000_000, speed)
        tape = generated_tape(SECOND, clock(), 40, 4_000)
        super().__init__(tape, clock, push_s=push_s, sends_final=sends_final)
        self.tickers = LoopbackTickers({"BTC/USDT": 100.0}, clock)

    def _application(self) -> web.Application:
        application = super()._application()
        application.middlewares.append(self._prices)
        return application

    @web.middleware
    async def _prices(
        self, request: web.Request, handler: Callable[[web.Request], web.StreamResponse]
    ) -> web.StreamResponse:
        answer = await self.tickers.answer_if_its_own(request)
        return await handler(request) if answer is None else answer  # type: ignore[misc]
