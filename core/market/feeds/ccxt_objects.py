"""Creates ccxt objects for one spot market: without keys, loading as little as possible."""

from __future__ import annotations

import contextlib
import difflib
import json
import ssl
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from core.domain.candle import Interval
from core.domain.venue_names import venue_name
from core.market.feeds.answer_bodies import require_data
from core.market.feeds.exchange_facts import facts_of
from core.market.feeds.trouble import CURRENT_ANSWER, HttpResponse, VenueError
from core.market.feeds.venue import ExchangeUrls
from core.market.near_symbols import did_you_mean, near_symbols

BINANCE_MARKET_DATA = ExchangeUrls("https://data-api.binance.vision/api/v3", "wss://data-stream.binance.vision/ws")
"""Binance's hosts for market data only: no key, and available in places where its trading hosts are not."""
BINANCE_FAMILY = frozenset({"binance", "binanceus"})
_MOST_ROWS = 1000
"""Candles requested at once, at most."""
_MOST_STREAMS = 1024
"""The most streams on one of Binance's sockets."""
_SUCCESSES = range(200, 300)
_CALENDAR = ("M", "y", "Y")
"""Ends of ccxt's names of intervals without a fixed length."""
_UNITS_S = (1, 60, 0.001)
"""Units in which exchanges number their intervals: seconds, minutes, milliseconds."""
_STREAM_NAMES = (("timeframes",), ("spot", "timeframes"), ("ws", "timeframes"), ("watchOHLCV", "timeframes"))
"""Paths in ccxt's options to an exchange's names for its stream's intervals, if those differ from its list's."""


def make_exchange(venue: str, urls: ExchangeUrls | None, request_s: float, answer: HttpResponse) -> Any:
    """A ccxt exchange for spot candles. `answer` holds the newest HTTP response to a request without its own. Raises
    VenueError."""
    import ccxt.pro  # noqa: PLC0415 - 0.7 to 2.8 s: after the first paint

    from core.market.feeds.bounded_answers import bound_answers  # noqa: PLC0415 - as above

    if venue not in ccxt.pro.exchanges:
        close = difflib.get_close_matches(venue.lower(), ccxt.pro.exchanges, n=3)
        hint = f" Did you mean {' or '.join(close)}?" if close else ""
        raise VenueError(f"'{venue}' is not an exchange with a stream of candles.{hint}", is_final=True, is_absent=True)
    exchange = getattr(ccxt.pro, venue)(
        {"timeout": int(request_s * 1000), "enableRateLimit": True, "aiohttp_trust_env": urls is None}
    )
    exchange.name = venue_name(venue)
    if exchange.has.get("spot") is False:
        sentence = f"{exchange.name} has no spot markets, and Ghostcandle reads no others. Choose another exchange."
        raise VenueError(sentence, is_final=True, is_absent=True)
    has_stream = exchange.has.get("watchOHLCV") or exchange.has.get("watchTrades")
    if not (has_stream and exchange.has.get("fetchOHLCV")):
        sentence = f"{exchange.name} has no stream of candles. Choose another exchange."
        raise VenueError(sentence, is_final=True, is_absent=True)
    correct(exchange)
    exchange.ssl_context = _authorities(exchange.cafile)
    exchange.options["defaultType"] = "spot"
    exchange.options["fetchMarkets"] = _spot_only(exchange.options.get("fetchMarkets"))
    _redirect(exchange, urls)
    if hasattr(exchange, "insert_missing_candles"):  # BitoPro's: copies of a later candle in place of missing ones
        exchange.insert_missing_candles = lambda candles, *rest: candles
    _record_responses(exchange, answer)
    bound_answers(exchange)
    return exchange


@cache
def _authorities(path: str) -> ssl.SSLContext:
    """The certificates of a file, read once: ccxt would read them for each of its objects, which takes 30 ms."""
    return ssl.create_default_context(cafile=path)


def _spot_only(options: Any) -> Any:
    """ccxt's option for the kinds of markets to load, in its three forms; futures and options are never loaded."""
    if isinstance(options, list):
        return ["spot"] if "spot" in options else options
    if not isinstance(options, dict):
        return options
    types = options.get("types")
    if isinstance(types, list) and "spot" in types:
        return {**options, "types": ["spot"]}
    if isinstance(types, dict) and "spot" in types:
        return {**options, "types": {name: name == "spot" for name in types}}
    return options


