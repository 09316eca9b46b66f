"""What a trade costs, for the paper score."""

from __future__ import annotations

from pydantic import Field
from pydantic.dataclasses import dataclass

from core.settings.group import CONFIG, OWN_DIALOG, VenueId

_BASIS_POINT = 1e-4
_MOST_BP = 1_000.0


@dataclass(frozen=True, kw_only=True, config=CONFIG)
class TradeCosts:
    """Costs of a trade, in basis points of its value: hundredths of a percent."""

    fee_bp: float = Field(default=4.0, ge=0.0, le=_MOST_BP, description="Fee of a trade, in basis points of its value.")
    spread_bp: float = Field(
        default=1.0,
        ge=0.0,
        le=_MOST_BP,
        description="From the highest bid to the lowest ask, in basis points of the price; a trade pays half of it.",
    )
    slippage_bp: float = Field(
        default=0.5,
        ge=0.0,
        le=_MOST_BP,
        description="How much worse than the quoted price a trade is filled, in basis points.",
    )

    @property
    def of_a_trade(self) -> float:
        """As a share of the trade's value."""
        return _BASIS_POINT * (self.fee_bp + self.spread_bp / 2.0 + self.slippage_bp)


@dataclass(frozen=True, kw_only=True, config=CONFIG)
class PaperSettings(TradeCosts):
    """The paper score: what a trade costs, on exchanges that are not in `venues`."""

    venues: dict[VenueId, TradeCosts] = Field(
        default_factory=dict,
        description="Exchanges with other costs, by their ccxt id; changed in the Accuracy panel.",
        json_schema_extra=OWN_DIALOG,
    )

    def of(self, venue: str) -> TradeCosts:
        """The costs on this exchange."""
        return self.venues.get(venue, self)
