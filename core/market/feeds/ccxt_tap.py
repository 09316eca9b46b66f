"""Between ccxt's sockets and its caches: every message is counted, every row is kept, and no bad one kills the socket.

ccxt ends its receive loop, without a word, when a message cannot be parsed; its caches keep the newest thousand trades
and drop the rest; and a row with a wild time hides later ones of its kline cache. Here each row is handed on when it
comes, and what cannot be read is told.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.market.feeds.ccxt_objects import BINANCE_FAMILY

_OKX_CONFIRM = 8
_KEPT_ROWS = 8
"""ccxt's own copy; nobody reads it."""

Refuse = Callable[[str, str], None]


def guard_clients(exchange: Any, hear: Callable[[Any], None], refuse: Refuse) -> None:
    """Have each WebSocket of `exchange` tell every message that it can read, and each that it cannot."""
    make = exchange.client

    def client(url: str) -> Any:
        is_new = url not in (exchange.clients or {})
        found = make(url)
        if is_new:
            _guard(found, hear, refuse)
        return found

    exchange.client = client


def _guard(client: Any, hear: Callable[[Any], None], refuse: Refuse) -> None:
    handle, parse = client.handle_message, client.on_message_callback

    def handle_safely(message: Any) -> None:
        try:
            handle(message)
        except Exception as error:
            refuse(f"a message that cannot be read ({type(error).__name__})", str(getattr(message, "data", message)))

    def parse_heard(source: Any, message: Any) -> None:
        hear(message)
        parse(source, message)

    client.handle_message, client.on_message_callback = handle_safely, parse_heard


def tap_trades(exchange: Any, symbol: str, keep: Callable[[dict[str, Any]], None]) -> None:
    """Hand on each trade of `symbol` that the stream brings."""
    from ccxt.async_support.base.ws.cache import ArrayCache  # noqa: PLC0415 - loaded with the exchange

    class TradeTap(ArrayCache):  # type: ignore[misc]
        def append(self, item: dict[str, Any]) -> None:
            keep(item)
            super().append(item)

    exchange.trades[symbol] = TradeTap(_KEPT_ROWS)


def tap_candles(exchange: Any, symbol: str, timeframe: str, keep: Callable[[list[Any]], None]) -> None:
    """The same for its rows of candles."""
    from ccxt.async_support.base.ws.cache import ArrayCacheByTimestamp  # noqa: PLC0415 - loaded with the exchange

    class CandleTap(ArrayCacheByTimestamp):  # type: ignore[misc]
        def append(self, item: list[Any]) -> None:
            keep(item)
            super().append(item)

    exchange.ohlcvs[symbol] = {timeframe: CandleTap(_KEPT_ROWS)}


def tells_close(venue: str) -> bool:
    """Whether this venue's stream says of a candle that it is over, in a form that is known here."""
    return venue in BINANCE_FAMILY or venue in ("okx", "bybit")


def closed_times(venue: str, message: Any) -> frozenset[int]:
    """The opening times of the candles that a message says are over: ccxt does not hand this on."""
    if not isinstance(message, dict):
        return frozenset()
    if venue in BINANCE_FAMILY:
        kline = _inner(message).get("k")
        return frozenset({int(kline["t"])} if isinstance(kline, dict) and kline.get("x") is True else ())
    rows = message.get("data")
    if not isinstance(rows, list):
        return frozenset()
    if venue == "bybit":
        return frozenset(int(row["start"]) for row in rows if isinstance(row, dict) and row.get("confirm") is True)
    if venue == "okx":
        return frozenset(int(row[0]) for row in rows if isinstance(row, list) and row[_OKX_CONFIRM:] == ["1"])
    return frozenset()


def says_it_ends(venue: str, message: Any) -> bool:
    """Whether the exchange announces that it is about to hang up."""
    is_known = venue in BINANCE_FAMILY and isinstance(message, dict)
    return is_known and _inner(message).get("e") == "serverShutdown"


def _inner(message: dict[str, Any]) -> dict[str, Any]:
    """Without the envelope of a combined stream."""
    data = message.get("data")
    return data if isinstance(data, dict) else message
