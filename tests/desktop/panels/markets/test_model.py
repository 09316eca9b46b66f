from __future__ import annotations

import itertools
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from core.domain.candle import Interval, Market
from core.domain.events import Estimate
from core.market.feeds.tickers import Quote
from desktop.panels.accuracy.words import value_of
from desktop.panels.markets.model import SORTABLE, Column, arranged
from desktop.panels.markets.row import Row
from desktop.state.markets import MarketRow
from desktop.state.quotes import QuoteState, Standing
from tests.desktop import scenario, watch_scenario

ESTIMATES = st.builds(
    lambda middle, width: Estimate(middle, None if width is None else middle - width, middle + (width or 0.0), 900),
    st.sampled_from([-0.1, 0.0, 0.1]),
    st.sampled_from([None, 0.05]),
)
QUOTES = st.builds(
    lambda last, change: Quote(last, 0, change),
    st.sampled_from([1.0, 2.0, 3.0]),
    st.sampled_from([None, -0.5, 0.0, 1.0]),
)


@st.composite
def rows_of_markets(draw: st.DrawFn) -> list[Row]:
    names = draw(st.lists(st.sampled_from(["A/B", "a/c", "SIM-2", "SIM-10", "1X/B", "10X/B"]), unique=True))
    rows = []
    for name in names:
        market = Market(draw(st.sampled_from(["binance", "kraken"])), name, Interval.parse("1m"))
        skill, quote = draw(st.none() | ESTIMATES), draw(st.none() | QUOTES)
        status = None
        if skill is not None:
            status = scenario.market_status(market, accuracy=watch_scenario.accuracy(skill, draw(ESTIMATES)))
        known = MarketRow(market, is_learned=draw(st.booleans()), status=status)
        rows.append(Row(known, Standing(draw(st.sampled_from(QuoteState)), quote), None))
    return rows


def shown_value(row: Row, column: Column) -> float | None:
    """The number that a column shows."""
    estimate = row.known.skill if column is Column.SKILL else row.known.model_gain
    return {
        Column.LAST: row.last,
        Column.CHANGE: row.change,
        Column.LEARNED: float(not row.is_learned),
    }.get(column, None if estimate is None else value_of(estimate))


@given(rows_of_markets(), st.sampled_from([None, *SORTABLE]), st.booleans(), st.sampled_from(["", " ", "b", "SIM 1"]))
def test_nothing_is_lost_or_invented_by_sorting(
    rows: list[Row], column: Column | None, is_descending: bool, text: str
) -> None:
    unsorted = arranged(rows, text, None, is_descending=False)
    found = arranged(rows, text, column, is_descending=is_descending)
    assert sorted(found, key=rows.index) == unsorted
    if not text.strip():
        assert len(found) == len(rows)


@given(
    rows_of_markets(),
    st.sampled_from([Column.LAST, Column.CHANGE, Column.LEARNED, Column.SKILL, Column.GAIN]),
    st.booleans(),
)
def test_numbers_ascend_or_descend_unknown_ones_are_last_and_equal_ones_stay(
    rows: list[Row], column: Column, is_descending: bool
) -> None:
    for one, other in itertools.pairwise(arranged(rows, "", column, is_descending=is_descending)):
        first, second = shown_value(one, column), shown_value(other, column)
        if first is None:
            assert second is None
        if first == second:
            assert rows.index(one) < rows.index(other)
        elif first is not None and second is not None:
            assert (first > second) is is_descending


def test_names_are_sorted_with_their_numbers_by_value() -> None:
    names = ["SIM-10", "b/usdt", "SIM-2", "A/USDT", "10X/B", "1X/B"]
    template = Row(MarketRow(watch_scenario.SIMULATED[0]), Standing(QuoteState.FRESH, None), None)
    rows = [replace(template, known=MarketRow(Market("binance", name, Interval.parse("1m")))) for name in names]
    found = [row.symbol for row in arranged(rows, "", Column.MARKET, is_descending=False)]
    assert found == ["1X/B", "10X/B", "A/USDT", "b/usdt", "SIM-2", "SIM-10"]
