"""What the Accuracy dock calls what core knows by a name: kinds of forecasts, experts, quantities, groups."""

from __future__ import annotations

from core.domain.events import ForecastGroup
from core.evaluation.findings import AFTER_GAP, OVERALL
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_KINDS = {
    ForecastGroup.LIVE: QT_TRANSLATE_NOOP("Panels", "live"),
    ForecastGroup.REPLAYED: QT_TRANSLATE_NOOP("Panels", "replayed"),
    ForecastGroup.SIMULATED: QT_TRANSLATE_NOOP("Panels", "simulated"),
    ForecastGroup.CAUGHT_UP: QT_TRANSLATE_NOOP("Panels", "caught-up"),
    ForecastGroup.SEEN: QT_TRANSLATE_NOOP("Panels", "seen-before"),
}
_EXPERTS = {
    "what is shown": QT_TRANSLATE_NOOP("Panels", "combination"),
    "combination": QT_TRANSLATE_NOOP("Panels", "combination"),
    "without challengers": QT_TRANSLATE_NOOP("Panels", "without challengers"),
    "model": QT_TRANSLATE_NOOP("Panels", "model"),
    "reference": QT_TRANSLATE_NOOP("Panels", "reference"),
    "repeat last": QT_TRANSLATE_NOOP("Panels", "repeat last"),
    "reverse last": QT_TRANSLATE_NOOP("Panels", "reverse last"),
    "12-lag regression": QT_TRANSLATE_NOOP("Panels", "12-lag regression"),
    "seasonal": QT_TRANSLATE_NOOP("Panels", "seasonal"),
    "Markov switching": QT_TRANSLATE_NOOP("Panels", "Markov switching"),
    "without the model": QT_TRANSLATE_NOOP("Panels", "without the model"),
}
"""But for those that are called by letters: EWMA, HAR, GARCH."""
_QUANTITIES = {
    "close": QT_TRANSLATE_NOOP("Panels", "close"),
    "body": QT_TRANSLATE_NOOP("Panels", "body"),
    "upper wick": QT_TRANSLATE_NOOP("Panels", "upper wick"),
    "lower wick": QT_TRANSLATE_NOOP("Panels", "lower wick"),
    "range": QT_TRANSLATE_NOOP("Panels", "range"),
    "volume": QT_TRANSLATE_NOOP("Panels", "volume"),
}
_SHORT = {
    "upper wick": QT_TRANSLATE_NOOP("Panels", "upper"),
    "lower wick": QT_TRANSLATE_NOOP("Panels", "lower"),
    "volume": QT_TRANSLATE_NOOP("Panels", "vol."),
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


def short_quantity_name(name: str) -> str:
    """``upper``, as the head of a narrow column."""
    return translate("Panels", _SHORT[name]) if name in _SHORT else quantity_name(name)


def group_name(name: str) -> str:
    """``After a gap``"""
    return translate("Panels", _GROUPS[name]) if name in _GROUPS else name
