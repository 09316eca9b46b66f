"""Alternative addresses of an exchange."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExchangeUrls:
    """Base addresses of REST and WebSocket in ccxt's form: for Binance ``.../api/v3`` and ``.../ws``, for Kraken
    ``https://...`` and ``wss://.../v2``, for Coinbase without a path.

    form: the ccxt id of the exchange whose message format is used there.
    """

    public: str
    ws: str
    form: str = "binance"
