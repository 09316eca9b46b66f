"""The chances of prices in `evaluate`, as text for the terminal and the page."""

from __future__ import annotations

from typing import Any

from core.evaluation.report.words import NOT_ENOUGH, judged

HEADER = ("touched within", "Brier score", "against a Brownian path", "against climatology, in hindsight", "n")
EXPLAINED = (
    "The chance that a price is touched, at -2, -1, -1/2, 1/2, 1 and 2 times the volatility over as many candles; how "
    "much smaller its Brier score is than that of a path without drift as wide as “no change”, and than that of "
    "climatology: how often each was touched."
)


def touched(summary: dict[str, Any]) -> list[tuple[str, ...]]:
    """A row for each number of candles within which prices are touched: how good the chances were, and n. Empty without
    a case."""
    return [
        (
            within,
            NOT_ENOUGH if of["brier"] is None else f"{of['brier']:.4f}",
            judged(of["skill"], of["skill_ci95"], of["n"]),
            judged(of["skill_vs_climatology"], of["skill_vs_climatology_ci95"], of["n"]),
            f"{of['n']:,}",
        )
        for within, of in summary["touched"]["within"].items()
    ]
