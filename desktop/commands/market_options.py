"""The market of a history command: named on the command line, never silently read from the settings."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable

import click

from core.domain.candle import FILE_VENUE, SIMULATED_VENUE, Interval, Market
from core.market.history.errors import HistoryError
from core.market.symbols import known_venues
from core.storage.candles import CandleStore
from desktop.commands.options import Command, taking

_PAIR = re.compile(r"[^\s/]+/[^\s/]+")
_LEAST_ALIKE = 0.75
"""Least similarity of a misspelt exchange and its proposal: bitfinex is not proposed for bitmex."""
_ANY_VENUE = "The exchange, by its ccxt id, or 'file'."


def market_options(*, is_required: bool, is_fetched: bool = False) -> Callable[[Command], Command]:
    """--venue, --symbol, --interval; under different names, because a run's options override the settings.

    is_fetched: from an exchange, so that `file` is none.
    """
    venue_help = "The exchange, by its ccxt id: binance, kraken." if is_fetched else _ANY_VENUE
    return taking(
        click.option("--venue", "of_venue", required=is_required, help=venue_help),
        click.option("--symbol", "of_symbol", required=is_required, help="As ccxt writes it: BTC/USDT."),
        click.option("--interval", "of_interval", required=is_required, help="1m, 5m, 15m, 1h, 4h, 1d, 1w."),
    )


def read_interval(text: str | None) -> Interval | None:
    """Raises HistoryError."""
    try:
        return None if text is None else Interval.parse(text)
    except ValueError as error:
        raise HistoryError(f"{error}.") from error


def require_known_venue(market: Market, store: CandleStore | None) -> None:
    """Refuse a misspelt exchange: its candles would never be found again. Raises HistoryError."""
    if market.venue == FILE_VENUE or (store is not None and store.latest_open_time_ms(market) is not None):
        return
    _require_pair_of_exchange(market, f"For candles that are of no exchange, use --venue {FILE_VENUE}.")


def require_exchange(market: Market) -> None:
    """Candles are fetched from an exchange only. Raises HistoryError."""
    if market.venue in (FILE_VENUE, SIMULATED_VENUE):
        raise HistoryError(
            f"Candles of '{market.venue}' come from no exchange, so none can be asked for them. Name an exchange, such "
            "as --venue binance; files are read with the command import."
        )
    _require_pair_of_exchange(market, "Name one by its ccxt id, such as --venue binance.")


def _require_pair_of_exchange(market: Market, otherwise: str) -> None:
    """Raises HistoryError. otherwise: what to do if the exchange is none."""
    names = known_venues()
    if market.venue not in names:
        close = difflib.get_close_matches(market.venue.lower(), names, n=3, cutoff=_LEAST_ALIKE)
        hint = f"Did you mean {' or '.join(close)}? " if close else ""
        raise HistoryError(f"'{market.venue}' is not one of the exchanges that ccxt reaches. {hint}{otherwise}")
    if not _PAIR.fullmatch(market.symbol):
        raise HistoryError(
            f"'{market.symbol}' is no symbol of an exchange; write what is traded, a slash and what it is paid in: "
            "--symbol BTC/USDT"
        )
