"""Numbers of the Accuracy dock as text, and what they prove in words."""

from __future__ import annotations

from core.events import Estimate
from core.forecast.score import FEWEST_FOR_AN_EDGE, FEWEST_FOR_AN_ESTIMATE
from desktop.formatting import MISSING, format_count, format_number

COIN = 0.5


def points(value: float | None, decimals: int = 2, *, signed: bool = True) -> str:
    """A share in percent, without the sign of percent: columns have little room, and their heads say it."""
    return format_number(None if value is None else 100.0 * value, decimals, signed=signed)


def span(estimate: Estimate, decimals: int = 2) -> str:
    """Its 95 % interval."""
    if estimate.low is None or estimate.high is None:
        return MISSING
    return f"{points(estimate.low, decimals, signed=False)} to {points(estimate.high, decimals, signed=False)}"


def measured(estimate: Estimate, decimals: int = 2, *, signed: bool = True) -> str:
    """A value with its interval."""
    if estimate.value is None:
        return MISSING
    return f"{points(estimate.value, decimals, signed=signed)} ({span(estimate, decimals)})"


def not_yet(n: int) -> str:
    """Why there is no number."""
    return f"Not yet: {format_count(n)} of the {FEWEST_FOR_AN_ESTIMATE} candles that a number needs."


def proof(estimate: Estimate, above: str, below: str, neither: str, against: float = 0.0) -> str:
    """What an interval proves: that it lies on one side, on enough candles; or nothing."""
    if estimate.low is None or estimate.high is None:
        return "not yet"
    if estimate.low <= against <= estimate.high:
        return neither
    if estimate.n < FEWEST_FOR_AN_EDGE:
        return f"no proof: n < {FEWEST_FOR_AN_EDGE}"  # as short as the others: columns are narrow
    return above if estimate.low > against else below


def proof_in_full(estimate: Estimate, name: str, against: float = 0.0) -> str:
    """The same as a sentence."""
    if estimate.low is None or estimate.high is None:
        return not_yet(estimate.n)
    side = f"{format_number(100.0 * against, 0)} %" if against else "0"
    if estimate.low <= against <= estimate.high:
        return f"{name} is not proven: the interval includes {side} (n = {format_count(estimate.n)})."
    where = f"the interval lies {'above' if estimate.low > against else 'below'} {side}"
    if estimate.n < FEWEST_FOR_AN_EDGE:
        return f"{name} is not proven: {where}, but n = {format_count(estimate.n)} of {FEWEST_FOR_AN_EDGE}."
    return f"{name}: {where} (n = {format_count(estimate.n)})."


def ahead(horizon: int) -> str:
    """A horizon, for people."""
    return f"{horizon} candle{'s' if horizon > 1 else ''} ahead"
