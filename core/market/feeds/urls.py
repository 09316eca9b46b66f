"""Where an exchange is reached, when that is not its own address."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExchangeUrls:
    """Base addresses of REST (``.../api/v3``) and WebSocket (``.../ws``)."""

    public: str
    ws: str
