"""The market of a file, from its name and its symbol column, if unambiguous."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from core.domain.candle import FILE_VENUE
from core.market.history.errors import UnnamedMarketError
from core.market.history.forms.recognise import FORMS

_QUOTES = (
    *("USDT", "USDC", "FDUSD", "BUSD", "TUSD", "DAI"),
    *("USD", "EUR", "GBP", "JPY", "TRY", "BRL", "AUD", "BTC", "ETH"),
)
_KNOWN_BASES = frozenset(
    ("BTC", "XBT", "ETH", "BNB", "SOL", "XRP", "ADA", "DOGE", "LTC", "DOT", "TRX", "AVAX", "LINK", "EUR", "GBP")
)
"""Recognised in lower case too; other words next to a currency's name may be just words."""
_OWN_NAMES = {"XBT": "BTC", "XDG": "DOGE"}
"""Kraken's own names in its files; ccxt uses the common ones."""
_JOINED = re.compile(rf"([A-Z0-9]*[A-Z][A-Z0-9]*?)({'|'.join(_QUOTES)})")
_FEWEST_LETTERS = 2
_NO_NAME = re.compile(
    r"(?i)\d{1,3}|(19|20)\d\d|\d{7,}"
    r"|\d+[a-z]{1,5}|[mhdw]\d+|(min|minute|hour|day|week)s?|hourly|daily|weekly|intraday"
    r"|candles?|bars?|ohlcv?|k?lines?|trades?|agg|prices?|quotes?|data|history|historical|charts?"
    r"|exports?|downloads?|csv|json|spot|futures|perp"
)
"""Words of file names that are no market: dates, lengths of candles, and what the file holds. Four to six digits may be
a share of Asia."""


def venue_of(path: Path, requested: str | None, venues: Collection[str]) -> str:
    """The venue's ccxt id, or ``file``. requested: the user's choice.

    Raises UnnamedMarketError, asking for it, if it is unknown.
    """
    if requested is not None:
        return requested
    found = {part.lower() for part in _parts(path)} & set(venues)
    if len(found) == 1:
        return found.pop()
    raise UnnamedMarketError(
        f"The exchange cannot be recognised from the name of {path.name}. Set it with --venue; for "
        f"candles that are of no exchange, use --venue {FILE_VENUE}."
    )


def symbol_of(path: Path, requested: str | None, listed: str | None) -> str:
    """The symbol as ccxt writes it. requested: the user's symbol. listed: the symbol in the file's symbol column.

    Raises UnnamedMarketError if the symbol is unknown, or the file has another market.
    """
    if requested is not None:
        if listed and not _may_be(listed, requested):
            raise UnnamedMarketError(
                f"{path.name} holds {listed}, not {requested} as requested. Name it as the file does, as in --symbol "
                f"{next(iter(_symbols(_split(listed))), listed)}."
            )
        return requested
    found = _symbols(_split(listed) if listed else _parts(path))
    if len(found) == 1:
        return found.pop()
    raise UnnamedMarketError(f"The market of {path.name} cannot be recognised. Set it with --symbol (BTC/USDT, say).")


def suggested_symbol(path: Path) -> str | None:
    """The part of a file's name that may be its market, for the user to confirm: ``AAPL`` of ``AAPL_daily.csv``."""
    known = {word for name in FORMS for word in name.split("-")}
    parts = [part for part in _parts(path) if not _NO_NAME.fullmatch(part) and part.lower() not in known]
    return next((part for part in parts if part.isupper()), next(iter(parts), "")).upper() or None


def _parts(path: Path) -> list[str]:
    return _split(path.name.split(".")[0])


def _split(text: str) -> list[str]:
    return [part for part in re.split(r"[^A-Za-z0-9]+", text) if part]


def _symbols(parts: list[str]) -> set[str]:
    """All markets that these parts of a name may mean: ``BTCUSDT``, or ``BTC`` and then ``USDT``."""
    found = set()
    for name, after in zip(parts, [*parts[1:], ""], strict=True):
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


def _may_be(listed: str, requested: str) -> bool:
    """Whether a file's symbol may mean this market: the same letters (XBTUSD), the same parts (KRW-BTC), or its base
    (AAPL.US, BTC) without another quote."""
    base, _, quote = requested.upper().replace("XBT", "BTC").partition("/")
    parts = listed.upper().replace("XBT", "BTC")
    if "".join(_split(parts)) == "".join(_split(base + quote)) or f"{base}/{quote}" in _symbols(_split(parts)):
        return True
    named = set(_split(parts))
    quotes = named & set(_QUOTES) - {base}
    return base in named and (not quotes or not quote or quote.split(":")[0] in quotes)
