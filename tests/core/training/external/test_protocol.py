"""What an answer may hold, and what it becomes."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from core.domain.candle import Interval
from core.domain.quantities import LEVELS, SMALLEST_RANGE, Quantity
from core.training.external.protocol import (
    ExternalForecast,
    ForecastRequest,
    InvalidAnswerError,
    candle_line,
    check_ready,
    decoded,
    forecast_of,
    history_line,
)
from tests.support.candles import random_walk

ROW = (LEVELS - 0.5).tolist()


def read(**quantities: object) -> ExternalForecast:
    return forecast_of(decoded(json.dumps(quantities).encode()), 2)


def test_what_is_sent_is_what_the_docs_say() -> None:
    candle = random_walk(1)[0]
    assert json.loads(ForecastRequest(("A", "B"), Interval.parse("15m"), 8, 500).greeting()) == {
        "type": "hello",
        "protocol": 1,
        "markets": ["A", "B"],
        "interval_ms": 900_000,
        "horizons": 8,
        "levels": [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95],
        "quantities": ["close", "body", "upper_wick", "lower_wick", "range", "volume"],
        "deadline_ms": 500,
    }
    numbers = [candle.open_time_ms, candle.open, candle.high, candle.low, candle.close, candle.volume]
    assert json.loads(history_line("A", [candle])) == {"type": "history", "market": "A", "candles": [numbers]}
    names = ["open_time_ms", "open", "high", "low", "close", "volume"]
    assert json.loads(candle_line("A", candle)) == {
        "type": "candle",
        "market": "A",
        **dict(zip(names, numbers, strict=True)),
    }


def test_quantiles_are_taken_in_natural_units() -> None:
    found = read(close=[ROW, ROW], range=[[0.0, *np.exp(ROW[1:])]] * 2, volume=[[1.0, 2, 3, 4, 5, 6, 7]] * 2, body=None)
    assert set(found.quantiles) == {Quantity.CLOSE, Quantity.RANGE, Quantity.VOLUME} and not found.was_sorted
    np.testing.assert_array_equal(found.quantiles[Quantity.CLOSE], [ROW, ROW])
    np.testing.assert_allclose(found.quantiles[Quantity.RANGE][0], [math.log(SMALLEST_RANGE), *ROW[1:]], atol=1e-15)
    np.testing.assert_array_equal(found.quantiles[Quantity.VOLUME][1], np.log([1, 2, 3, 4, 5, 6, 7]))


def test_crossed_quantiles_are_put_in_order() -> None:
    found = read(close=[ROW, ROW[::-1]])
    assert found.was_sorted
    np.testing.assert_array_equal(found.quantiles[Quantity.CLOSE], [ROW, ROW])


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ([ROW], "has no 2 rows of 7 numbers as its close"),
        ([ROW, ROW[1:]], "has no 2 rows"),
        ([ROW, None], "has no 2 rows"),
        ([ROW, ["0.1"] * 7], "has no 2 rows"),
        ([ROW, [True] * 7], "has no 2 rows"),
        ({"1": ROW}, "has no 2 rows"),
        ([ROW, [math.nan] * 7], "not finite"),
        ([ROW, [*ROW[1:], math.inf]], "not finite"),
        ([ROW, [10**400] * 7], "too large"),
        ([ROW, [61_234.5] * 7], "has 61234.5 in its close; it must be from -5 to 5"),
    ],
)
def test_a_close_of_another_form_is_refused(value: object, fault: str) -> None:
    with pytest.raises(InvalidAnswerError, match=fault):
        read(close=value)


@pytest.mark.parametrize("key", ["upper_wick", "lower_wick", "range", "volume"])
def test_sizes_are_not_negative(key: str) -> None:
    with pytest.raises(InvalidAnswerError, match=f"in its {key}; it must be from 0 to"):
        read(**{key: [ROW, ROW]})


@pytest.mark.parametrize(
    "text", [b"Loading weights ...", b"\xff\xfe", b"[" * 100_000, b"{", b'"text"', b"[1]", b"1" * 5000]
)
def test_a_line_that_is_no_json_object_is_refused(text: bytes) -> None:
    with pytest.raises(InvalidAnswerError, match=r"^is not (a )?JSON"):
        decoded(text)


@pytest.mark.parametrize("answer", [{}, {"type": "forecast"}, {"type": "ready"}, {"type": "ready", "protocol": 2}])
def test_a_greeting_needs_the_same_protocol(answer: dict[str, object]) -> None:
    check_ready({"type": "ready", "protocol": 1})
    with pytest.raises(InvalidAnswerError, match="must have"):
        check_ready(answer)
