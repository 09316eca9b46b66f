"""What is said of a past forecast: what it was, how it came out, and who made it when."""

from __future__ import annotations

from PySide6.QtGui import QColor

from core.events import ForecastMode
from core.regimes import Regime, RegimeProbabilities
from desktop import formatting
from desktop.chart.data.past import PastForecast
from desktop.chart.painting.text import Row, Span
from desktop.chart.panes.frame import Frame
from desktop.theme import Palette
from desktop.translation import translate
from desktop.words import word


def past_rows(forecast: PastForecast, frame: Frame, regime: RegimeProbabilities | None = None) -> list[Row]:
    """The rows of the tooltip: what was forecast, how it came out, and who made it when. regime: the market's then,
    where it is known."""
    palette, decimals = frame.palette, frame.decimals
    facts: list[tuple[str, str, QColor]] = [
        (translate("Chart", "Forecast close"), formatting.format_price(forecast.close, decimals), palette.ghost_text),
        (translate("Chart", "Actual close"), formatting.format_price(forecast.actual_close, decimals), palette.text),
        (translate("Chart", "Error"), formatting.format_percent(forecast.error, 3, signed=True), palette.text),
        (translate("Chart", "50 % band"), *_inside(forecast.inside_50, palette)),
        (translate("Chart", "90 % band"), *_inside(forecast.inside_90, palette)),
        (translate("Chart", "Direction"), *_direction(forecast.direction_hit, palette)),
        *_market_facts(regime, palette),
        (translate("Chart", "Made"), _made_text(forecast, frame), palette.text),
        (translate("Chart", "After step"), _step_text(forecast), palette.text),
        (translate("Chart", "Last checkpoint then"), _checkpoint_text(forecast), palette.text),
        *_nearest_kept(forecast, palette),
    ]
    title = translate("Chart", "Forecast made {0}").format(candles_before(forecast.horizon))
    rows: list[Row] = [(Span(title, palette.text, bold=True),)]
    rows += [(Span(name, palette.muted_text), Span(text, colour)) for name, text, colour in facts]
    if forecast.after_gap:
        rows.append((Span(translate("Chart", "Candles are missing before it"), palette.warning),))
    return rows


def candles_before(horizon: int) -> str:
    """``1 candle before``, ``3 candles before``."""
    return translate("Chart", "{0} before").format(formatting.format_candles(horizon))


def _market_facts(regime: RegimeProbabilities | None, palette: Palette) -> tuple[tuple[str, str, QColor], ...]:
    if regime is None:
        return ()
    return ((translate("Chart", "Market then"), _regime_text(regime), _regime_colour(regime, palette)),)


def _regime_text(regime: RegimeProbabilities) -> str:
    return f"{word(regime.likeliest)}, {formatting.format_percent(regime.of(regime.likeliest), 0)}"


def _regime_colour(regime: RegimeProbabilities, palette: Palette) -> QColor:
    return palette.regimes[tuple(Regime).index(regime.likeliest)]


def _made_text(forecast: PastForecast, frame: Frame) -> str:
    how = translate("Chart", "in {0}").format(word(forecast.mode))
    if forecast.mode is ForecastMode.LIVE:
        how = word(forecast.mode)
    elif forecast.mode is ForecastMode.SEEN:
        how = translate("Chart", "the model had seen this candle")
    elif forecast.mode is ForecastMode.SIMULATED:
        how = translate("Chart", "in a simulated market")
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
    if forecast.checkpoint_id is None:
        return translate("Chart", "none yet")
    return _short(forecast.checkpoint_id)


def _nearest_kept(forecast: PastForecast, palette: Palette) -> tuple[tuple[str, str, QColor], ...]:
    """Where its own is not kept: which one to open instead."""
    if forecast.kept is None or forecast.kept[1] == forecast.checkpoint_id:
        return ()
    step, checkpoint_id = forecast.kept
    words = translate("Chart", "{0}, step {1}").format(_short(checkpoint_id), formatting.format_count(step))
    return ((translate("Chart", "Nearest checkpoint kept"), words, palette.text),)


def _short(checkpoint_id: str) -> str:
    return checkpoint_id.rsplit("-", 1)[-1]


def _inside(is_inside: bool, palette: Palette) -> tuple[str, QColor]:
    if is_inside:
        return translate("Chart", "inside"), palette.good
    return translate("Chart", "outside"), palette.bad


def _direction(hit: bool | None, palette: Palette) -> tuple[str, QColor]:
    if hit is None:
        return translate("Chart", "not counted (flat)"), palette.muted_text
    if hit:
        return translate("Chart", "hit"), palette.good
    return translate("Chart", "missed"), palette.bad
