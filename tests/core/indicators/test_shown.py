"""The style of an indicator is stored with it, except for theme defaults."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.indicators.parameters import IndicatorError
from core.indicators.registry import INDICATORS
from core.indicators.shown import NARROWEST_PX, WIDEST_PX, Look, ShownIndicator, colour_numbers, without
from core.indicators.spec import IndicatorSpec


@st.composite
def _shown(draw: st.DrawFn) -> ShownIndicator:
    kind = draw(st.sampled_from(sorted(INDICATORS)))
    inks = draw(st.lists(st.sampled_from(INDICATORS[kind].inks), unique=True))
    colours = tuple((ink, f"#{draw(st.integers(0, 0xFFFFFF)):06x}") for ink in inks)
    look = Look(colours, draw(st.floats(NARROWEST_PX, WIDEST_PX)))
    return ShownIndicator(IndicatorSpec.of(kind), look, draw(st.none() | st.integers(0, 20)))


@given(_shown())
def test_stored_indicators_round_trip(shown: ShownIndicator) -> None:
    assert ShownIndicator.from_json(json.loads(json.dumps(shown.to_json()))) == shown


@pytest.mark.parametrize("kind", sorted(INDICATORS))
def test_old_settings_without_styles_round_trip(kind: str) -> None:
    spec = IndicatorSpec.of(kind)
    assert ShownIndicator.from_json(spec.to_json()) == ShownIndicator(spec, Look())
    assert ShownIndicator(spec).to_json() == spec.to_json()


def test_edges_and_bars_have_no_separate_colour() -> None:
    assert INDICATORS["bollinger"].inks == ("middle",)
    assert INDICATORS["macd"].inks == ("line", "signal")
    assert INDICATORS["sar"].inks == ("stop",)
    assert all(row.inks for row in INDICATORS.values())


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ([], "written as"),
        ({"kind": "rsi", "shade": "red"}, "shade"),
        ({"kind": "rsi", "colours": "#ff0000"}, "Colours are written as"),
        ({"kind": "rsi", "colours": {"signal": "#ff0000"}}, "no line 'signal'; it has strength"),
        ({"kind": "rsi", "colours": {"strength": "red"}}, "#rrggbb"),
        ({"kind": "rsi", "colours": {"strength": 5}}, "#rrggbb"),
        ({"kind": "rsi", "width_px": 60}, "from 0.5 to 6.0 pixels"),
        ({"kind": "rsi", "width_px": float("nan")}, "not nan"),
        ({"kind": "rsi", "width_px": "wide"}, "not 'wide'"),
        ({"kind": "rsi", "width_px": True}, "not True"),
        ({"kind": "rsi", "colour_number": -1}, "not -1"),
        ({"kind": "rsi", "colour_number": "red"}, "not 'red'"),
        ({"kind": "rsi", "colour_number": True}, "not True"),
    ],
)
def test_invalid_values_are_refused_with_an_explanation(data: object, says: str) -> None:
    with pytest.raises(IndicatorError, match=says) as refused:
        ShownIndicator.from_json(data)
    assert str(refused.value).endswith(".")


@given(st.lists(_shown(), min_size=1, max_size=8), st.data())
def test_remaining_indicators_keep_their_colours(shown: list[ShownIndicator], data: st.DataObject) -> None:
    before, place = colour_numbers(shown), data.draw(st.integers(0, len(shown) - 1))
    left = without(shown, place)
    assert colour_numbers(left) == before[:place] + before[place + 1 :]
    assert [each.spec for each in left] == [each.spec for each in shown[:place] + shown[place + 1 :]]


def test_a_new_indicator_takes_a_free_colour() -> None:
    shown = [ShownIndicator.of(kind) for kind in ("sma", "ema", "rsi", "cci")]
    assert colour_numbers(shown) == (0, 1, 2, 3)
    assert colour_numbers([*without(shown, 1), ShownIndicator.of("obv")]) == (0, 2, 3, 1)


def test_changed_parameters_keep_the_style() -> None:
    look = Look((("average", "#d1499a"),), 3.0)
    changed = ShownIndicator(IndicatorSpec.of("ema"), look).with_values({"period": 9})
    assert changed.look == look and changed.spec == IndicatorSpec.of("ema", period=9)
