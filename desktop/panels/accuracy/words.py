"""Numbers of the Accuracy dock as text, their proofs in words, and the dock's names for core's."""

from __future__ import annotations

from core.domain.events import Estimate, ForecastGroup
from core.evaluation.findings import AFTER_GAP, OVERALL, InsideAccuracy
from core.forecast.sample_sizes import FEWEST_FOR_A_PROOF, FEWEST_FOR_AN_ESTIMATE
from desktop.ui.formatting import MISSING, format_count, format_number
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_MOST_DECIMALS = 6
NOTHING = QT_TRANSLATE_NOOP("Panels", "nothing to forecast")
"""In place of a ratio of nothing: a market without movement, or without volume."""


def points(value: float | None, decimals: int = 2, *, signed: bool = True) -> str:
    """A share in percent, without the sign: columns are narrow, and their headings have it."""
    return format_number(None if value is None else 100.0 * value, decimals, signed=signed)


def value_of(estimate: Estimate) -> float | None:
    """Its value if it has an interval: without one it means too little to be shown."""
    return None if estimate.low is None or estimate.high is None else estimate.value


def is_of_nothing(estimate: Estimate) -> bool:
    """Whether there are enough candles for a figure, but nothing moved in them."""
    return estimate.value is None and estimate.n >= FEWEST_FOR_AN_ESTIMATE


def span(estimate: Estimate, decimals: int = 2) -> str:
    """Its 95 % interval. No end is rounded to zero, as its side of zero is the proof."""
    if estimate.low is None or estimate.high is None:
        return MISSING
    low, high = (points(end, _decimals(end, decimals), signed=False) for end in (estimate.low, estimate.high))
    return translate("Panels", "{0} to {1}").format(low, high)


def _decimals(end: float, fewest: int) -> int:
    return next((decimals for decimals in range(fewest, _MOST_DECIMALS) if round(100.0 * end, decimals)), fewest)


def measured(estimate: Estimate, decimals: int = 2, *, signed: bool = True) -> str:
    if is_of_nothing(estimate):
        return translate("Panels", NOTHING)
    if value_of(estimate) is None:
        return MISSING
    return f"{points(estimate.value, decimals, signed=signed)} ({span(estimate, decimals)})"


def how_many(n: int) -> str:
    """``n = 4,000``"""
    return translate("Panels", "n = {0}").format(format_count(n))


def not_yet(n: int, fewest: int = FEWEST_FOR_AN_ESTIMATE) -> str:
    text = translate("Panels", "Not yet: {0} of {1} candles needed.")
    return text.format(format_count(n), fewest)


def proof_in_full(estimate: Estimate, name: str) -> str:
    """The proof against zero as a sentence. name: in the user's language."""
    if is_of_nothing(estimate):
        return f"{name}: {translate('Panels', NOTHING)}."
    if estimate.value is None:
        return not_yet(estimate.n)
    n = format_count(estimate.n)
    if estimate.low is None or estimate.high is None:
        early = translate("Panels", "{0} is not proven: n = {1}, a proof needs {2}.")
        return early.format(name, n, FEWEST_FOR_A_PROOF)
    if estimate.low <= 0.0 <= estimate.high:
        return translate("Panels", "{0} is not proven: the interval includes 0 (n = {1}).").format(name, n)
    above = translate("Panels", "{0}: the interval lies above 0 (n = {1}).")
    below = translate("Panels", "{0}: the interval lies below 0 (n = {1}).")
    return (above if estimate.low > 0.0 else below).format(name, n)


def inside_words(inside: InsideAccuracy) -> str:
    """How many candles had an inside, and what that was worth: a figure only if it is proven."""
    known = translate("Panels", "Inside known for {0} of {1} candles").format(
        format_count(inside.known), format_count(inside.candles)
    )
    worth = inside.worth
    if worth.low is None or worth.high is None:
        return translate("Panels", "{0}: too few to tell what it is worth").format(known)
    if worth.low <= 0.0 <= worth.high:
        return translate("Panels", "{0}: not proven to be worth anything here").format(known)
    better = translate("Panels", "{0}: it improves the range by {1} points")
    worse = translate("Panels", "{0}: here it makes the range worse, by {1} points")
    return (better if worth.low > 0.0 else worse).format(known, measured(worth))


def ahead(horizon: int) -> str:
    text = translate("Panels", "{0} candles ahead") if horizon > 1 else translate("Panels", "{0} candle ahead")
    return text.format(horizon)


_KINDS = {
    ForecastGroup.LIVE: QT_TRANSLATE_NOOP("Panels", "live"),
    ForecastGroup.REPLAYED: QT_TRANSLATE_NOOP("Panels", "replayed"),
    ForecastGroup.SIMULATED: QT_TRANSLATE_NOOP("Panels", "simulated"),
    ForecastGroup.CAUGHT_UP: QT_TRANSLATE_NOOP("Panels", "caught-up"),
    ForecastGroup.SEEN: QT_TRANSLATE_NOOP("Panels", "seen-before"),
}
_EXPERTS = {
    "what is shown": QT_TRANSLATE_NOOP("Panels", "ghosts"),
    "combination": QT_TRANSLATE_NOOP("Panels", "ghosts"),
    "without challengers": QT_TRANSLATE_NOOP("Panels", "without challengers"),
    "model": QT_TRANSLATE_NOOP("Panels", "model"),
    "reference": QT_TRANSLATE_NOOP("Panels", "no change"),
    "repeat last": QT_TRANSLATE_NOOP("Panels", "repeat last"),
    "reverse last": QT_TRANSLATE_NOOP("Panels", "reverse last"),
    "12-lag regression": QT_TRANSLATE_NOOP("Panels", "12-lag regression"),
    "seasonal": QT_TRANSLATE_NOOP("Panels", "seasonal"),
    "Markov switching": QT_TRANSLATE_NOOP("Panels", "Markov switching"),
    "without the model": QT_TRANSLATE_NOOP("Panels", "without the model"),
}
"""Names of experts other than abbreviations (EWMA, HAR, GARCH)."""
_QUANTITIES = {
    "close": QT_TRANSLATE_NOOP("Panels", "close"),
    "body": QT_TRANSLATE_NOOP("Panels", "body"),
    "upper wick": QT_TRANSLATE_NOOP("Panels", "upper wick"),
    "lower wick": QT_TRANSLATE_NOOP("Panels", "lower wick"),
    "range": QT_TRANSLATE_NOOP("Panels", "range"),
    "volume": QT_TRANSLATE_NOOP("Panels", "volume"),
}
_GROUPS = {
    OVERALL: QT_TRANSLATE_NOOP("Panels", "All candles"),
    "calm": QT_TRANSLATE_NOOP("Panels", "Calm"),
    "trending": QT_TRANSLATE_NOOP("Panels", "Trending"),
    "volatile": QT_TRANSLATE_NOOP("Panels", "Volatile"),
    AFTER_GAP: QT_TRANSLATE_NOOP("Panels", "After a gap"),
}


def kind_word(kind: ForecastGroup) -> str:
    """``caught-up``, before a noun."""
    return translate("Panels", _KINDS[kind])


def expert_name(name: str) -> str:
    """``reverse last``"""
    return translate("Panels", _EXPERTS[name]) if name in _EXPERTS else name


def quantity_name(name: str) -> str:
    """``upper wick``, within a sentence."""
    return translate("Panels", _QUANTITIES[name]) if name in _QUANTITIES else name


def group_name(name: str) -> str:
    """``After a gap``"""
    return translate("Panels", _GROUPS[name]) if name in _GROUPS else name
