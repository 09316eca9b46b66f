"""A description of the chart for screen readers."""

from __future__ import annotations

from datetime import tzinfo

from desktop.chart.data.ghosts import PlacedGhost, band
from desktop.chart.data.model import ChartModel
from desktop.chart.labels.forecast import note_text
from desktop.chart.labels.readout import age_text
from desktop.ui import formatting


def describe_chart(model: ChartModel, time_zone: tzinfo | None, pointed_at: int | None) -> str:
    """Market, last price, forecast, and the candle at the keyboard crosshair (None: there is none)."""
    newest = model.newest
    if newest is None:
        return "There are no candles yet."
    title = f"{model.title}. " if model.title else ""
    kind = "forming" if model.forming is not None else "closed"
    when = formatting.format_time(newest.open_time_ms, time_zone)
    last_price = f"{title}Last price {_price(model, newest.close)}, of the {kind} candle of {when}."
    parts = [last_price, _forecast(model), note_text(model)]
    if pointed_at is not None:
        parts.append(f"The crosshair is at {describe_candle(model, time_zone, pointed_at)}")
    return " ".join(part for part in parts if part)


def describe_candle(model: ChartModel, time_zone: tzinfo | None, index: int) -> str:
    """The numbers of a closed or forecast candle. Empty if there is none."""
    candle, placed = model.candle(index), model.ghost(index)
    when = formatting.format_time(model.time_at(index), time_zone)
    if candle is not None:
        missing = model.missing_before(index)
        hole = f" {formatting.format_count(missing)} missing before it." if missing else ""
        volume = formatting.format_volume(candle.volume)
        named = (("open", candle.open), ("high", candle.high), ("low", candle.low), ("close", candle.close))
        prices = ", ".join(f"{name} {_price(model, price)}" for name, price in named)
        return f"{when}: {prices}, volume {volume}.{hole}"
    if placed is not None:
        close = f"close {_price(model, placed.ghost.close)}{_band(model, placed)}"
        return f"{when}, forecast {placed.ahead} ahead: {close}{_made(model)}."
    return ""


def _forecast(model: ChartModel) -> str:
    ghosts, newest = model.ghosts(), model.newest
    if not ghosts or newest is None:
        return "No forecast is shown."
    last = ghosts[-1]
    change = formatting.format_percent(last.ghost.close / newest.close - 1.0, signed=True)
    noun = "candle" if last.ahead == 1 else "candles"
    close = f"close {_price(model, last.ghost.close)}, {change}{_band(model, last)}"
    return f"Forecast {last.ahead} {noun} ahead: {close}{_made(model)}."


def _made(model: ChartModel) -> str:
    """The age of the forecast, and whether no model took part in it."""
    by = "by the baselines alone" if model.forecast is not None and model.forecast.is_by_simple_rules else ""
    return "".join(f", {each}" for each in (by, age_text(model)) if each)


def _band(model: ChartModel, placed: PlacedGhost) -> str:
    edges = band(placed.ghost, 90)
    return "" if edges is None else f", with 90 % between {_price(model, edges[0])} and {_price(model, edges[1])}"


def _price(model: ChartModel, price: float) -> str:
    return formatting.format_price(price, model.decimals())
