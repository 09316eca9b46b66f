"""The pixels of the forecast's label."""

from dataclasses import replace
from itertools import combinations

import pytest

from core.domain.candle import Interval
from core.domain.candle_series import CandleSeries
from core.domain.events import ForecastMade, ForecastMode
from desktop.chart.axes.price_scale import PriceRange
from desktop.chart.data.model import ChartModel
from desktop.chart.labels.forecast import divider_row, divider_x
from desktop.chart.painting.text import Row, Span, box_size
from desktop.chart.panes.frame import Frame
from desktop.chart.panes.layer import Layer
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.paint_helpers import picture, rgb_of
from tests.desktop.chart.support import candle, forecast_after, random_series, texts

HOUR, FIVE_MINUTES = Interval.parse("1h"), Interval.parse("5m")
LATE = "made 15 min into its first candle; a live one is due at "


def test_no_line_runs_through_the_word(show_chart: ShowChart) -> None:
    """A colour of neither a candle nor the divider, which the label may cover."""
    series = random_series(100)
    series.add(candle(100, 19_500.0, opened=20_500.0))
    chart = show_chart(series, width=300, height=500)
    chart.set_forecast(forecast_after(series, mode=ForecastMode.REPLAY))
    chart.hold_prices(PriceRange(19_300.0, 20_000.0))
    settle(chart)
    frame, palette = chart.frame, chart.frame.palette
    size = box_size(((Span("forecast (replay)", palette.ghost_text),),), frame.fonts)
    left, top = frame.layout.plot_right - size.width(), frame.layout.price_top - size.height()
    assert left < divider_x(frame, chart.model) and frame.y(20_500.0) < top < frame.y(19_500.0)
    pixels = picture(chart)[top : top + size.height(), left : frame.layout.plot_right]
    ground = rgb_of(palette.background)
    assert (pixels[0] == ground).all() and (pixels[-1] == ground).all()
    assert (pixels != ground).any()


def test_half_a_word_is_never_left(show_chart: ShowChart) -> None:
    were_there = set()
    series = random_series(100)
    chart = show_chart(series, width=300, has_forecast=True)
    for height in range(40, 200, 10):
        chart.resize(300, height)
        settle(chart)
        frame, readout = chart.frame, chart.overlay.readout.rect
        top = frame.layout.price_top - box_size(((Span("f", frame.palette.text),),), frame.fonts).height()
        ink = rgb_of(frame.palette.ghost_text)
        is_there = (picture(chart)[: frame.layout.price_top, : frame.layout.plot_right] == ink).any()
        were_there.add(bool(is_there))
        assert not is_there or readout.isEmpty() or readout.bottom() - 4 <= top
    assert were_there == {False, True}


class Selected(Layer):
    """Has a row without reserved room, as a selected line does."""

    def rows(self, frame: Frame, model: ChartModel, index: int | None) -> list[Row]:
        return [(Span(f"Selected: Alert {number}", frame.palette.text),) for number in range(2)]


def test_a_readout_that_says_more_pushes_it_down_and_hides_none_of_it(show_chart: ShowChart) -> None:
    series = random_series(100)
    chart = show_chart(series, width=300, height=600)
    chart.set_forecast(forecast_after(series, mode=ForecastMode.REPLAY))
    settle(chart)
    at_rest = chart.overlay.forecast_label
    layer = Selected()
    chart.add_layer(layer)
    settle(chart)
    label, readout = chart.overlay.forecast_label, chart.overlay.readout
    assert label is not None and at_rest is not None
    assert readout.rect.intersects(at_rest.rect)
    assert not readout.rect.intersects(label.rect)
    assert label.rows == at_rest.rows
    assert chart.frame.price_pane.rect.contains(label.rect)
    chart.remove_layer(layer)
    settle(chart)
    assert chart.overlay.forecast_label == at_rest


def made_within(interval: Interval, late_ms: int, mode: ForecastMode) -> tuple[CandleSeries, ForecastMade]:
    """A series, and a forecast made this long after its first candle opened."""
    series, step = CandleSeries(interval), interval.duration_ms
    for number in range(60):
        series.add(replace(candle(number, 20_000.0 + number), open_time_ms=number * step))
    made = forecast_after(series, mode=mode)
    opens_ms = 60 * step
    ghosts = (replace(ghost, open_time_ms=opens_ms + ahead * step) for ahead, ghost in enumerate(made.ghosts))
    return series, replace(made, ghosts=tuple(ghosts), inputs_until_ms=opens_ms, made_at_ms=opens_ms + late_ms)


