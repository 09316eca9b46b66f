"""Three simulated markets that one model learns in a whole window."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from core.domain.candle import SIMULATED_VENUE, Interval, Market
from core.domain.watchlist import WatchedMarket
from core.settings.window import WatchlistSettings
from desktop.app.composition import Application
from desktop.app.context import Context
from tests.desktop.whole_window import CATCH_UP, context, step_of

MINUTE = Interval.parse("1m")


MARKETS = tuple(Market(SIMULATED_VENUE, f"SIM-{number}", MINUTE) for number in (3, 5, 7))


FIRST, SECOND, THIRD = MARKETS


def simulated(root: Path, *learned: Market, opened: Market = SECOND, **changes: object) -> Context:
    """All three in the list, these switched on."""
    chosen = context(root, feed="simulate", symbol=opened.symbol, interval="1m", file=None, **changes)
    rows = tuple(WatchedMarket(SIMULATED_VENUE, each.symbol, "1m", each in learned) for each in MARKETS)
    settings = dataclasses.replace(chosen.settings, watchlist=WatchlistSettings(markets=rows))
    return dataclasses.replace(chosen, settings=settings)


def positions(application: Application) -> dict[Market, int | None]:
    status = application.state.status
    return {} if status is None else {each.member.market: each.position_ms for each in status.markets}


def has_caught_up(application: Application) -> bool:
    found = positions(application)
    return len(found) == 3 and step_of(application) >= CATCH_UP - 2
