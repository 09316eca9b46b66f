"""What a history command and the window say to each other: lines of JSON."""

from __future__ import annotations

import json
from typing import Any

from PySide6.QtNetwork import QLocalSocket

from core.domain.candle import Interval, Market
from core.domain.validation import LATEST_MS

GREETING = b"history\n"
_LONGEST_LINE = 4_000
_LONGEST_WORDS = 300


class WireError(Exception):
    """The other side violates the protocol."""


def packed(message: dict[str, Any]) -> bytes:
    """One message."""
    return json.dumps(message).encode() + b"\n"


def next_message(socket: QLocalSocket) -> dict[str, Any] | None:
    """The oldest message that is whole, or None. Raises WireError."""
    if not socket.canReadLine():
        if socket.bytesAvailable() > _LONGEST_LINE:
            raise WireError("a line without an end")
        return None
    try:
        message = json.loads(bytes(socket.readLine(_LONGEST_LINE).data()))
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


def market_fields(market: Market) -> dict[str, Any]:
    """The market as part of a message."""
    return {"venue": market.venue, "symbol": market.symbol, "interval_ms": market.interval.duration_ms}


def market_of(message: dict[str, Any]) -> Market:
    """The inverse. Raises WireError."""
    try:
        interval = Interval(whole(message, "interval_ms", LATEST_MS))
    except ValueError as error:
        raise WireError(str(error)) from error
    return Market(_words(message, "venue"), _words(message, "symbol"), interval)


def _words(message: dict[str, Any], name: str) -> str:
    value = message.get(name)
    if not isinstance(value, str) or not value.isprintable() or not 0 < len(value) <= _LONGEST_WORDS:
        raise WireError(f"'{name}' is no line of text of at most {_LONGEST_WORDS} characters")
    return value
