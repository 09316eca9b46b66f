"""Which market a file is of, told by its name and its column of symbols; only where that is sure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from core.domain.candle import FILE_VENUE
from core.market.history.errors import HistoryError, UnnamedMarketError

_QUOTES = (
    *("USDT", "USDC", "FDUSD", "BUSD", "TUSD", "DAI"),
    *("USD", "EUR", "GBP", "JPY", "TRY", "BRL", "AUD", "BTC", "ETH"),
)
_KNOWN_BASES = frozenset(
    ("BTC", "XBT", "ETH", "BNB", "SOL", "XRP", "ADA", "DOGE", "LTC", "DOT", "TRX", "AVAX", "LINK", "EUR", "GBP")
)
"""Believed in small letters too; any other word beside a currency's name may be just a word."""
_OWN_NAMES = {"XBT": "BTC", "XDG": "DOGE"}
"""Kraken's files use names of its own; ccxt does not."""
_JOINED = re.compile(rf"([A-Z0-9]*[A-Z][A-Z0-9]*?)({'|'.join(_QUOTES)})")
_FEWEST_LETTERS = 2


@dataclass(frozen=True, slots=True)
class WantedMarket:
    """What was named on the command line."""

    venue: str | None = None
    symbol: str | None = None


def venue_of(path: Path, wanted: WantedMarket, venues: Collection[str]) -> str:
    """The venue's ccxt id, or ``file``. Raises UnnamedMarketError, asking for it, where nothing tells."""
    if wanted.venue is not None:
        return wanted.venue
    found = {part.lower() for part in _parts(path)} & set(venues)
    if len(found) == 1:
        return found.pop()
    raise UnnamedMarketError(
        f"The name of {path.name} does not tell which exchange its candles are from. Name it with --venue "
        f"(binance, say; {FILE_VENUE}, if they are of no exchange)."
    )


def symbol_of(path: Path, wanted: WantedMarket, told: tuple[str, ...]) -> str:
    """The symbol as ccxt writes it. told: what the file's column of symbols says.

    Raises UnnamedMarketError where nothing tells, HistoryError where the file is of another or of several.
    """
    if len(told) > 1:
        shown = ", ".join(told[:3]) + (", …" if len(told) > 3 else "")
        raise HistoryError(f"{path.name} holds {len(told)} markets ({shown}). Split it into a file for each.")
    if wanted.symbol is not None:
        if told and _letters(told[0]) != _letters(wanted.symbol):
            raise HistoryError(f"{path.name} holds {told[0]}, not {wanted.symbol} as asked for; nothing was imported.")
        return wanted.symbol
    found = _symbols(_split(told[0]) if told else _parts(path))
    if len(found) == 1:
        return found.pop()
    raise UnnamedMarketError(
        f"Nothing in {path.name} tells which market it is of. Name it with --symbol (BTC/USDT, say)."
    )


def _parts(path: Path) -> list[str]:
    return _split(path.name.split(".")[0])


def _split(text: str) -> list[str]:
    return [part for part in re.split(r"[^A-Za-z0-9]+", text) if part]


def _symbols(parts: Iterable[str]) -> set[str]:
    """Every market that these parts of a name may mean: ``BTCUSDT``, or ``BTC`` and then ``USDT``."""
    listed = list(parts)
    found = set()
    for name, after in zip(listed, [*listed[1:], ""], strict=True):
        joined = _JOINED.fullmatch(name.upper())
        if after.upper() in _QUOTES:
            pair = (name, after)
        elif joined is not None and name.upper() not in _QUOTES:
            pair = (name[: len(joined[1])], name[len(joined[1]) :])
        else:
            continue
        base, quote = pair[0].upper(), pair[1].upper()
        if len(base) >= _FEWEST_LETTERS and ("".join(pair).isupper() or base in _KNOWN_BASES):
            found.add(f"{_OWN_NAMES.get(base, base)}/{quote}")
    return found


def _letters(symbol: str) -> str:
    return "".join(_split(symbol)).upper().replace("XBT", "BTC")
