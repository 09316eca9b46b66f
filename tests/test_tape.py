"""The tape of the test exchange: its trades add up to its candles at every moment."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.candle import Candle, Interval
from tests.support.tape import Tape, TapeTrade, generated_tape

SECOND = Interval.parse("1s")
NOW_MS = 1_700_000_000_000


def added_up(open_time_ms: int, trades: list[TapeTrade]) -> Candle:
    prices = [trade.price for trade in trades]
    volume = round(sum(round(trade.amount * 10**8) for trade in trades)) / 10**8
    return Candle(open_time_ms, prices[0], max(prices), min(prices), prices[-1], volume)


@given(trades=st.sampled_from([4, 31, 100, 1000]), seed=st.integers(0, 50), passed_ms=st.integers(0, 999))
def test_trades_so_far_equal_the_open_candle_and_all_trades_the_closed_one(
    trades: int, seed: int, passed_ms: int
) -> None:
    tape = generated_tape(SECOND, NOW_MS, 2, 2, seed, trades)
    final = tape.candles[2]
    made = tape.trades_of(final)
    assert len(made) == trades and added_up(final.open_time_ms, made) == final
    so_far = [trade for trade in made if trade.time_ms <= final.open_time_ms + passed_ms]
    assert tape.forming(final.open_time_ms + passed_ms) == added_up(final.open_time_ms, so_far)


def test_trades_are_found_by_time_and_id_across_a_gap() -> None:
    whole = generated_tape(SECOND, NOW_MS, 5, 5)
    tape = Tape([candle for candle in whole.candles if candle.open_time_ms != NOW_MS], SECOND)
    trades = [trade for candle in tape.candles for trade in tape.trades_of(candle)]
    ids = [trade.id for trade in trades]
    assert ids == sorted(set(ids))
    assert list(tape.trades_between(0, 2 * NOW_MS)) == trades
    first, last = trades[40], trades[200]
    between = list(tape.trades_between(first.time_ms, last.time_ms))
    assert (between[0].id, between[-1].id) == (first.id, last.id)
    assert list(tape.trades_from(first.id, last.time_ms)) == between


def test_a_candle_without_volume_has_no_trades() -> None:
    quiet = Candle(NOW_MS, 5.0, 5.0, 5.0, 5.0, 0.0)
    tape = Tape([quiet], SECOND)
    assert tape.trades_of(quiet) == [] and tape.forming(NOW_MS + 500) == quiet


def test_too_few_trades_for_the_extremes_are_refused() -> None:
    with pytest.raises(ValueError, match="4, 7, 10"):
        Tape([], SECOND, trades=30)
