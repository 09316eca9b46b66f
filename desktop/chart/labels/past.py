"""What is said of a past forecast: what it was, how it came out, and who made it when."""

from __future__ import annotations

from PySide6.QtGui import QColor

from core.events import ForecastMode
from core.regimes import Regime, RegimeProbabilities
from desktop import formatting
from desktop.chart.data.past import PastForecast
from desktop.chart.drawing.text import Row, Span
from desktop.chart.framing.frame import Frame
from desktop.theme import Palette


def past_rows(forecast: PastForecast, frame: Frame, regime: RegimeProbabilities | None = None) -> list[Row]:
    """The rows of the tooltip: what was forecast, how it came out, and who made it when. regime: the market's then,
    where it is known."""
    palette, decimals = frame.palette, frame.decimals
    facts: list[tuple[str, str, QColor]] = [
        ("Forecast close", formatting.format_price(forecast.close, decimals), palette.ghost_text),
        ("Actual close", formatting.format_price(forecast.actual_close, decimals), palette.text),
        ("Error", formatting.format_percent(forecast.error, 3, signed=True), palette.text),
        ("50 % band", *_inside(forecast.inside_50, palette)),
        ("90 % band", *_inside(forecast.inside_90, palette)),
        ("Direction", *_direction(forecast.direction_hit, palette)),
        *(() if regime is None else (("Market then", _regime_text(regime), _regime_colour(regime, palette)),)),
        ("Made", _made_text(forecast, frame), palette.text),
        ("After step", _step_text(forecast), palette.text),
        ("Last checkpoint then", _checkpoint_text(forecast), palette.text),
    ]
    rows: list[Row] = [(Span(f"Forecast made {candles_before(forecast.horizon)}", palette.text, bold=True),)]
    rows += [(Span(name, palette.muted_text), Span(text, colour)) for name, text, colour in facts]
    if forecast.after_gap:
        rows.append((Span("Candles are missing before it", palette.warning),))
    return rows


def candles_before(horizon: int) -> str:
    """``1 candle before``, ``3 candles before``."""
    return f"{horizon} candle{'' if horizon == 1 else 's'} before"


def _regime_text(regime: RegimeProbabilities) -> str:
    return f"{regime.likeliest.value}, {formatting.format_percent(regime.of(regime.likeliest), 0)}"


def _regime_colour(regime: RegimeProbabilities, palette: Palette) -> QColor:
    return palette.regimes[tuple(Regime).index(regime.likeliest)]


def _made_text(forecast: PastForecast, frame: Frame) -> str:
    how = "live" if forecast.mode is ForecastMode.LIVE else f"in {forecast.mode.value}"
    if forecast.mode is ForecastMode.SIMULATED:
        how = "in a simulated market"
    if forecast.made_at_ms is None:
        return how
    return f"{how}, {formatting.format_time(forecast.made_at_ms, frame.time_zone, seconds=True)}"


def _step_text(forecast: PastForecast) -> str:
    """The steps that had been learned by then: it was made by the model as it was, not as a checkpoint has it."""
    return formatting.MISSING if forecast.step is None else formatting.format_count(forecast.step)


def _checkpoint_text(forecast: PastForecast) -> str:
    """The last part of its id, which tells it from others of the run."""
    if forecast.step is None:
        return formatting.MISSING
    return "none yet" if forecast.checkpoint_id is None else forecast.checkpoint_id.rsplit("-", 1)[-1]


def _inside(is_inside: bool, palette: Palette) -> tuple[str, QColor]:
    return ("inside", palette.good) if is_inside else ("outside", palette.bad)


def _direction(hit: bool | None, palette: Palette) -> tuple[str, QColor]:
    if hit is None:
        return "not counted (flat)", palette.muted_text
    return ("hit", palette.good) if hit else ("missed", palette.bad)
