"""A market is learned alike, whichever others are learned with it, bit for bit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.domain.quantities import FloatArray
from core.forecast.arrays import Arrays, Places
from core.forecast.panel import Panel
from tests.core.forecast.together import LEARNERS, MARKETS, OF_PANELS, Case, Close, Company

ALL = range(MARKETS)
CLOSES = st.lists(st.lists(st.sampled_from(ALL), unique=True, max_size=MARKETS), min_size=1, max_size=40)
"""Which markets have a candle, in any order: of different ages, with holes."""
_slow = partial(pytest.param, marks=pytest.mark.slow)
_WINDOW = 40
"""Of the past that is read, so that it wraps around."""


def closes(count: int, seed: int) -> list[Close]:
    """Long enough that experts forecast from their own errors; the second market joins late, the third is thin."""
    generator = np.random.default_rng(seed)
    begins, shares = (0, count // 3, 0, 5), (0.97, 1.0, 0.3, 0.9)
    return [
        [market for market in ALL if row >= begins[market] and generator.random() < shares[market]]
        for row in range(count)
    ]


def no_numbers(panel: Panel, places: Places) -> FloatArray:
    """In place of the others' returns."""
    return np.zeros((len(places), panel.markets - 1))


@pytest.fixture(autouse=True, scope="module")
def a_short_past_without_numbers_of_others() -> Iterator[None]:
    """What a market reads of others depends on them, so that it is left out here."""
    with pytest.MonkeyPatch.context() as patch:
        for module in ("reference_forecast", "baseline_experts"):
            patch.setattr(f"core.forecast.{module}.REFERENCE_WINDOW", _WINDOW)
        patch.setattr("core.training.online.forecaster.exchange_numbers", no_numbers)
        yield


def assert_equal(found: Sequence[NDArray[Any]], expected: Sequence[NDArray[Any]]) -> None:
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


def assert_same_state(found: Arrays, expected: Arrays) -> None:
    assert list(found) == list(expected)
    assert_equal(list(found.values()), list(expected.values()))


def assert_alone_as_together(case: Case, schedule: Sequence[Close]) -> None:
    together, alone = Company(case, ALL), {market: Company(case, [market]) for market in ALL}
    for number, present in enumerate(schedule):
        for market, found in together.close(number, present).items():
            assert_equal(found, alone[market].close(number, [market])[market])
    for market in ALL:
        assert_same_state(together.state(market), alone[market].state(market))


def assert_restored_in_the_middle(case: Case, schedule: Sequence[Close], market: int, cut: int) -> None:
    """Into a session whose other markets are the same, and whose market of this place had another past."""
    whole, other = Company(case, ALL), Company(case, ALL)
    for number, present in enumerate(schedule[:cut]):
        whole.close(number, present)
        other.close(number, [each for each in present if each != market])
    strange = Company(case, ALL, seed=1)
    for number in range(len(schedule[:cut]) // 2):
        strange.close(number, [market])
    other.restore(strange.state(market), market)
    before = {each: other.state(each) for each in ALL if each != market}
    other.restore(whole.state(market), market)
    for each, state in before.items():
        assert_same_state(other.state(each), state)
    for number, present in enumerate(schedule[cut:], start=cut):
        expected = whole.close(number, present)
        for each, found in other.close(number, present).items():
            assert_equal(found, expected[each])
    for each in ALL:
        assert_same_state(other.state(each), whole.state(each))


@pytest.mark.parametrize("name", LEARNERS)
@settings(max_examples=10, deadline=None)
@given(schedule=CLOSES)
def test_a_learner_treats_a_market_alike_in_any_company(name: str, schedule: list[Close]) -> None:
    assert_alone_as_together(LEARNERS[name], schedule)


@pytest.mark.parametrize("name", LEARNERS)
@settings(max_examples=10, deadline=None)
@given(schedule=CLOSES, market=st.sampled_from(ALL), cut=st.integers(0, 40))
def test_a_restored_market_of_a_learner_continues_and_the_others_stay(
    name: str, schedule: list[Close], market: int, cut: int
) -> None:
    assert_restored_in_the_middle(LEARNERS[name], schedule, market, cut)


@pytest.mark.parametrize("name", OF_PANELS)
def test_what_reads_a_panel_treats_a_market_alike_in_any_company(name: str) -> None:
    assert_alone_as_together(OF_PANELS[name], closes(130, 1))


@pytest.mark.parametrize(("market", "cut"), [(1, 60), _slow(0, 100), _slow(2, 30)])
@pytest.mark.parametrize("name", OF_PANELS)
def test_a_restored_market_of_a_panel_continues_and_the_others_stay(name: str, market: int, cut: int) -> None:
    assert_restored_in_the_middle(OF_PANELS[name], closes(130, 2), market, cut)
