"""The paper score as text, for the terminal and the pages."""

from __future__ import annotations

from typing import Any

from core.evaluation.report.figures import share
from core.forecast.sample_sizes import FEWEST_FOR_AN_EDGE


def headline(summary: dict[str, Any]) -> str:
    """The cost at which the rule breaks even, in a sentence that never mentions a gain."""
    of = summary["paper"]
    if of["break_even_bp_ci95"] is None:
        return f"Not enough candles or trades for a break-even cost (n = {of['n']:,})."
    low, high = of["break_even_bp_ci95"]
    found = f"{of['break_even_bp']:.2f} bp ({low:.2f} to {high:.2f})"
    if high < 0.0 and of["n"] >= FEWEST_FOR_AN_EDGE:
        return f"This loses even if a trade costs nothing: its break-even cost is {found}."
    if low <= 0.0 or of["n"] < FEWEST_FOR_AN_EDGE:
        return f"Not proven to gain even if a trade costs nothing: its break-even cost is {found}."
    return f"This needs costs under {found} a trade."


def rows(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """The result of the rule at the assumed cost of a trade; empty without enough candles."""
    of = summary["paper"]
    if of["net_bp_ci95"] is None:
        return []
    if not of["trades_per_candle"]:
        return [(f"At {of['cost_bp']:g} bp a trade", "no trade: no forecast median moved by more than that")]
    low, high = of["net_bp_ci95"]
    proves = "" if low > 0.0 or high < 0.0 else "; not proven to differ from 0"
    return [
        (
            f"Net, at {of['cost_bp']:g} bp a trade",
            f"{of['net_bp']:+.3f} bp a candle ({low:+.3f} to {high:+.3f}){proves}",
        ),
        ("Turnover", f"{of['trades_per_candle']:.3f} trades a candle; a position in {share(of['time_in_market'])}"),
        ("Largest fall", f"{of['drawdown_bp']:,.0f} bp"),
    ]
