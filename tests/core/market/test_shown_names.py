"""Names of markets on the screen."""

from __future__ import annotations

from itertools import islice

import pytest

from core.domain.candle import FILE_VENUE, Interval, Market
from core.market.shown_names import (
    SAMPLE_MARKET,
    file_symbol,
    new_replay,
    newest_replay,
    replays_of,
    shown_market,
    shown_symbol,
    symbols_apart,
)

MINUTE = Interval.parse("1m")


@pytest.mark.parametrize(
    ("venue", "symbol", "shown"),
    [
        (FILE_VENUE, file_symbol("my-market-1m", "dd2831aa01"), "my-market-1m"),
        (FILE_VENUE, file_symbol("a#b", "0123456789"), "a#b"),
        (FILE_VENUE, file_symbol("not utf-8 \udcff\nin two lines", "0123456789"), "not utf-8 ? in two lines"),
        (FILE_VENUE, "my-market", "my-market"),
        (FILE_VENUE, "#dd2831", "#dd2831"),
        (FILE_VENUE, "number#5", "number#5"),
        ("binance", "BTC/USDT#dd2831", "BTC/USDT#dd2831"),
    ],
)
def test_the_fingerprint_of_a_files_content_is_not_shown(venue: str, symbol: str, shown: str) -> None:
    assert shown_symbol(venue, symbol) == shown
    assert shown_market(Market(venue, symbol, MINUTE)) == f"{shown} 1m ({venue})"


def test_files_of_the_same_name_are_distinguished_by_fingerprint() -> None:
    first, second = (Market(FILE_VENUE, file_symbol("walk", print_), MINUTE) for print_ in ("aaaaaa", "bbbbbb"))
    other = Market(FILE_VENUE, file_symbol("walk", "cccccc"), Interval.parse("5m"))
    assert symbols_apart([first, second, other]) == {first: "walk#aaaaaa", second: "walk#bbbbbb", other: "walk"}


@pytest.mark.parametrize("symbol", [file_symbol("walk, replay 1st", "aaaaaa"), SAMPLE_MARKET.symbol])
def test_each_replay_of_a_file_is_another_market_with_a_name_to_read(symbol: str) -> None:
    first, second, third = islice(replays_of(Market(FILE_VENUE, symbol, MINUTE)), 3)
    assert first.symbol == symbol and len({first, second, third}) == 3
    assert shown_symbol(FILE_VENUE, second.symbol) == f"{shown_symbol(FILE_VENUE, symbol)}, replay 2"
    assert list(islice(replays_of(third), 3)) == [first, second, third], "from any of them"


def test_the_newest_replay_is_the_last_stored_one_and_the_new_one_follows() -> None:
    first, second, third = islice(replays_of(SAMPLE_MARKET), 3)
    for stored, newest, new in (([], first, first), ([first], first, second), ([first, second], second, third)):
        assert newest_replay(second, stored.__contains__) == newest
        assert new_replay(second, stored.__contains__) == new
