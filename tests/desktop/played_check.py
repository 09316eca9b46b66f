"""What an exchange answers to the question whether it has a market, without asking one."""

from __future__ import annotations

from typing import Any

from core.domain.candle import Market
from core.market.feeds.market_check import Objection


class PlayedCheck:
    """Replaces `check_market`. objections: by symbol; a market without one may be opened."""

    def __init__(self) -> None:
        self.objections: dict[str, Objection] = {}

    async def __call__(self, market: Market, *services: Any) -> Objection | None:
        *_, on_asking = services
        on_asking()
        return self.objections.get(market.symbol)
