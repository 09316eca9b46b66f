"""One connection to one venue through ccxt.pro, and its errors in words. A broken one is closed and replaced."""

from __future__ import annotations

import asyncio
import contextlib
import difflib
import importlib
import re
from typing import Any

from core.market.candle import Candle, Market
from core.market.feeds.base import FeedError
from core.market.feeds.urls import ExchangeUrls

_BINANCE_DATA = ExchangeUrls("https://data-api.binance.vision/api/v3", "wss://data-stream.binance.vision/ws")
"""Binance's hosts for market data alone: they ask for no key."""
_REQUEST_MS = 10_000
_PAGE = 1000
_LONG_WAIT_S = 60.0
_RESTRICTED = re.compile(r"\b(403|451)\b|restricted location", re.IGNORECASE)


class VenueTroubleError(Exception):
    """The connection is broken but may come back. `wait_s`: how long the venue wants to be left alone."""

    def __init__(self, sentence: str, wait_s: float = 0.0) -> None:
        super().__init__(sentence)
        self.wait_s = wait_s


class Venue:
    """REST klines, a kline socket, server time. Every ccxt error becomes VenueTroubleError or FeedError."""

    def __init__(self, market: Market, urls: ExchangeUrls | None) -> None:
        self._market = market
        self._urls = urls
        self._ccxt: Any = None
        self._exchange: Any = None

    @property
    def name(self) -> str:
        """What people call it."""
        return str(getattr(self._exchange, "name", None) or self._market.venue)

    async def open(self) -> None:
        """Connect and load the spot markets. Raises FeedError where another try is senseless."""
        self._ccxt = importlib.import_module("ccxt.pro")  # here, because it takes up to 3 s
        maker = getattr(self._ccxt, self._market.venue, None)
        if maker is None or self._market.venue not in self._ccxt.exchanges:
            raise FeedError(self._no_such("venue", self._market.venue, self._ccxt.exchanges))
        self._exchange = maker(self._options())
        self._point_to_hosts()
        await self._call(self._exchange.load_markets())
        self._check_market()

    async def server_ahead_ms(self, now_ms: int) -> int:
        """How far the venue's clock is ahead of ours; 0 where it does not tell."""
        if not self._exchange.has.get("fetchTime"):
            return 0
        told = await self._call(self._exchange.fetch_time())
        return int(told) - now_ms

    async def klines(self, since_ms: int, limit: int = _PAGE) -> list[Candle]:
        """Candles that opened at or after `since_ms`, ascending; the last one may still be open."""
        interval = str(self._market.interval)
        rows = await self._call(self._exchange.fetch_ohlcv(self._market.symbol, interval, since_ms, limit))
        candles = (_to_candle(row) for row in rows)
        return sorted((each for each in candles if each is not None), key=lambda each: each.open_time_ms)

    async def watch(self) -> list[Candle]:
        """Wait for the next message of the socket. The newest candle is last, and may still be open."""
        rows = await self._call(self._exchange.watch_ohlcv(self._market.symbol, str(self._market.interval)))
        return [each for each in (_to_candle(row) for row in rows) if each is not None]

    async def close(self) -> None:
        """Let go of all sockets. Safe to call twice."""
        exchange, self._exchange = self._exchange, None
        if exchange is not None:
            with contextlib.suppress(Exception):  # a broken connection may fail at being closed: it is given up anyway
                await exchange.close()
            await asyncio.sleep(0)

    def _options(self) -> dict[str, Any]:
        return {
            "enableRateLimit": True,
            "timeout": _REQUEST_MS,
            "newUpdates": True,
            "options": {"defaultType": "spot", "fetchMarkets": {"types": ["spot"]}, "fetchCurrencies": False},
        }

    def _point_to_hosts(self) -> None:
        urls = self._urls or (_BINANCE_DATA if self._market.venue == "binance" else None)
        if urls is None:
            return
        api = self._exchange.urls["api"]
        api["public"], api["ws"]["spot"] = urls.public, urls.ws
        # ccxt tells spot from futures by the word "stream" in the address, which these hosts need not have.
        self._exchange.is_spot_url = lambda _client: True

    def _check_market(self) -> None:
        if self._market.symbol not in self._exchange.markets:
            raise FeedError(self._no_such("symbol", self._market.symbol, self._exchange.symbols))
        frames = self._exchange.timeframes or {}
        if frames and str(self._market.interval) not in frames:
            offered = ", ".join(frames)
            raise FeedError(f"{self.name} has no candles of {self._market.interval}; it offers {offered}.")

    def _no_such(self, what: str, wanted: str, known: list[str]) -> str:
        near = difflib.get_close_matches(wanted.upper() if what == "symbol" else wanted.lower(), known, 3)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        where = f" at {self.name}" if what == "symbol" else ""
        return f"There is no {what} '{wanted}'{where}.{hint}"

    async def _call(self, work: Any) -> Any:
        try:
            return await work
        except asyncio.CancelledError:
            raise
        except self._ccxt.BaseError as error:
            raise self._told(error) from error
        except (OSError, TimeoutError) as error:
            raise VenueTroubleError(f"{self.name} cannot be reached ({error}).") from error

    def _told(self, error: Exception) -> Exception:
        """The same error in words."""
        text, ccxt = str(error), self._ccxt
        if _RESTRICTED.search(text) and not isinstance(error, ccxt.RateLimitExceeded):
            return FeedError(
                f"{self.name} does not serve this location (it answered 403 or 451). "
                "Choose another venue, or replay a file."
            )
        if isinstance(error, ccxt.DDoSProtection | ccxt.RateLimitExceeded):
            return VenueTroubleError(f"{self.name} asks for fewer requests (429 or 418).", _LONG_WAIT_S)
        if isinstance(error, ccxt.OnMaintenance):
            return VenueTroubleError(f"{self.name} is under maintenance.", _LONG_WAIT_S)
        if isinstance(error, ccxt.NetworkError):
            return VenueTroubleError(f"{self.name} cannot be reached ({_short(text)}).")
        return FeedError(f"{self.name} refused: {_short(text)}. Check the symbol and the interval.")


def _to_candle(row: list[Any]) -> Candle | None:
    """A row of ccxt, or None where a number is missing in it."""
    if any(value is None for value in row[:5]):
        return None
    volume = float(row[5]) if len(row) > 5 and row[5] is not None else 0.0
    return Candle(int(row[0]), float(row[1]), float(row[2]), float(row[3]), float(row[4]), volume)


def _short(text: str, most: int = 120) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most]}…"
