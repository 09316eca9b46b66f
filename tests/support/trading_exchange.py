"""The loopback exchange with a stream of trades beside its stream of candles, and with invalid messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.support.exchange.client import Client
from tests.support.exchange.server import LoopbackExchange
from tests.support.exchange.toxics import Message
from tests.support.exchange.wire import text

_TRADES_PER_PUSH = 3


class TradingExchange(LoopbackExchange):
    """Its trades are numbered from 1 and go out with the candles, three at a time; more at once by `burst`."""

    def __init__(self, *positional: Any, **named: Any) -> None:
        super().__init__(*positional, **named)
        self.traded: dict[int, float] = {}
        """The amounts traded, by the opening time of their candle."""

    def _due_trades(self, socket: Client, stream: str) -> Iterable[Message]:
        if stream == self._trade_stream:
            yield from self._trades_now(socket, _TRADES_PER_PUSH)

    async def burst(self, count: int) -> None:
        """So many trades at once, for everybody who listens."""
        for socket in list(self._sockets):
            if self._trade_stream in socket.streams:
                await self._send_all(self._trades_now(socket, count))

    async def garble(self, *messages: str) -> None:
        """Send these as they are, on every stream."""
        for socket in list(self._sockets):
            for message in messages:
                await socket.ws.send_str(message)

    @property
    def _trade_stream(self) -> str:
        return f"{self._id.lower()}@trade"

    def _trades_now(self, socket: Client, count: int) -> Iterable[Message]:
        now_ms = self.now_ms()
        forming = self.tape.forming(now_ms)
        if forming is None:
            return
        open_ms = self.tape.interval.open_time_ms(now_ms)
        for _ in range(count):
            self.trades_sent += 1
            self.traded[open_ms] = self.traded.get(open_ms, 0.0) + AMOUNT
            yield Message(socket, self._trade_stream, self._trade(now_ms, forming.close))

    def _trade(self, now_ms: int, price: float) -> dict[str, Any]:
        return {
            "e": "trade",
            "E": now_ms,
            "s": self._id,
            "t": self.trades_sent,
            "p": text(price),
            "q": text(AMOUNT),
            "T": now_ms,
            "m": False,
            "M": True,
        }


AMOUNT = 64.0
"""More than the tape's own volume, and exact when summed: this distinguishes candles of trades from the others."""
