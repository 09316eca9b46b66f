"""What a series says has changed, against comparing all candles; it may say more, never less."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from core.market.candle import Candle, Interval
from core.market.changes import Change
from core.market.series import CandleSeries

_MINUTE = Interval.parse("1m")
_PLACES = st.lists(st.integers(0, 40), max_size=150)


def _candle(place: int, price: float) -> Candle:
    return Candle(place * _MINUTE.duration_ms, price, price, price, price, 1.0)


@settings(max_examples=100)
@given(places=_PLACES)
def test_what_is_said_to_be_unchanged_is(places: list[int]) -> None:
    series = CandleSeries(_MINUTE)
    states = {series.version: list(series)}
    for number, place in enumerate(places):
        series.add(_candle(place, 1.0 + number))
        states[series.version] = list(series)
    now = states[series.version]
    for version, then in states.items():
        change = series.changes_since(version, len(then))
        assert 0 <= change.first <= len(then) and change.first + change.unchanged_at_end <= len(now)
        assert then[: change.first] == now[: change.first]
        rest = change.unchanged_at_end
        assert then[len(then) - rest :] == now[len(now) - rest :]


@given(before=_PLACES, place=st.integers(0, 41))
def test_one_change_is_known_exactly(before: list[int], place: int) -> None:
    series = CandleSeries(_MINUTE)
    series.extend(_candle(number, 1.0) for number in before)
    version, count = series.version, len(series)
    assert series.changes_since(version, count) == Change(count, 0)
    series.add(_candle(place, 2.0))
    index = series.index_at(place * _MINUTE.duration_ms)
    assert index is not None
    assert series.changes_since(version, count) == Change(index, len(series) - 1 - index)


def test_many_edits_are_remembered_in_little_and_safely() -> None:
    """Ascending edits are the worst case: none makes an older one needless."""
    series = CandleSeries(_MINUTE)
    series.extend(_candle(place, 1.0) for place in range(1_000))
    seen = series.version
    for place in range(200, 900):
        series.add(_candle(place, 2.0))
    assert series.changes_since(seen, 1_000) == Change(200, 100)
    assert series.changes_since(series.version - 1, 1_000) == Change(899, 100)
