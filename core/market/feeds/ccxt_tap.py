"""Hooks between ccxt's sockets and its caches: counts every message, keeps every row, and survives bad ones.

ccxt silently ends its receive loop when a message cannot be parsed; its caches keep the newest thousand trades and drop
the rest; and a row with a wrong time hides later ones in its kline cache. Here each row is passed on as it comes, and
unreadable messages are reported.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from core.market.feeds.ccxt_objects import BINANCE_FAMILY

_OKX_CONFIRM = 8
_KEPT_ROWS = 8
"""The size of ccxt's own cache, which is not read."""
_LOST = "the socket's end"
_UNNAMED = "unknown"
"""ccxt's timeframe of WhiteBit's streamed candles, which do not name theirs."""

Refuse = Callable[[str, str], None]
Read = Callable[[Any, Callable[[Any], None]], None]


def guard_clients(exchange: Any, read: Read, refuse: Refuse, lose: Callable[[BaseException | None], None]) -> None:
    """Make each WebSocket of `exchange` pass on every readable message, and report every unreadable one and its own
    end.

    read: called with a message and its parser.
    """
    make = exchange.client

    def client(url: str) -> Any:
        is_new = url not in (exchange.clients or {})
        found = make(url)
        if is_new:
            _guard(found, read, refuse)
            _guard_end(found, lose)
        return found

    exchange.client = client


def _guard_end(client: Any, lose: Callable[[BaseException | None], None]) -> None:
    """ccxt rejects all futures of a socket that fails, but some of them also after a refused subscription."""
    from ccxt import NetworkError  # noqa: PLC0415 - loaded with the exchange

    def judge(lost: Any) -> None:
        error = None if lost.cancelled() else lost.exception()
        if error is None or isinstance(error, NetworkError):
            lose(error)
        else:
            _guard_end(client, lose)

    client.future(_LOST).add_done_callback(judge)


def _guard(client: Any, read: Read, refuse: Refuse) -> None:
    handle, parse = client.handle_message, client.on_message_callback

    def handle_safely(message: Any) -> None:
        try:
            handle(message)
        except Exception as error:
            refuse(f"a message that cannot be read ({type(error).__name__})", str(getattr(message, "data", message)))

    def handle_parsed(source: Any, message: Any) -> None:
        for part in by_market(message):
            read(part, partial(parse, source))

    client.handle_message, client.on_message_callback = handle_safely, handle_parsed


def by_market(message: Any) -> list[Any]:
    """The message; one with rows of several markets once for each: ccxt takes all rows for the first one's."""
    rows = message.get("data") if isinstance(message, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return [message]
    symbols = dict.fromkeys(row.get("symbol") for row in rows)
    if len(symbols) <= 1:
        return [message]
    return [{**message, "data": [row for row in rows if row.get("symbol") == symbol]} for symbol in symbols]


class _Pinned(dict[str, Any]):
    """ccxt replaces the caches of some exchanges (Deribit, BingX) by new ones at every message, in which no tap would
    see the rows: the first cache of a name stays."""

    def __setitem__(self, name: str, cache: Any) -> None:
        self.setdefault(name, cache)


def pin_caches(exchange: Any) -> None:
    """Make taps that are set from now on permanent."""
    exchange.trades, exchange.ohlcvs = _Pinned(), _Pinned()


def tap_trades(exchange: Any, symbol: str, on_row: Callable[[dict[str, Any]], None]) -> None:
    """Pass each streamed trade of `symbol` to `on_row`."""
    from ccxt.async_support.base.ws.cache import ArrayCache  # noqa: PLC0415 - loaded with the exchange

    class TradeTap(ArrayCache):  # type: ignore[misc]
        def append(self, item: dict[str, Any]) -> None:
            on_row(item)
            super().append(item)

    exchange.trades[symbol] = TradeTap(_KEPT_ROWS)


def tap_candles(exchange: Any, symbol: str, timeframe: str, on_row: Callable[[list[Any]], None]) -> None:
    from ccxt.async_support.base.ws.cache import ArrayCacheByTimestamp  # noqa: PLC0415 - loaded with the exchange

    class CandleTap(ArrayCacheByTimestamp):  # type: ignore[misc]
        def append(self, item: list[Any]) -> None:
            on_row(item)
            super().append(item)

    exchange.ohlcvs[symbol] = _Pinned(dict.fromkeys((timeframe, _UNNAMED), CandleTap(_KEPT_ROWS)))


def reports_close(venue: str) -> bool:
    """Whether this venue's stream marks closed candles in a supported form."""
    return venue in BINANCE_FAMILY or venue in ("okx", "bybit")


def closed_times(venue: str, message: Any) -> frozenset[int]:
    """The opening times of the candles that a message marks as closed: ccxt drops this information."""
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


def announces_shutdown(venue: str, message: Any) -> bool:
    """Whether the exchange announces that it will close the connection."""
    is_known = venue in BINANCE_FAMILY and isinstance(message, dict)
    return is_known and _inner(message).get("e") == "serverShutdown"


def _inner(message: dict[str, Any]) -> dict[str, Any]:
    """The message without the envelope of a combined stream."""
    data = message.get("data")
    return data if isinstance(data, dict) else message
