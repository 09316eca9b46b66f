from __future__ import annotations

import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.clock import ManualClock
from core.market.feeds.trouble import VenueError
from core.market.symbols import FRESH_MS, SymbolCache, SymbolIndex, SymbolList, fetch_symbols
from tests.support.loopback_tickers import LoopbackTickers

SOME = ("BTC/USDT", "BTC/EUR", "ETH/BTC", "ETH/USDT", "WBTC/USDT", "BETH/USDT", "BTCDOM/USDT", "SOL/USD", "USDT/USD")
NAMES = st.text(string.ascii_uppercase + string.digits, min_size=1, max_size=6)
SYMBOLS = st.lists(st.tuples(NAMES, NAMES).map("/".join), max_size=30)


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("btc", ["BTC/USDT", "BTC/EUR", "BTCDOM/USDT"]),
        ("eth", ["ETH/USDT", "ETH/BTC", "BETH/USDT"]),
        ("ethbtc", ["ETH/BTC"]),
        ("eth/b", ["ETH/BTC"]),
        ("ETH/", ["ETH/USDT", "ETH/BTC"]),
        ("BTC-EUR", ["BTC/EUR"]),
        ("nothing", []),
        ("  ", []),
    ],
)
def test_the_best_match_comes_first(typed: str, first: list[str]) -> None:
    assert SymbolIndex(SOME).search(typed)[: max(1, len(first))] == first


@given(SYMBOLS, NAMES)
def test_exactly_the_symbols_with_the_letters_are_found(symbols: list[str], typed: str) -> None:
    found = SymbolIndex(symbols).search(typed, limit=1_000)
    assert set(found) == {symbol for symbol in symbols if typed in symbol.replace("/", "")}
    assert len(found) == len(set(found))


@given(SYMBOLS)
def test_an_exact_match_is_first(symbols: list[str]) -> None:
    index = SymbolIndex(symbols)
    for symbol in symbols:
        plain = symbol.replace("/", "")
        assert index.search(symbol)[0].replace("/", "") == plain


def test_a_list_is_stored_with_its_age(tmp_path: Path) -> None:
    cache, listed = SymbolCache(tmp_path / "symbols"), SymbolList("kraken", ("BTC/EUR", "ETH/EUR"), 1_000)
    assert cache.load("kraken") is None
    cache.save(listed)
    assert cache.load("kraken") == listed
    assert listed.is_fresh(1_000 + FRESH_MS - 1) and not listed.is_fresh(1_000 + FRESH_MS)
    assert not listed.is_fresh(0), "from the future"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"symbols": 3, "fetched_at_ms": 1}', '{"symbols": []}'])
def test_a_broken_cache_file_is_ignored(tmp_path: Path, text: str) -> None:
    (tmp_path / "kraken.json").write_text(text)
    assert SymbolCache(tmp_path).load("kraken") is None


def test_an_unwritable_folder_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    SymbolCache(tmp_path / "file").save(SymbolList("kraken", ("BTC/EUR",), 0))


async def test_all_spot_markets_of_the_exchange_are_listed() -> None:
    async with LoopbackTickers({"BTC/USDT": 1.0, "ETH/BTC": 2.0}) as exchange:
        listed = await fetch_symbols("binance", exchange.urls, ManualClock(77))
        assert listed == SymbolList("binance", ("BTC/USDT", "ETH/BTC"), 77)
        exchange.refuse()
        with pytest.raises(VenueError, match="Binance"):
            await fetch_symbols("binance", exchange.urls, ManualClock(77))
