"""Unusual input: an injected crash is detected and named; real markets are rarely unusual."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.candle import DAY_MS, Candle
from core.domain.regimes import MarketConditions, Regime
from core.forecast.conditions import ConditionsWatch
from core.forecast.history import History, shape_of
from core.forecast.novelty import FEWEST
from core.forecast.regime import RegimeMixture
from core.market.history.files import read_candle_file
from tests.core.forecast.markets import history, market, stretches
from tests.support.candles import random_walk

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
FILES = (
    "binance/BTCUSDT_15m_2020_first9000.csv",
    "binance/BTCUSDT_1m_20201201.csv",
    "binance/BTCUSDT_5m.csv",
    "stock/AAPL_1min.csv",
    "stock/XSHG_5min_600977.csv",
)
CALM = market(stretches(Regime.CALM, length=480), 3)
CRASH_AT = 450


def conditions(candles: Sequence[Candle], past: History | None = None) -> list[MarketConditions]:
    """As of each candle."""
    past = history() if past is None else past
    watch, found = ConditionsWatch(past), []
    for candle in candles:
        past.append(candle)
        watch.observe()
        found.append(watch.now)
    return found


def with_candle(**changes: float) -> list[Candle]:
    """The calm market with another candle at `CRASH_AT`."""
    return [replace(candle, **changes) if row == CRASH_AT else candle for row, candle in enumerate(CALM)]  # type: ignore[arg-type]


def test_a_crash_is_unusual_at_once_and_named() -> None:
    before = CALM[CRASH_AT].open
    found = conditions(with_candle(low=before * 0.8, close=before * 0.82, high=before * 1.001))
    assert found[CRASH_AT].is_odd
    assert found[CRASH_AT].novelty is not None and found[CRASH_AT].novelty > 1.0
    assert found[CRASH_AT].oddity.startswith("range ") and found[CRASH_AT].oddity.endswith(" times its usual")
    assert not any(each.is_odd for each in found[:CRASH_AT])
    assert sum(each.is_odd for each in found) < 20, "it passes"


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"low": CALM[CRASH_AT].open * 0.93}, "lower wick"),
        ({"high": CALM[CRASH_AT].open * 1.07}, "upper wick"),
        ({"volume": 20_000.0}, "volume"),
    ],
)
def test_the_unusual_input_is_named_with_its_ratio(changes: dict[str, float], named: str) -> None:
    found = conditions(with_candle(**changes))[CRASH_AT]
    assert found.oddity.startswith(named) and "times its usual" in found.oddity


def test_the_named_ratio_is_correct() -> None:
    """The volume's usual is what it has been: the mean of its gamma distribution is 20."""
    words = conditions(with_candle(volume=10_000.0))[CRASH_AT].oddity
    assert words.startswith("volume ")
    assert 300 < float(words.split()[1].replace(",", "")) < 1_200


def test_nothing_is_reported_before_enough_candles() -> None:
    crash = replace(CALM[100], low=CALM[100].low / 2.0)
    found = conditions([*CALM[:100], crash, *CALM[101:]])
    assert all(each.novelty is None and not each.is_odd for each in found[:FEWEST])
    assert all(each.novelty is not None for each in found[FEWEST + 2 :])


def test_one_crash_does_not_make_the_next_one_normal() -> None:
    def crashed(row: int, candle: Candle) -> Candle:
        return replace(candle, low=candle.low * 0.85) if row in (400, CRASH_AT) else candle

    found = conditions([crashed(row, candle) for row, candle in enumerate(CALM)])
    assert found[400].is_odd and found[CRASH_AT].is_odd


@settings(max_examples=4, deadline=None)
@given(moment=st.integers(1, 420), seed=st.integers(0, 10**6))
def test_later_candles_do_not_change_earlier_results(moment: int, seed: int) -> None:
    candles = random_walk(430, seed)
    whole = conditions(candles)
    assert conditions(candles[: moment + 1]) == whole[: moment + 1]


@pytest.fixture(scope="module")
def crashed() -> tuple[list[Candle], list[MarketConditions]]:
    candles = with_candle(low=CALM[CRASH_AT].low * 0.8)
    return candles, conditions(candles)


@pytest.mark.parametrize("cut", [1, 299, CRASH_AT + 1])
def test_a_restored_state_gives_the_same_results(
    crashed: tuple[list[Candle], list[MarketConditions]], cut: int
) -> None:
    candles, expected = crashed
    past = history()
    watch = ConditionsWatch(past)
    for candle in candles[:cut]:
        past.append(candle)
        watch.observe()
    later_past = history()
    later_past.restore(past.state())
    later = ConditionsWatch(later_past)
    later.restore(watch.state())
    assert later.now == watch.now
    rest = []
    for candle in candles[cut:]:
        later_past.append(candle)
        later.observe()
        rest.append(later.now)
    assert rest == expected[cut:]


def test_without_a_state_it_is_rebuilt_from_the_stored_candles() -> None:
    """A checkpoint from before there were conditions."""
    past = history()
    found = conditions(CALM, past)
    watch = ConditionsWatch(past)
    watch.restore({})
    assert watch.now == found[-1]


def test_the_regime_is_that_of_candles_without_the_moves_across_holes() -> None:
    candles = [*CALM[:300], *(replace(each, open_time_ms=each.open_time_ms + DAY_MS) for each in CALM[300:])]
    mixture, expected = RegimeMixture(), []
    for row, candle in enumerate(candles):
        shape = shape_of(candle)
        mixture.observe(shape["log_close"], shape["log_range"], row == 300)
        expected.append(mixture.probabilities)
    assert [each.regime for each in conditions(candles)] == expected


@pytest.mark.needs_data
@pytest.mark.parametrize("name", FILES)
def test_real_markets_are_rarely_unusual_but_crashes_always(name: str) -> None:
    if not DATA.is_dir():
        pytest.skip(f"there is no {DATA}")
    file = read_candle_file(DATA / name)
    candles = list(file.candles[:1000])
    last = candles[-1]
    candles[-1] = replace(last, low=last.open * 0.7, close=last.open * 0.72, high=max(last.high, last.open))
    found = conditions(candles, History(file.interval, 1100, 3))
    judged = [each for each in found[:-1] if each.novelty is not None]
    assert sum(each.is_odd for each in judged) <= 0.005 * len(judged)
    assert found[-1].is_odd
    assert found[-1].oddity
