"""The table of exchanges against what ccxt sends to each of them."""

from __future__ import annotations

import contextlib
import re
from datetime import UTC, datetime
from urllib.parse import unquote

import ccxt.pro
import pytest

from core.domain.venue_names import venue_name
from core.market.feeds.ccxt_objects import make_exchange
from core.market.feeds.exchange_facts import FACTS, facts_of
from core.market.feeds.trouble import HttpResponse, VenueError
from tests.support.exchange.scripted import ScriptedExchange
from tests.support.virtual_network import loop_time

STEP_MS = 60_000
_NO_REQUEST = frozenset({"cex", "luno", "nado"})
"""They refuse without one: for lack of an argument, of a key, of a market's description."""
_TIMES = re.compile(r"(?<!\d)(?:\d{13}|\d{10}|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?!\d)")
DESCRIPTION = {"baseName": "BTC", "priceScale": 8, "valueScale": 8, "info": {"id": 1, "market_id": "1", "code": "BTC"}}


def _opens(venue: str) -> bool:
    try:
        make_exchange(venue, None, 5.0, HttpResponse())
    except VenueError:
        return False
    return True


OPEN = [venue for venue in ccxt.pro.exchanges if _opens(venue)]


def times_in(request: str) -> list[int]:
    """In milliseconds."""
    return [_milliseconds(text) for text in _TIMES.findall(unquote(request))]


def _milliseconds(text: str) -> int:
    if text.isdecimal():
        return int(text) * (1000 if len(text) == 10 else 1)
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


@pytest.mark.parametrize("venue", sorted(set(OPEN) - _NO_REQUEST))
async def test_a_request_begins_where_it_should_and_its_window_has_a_page(venue: str) -> None:
    """Else a candle that exists may seem to be missing."""
    exchange = ScriptedExchange(venue, lambda request: "[]", {"BTC/USDT": "BTCUSDT"}, DESCRIPTION)
    since_ms = (loop_time().now_ms() - 5 * 86_400_000) // STEP_MS * STEP_MS
    async with exchange.running():
        connected = exchange.open_venue(exchange.market())
        try:
            await connected.open(None)
            with contextlib.suppress(VenueError):  # this is no empty list of some exchanges
                await connected.candles(since_ms)
        finally:
            await connected.close()
    times = times_in(exchange.requests[-1])
    page_ms = connected.page_rows * STEP_MS
    ends = [time_ms for time_ms in times if since_ms + STEP_MS < time_ms < since_ms + 4 * 86_400_000]
    has_start = any(abs(time_ms - since_ms) <= STEP_MS for time_ms in times)
    assert has_start or ends or facts_of(venue).listed_rows is not None, "it lists its newest candles only"
    assert all(end_ms >= since_ms + page_ms - 2 * STEP_MS for end_ms in ends), "a page is longer than the window"


def test_every_row_is_of_an_exchange_and_has_a_source() -> None:
    assert set(FACTS) <= set(ccxt.pro.exchanges) and list(FACTS) == sorted(FACTS)
    assert all(facts.source for facts in FACTS.values())


def test_exchanges_have_names_and_no_two_the_same() -> None:
    names = [venue_name(venue) for venue in OPEN]
    assert len(set(names)) == len(names)
