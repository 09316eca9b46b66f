"""The indicators of TA-Lib: their inputs fit its functions, and incremental values equal a full computation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import talib
from talib import abstract

from core.domain.candle import Interval
from core.domain.candle_series import CandleSeries
from core.indicators.parameters import Number
from core.indicators.registry import INDICATORS, Call
from core.indicators.series import OUR_OWN, IndicatorSeries
from core.indicators.spec import IndicatorSpec
from tests.core.indicators.support import SHORT, USUAL, same, series_of, values_of
from tests.support.candles import random_walk

_BY_TALIB = [spec for spec in (*USUAL, *SHORT) if INDICATORS[spec.kind].calls]
_CALLS = [(row.kind, call) for row in INDICATORS.values() for call in row.calls]
_STEP_BACK = 512
"""At most so many candles are worked out again where one of the last few hundred is corrected."""
_MINUTE = Interval.parse("1m")

every_spec = pytest.mark.parametrize("spec", _BY_TALIB, ids=str)


def test_each_indicator_is_either_from_talib_or_our_own() -> None:
    ours = {kind for kind, row in INDICATORS.items() if not row.calls}
    assert ours == set(OUR_OWN), "a row without calls has its class in OUR_OWN of core/indicators/series.py"


@pytest.mark.parametrize(("kind", "call"), _CALLS, ids=lambda each: str(getattr(each, "function", each)))
def test_each_table_row_provides_the_inputs_of_its_function(kind: str, call: Call) -> None:
    info = abstract.Function(call.function).info
    asked = [name for names in info["input_names"].values() for name in ([names] if isinstance(names, str) else names)]
    assert asked == ["close" if name == "source" else name for name in call.inputs]
    assert len(info["parameters"]) in (len(call.arguments), len(call.arguments) + 1), "but for the kind of average"
    names = {parameter.name for parameter in INDICATORS[kind].parameters}
    assert {each for each in call.arguments if isinstance(each, str)} <= names


def _lookback(spec: IndicatorSpec) -> int:
    values = spec.parameters()
    found = []
    for call in INDICATORS[spec.kind].calls:
        function = abstract.Function(call.function)
        given = [values[each] if isinstance(each, str) else each for each in call.arguments]
        function.parameters = dict(zip(function.info["parameters"], given, strict=False))
        found.append(function.lookback)
    return max(found)


def _at_the_ends(kind: str) -> list[IndicatorSpec]:
    """With each number at its smallest and at its largest, the others as usual; what does not go together left out."""
    specs = []
    for parameter in INDICATORS[kind].parameters:
        if isinstance(parameter, Number):
            ends = {"slow": (13, parameter.maximum), "fast": (parameter.minimum, 25)}
            for value in ends.get(parameter.name, (parameter.minimum, parameter.maximum)):
                specs.append(IndicatorSpec.of(kind, **{parameter.name: value}))
    return specs


@every_spec
def test_the_warm_up_equals_talib(spec: IndicatorSpec) -> None:
    for tried in (spec, *_at_the_ends(spec.kind)):
        assert IndicatorSeries(tried, CandleSeries(_MINUTE)).first_defined == _lookback(tried), tried


@pytest.fixture(scope="module")
def many() -> CandleSeries:
    return series_of(random_walk(10_500, seed=12), _MINUTE)


@pytest.mark.parametrize("kind", sorted(INDICATORS))
def test_every_value_allowed_by_the_dialog_is_computed(kind: str, many: CandleSeries) -> None:
    for spec in _at_the_ends(kind):
        indicator = IndicatorSeries(spec, many)
        values = indicator.values[:, indicator.first_defined :]
        assert values.size and np.isfinite(values).all(), spec


def _by_functions(spec: IndicatorSpec, candles: CandleSeries) -> np.ndarray:
    """All candles at once, by the functions alone."""
    row, values = INDICATORS[spec.kind], spec.parameters()
    numbers = {
        "hl2": (candles.high + candles.low) / 2.0,
        "hlc3": (candles.high + candles.low + candles.close) / 3.0,
        "ohlc4": (candles.open + candles.high + candles.low + candles.close) / 4.0,
    }
    found = []
    for call in row.calls:
        names = [str(values.get("source")) if name == "source" else name for name in call.inputs]
        columns = [numbers[name] if name in numbers else getattr(candles, name) for name in names]
        given = [values[each] if isinstance(each, str) else each for each in call.arguments]
        found += list(np.atleast_2d(getattr(talib, call.function)(*columns, *given)))
    shown = np.array(found) * row.scale + row.shift
    shown[:, : int(row.warm_up(spec.numbers()))] = np.nan
    return shown


@every_spec
def test_candle_by_candle_equals_all_at_once_bit_for_bit(spec: IndicatorSpec) -> None:
    walk = random_walk(600, seed=13)
    candles = series_of(walk[:1], _MINUTE)
    indicator = IndicatorSeries(spec, candles)
    for before, candle in enumerate(walk[1:], start=1):
        ahead = indicator.preview(candle)
        candles.add(candle)
        indicator.sync()
        assert len(indicator) == before + 1
        assert same(np.array(ahead), indicator.values[:, -1])
    assert same(indicator.values, _by_functions(spec, candles))


@every_spec
def test_a_correction_of_a_recent_candle_recomputes_few_values(spec: IndicatorSpec) -> None:
    walk = random_walk(3_500, seed=14)
    candles = series_of(walk[:3_000], _MINUTE)
    indicator = IndicatorSeries(spec, candles)
    for index in range(3_000, 3_500):
        candles.add(walk[index])
        assert indicator.count_missing() == 1
        indicator.sync()
        if index % 97 == 0:
            late = walk[index - index % 200]
            candles.add(replace(late, high=late.high * 1.01, close=late.high, volume=late.volume + 1.0))
            assert 0 < indicator.count_missing() <= _STEP_BACK
            indicator.sync()
    assert same(indicator.values, values_of(spec, candles))
    candles.add(walk[5])
    candles.add(replace(walk[6], low=walk[6].low * 0.99))
    indicator.sync()
    assert same(indicator.values, values_of(spec, candles))


@every_spec
def test_small_and_large_updates_give_the_same_values(spec: IndicatorSpec) -> None:
    """A few go through streams, many through functions."""
    walk = random_walk(6_000, seed=15)
    candles = series_of(walk[:2_000], _MINUTE)
    indicator = IndicatorSeries(spec, candles)
    for stop in (2_010, 2_300, 4_500, 4_501, 6_000):
        candles.extend(walk[len(candles) : stop])
        indicator.sync()
        assert same(indicator.values, _by_functions(spec, candles)), stop
