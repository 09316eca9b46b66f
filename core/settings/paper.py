"""The cost of a trade, for the paper score."""

from __future__ import annotations

from pydantic.dataclasses import dataclass

from core.settings.group import CONFIG, setting

_BASIS_POINT = 1e-4
_MOST_BP = 1_000.0


@dataclass(frozen=True, kw_only=True, config=CONFIG)
class PaperSettings:
    """The paper score: the cost of a trade, in basis points of its value (hundredths of a percent)."""

    fee_bp: float = setting(4.0, "Fee (bp)", "Fee of a trade, in basis points of its value.", ge=0.0, le=_MOST_BP)
    spread_bp: float = setting(
        1.0,
        "Spread (bp)",
        "From the highest bid to the lowest ask, in basis points of the price; a trade pays half of it.",
        ge=0.0,
        le=_MOST_BP,
    )
    slippage_bp: float = setting(
        0.5,
        "Slippage (bp)",
        "How much worse than the quoted price a trade is filled, in basis points.",
        ge=0.0,
        le=_MOST_BP,
    )

    @property
    def of_a_trade(self) -> float:
        return _BASIS_POINT * (self.fee_bp + self.spread_bp / 2.0 + self.slippage_bp)