def _redirect(exchange: Any, urls: ExchangeUrls | None) -> None:
    chosen = urls or (BINANCE_MARKET_DATA if exchange.id == "binance" else None)
    if chosen is None:
        return
    if chosen.form != ("binance" if exchange.id in BINANCE_FAMILY else exchange.id):
        raise VenueError(
            f"{exchange.name} cannot be reached at the configured address: it uses the format of "
            f"{venue_name(chosen.form)}. Choose another exchange.",
            is_final=True,
        )
    addresses = exchange.urls["api"]
    match chosen.form:
        case "binance":
            addresses["public"], addresses["ws"]["spot"] = chosen.public, chosen.ws
        case "kraken":
            addresses["public"], addresses["ws"]["publicV2"] = chosen.public, chosen.ws
        case "coinbase":
            addresses["rest"], addresses["ws"] = chosen.public, chosen.ws
        case _:
            raise VenueError(f"{exchange.name} can only be reached at its own address.", is_final=True)


def _record_responses(exchange: Any, answer: HttpResponse) -> None:
    parse = exchange.on_rest_response

    def record(code: int, reason: str, url: str, method: str, headers: dict[str, str], body: str, *rest: Any) -> Any:
        current = CURRENT_ANSWER.get(answer)
        current.status, current.headers, current.body = code, headers, body
        if code in _SUCCESSES:
            require_data(body, str(exchange.name))
        return parse(code, reason, url, method, headers, body, *rest)

    exchange.on_rest_response = record


def only_these_markets(venue: str, symbols: Sequence[str]) -> dict[str, str]:
    """Request parameters for these markets alone: Binance's description of all its markets has many megabytes."""
    if venue not in BINANCE_FAMILY:
        return {}
    names = [symbol.replace("/", "").upper() for symbol in symbols]
    return {"symbol": names[0]} if len(names) == 1 else {"symbols": json.dumps(names, separators=(",", ":"))}


async def load_markets(exchange: Any, symbols: Sequence[str]) -> None:
    """Load the descriptions of these markets. Those of several that the exchange does not have are left out. Raises
    ccxt's errors, and VenueError."""
    from ccxt import BadSymbol  # noqa: PLC0415 - loaded already, by the exchange itself

    try:
        await exchange.load_markets(params=only_these_markets(exchange.id, symbols))
    except BadSymbol:
        if len(symbols) == 1:
            raise
        described: list[Any] = []
        for symbol in symbols:
            with contextlib.suppress(BadSymbol):
                described += await exchange.fetch_markets(only_these_markets(exchange.id, [symbol]))
        exchange.set_markets(described)
    else:
        require_markets(exchange.markets, str(exchange.name))


def require_markets(markets: Any, name: str) -> None:
    """Raises VenueError for an empty list, which ccxt makes of an answer that it does not know."""
    if not markets:
        raise VenueError(f"{name} did not list its markets.", is_brief=True, is_of_venue=True)


def use_one_socket(exchange: Any) -> None:
    """ccxt opens another of Binance's sockets for each kind of stream, though one carries all of them."""
    for option, number in (("streamLimits", 1), ("subscriptionLimitByStream", _MOST_STREAMS)):
        if option in exchange.options:
            exchange.options[option] = {**exchange.options[option], "spot": number}


def timeframe_of(exchange: Any, interval: Interval) -> str:
    """The exchange's name of an interval. Raises VenueError if it has no such candles."""
    names = timeframes_of(exchange)
    for name, duration_ms in names.items():
        if duration_ms == interval.duration_ms:
            return name
    raise no_such_interval(str(exchange.name), interval, names)


def timeframes_of(exchange: Any) -> dict[str, int]:
    """ccxt's names of the exchange's intervals, ascending, with their lengths in milliseconds. Omits intervals without
    a fixed length, names of another form (``15``), and names that ccxt requests in another length: Bitstamp's ``1w`` is
    259,200 s, three days."""
    lengths = {name: _length_s(exchange, name, native) for name, native in (exchange.timeframes or {}).items()}
    sound = {name: round(length_s * 1000.0) for name, length_s in lengths.items() if length_s is not None}
    return dict(sorted(sound.items(), key=lambda each: each[1]))


