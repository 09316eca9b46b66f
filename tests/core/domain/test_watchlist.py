from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from core.domain.watchlist import DEFAULT_WATCHLIST, MOST_WATCHED, WatchedMarket, added, moved, with_learning, without

LISTS = st.lists(st.integers(0, 30), unique=True, max_size=12).map(
    lambda numbers: tuple(WatchedMarket("kraken", f"C{number}/EUR") for number in numbers)
)


@given(LISTS, st.data())
def test_a_move_keeps_the_order_of_the_others(markets: tuple[WatchedMarket, ...], data: st.DataObject) -> None:
    if not markets:
        assert moved(markets, WatchedMarket("kraken", "X/EUR"), 0) == ()
        return
    chosen = data.draw(st.sampled_from(markets))
    place = data.draw(st.integers(-3, len(markets) + 3))
    result = moved(markets, chosen, place)
    assert result[max(0, min(place, len(markets) - 1))] == chosen
    assert without(result, chosen) == without(markets, chosen)


@given(LISTS)
def test_an_added_market_is_last_and_can_be_removed(markets: tuple[WatchedMarket, ...]) -> None:
    newcomer = WatchedMarket("okx", "BTC/USDT", "1h")
    assert without(added(markets, newcomer), newcomer) == markets
    assert added(markets, newcomer)[-1] == newcomer
    with pytest.raises(ValueError, match="already"):
        added(added(markets, newcomer), newcomer)


def test_a_full_list_is_refused() -> None:
    full = tuple(WatchedMarket("kraken", f"C{number}/EUR") for number in range(MOST_WATCHED))
    with pytest.raises(ValueError, match="full"):
        added(full, WatchedMarket("okx", "BTC/USDT"))


@pytest.mark.parametrize(
    ("venue", "symbol", "interval"),
    [("Kraken", "BTC/EUR", "1m"), ("kraken", "BTCEUR", "1m"), ("kraken", "BTC/EUR", "1 minute"), ("", "BTC/EUR", "1m")],
)
def test_an_invalid_market_is_refused(venue: str, symbol: str, interval: str) -> None:
    with pytest.raises(ValidationError):
        WatchedMarket(venue, symbol, interval)


def test_two_spellings_of_an_interval_are_one_market() -> None:
    assert WatchedMarket("kraken", "BTC/EUR", "60m") == WatchedMarket("kraken", "BTC/EUR", "1h")


def test_a_simulated_market_is_named_by_its_number() -> None:
    assert WatchedMarket("simulated", "SIM-7").market.is_simulated
    with pytest.raises(ValidationError):
        WatchedMarket("simulated", "SIM-")


def test_whether_a_market_is_learned_makes_it_no_other_market() -> None:
    row = WatchedMarket("kraken", "BTC/EUR", "1h", is_learned=True)
    assert WatchedMarket("kraken", "BTC/EUR", "1h") == row
    assert without((row,), WatchedMarket("kraken", "BTC/EUR", "1h")) == ()


def test_learning_is_set_for_one_market_alone() -> None:
    before = DEFAULT_WATCHLIST
    after = with_learning(before, before[1], is_learned=True)
    assert [each.is_learned for each in after] == [False, True, False] and after == before
    assert with_learning(after, after[1], is_learned=False)[1].is_learned is False