@pytest.mark.parametrize(
    ("interval", "late_ms", "mode", "is_shown"),
    [
        (HOUR, 900_000, ForecastMode.CATCH_UP, True),
        (HOUR, 500, ForecastMode.LIVE, False),
        (HOUR, -1, ForecastMode.CATCH_UP, False),
        (HOUR, 900_000, ForecastMode.REPLAY, False),
        (FIVE_MINUTES, 120_000, ForecastMode.CATCH_UP, False),
    ],
)
def test_a_forecast_of_a_long_candle_that_had_begun_says_so(
    show_chart: ShowChart, interval: Interval, late_ms: int, mode: ForecastMode, is_shown: bool
) -> None:
    series, made = made_within(interval, late_ms, mode)
    chart = show_chart(series, width=900, height=500)
    chart.set_forecast(made)
    settle(chart)
    row = divider_row(chart.frame, chart.model)
    assert [span.text.startswith(LATE) for span in row[1:]] == [True] * is_shown
    chart.resize(260, 500)
    settle(chart)
    assert len(divider_row(chart.frame, chart.model)) == 1, "there is no room for it"


def test_when_its_candle_has_closed_it_says_so_no_more(show_chart: ShowChart) -> None:
    series, made = made_within(HOUR, 900_000, ForecastMode.CATCH_UP)
    chart = show_chart(series, width=900, height=500)
    chart.set_forecast(made)
    series.add(replace(candle(60, 20_050.0), open_time_ms=60 * HOUR.duration_ms))
    settle(chart)
    assert not any(LATE in span.text for span in divider_row(chart.frame, chart.model))


@pytest.mark.parametrize("width", [300, 640, 1200])
def test_a_note_hides_neither_the_word_nor_the_readout(show_chart: ShowChart, width: int) -> None:
    """The label shows the ghosts' age exactly when a remark says why."""
    series = random_series(100)
    chart = show_chart(series, width=width)
    chart.set_forecast(forecast_after(series, mode=ForecastMode.CATCH_UP))
    series.add(candle(100, series[-1].close))
    chart.refresh()
    chart.set_note("Learning from stored candles: the model forecasts new candles when it is done, in about 4 min 58 s")
    settle(chart)
    label, note = chart.overlay.forecast_label, chart.overlay.note
    assert label is not None and note is not None
    assert not note.rect.intersects(label.rect) and not note.rect.intersects(chart.overlay.readout.rect)
    shown = picture(chart)
    ink = rgb_of(chart.frame.palette.warning)
    assert (shown[label.rect.top() : label.rect.bottom(), label.rect.left() : label.rect.right()] == ink).any()


@pytest.mark.parametrize("is_stale", [False, True])
@pytest.mark.parametrize("width", [300, 640, 1200])
def test_what_is_said_of_another_interval_and_the_word_hide_neither_each_other_nor_a_candle(
    show_chart: ShowChart, width: int, is_stale: bool
) -> None:
    series, coarse = random_series(500), CandleSeries(FIVE_MINUTES)
    coarse.extend(series[index] for index in range(0, 500, 5))
    chart = show_chart(coarse, width=width)
    chart.model.past.begin(None, series.interval.duration_ms)
    chart.set_forecast(forecast_after(series, mode=ForecastMode.REPLAY))
    chart.set_note("Training is stopped" if is_stale else "")
    settle(chart)
    frame, overlay, model = chart.frame, chart.overlay, chart.model
    label, note, readout = overlay.forecast_label, overlay.note, overlay.readout.rect
    assert model.ghosts() and label is not None and note is not None
    said = " ".join(texts((row,)).strip() for row in note.rows)
    assert said.endswith("Ghosts built from 1m forecasts; errors only at 1m")
    assert said.startswith("Training is stopped" if is_stale else "Ghosts")
    rects = (label.rect, note.rect, readout)
    assert not any(one.intersects(other) for one, other in combinations(rects, 2)), rects
    highest = min(frame.y(placed.ghost.high) for placed in model.ghosts())
    highest = min(highest, *(frame.y(coarse[index].high) for index in range(frame.first, len(coarse))))
    assert note.rect.bottom() < frame.layout.price_top <= highest
