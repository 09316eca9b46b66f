"""The text about a past forecast: values, outcome and origin."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtGui import QColor

from core.domain.checkpoint_info import CheckpointInfo
from core.domain.events import ForecastMode
from core.domain.regimes import Regime, RegimeProbabilities
from desktop.chart.data.past_forecasts import PastForecast
from desktop.chart.painting.text import Row, Span
from desktop.chart.panes.frame import Frame
from desktop.ui import formatting
from desktop.ui.theme import Palette
from desktop.ui.translation import translate
from desktop.ui.words import word


def past_rows(
    forecast: PastForecast,
    frame: Frame,
    regime: RegimeProbabilities | None = None,
    kept: CheckpointInfo | None = None,
) -> list[Row]:
    """The rows of the tooltip: values, outcome and origin. regime: the market's at that time, if known. kept: the
    nearest saved checkpoint, if any."""
    palette, decimals = frame.palette, frame.decimals
    facts = [
        (translate("Chart", "Forecast close"), formatting.format_price(forecast.close, decimals), palette.ghost_text),
        (translate("Chart", "Actual close"), formatting.format_price(forecast.actual_close, decimals), palette.text),
        (translate("Chart", "Error"), formatting.format_percent(forecast.error, 3, signed=True), palette.text),
        (translate("Chart", "50 % band"), *_inside(forecast.inside_50, palette)),
        (translate("Chart", "90 % band"), *_inside(forecast.inside_90, palette)),
        (translate("Chart", "Direction"), *_direction(forecast.direction_hit, palette)),
    ]
    if regime is not None:
        share = formatting.format_percent(regime.of(regime.likeliest), 0)
        colour = palette.regimes[tuple(Regime).index(regime.likeliest)]
        facts.append((translate("Chart", "Market then"), f"{word(regime.likeliest)}, {share}", colour))
    facts += [(name, text, palette.text) for name, text in _origin(forecast, frame, kept)]
    title = translate("Chart", "Forecast made {0}").format(candles_before(forecast.horizon))
    rows: list[Row] = [(Span(title, palette.text, bold=True),)]
    rows += [(Span(name, palette.muted_text), Span(text, colour)) for name, text, colour in facts]
    if forecast.after_gap:
        rows.append((Span(translate("Chart", "Candles are missing before it"), palette.warning),))
    return rows


def candles_before(horizon: int) -> str:
    """``1 candle earlier``, ``3 candles earlier``."""
    return translate("Chart", "{0} earlier").format(formatting.format_candles(horizon))


def _origin(forecast: PastForecast, frame: Frame, kept: CheckpointInfo | None) -> Iterator[tuple[str, str]]:
    """Origin and time of the forecast: the model as it was then, which no checkpoint may hold. If its checkpoint is not
    saved, the nearest saved one is named."""
    made = _mode_words(forecast.mode)
    if forecast.made_at_ms is not None:
        made = f"{made}, {formatting.format_time(forecast.made_at_ms, frame.time_zone, seconds=True)}"
    step = checkpoint = formatting.MISSING
    if forecast.step is not None:
        step, known = formatting.format_count(forecast.step), forecast.checkpoint_id
        checkpoint = translate("Chart", "none yet") if known is None else _checkpoint_words(known)
    yield translate("Chart", "Made"), made
    yield translate("Chart", "After step"), step
    yield translate("Chart", "Last checkpoint then"), checkpoint
    if kept is not None and kept.checkpoint_id != forecast.checkpoint_id:
        yield translate("Chart", "Nearest checkpoint kept"), _step_words(kept.step)


def _mode_words(mode: ForecastMode) -> str:
    if mode is ForecastMode.LIVE:
        return word(mode)
    if mode is ForecastMode.SEEN:
        return translate("Chart", "the model had seen this candle")
    if mode is ForecastMode.SIMULATED:
        return translate("Chart", "in a simulated market")
    return translate("Chart", "in {0}").format(word(mode))


def _checkpoint_words(checkpoint_id: str) -> str:
    """``step 1,230`` from the trainer's ids, as in the browser; the last part of any other id."""
    *_run, step, last = ["", "", *checkpoint_id.split("-")]
    return _step_words(int(step)) if step.isdecimal() else last


def _step_words(step: int) -> str:
    return translate("Chart", "step {0}").format(formatting.format_count(step))


def _inside(is_inside: bool, palette: Palette) -> tuple[str, QColor]:
    inside = (translate("Chart", "inside"), palette.good)
    return inside if is_inside else (translate("Chart", "outside"), palette.bad)


def _direction(hit: bool | None, palette: Palette) -> tuple[str, QColor]:
    if hit is None:
        return translate("Chart", "not counted (flat)"), palette.muted_text
    return (translate("Chart", "hit"), palette.good) if hit else (translate("Chart", "missed"), palette.bad)
