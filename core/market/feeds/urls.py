"""Where an exchange is reached, when that is not its own address."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExchangeUrls:
    """Base addresses of REST and WebSocket, as ccxt has them: of Binance ``.../api/v3`` and ``.../ws``, of Kraken
    ``https://...`` and ``wss://.../v2``, of Coinbase both bare.

    form: the ccxt id of the exchange that answers there, or whose forms are spoken there.
    """

    public: str
    ws: str
    form: str = "binance"
