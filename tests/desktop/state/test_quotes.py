from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from core.market.feeds.ticker_poller import PollTrouble, Quoted
from core.market.feeds.tickers import DayOfPrices, Quote
from desktop.state.quotes import STALE_AFTER_MS, QuoteBook, QuoteState

BTC = ("binance", "BTC/USDT")
QUOTE = Quote(100.0, 1_000, DayOfPrices((90.0, 100.0), 80.0))


@pytest.fixture
def book(qapp: object) -> QuoteBook:
    return QuoteBook()


def state(book: QuoteBook, now_ms: int = 1_000, *, is_polled: bool = True) -> QuoteState:
    return book.standing(BTC, now_ms, is_polled=is_polled).state


def test_a_price_is_fresh_until_it_is_old(qtbot: QtBot, book: QuoteBook) -> None:
    assert state(book) is QuoteState.WAITING and state(book, is_polled=False) is QuoteState.NOT_ASKED
    with qtbot.waitSignal(book.changed):
        book.take(Quoted("binance", {"BTC/USDT": QUOTE}, {}))
    assert state(book, 1_000 + STALE_AFTER_MS) is QuoteState.FRESH
    assert state(book, 1_001 + STALE_AFTER_MS) is QuoteState.OLD
    assert state(book, 1_001 + STALE_AFTER_MS, is_polled=False) is QuoteState.OLD


def test_trouble_leaves_the_last_price_with_its_sentence_and_ends_with_the_next(book: QuoteBook) -> None:
    book.take(Quoted("binance", {"BTC/USDT": QUOTE}, {}))
    book.take(PollTrouble("binance", "Binance did not answer in time.", 5_000))
    standing = book.standing(BTC, 2_000, is_polled=True)
    assert (standing.state, standing.quote) == (QuoteState.NO_ANSWER, QUOTE)
    assert "did not answer" in standing.sentence
    book.take(Quoted("binance", {"BTC/USDT": QUOTE}, {}))
    assert state(book) is QuoteState.FRESH and book.trouble("binance") is None


def test_trouble_of_one_exchange_is_not_that_of_another(book: QuoteBook) -> None:
    book.take(Quoted("binance", {"BTC/USDT": QUOTE}, {}))
    book.take(PollTrouble("kraken", "…", 5_000))
    assert state(book) is QuoteState.FRESH


def test_a_market_that_is_not_there_may_come(book: QuoteBook) -> None:
    book.take(Quoted("binance", {}, {"BTC/USDT": "Binance has no spot market BTC/USDT."}))
    assert state(book) is QuoteState.NO_MARKET
    book.take(Quoted("binance", {"BTC/USDT": QUOTE}, {}))
    assert state(book) is QuoteState.FRESH


def test_a_price_without_its_day_keeps_the_day_that_was_known(book: QuoteBook) -> None:
    book.take(Quoted("binance", {"BTC/USDT": QUOTE}, {}))
    book.take(Quoted("binance", {"BTC/USDT": Quote(120.0, 2_000)}, {}))
    quote = book.standing(BTC, 2_000, is_polled=True).quote
    assert quote is not None and quote.change == pytest.approx(0.5)


def test_what_is_not_watched_any_more_is_forgotten(book: QuoteBook) -> None:
    book.take(Quoted("binance", {"BTC/USDT": QUOTE}, {"NO/SUCH": "…"}))
    book.take(PollTrouble("kraken", "…", 0))
    book.keep_only({("binance", "NO/SUCH")})
    assert state(book) is QuoteState.WAITING and book.trouble("kraken") is None
    assert book.standing(("binance", "NO/SUCH"), 0, is_polled=True).state is QuoteState.NO_MARKET
