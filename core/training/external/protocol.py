"""The messages to and from a forecaster in a process: JSON objects, one per line, UTF-8.

docs/own-program.md describes them for the authors of such forecasters. Quantiles are in the units of a candle file:
close and body are log returns, wicks and range logarithms of a ratio of prices, the volume a volume.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.domain.candle import Candle, Interval
from core.domain.candle_faults import LARGEST_VOLUME
from core.domain.quantities import LEVELS, NO_VOLUME, SMALLEST_RANGE, FloatArray, Quantity

PROTOCOL = 1
KEYS = {quantity: quantity.name.lower() for quantity in Quantity}
LONGEST_LINE_BYTES = 1_000_000
LARGEST_LOG_RATIO = 5.0
"""A factor of 148 within the forecast's range: a price in place of a log return is larger."""
_SHOWN_CHARACTERS = 80


class InvalidAnswerError(Exception):
    """The forecaster violated the protocol. The message completes "Its answer ...": it has no full stop."""


@dataclass(frozen=True, slots=True)
class ForecastRequest:
    """The forecasts requested from a model, and their deadlines."""

    markets: tuple[str, ...]
    interval: Interval
    horizons: int
    deadline_ms: int = 1000
    unhurried_ms: int = 10_000
    """The deadline if no candle follows in real time."""

    def greeting(self) -> bytes:
        return encoded(
            {
                "type": "hello",
                "protocol": PROTOCOL,
                "markets": list(self.markets),
                "interval_ms": self.interval.duration_ms,
                "horizons": self.horizons,
                "levels": LEVELS.tolist(),
                "quantities": list(KEYS.values()),
                "deadline_ms": self.deadline_ms,
            }
        )


@dataclass(frozen=True, slots=True)
class ExternalForecast:
    """Quantiles of the candles after one origin, natural units (see `core.domain.quantities`), ascending."""

    quantiles: Mapping[Quantity, FloatArray]
    """[H, L] of each quantity that was forecast."""
    was_sorted: bool
    """Whether quantiles crossed, and were put in order."""


def history_line(market: str, candles: Iterable[Candle]) -> bytes:
    """The candles so far, oldest first."""
    return encoded({"type": "history", "market": market, "candles": [_numbers(candle) for candle in candles]})


def candle_line(market: str, candle: Candle) -> bytes:
    """A closed candle, for which a forecast is requested."""
    named = zip(("open_time_ms", "open", "high", "low", "close", "volume"), _numbers(candle), strict=True)
    return encoded({"type": "candle", "market": market, **dict(named)})


def encoded(message: Mapping[str, Any]) -> bytes:
    """The message as a line, with its end."""
    return json.dumps(message, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def decoded(line: bytes) -> dict[str, Any]:
    """The message of a line. Raises InvalidAnswerError."""
    try:
        message = json.loads(line.decode())
    except (ValueError, RecursionError) as error:
        raise InvalidAnswerError(f"is not JSON: {shown(line)}") from error
    if not isinstance(message, dict):
        raise InvalidAnswerError(f"is not a JSON object: {shown(line)}")
    return message


def check_ready(message: Mapping[str, Any]) -> None:
    """Raises InvalidAnswerError unless it is the answer to the greeting, of this protocol."""
    if message.get("type") != "ready":
        raise InvalidAnswerError(f'to "hello" must have "type": "ready", not {shown(message.get("type"))}')
    if message.get("protocol") != PROTOCOL:
        raise InvalidAnswerError(f'must have "protocol": {PROTOCOL}, not {shown(message.get("protocol"))}')


def forecast_of(message: Mapping[str, Any], horizons: int) -> ExternalForecast:
    """The forecast in an answer; missing and null parts are not forecast. Raises InvalidAnswerError."""
    given = {quantity: message[key] for quantity, key in KEYS.items() if message.get(key) is not None}
    tables = {quantity: _table(KEYS[quantity], value, horizons) for quantity, value in given.items()}
    ordered = {quantity: np.sort(table, axis=-1) for quantity, table in tables.items()}
    was_sorted = any(not np.array_equal(ordered[quantity], table) for quantity, table in tables.items())
    return ExternalForecast({quantity: _natural(quantity, table) for quantity, table in ordered.items()}, was_sorted)


def _numbers(candle: Candle) -> list[float]:
    return [candle.open_time_ms, candle.open, candle.high, candle.low, candle.close, candle.volume]


def _table(key: str, value: object, horizons: int) -> FloatArray:
    """[H, L], finite and of a possible size. Raises InvalidAnswerError."""
    if not _is_table(value, horizons):
        raise InvalidAnswerError(f"has no {horizons} rows of {LEVELS.size} numbers as its {key}")
    try:
        table = np.array(value, dtype=np.float64)
    except OverflowError as error:
        raise InvalidAnswerError(f"has a number in its {key} that is too large") from error
    if not np.isfinite(table).all():
        raise InvalidAnswerError(f"has a number in its {key} that is not finite")
    least, most = _bounds(key)
    outside = table[(table < least) | (table > most)]
    if outside.size:
        raise InvalidAnswerError(f"has {outside[0]:g} in its {key}; it must be from {least:g} to {most:g}")
    return table


def _is_table(value: object, horizons: int) -> bool:
    if not isinstance(value, list) or len(value) != horizons:
        return False
    if not all(isinstance(row, list) and len(row) == LEVELS.size for row in value):
        return False
    return all(type(number) in (int, float) for row in value for number in row)


def _bounds(key: str) -> tuple[float, float]:
    if key == KEYS[Quantity.VOLUME]:
        return 0.0, LARGEST_VOLUME
    return (-LARGEST_LOG_RATIO if key in (KEYS[Quantity.CLOSE], KEYS[Quantity.BODY]) else 0.0), LARGEST_LOG_RATIO


def _natural(quantity: Quantity, table: FloatArray) -> FloatArray:
    if quantity is Quantity.RANGE:
        table = np.log(np.maximum(table, SMALLEST_RANGE))
    elif quantity is Quantity.VOLUME:
        table = np.log(np.maximum(table, NO_VOLUME))
    return table


def shown(value: object) -> str:
    """The beginning of the forecaster's output, in quotes, fit for a sentence."""
    text = value.decode(errors="replace") if isinstance(value, bytes) else json.dumps(value)
    printable = "".join(character if character.isprintable() else " " for character in text.strip())
    return f"“{printable[:_SHOWN_CHARACTERS]}”"
