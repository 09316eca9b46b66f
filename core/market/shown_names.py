"""Display names of markets. The symbol of a file ends with a fingerprint of its content, which separates it from other
files of that name in the database and is not shown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import count, takewhile

from core.domain.candle import FILE_VENUE, Interval, Market
from core.domain.plain_text import plain

SAMPLE_MARKET = Market(FILE_VENUE, "EUR/USD sample", Interval.parse("1h"))
"""The first replay of the included sample."""
_FINGERPRINT_LETTERS = 6
_DIGITS = re.compile(r"([0-9]+)")
_REPLAY = re.compile(
    rf"(?P<name>.+?)(?:, replay [0-9]+)?(?P<fingerprint>(?:#[0-9a-f]{{{_FINGERPRINT_LETTERS}}})?)", re.DOTALL
)
_FINGERPRINT = re.compile(rf"(.+)#[0-9a-f]{{{_FINGERPRINT_LETTERS}}}")


def file_symbol(name: str, fingerprint: str) -> str:
    """The symbol under which a file's candles are stored, ``my-market-1m#dd2831``: other content, other market.

    name: a file's, so it may hold line breaks or characters that cannot be stored.
    """
    return f"{' '.join(plain(name).splitlines())}#{fingerprint[:_FINGERPRINT_LETTERS]}"


def replays_of(market: Market) -> Iterator[Market]:
    """The first, second and further replays of a file, ``my-market, replay 2#dd2831``, without end: each has its own
    candles and its own record. market: any of them."""
    parts = _REPLAY.fullmatch(market.symbol)
    assert parts is not None, market.symbol
    yield replace(market, symbol=f"{parts['name']}{parts['fingerprint']}")
    for number in count(2):
        yield replace(market, symbol=f"{parts['name']}, replay {number}{parts['fingerprint']}")


def newest_replay(market: Market, is_known: Callable[[Market], bool]) -> Market:
    """The newest replay of a file that has stored candles; the first without any. market: any of them."""
    known = list(takewhile(is_known, replays_of(market)))
    return known[-1] if known else next(replays_of(market))


def new_replay(market: Market, is_known: Callable[[Market], bool]) -> Market:
    """The first replay of a file without stored candles. market: any of them."""
    return next(each for each in replays_of(market) if not is_known(each))


def fingerprint_of(market: Market) -> str:
    """The fingerprint of the content in the symbol of a file's market."""
    return market.symbol.rpartition("#")[2]


def shown_symbol(venue: str, symbol: str) -> str:
    """``my-market-1m``, ``BTC/USDT``"""
    match = _FINGERPRINT.fullmatch(symbol) if venue == FILE_VENUE else None
    return symbol if match is None else match[1]


def shown_market(market: Market) -> str:
    """``my-market-1m 1m (file)``"""
    return f"{shown_symbol(market.venue, market.symbol)} {market.interval} ({market.venue})"


def name_order(market: Market) -> tuple[list[int | str], str, int]:
    """A sort key: numbers in a symbol by their value, SIM-2 before SIM-10."""
    parts = _DIGITS.split(shown_symbol(market.venue, market.symbol).casefold())
    numbers_in_turn = [int(part) if part.isdecimal() else part for part in parts]
    return numbers_in_turn, market.venue, market.interval.duration_ms


def symbols_apart(markets: Iterable[Market]) -> dict[Market, str]:
    """Symbols as in `shown_symbol`, or full if two would look the same."""
    shown = {market: shown_symbol(market.venue, market.symbol) for market in markets}
    counts = Counter((market.venue, market.interval, symbol) for market, symbol in shown.items())
    return {
        market: symbol if counts[market.venue, market.interval, symbol] == 1 else market.symbol
        for market, symbol in shown.items()
    }