def _length_s(exchange: Any, name: str, native: Any) -> float | None:
    from ccxt import NotSupported  # noqa: PLC0415 - loaded already, by the exchange itself

    if name.endswith(_CALENDAR):
        return None
    try:
        length_s = float(exchange.parse_timeframe(name))
    except (NotSupported, ValueError):
        return None
    number = str(native)
    is_other = number.isdecimal() and all(int(number) * unit_s != length_s for unit_s in _UNITS_S)
    return None if is_other else length_s


def page_rows_of(exchange: Any) -> int:
    limit = exchange.feature_value_by_type("spot", None, "fetchOHLCV", "limit", _MOST_ROWS)
    return min(facts_of(exchange.id).page_rows or _MOST_ROWS, int(limit or _MOST_ROWS))


def streams_timeframe(exchange: Any, timeframe: str) -> bool:
    """Whether ccxt knows the exchange's name for the stream of an interval's candles. Without it ccxt subscribes to
    nothing, or to a name that the exchange refuses."""
    for path in _STREAM_NAMES:
        names: Any = exchange.options
        for key in path:
            names = names.get(key) if isinstance(names, dict) else None
        if isinstance(names, dict) and timeframe not in names and not names.keys().isdisjoint(exchange.timeframes):
            return False
    return True


def no_such_interval(name: str, interval: Interval, offered: Iterable[str] = ()) -> VenueError:
    """offered: the exchange's intervals, if known."""
    listed = ", ".join(offered)
    has = f" It has {listed}." if listed else ""
    sentence = f"{name} has no candles of {interval}.{has} Choose another interval."
    return VenueError(sentence, is_final=True, is_absent=True)


def no_such_market(name: str, symbol: str, markets: Mapping[str, Mapping[str, Any]] | None) -> str:
    """The sentence for an unknown symbol, with the closest symbols. markets: ccxt's descriptions, by symbol; a symbol
    among them is traded no more."""
    if symbol in (markets or {}) and (markets or {})[symbol].get("spot"):
        return f"{name} has no spot market {symbol} any more. Choose another market or another exchange."
    traded = (found for found, each in (markets or {}).items() if each.get("spot") and each.get("active") is not False)
    return not_at(name, symbol, traded)


def not_at(name: str, symbol: str, known: Iterable[str]) -> str:
    """The sentence for an unknown symbol, with the closest of the `known` symbols."""
    return f"{name} has no spot market {symbol}.{did_you_mean(near_symbols(symbol, known))}"


def correct(exchange: Any) -> None:
    """Set the names, options and abilities of a new ccxt object, and the cells that its candles are read from."""
    facts = facts_of(exchange.id)
    exchange.timeframes = {**(exchange.timeframes or {}), **facts.timeframes}
    exchange.options = exchange.deep_extend(exchange.options, facts.options)
    exchange.has = {**exchange.has, **dict.fromkeys(facts.lacks, False)}
    if facts.row_cells:
        _correct_rows(exchange, facts.row_cells)


def _correct_rows(exchange: Any, cells: Mapping[int | str, int | str]) -> None:
    parse = exchange.parse_ohlcv

    def parse_ohlcv(row: Any, market: Any = None) -> Any:
        return parse(_moved(row, cells), market)

    exchange.parse_ohlcv = parse_ohlcv


def _moved(row: Any, cells: Mapping[int | str, int | str]) -> Any:
    """The row with its right cells where ccxt reads them. A missing right cell becomes empty: the wrong one holds
    another quantity. An exchange's lists and its dictionaries are read apart."""
    if isinstance(row, dict):
        named = {wrong: row.get(right) for wrong, right in cells.items() if isinstance(wrong, str)}
        return {**row, **named}
    if isinstance(row, list):
        places = {wrong: right for wrong, right in cells.items() if isinstance(wrong, int)}
        moved = (places.get(place, place) for place in range(len(row)))
        return [row[place] if isinstance(place, int) and place < len(row) else None for place in moved]
    return row
