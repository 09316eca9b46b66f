"""The streams of one ccxt object: subscribed to, requested again after a refusal, and then done without."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Sequence
from typing import Any, Protocol

from core.market.feeds.timing import is_cancelled

_ASK_AGAIN_S = 1.0
"""Time between two results of a stream of several markets: ccxt takes longer with each market, and their rows come
through the taps at once."""
_AFTER_REFUSAL_S = 30.0
"""Time before the refused stream of one of several markets is requested again."""
_ALONE_AGAIN_S = {"trades": 1.0, "candles": 5.0}
"""Time before a single market requests its refused streams again: one after the other, as ccxt may report the refusal
of one to both."""
_MOST_REFUSALS = 2
_TOGETHER = 10
"""The most markets of one subscription: Bybit refuses more."""
_log = logging.getLogger("ghostcandle.feed")

Stream = tuple[str, str]
"""The kind of a stream, ``candles`` or ``trades``, and its market."""


class StreamOwner(Protocol):
    """Receives the rows and errors of the streams."""

    def on_result(self, what: str, symbols: Sequence[str], result: Any) -> None:
        """ccxt's result of a stream whose rows did not come through the taps."""

    def on_failure(self, symbol: str, error: Exception) -> None:
        """The socket failed, or the market does not exist any more."""

    def on_closed(self) -> None:
        """ccxt has cancelled a stream."""

    def on_refusal(self, symbol: str, reason: str, raw: str) -> None:
        """A stream was refused, and the others continue."""


class Subscriptions:
    """Started once by `start` for each kind of stream; ended by `close`."""

    def __init__(self, exchange: Any, timeframe: str, owner: StreamOwner, *, is_shared: bool) -> None:
        """is_shared: between several markets."""
        self._exchange = exchange
        self._timeframe = timeframe
        self._owner = owner
        self._is_shared = is_shared
        self._tasks: set[asyncio.Task[None]] = set()
        self._active = set[Stream]()
        """The active streams; rows reactivate a stream that was given up."""
        self._tapped = set[Stream]()
        """The streams whose rows came through the taps since their last result."""
        self._received = set[Stream]()
        """The streams that have received rows."""
        self._refusals = Counter[Stream]()

    def has_stream(self, symbol: str) -> bool:
        return any(streamed == symbol for _, streamed in self._active)

    def count_row(self, what: str, symbol: str, *, is_tapped: bool) -> None:
        stream = (what, symbol)
        self._received.add(stream)
        self._active.add(stream)
        if is_tapped:
            self._tapped.add(stream)

    def start(self, what: str, symbols: Sequence[str], *, is_together: bool, wait_s: float = 0.0) -> None:
        """Watch several markets by one subscription if the exchange can, else by one for each."""
        self._active.update((what, symbol) for symbol in symbols)
        size = _TOGETHER if is_together else 1
        for group in (symbols[first : first + size] for first in range(0, len(symbols), size)):
            task = asyncio.create_task(self._watch(what, group, wait_s))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _watch(self, what: str, symbols: Sequence[str], wait_s: float) -> None:
        """Rows that the tap has taken already are skipped; the results only count if the exchange bypasses the tap."""
        streams = {(what, symbol) for symbol in symbols}
        try:
            if wait_s:
                await asyncio.sleep(wait_s)
            while True:
                result = await self._next(what, symbols)
                if self._tapped.isdisjoint(streams):
                    self._owner.on_result(what, symbols, result)
                self._tapped -= streams
                if self._is_shared:
                    await asyncio.sleep(_ASK_AGAIN_S)
        except asyncio.CancelledError:
            if is_cancelled():
                raise
            self._owner.on_closed()
        except Exception as error:
            self._end(what, symbols, error)

    def _next(self, what: str, symbols: Sequence[str]) -> Awaitable[Any]:
        exchange, is_alone = self._exchange, len(symbols) == 1
        if what == "candles":
            if is_alone:
                return exchange.watch_ohlcv(symbols[0], self._timeframe)  # type: ignore[no-any-return]
            return exchange.watch_ohlcv_for_symbols([[symbol, self._timeframe] for symbol in symbols])  # type: ignore[no-any-return]
        return exchange.watch_trades(symbols[0]) if is_alone else exchange.watch_trades_for_symbols(list(symbols))  # type: ignore[no-any-return]

    def _end(self, what: str, symbols: Sequence[str], error: Exception) -> None:
        """An error of the socket ends all streams. A refused one is requested again, then done without."""
        from ccxt import BadSymbol, NetworkError, NotSupported  # noqa: PLC0415 - loaded already, by the exchange itself

        stream, is_alone = (what, symbols[0]), not self._is_shared
        if isinstance(error, NetworkError) or (is_alone and isinstance(error, BadSymbol)):
            self._owner.on_failure(symbols[0], error)
            return
        _log.info("%s: %s of %s: %s: %s", self._exchange.id, what, ", ".join(symbols), type(error).__name__, error)
        self._refusals[stream] += 1
        if len(symbols) > 1:
            self._start_again(what, symbols, error, _ASK_AGAIN_S)
        elif stream in self._received:  # the refusal concerns another stream: ccxt may report it to all
            self.start(what, symbols, is_together=False, wait_s=_ASK_AGAIN_S)
        elif isinstance(error, NotSupported) or self._refusals[stream] >= _MOST_REFUSALS:
            self._active.discard(stream)
            self._owner.on_refusal(symbols[0], f"no stream of {what}", str(error))
        else:
            self._start_again(what, symbols, error, _ALONE_AGAIN_S[what] if is_alone else _AFTER_REFUSAL_S)

    def _start_again(self, what: str, symbols: Sequence[str], error: Exception, wait_s: float) -> None:
        """Subscribe one by one after a refusal, which ccxt may report to markets that it does not concern. The one that
        it concerns stays silent, and its feed learns why by request."""
        for symbol in symbols:
            self._owner.on_refusal(symbol, f"a refused stream of {what}", str(error))
        names = {*symbols, *(str(self._exchange.markets[symbol]["id"]) for symbol in symbols)}
        for client in (self._exchange.clients or {}).values():  # else ccxt takes them for subscribed
            for key in [key for key in client.subscriptions if any(name in str(key) for name in names)]:
                del client.subscriptions[key]
        self.start(what, symbols, is_together=False, wait_s=wait_s)
