from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from core.market.feeds.ticker_poller import PollTrouble, Quoted
from core.market.feeds.tickers import Quote
from desktop.state.quotes import STALE_AFTER_MS, QuoteBook, QuoteState

BTC = ("binance", "BTC/USDT")
QUOTE = Quote(100.0, 1_000, 0.25)


@pytest.fixture
def quotes(qapp: object) -> QuoteBook:
    return QuoteBook()


def state(quotes: QuoteBook, now_ms: int = 1_000, *, is_polled: bool = True) -> QuoteState:
    return quotes.standing(BTC, now_ms, is_polled=is_polled).state


def test_a_price_is_fresh_until_it_is_old(qtbot: QtBot, quotes: QuoteBook) -> None:
    assert state(quotes) is QuoteState.WAITING and state(quotes, is_polled=False) is QuoteState.NOT_ASKED
    with qtbot.waitSignal(quotes.changed):
        quotes.apply(Quoted("binance", {"BTC/USDT": QUOTE}, {}))
    assert state(quotes, 1_000 + STALE_AFTER_MS) is QuoteState.FRESH
    assert state(quotes, 1_001 + STALE_AFTER_MS) is QuoteState.OLD
    assert state(quotes, 1_001 + STALE_AFTER_MS, is_polled=False) is QuoteState.OLD


def test_trouble_keeps_the_last_price_and_ends_with_the_next_quote(quotes: QuoteBook) -> None:
    quotes.apply(Quoted("binance", {"BTC/USDT": QUOTE}, {}))
    quotes.apply(PollTrouble("binance", "Binance did not answer in time.", 5_000))
    standing = quotes.standing(BTC, 2_000, is_polled=True)
    assert (standing.state, standing.quote) == (QuoteState.NO_ANSWER, QUOTE)
    assert "did not answer" in standing.sentence
    quotes.apply(Quoted("binance", {"BTC/USDT": QUOTE}, {}))
    assert state(quotes) is QuoteState.FRESH and quotes.trouble("binance") is None


def test_trouble_is_separate_for_each_exchange(quotes: QuoteBook) -> None:
    quotes.apply(Quoted("binance", {"BTC/USDT": QUOTE}, {}))
    quotes.apply(PollTrouble("kraken", "…", 5_000))
    assert state(quotes) is QuoteState.FRESH


def test_an_unknown_market_may_appear_later(quotes: QuoteBook) -> None:
    quotes.apply(Quoted("binance", {}, {"BTC/USDT": "Binance has no spot market BTC/USDT."}))
    assert state(quotes) is QuoteState.NO_MARKET
    quotes.apply(Quoted("binance", {"BTC/USDT": QUOTE}, {}))
    assert state(quotes) is QuoteState.FRESH


def test_unwatched_markets_are_forgotten(quotes: QuoteBook) -> None:
    quotes.apply(Quoted("binance", {"BTC/USDT": QUOTE}, {"NO/SUCH": "…"}))
    quotes.apply(PollTrouble("kraken", "…", 0))
    quotes.forget_others({("binance", "NO/SUCH")})
    assert state(quotes) is QuoteState.WAITING and quotes.trouble("kraken") is None
    assert quotes.standing(("binance", "NO/SUCH"), 0, is_polled=True).state is QuoteState.NO_MARKET
