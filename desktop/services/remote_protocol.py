"""What a history command and the window say to each other: a line of JSON, and after it the bytes that it announces."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from core.domain.candle import Interval, Market
from core.domain.spans import TimeSpan
from core.domain.validation import LATEST_MS
from core.storage.candles import StoredColumns

GREETING = b"history\n"
ROWS_AT_ONCE = 2_000
"""Stored in a few milliseconds: so long does the window wait at most when it has a candle to store itself."""
_LONGEST_LINE = 1 << 20
_LONGEST_PAYLOAD = 48 * ROWS_AT_ONCE
_LONGEST_WORDS = 300
_TIME, _NUMBER = np.dtype("<i8"), np.dtype("<f8")


class WireError(Exception):
    """The other side violates the protocol."""


def packed(message: dict[str, Any], payload: bytes = b"") -> bytes:
    """One message."""
    header = {**message, "bytes": len(payload)} if payload else message
    return json.dumps(header).encode() + b"\n" + payload


class Unpacker:
    """Takes bytes as they come, gives whole messages."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._message: dict[str, Any] | None = None

    def feed(self, data: bytes) -> None:
        self._buffer += data

    def next(self) -> tuple[dict[str, Any], bytes] | None:
        """The oldest message that is whole, or None. Raises WireError."""
        if self._message is None:
            end = self._buffer.find(b"\n")
            if end < 0 and len(self._buffer) > _LONGEST_LINE:
                raise WireError("a line without an end")
            if end < 0:
                return None
            self._message = _message(bytes(self._buffer[:end]))
            del self._buffer[: end + 1]
        length = whole(self._message, "bytes", _LONGEST_PAYLOAD) if "bytes" in self._message else 0
        if len(self._buffer) < length:
            return None
        message, self._message = self._message, None
        payload = bytes(self._buffer[:length])
        del self._buffer[:length]
        return message, payload


def _message(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise WireError("a line that is not JSON") from error
    if not isinstance(message, dict):
        raise WireError("a line that is no object")
    return message


def whole(message: dict[str, Any], name: str, most: int) -> int:
    """A whole number from 0 to `most` of a message. Raises WireError."""
    value = message.get(name)
    if type(value) is not int or not 0 <= value <= most:
        raise WireError(f"'{name}' is no whole number from 0 to {most:,}")
    return value


def words(message: dict[str, Any], name: str) -> str:
    """A line of text of a message. Raises WireError."""
    value = message.get(name)
    if not isinstance(value, str) or not value.isprintable() or not 0 < len(value) <= _LONGEST_WORDS:
        raise WireError(f"'{name}' is no line of text of at most {_LONGEST_WORDS} characters")
    return value


def market_fields(market: Market) -> dict[str, Any]:
    """The market as part of a message."""
    return {"venue": market.venue, "symbol": market.symbol, "interval_ms": market.interval.duration_ms}


def market_of(message: dict[str, Any]) -> Market:
    """The inverse. Raises WireError."""
    try:
        interval = Interval(whole(message, "interval_ms", LATEST_MS))
    except ValueError as error:
        raise WireError(str(error)) from error
    return Market(words(message, "venue"), words(message, "symbol"), interval)


def spans_of(message: dict[str, Any]) -> tuple[TimeSpan, ...]:
    """Of a message on holes. Raises WireError."""
    spans = message.get("spans")
    if not isinstance(spans, list) or len(spans) > ROWS_AT_ONCE:
        raise WireError(f"'spans' is no list of at most {ROWS_AT_ONCE:,}")
    return tuple(_span(each) for each in spans)


def _span(pair: Any) -> TimeSpan:
    if not (isinstance(pair, list) and len(pair) == 2 and all(type(each) is int for each in pair)):
        raise WireError("a span that is no pair of whole numbers")
    if not 0 <= pair[0] < pair[1] <= LATEST_MS:
        raise WireError("a span that is empty, or outside of 1970 to 2100")
    return TimeSpan(*pair)


def columns_bytes(columns: StoredColumns) -> bytes:
    """Times, then open, high, low, close, volume; little-endian."""
    return columns.open_time_ms.astype(_TIME).tobytes() + columns.values.astype(_NUMBER).tobytes()


def columns_of(payload: bytes) -> StoredColumns:
    """The inverse. Raises WireError."""
    count, rest = divmod(len(payload), _TIME.itemsize + 5 * _NUMBER.itemsize)
    if rest:
        raise WireError("candles that are cut")
    times = np.frombuffer(payload, _TIME, count)
    values = np.frombuffer(payload, _NUMBER, 5 * count, times.nbytes).reshape(5, count)
    if count and not 0 <= times.min() <= times.max() <= LATEST_MS:
        raise WireError("candles of a time outside of 1970 to 2100")
    return StoredColumns(times.astype(np.int64), values.astype(np.float64))
