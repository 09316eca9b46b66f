"""The markets of an exchange: fetched once a day, cached in the data folder, and searched while the user types."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from core.domain.clock import Clock
from core.files.durable import write_durably
from core.market.feeds.rate_limits import RateLimitHold
from core.market.feeds.tickers import TickerSource
from core.market.feeds.trouble import VenueError
from core.market.feeds.venue import ExchangeUrls
from core.market.near_symbols import letters, quote_rank

FRESH_MS = 86_400_000
"""An older list is fetched again, and used until the new one has come."""
_REQUEST_S = 30.0

_log = logging.getLogger("ghostcandle.feed")


@dataclass(frozen=True, slots=True)
class SymbolList:
    """The spot markets of one exchange, as ccxt writes them, and when they were fetched."""

    venue: str
    symbols: tuple[str, ...]
    fetched_at_ms: int

    def is_fresh(self, now_ms: int) -> bool:
        """Whether it need not be fetched again. A time in the future was written by a wrong clock."""
        return 0 <= now_ms - self.fetched_at_ms < FRESH_MS


class SymbolIndex:
    """Finds symbols by typed text: ``eth``, ``ethusdt``, ``ETH/``, ``usdt``."""

    def __init__(self, symbols: Iterable[str]) -> None:
        self._rows = []
        for symbol in sorted(set(symbols)):
            base, _, quote = symbol.upper().partition("/")
            self._rows.append(_Row(symbol, base, letters(symbol), quote_rank(quote)))

    def __len__(self) -> int:
        return len(self._rows)

    def search(self, text: str, limit: int = 50) -> list[str]:
        """The best first, at most `limit`: those whose base is the text, then begins with it, then the rest."""
        typed = letters(text)
        if not typed:
            return []
        found = [(rank, row) for row in self._rows if (rank := _rank(row, typed, text)) is not None]
        found.sort(key=lambda pair: (pair[0], pair[1].quote_rank, len(pair[1].base), pair[1].symbol))
        return [row.symbol for _, row in found[:limit]]


class SymbolCache:
    """One JSON file per exchange, in a folder of the data folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self, venue: str) -> SymbolList | None:
        """The cached list. None if it is missing or unreadable, so that it is fetched again."""
        try:
            data = json.loads(self._path(venue).read_text(encoding="utf-8"))
            symbols = tuple(str(symbol) for symbol in data["symbols"])
            return SymbolList(venue, symbols, int(data["fetched_at_ms"]))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            _log.warning("the stored list of the markets of %s cannot be read: %s", venue, error)
            return None

    def save(self, listed: SymbolList) -> None:
        """Store the list. A failed write only costs another request."""
        data = {"venue": listed.venue, "fetched_at_ms": listed.fetched_at_ms, "symbols": listed.symbols}
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            write_durably(self._path(listed.venue), json.dumps(data).encode())
        except OSError as error:
            _log.warning("the list of the markets of %s cannot be stored: %s", listed.venue, error)

    def _path(self, venue: str) -> Path:
        if not venue.replace("_", "").isalnum():
            raise ValueError(f"'{venue}' is not an exchange's id")
        return self._folder / f"{venue}.json"


async def fetch_symbols(
    venue: str, urls: ExchangeUrls | None, clock: Clock, hold: RateLimitHold | None = None
) -> SymbolList:
    """Fetch all spot markets of an exchange. Raises VenueError with a sentence.

    hold: shared with everything else that sends requests to this exchange.
    The answer of a large exchange takes seconds to parse: await it on a loop that serves nothing but lists.
    """
    source = TickerSource(venue, urls, _REQUEST_S, hold or RateLimitHold(clock))
    try:
        symbols = await source.all_symbols()
    finally:
        await source.close()
    if not symbols:
        raise VenueError(f"{source.name} lists no spot markets.")
    return SymbolList(venue, symbols, clock.now_ms())


@dataclass(frozen=True, slots=True)
class _Row:
    symbol: str
    base: str
    plain: str
    quote_rank: int


def _rank(row: _Row, typed: str, text: str) -> int | None:
    """0 is best; None: it does not match. A slash after the base means that the base ends there."""
    base, slash, _ = text.strip().partition("/")
    if slash and row.base != letters(base):
        return None
    matches = (
        typed in (row.base, row.plain),
        *(row.base.startswith(typed), row.plain.startswith(typed), typed in row.base, typed in row.plain),
    )
    return next((rank for rank, is_match in enumerate(matches) if is_match), None)


def known_venues() -> Collection[str]:
    import ccxt  # noqa: PLC0415 - 0.3 s and more

    names: list[str] = ccxt.exchanges
    return names
