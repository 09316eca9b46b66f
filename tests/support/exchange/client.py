"""One client of the exchange's streams."""

from __future__ import annotations

from dataclasses import dataclass, field

from aiohttp import web


@dataclass(slots=True, eq=False)
class Client:
    """A client's stream and its subscriptions."""

    ws: web.WebSocketResponse
    request: web.Request
    streams: set[str]
    is_combined: bool
    sent_ms: dict[str, int] = field(default_factory=dict)
    """By stream: the opening time of the candle, or the time of the trade, that was sent last."""
    kline_at_s: float = 0.0

    def freeze(self) -> None:
        """Read nothing any more, as a host that has vanished behind a router."""
        if self.request.transport is not None:
            self.request.transport.pause_reading()

    def thaw(self) -> None:
        """Read again, where it was frozen."""
        if self.request.transport is not None:
            self.request.transport.resume_reading()

    def abort(self) -> None:
        transport = self.request.transport
        if transport is not None:
            transport.abort()
