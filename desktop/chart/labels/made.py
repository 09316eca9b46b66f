"""How the shown forecast was made, and how long ago: said over it, in its readout and to a screen reader."""

from __future__ import annotations

from core.events import ForecastMode
from desktop.chart.data.model import ChartModel
from desktop.formatting import format_candles
from desktop.translation import translate
from desktop.words import word


def kind_words(model: ChartModel) -> str:
    """``forecast (replay)``. Only a live forecast goes without saying how it was made."""
    made = model.forecast
    if made is None or made.mode is ForecastMode.LIVE:
        return translate("Chart", "forecast")
    if made.is_by_simple_rules:
        return translate("Chart", "forecast (simple rules, not scored)")
    return translate("Chart", "forecast ({0})").format(word(made.mode))


def age_words(model: ChartModel) -> str:
    """``made 3 candles ago``; empty for a forecast that has seen the newest closed candle."""
    age = model.forecast_age
    return translate("Chart", "made {0} ago").format(format_candles(age)) if age else ""
