"""Indicator parameters: validation, error messages and storage."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.indicators.parameters import Choice, IndicatorError, Source
from core.indicators.registry import INDICATORS, Drawing, Place
from core.indicators.series import calculation_for
from core.indicators.spec import IndicatorSpec


@st.composite
def _specs(draw: st.DrawFn) -> IndicatorSpec:
    kind = draw(st.sampled_from(sorted(INDICATORS)))
    values: dict[str, object] = {}
    for parameter in INDICATORS[kind].parameters:
        if isinstance(parameter, Choice):
            values[parameter.name] = draw(st.sampled_from(parameter.options))
        elif parameter.is_whole:
            values[parameter.name] = draw(st.integers(int(parameter.minimum), int(parameter.maximum)))
        else:
            values[parameter.name] = draw(st.floats(parameter.minimum, parameter.maximum))
    if kind == "macd" and values["fast"] >= values["slow"]:  # type: ignore[operator]
        values["fast"], values["slow"] = 12, 26
    return IndicatorSpec.of(kind, **values)


@given(_specs())
def test_written_specs_round_trip(spec: IndicatorSpec) -> None:
    again = IndicatorSpec.from_json(json.loads(json.dumps(spec.to_json())))
    assert again == spec and hash(again) == hash(spec) and again.parameters() == spec.parameters()


@given(_specs())
def test_computation_and_drawing_have_the_same_outputs(spec: IndicatorSpec) -> None:
    calculation, info = calculation_for(spec), INDICATORS[spec.kind]
    assert calculation.outputs == len(info.outputs) <= calculation.rows
    assert spec.label.startswith(info.short)


@pytest.mark.parametrize("kind", list(INDICATORS))
def test_every_kind_is_complete(kind: str) -> None:
    info = INDICATORS[kind]
    assert info.kind == kind and info.title and info.description.endswith(".")
    assert len({parameter.name for parameter in info.parameters}) == len(info.parameters)
    assert len({output.name for output in info.outputs}) == len(info.outputs)
    assert IndicatorSpec.of(kind) == IndicatorSpec.from_json({"kind": kind})
    if info.fixed_range is not None:
        low, high = info.fixed_range
        assert info.place is Place.OWN_PANE and all(low < level < high for level in info.levels)


def test_bands_have_two_edges_and_macd_a_histogram() -> None:
    drawings = {kind: [output.drawing for output in INDICATORS[kind].outputs] for kind in INDICATORS}
    assert drawings["bollinger"].count(Drawing.BAND_EDGE) == 2
    assert drawings["macd"].count(Drawing.HISTOGRAM) == 1


def test_labels() -> None:
    assert IndicatorSpec.of("rsi").label == "RSI 14"
    assert IndicatorSpec.of("ema", period=50, source="hl2").label == "EMA 50 hl2"
    assert IndicatorSpec.of("bollinger").label == "BB 20 2"
    assert IndicatorSpec.of("vwap").label == "VWAP day"
    assert IndicatorSpec.of("macd").label == "MACD 12 26 9"


def test_an_integer_may_be_written_with_a_decimal_point() -> None:
    spec = IndicatorSpec.from_json({"kind": "rsi", "parameters": {"period": 21.0}})
    assert spec.numbers() == {"period": 21} and isinstance(spec.values[0], int) and spec.source is Source.CLOSE


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ("rsi", "written as"),
        ({"kind": "rsi", "parameters": [14]}, "written as"),
        ({"kind": "rsi", "colour": "red"}, "colour"),
        ({"parameters": {}}, "no indicator None"),
        ({"kind": "tea leaves"}, "there are sma"),
        ({"kind": ["rsi"]}, "no indicator"),
        ({"kind": "rsi", "parameters": {"length": 14}}, "it has period, source"),
        ({"kind": "rsi", "parameters": {"period": 1}}, "from 2 to 5000 candles"),
        ({"kind": "rsi", "parameters": {"period": 10**400}}, "from 2 to 5000 candles"),
        ({"kind": "rsi", "parameters": {"period": 14.5}}, "whole number"),
        ({"kind": "rsi", "parameters": {"period": True}}, "not True"),
        ({"kind": "rsi", "parameters": {"period": "14"}}, "not '14'"),
        ({"kind": "rsi", "parameters": {"period": None}}, "not None"),
        ({"kind": "rsi", "parameters": {"source": "volume"}}, "one of open, high"),
        ({"kind": "bollinger", "parameters": {"deviations": float("nan")}}, "not nan"),
        ({"kind": "bollinger", "parameters": {"deviations": float("inf")}}, "0.1 to 10.0 standard deviations"),
        ({"kind": "vwap", "parameters": {"anchor": "year"}}, "day, week, month"),
        ({"kind": "macd", "parameters": {"fast": 26}}, r"fast period of MACD \(26\) must be below the slow one \(26\)"),
    ],
)
def test_invalid_values_are_refused_with_an_explanation(data: object, says: str) -> None:
    with pytest.raises(IndicatorError, match=says) as refused:
        IndicatorSpec.from_json(data)
    assert str(refused.value).endswith(".")


def test_a_wrong_number_of_values_is_refused() -> None:
    with pytest.raises(IndicatorError, match="takes 2 values"):
        IndicatorSpec("rsi", (14,))
