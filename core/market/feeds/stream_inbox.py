"""The messages of an exchange's streams for one market, until its feed reads them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from typing import Any

from core.domain.candle import Candle
from core.market.aggregate import Trade
from core.market.feeds.trouble import VenueError
from core.market.feeds.venue import Kline, Refused, Updates

_PACE_S = 0.02
"""Time between two results of `next_updates`: a flood is passed on fifty times a second, not message by message."""
_MOST_WAITING = 200_000
"""The most trades buffered for a slow subscriber."""


class StreamInbox:
    """Empty until the first `next_updates`: earlier rows are requested anyway."""

    def __init__(self) -> None:
        self._is_open = False
        self._updates = Updates()
        self._failure: VenueError | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._answered_s = 0.0

    async def next_updates(self, timeout_s: float) -> Updates:
        """Everything since the last call; nothing after the timeout. Raises the failure, if nothing has come since."""
        self._is_open = True
        loop = asyncio.get_running_loop()
        updates = self._updates
        if not (self._failure or updates.is_ending or updates.refused or not updates.is_empty):
            await self._wait(loop, timeout_s)
        elif (early_s := self._answered_s + _PACE_S - loop.time()) > 0.0:
            await asyncio.sleep(early_s)
        self._answered_s = loop.time()
        updates, self._updates = self._updates, Updates()
        if not updates.messages and not updates.refused and self._failure is not None:
            raise self._failure
        return updates

    def count_message(self) -> None:
        self._updates.messages += self._is_open

    def add_row(self, row: list[Any], is_closed: bool) -> None:
        if not self._is_open:
            return
        candle = candle_of(row)
        if candle is None:
            self.refuse("a candle with an empty cell", raw_text(row))
            return
        self._updates.klines.append(Kline(candle, is_closed))
        self._wake()

    def add_trade(self, row: dict[str, Any]) -> None:
        if not self._is_open:
            return
        trade = _trade_of(row)
        if trade is None:
            self.refuse("a trade with an empty cell", raw_text(row.get("info", row)))
        elif len(self._updates.trades) < _MOST_WAITING:
            self._updates.trades.append(trade)
        self._wake()

    def refuse(self, reason: str, raw: str) -> None:
        if self._is_open:
            self._updates.refused.append(Refused(reason, raw))
            self._wake()

    def announce_end(self) -> None:
        """The exchange is about to close the connection."""
        self._updates.is_ending = True
        self._wake()

    def fail(self, failure: VenueError) -> None:
        """The stream has ended. The first failure counts."""
        self._failure = self._failure or failure
        self._wake()

    async def _wait(self, loop: asyncio.AbstractEventLoop, timeout_s: float) -> None:
        self._waiter = loop.create_future()
        timer = loop.call_later(max(0.0, timeout_s), self._wake)
        try:
            await self._waiter
        finally:
            timer.cancel()
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


def candle_of(row: list[float | None]) -> Candle | None:
    """A candle from ccxt's row; None if a cell is empty."""
    time_ms, *numbers = row[:6]
    values = [float(number) for number in numbers if number is not None]
    return Candle(int(time_ms), *values) if time_ms is not None and len(values) == 5 else None


def candles_of(rows: Iterable[list[float | None]]) -> list[Candle]:
    """ccxt's rows as candles, ascending, each time once. Rows with an empty cell are skipped."""
    found = {candle.open_time_ms: candle for candle in map(candle_of, rows) if candle is not None}
    return [found[time_ms] for time_ms in sorted(found)]


def _trade_of(row: dict[str, Any]) -> Trade | None:
    time_ms, price, amount = row.get("timestamp"), row.get("price"), row.get("amount")
    if time_ms is None or price is None or amount is None:
        return None
    name = row.get("id")
    trade_id = int(name) if isinstance(name, str) and name.isdecimal() else name
    return Trade(trade_id, int(time_ms), float(price), float(amount))


def raw_text(message: Any) -> str:
    """The message as text; ccxt passes on its parsed form."""
    try:
        return json.dumps(message)
    except (TypeError, ValueError):
        return str(message)
