"""What a history command and the window say to each other: a line of JSON, and after it the bytes that it announces."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from core.market.candle import Interval, Market
from core.storage.candles import StoredColumns

GREETING = b"history\n"
ROWS_AT_ONCE = 2_000
"""Stored in a few milliseconds: so long does the window wait at most when it has a candle to store itself."""
_LONGEST_LINE = 1 << 20
_LONGEST_PAYLOAD = 48 * ROWS_AT_ONCE
_TIME, _NUMBER = np.dtype("<i8"), np.dtype("<f8")


class WireError(Exception):
    """The other side does not keep to the form."""


def packed(message: dict[str, Any], payload: bytes = b"") -> bytes:
    """One message."""
    told = {**message, "bytes": len(payload)} if payload else message
    return json.dumps(told).encode() + b"\n" + payload


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
        length = int(self._message.get("bytes", 0))
        if not 0 <= length <= _LONGEST_PAYLOAD:
            raise WireError(f"{length} bytes in one message")
        if len(self._buffer) < length:
            return None
        message, self._message = self._message, None
        payload = bytes(self._buffer[:length])
        del self._buffer[:length]
        return message, payload


def _message(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except ValueError as error:
        raise WireError("a line that is not JSON") from error
    if not isinstance(message, dict):
        raise WireError("a line that is no object")
    return message


def market_fields(market: Market) -> dict[str, Any]:
    """The market as part of a message."""
    return {"venue": market.venue, "symbol": market.symbol, "interval_ms": market.interval.duration_ms}


def market_of(message: dict[str, Any]) -> Market:
    """The inverse. Raises WireError."""
    try:
        return Market(str(message["venue"]), str(message["symbol"]), Interval(int(message["interval_ms"])))
    except (KeyError, ValueError, TypeError) as error:
        raise WireError("a message without a market") from error


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
    return StoredColumns(times.astype(np.int64), values.astype(np.float64))
