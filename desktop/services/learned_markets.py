"""The markets that one model learns together in the window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.domain.candle import SIMULATED_VENUE, Interval
from core.domain.watchlist import WatchedMarket
from core.settings.tree import MarketSettings, Settings
from desktop.services.market_check import EXCHANGE_FEEDS


def wanted_markets(settings: Settings, group: Sequence[MarketSettings]) -> tuple[MarketSettings, ...]:
    """The market that is opened, then those that its model learns with it, each once.

    They are the markets of the list that are switched on and have its interval; and `group`, of the command line, if it
    contains the opened market.
    """
    opened = settings.market
    learned = (row for row in settings.watchlist.markets if row.is_learned and fits(row, opened))
    listed = (replace(opened, venue=row.venue, symbol=row.symbol) for row in learned)
    return tuple(dict.fromkeys((opened, *(group if opened in group else ()), *listed)))


def fits(row: WatchedMarket, opened: MarketSettings) -> bool:
    """Whether both are from exchanges or both simulated, with candles of one length."""
    is_simulated = row.venue == SIMULATED_VENUE
    if is_simulated is not (opened.feed == "simulate") or not (is_simulated or opened.feed in EXCHANGE_FEEDS):
        return False
    try:
        return row.market.interval == Interval.parse(opened.interval)
    except ValueError:
        return False  # the feed is about to say so


def is_same(asked: MarketSettings, wanted: MarketSettings) -> bool:
    """Whether both request the same candles; from an exchange, with or without the sample as a substitute."""
    if asked.feed in EXCHANGE_FEEDS and wanted.feed in EXCHANGE_FEEDS:
        wanted = replace(wanted, feed=asked.feed)
    return asked == wanted
