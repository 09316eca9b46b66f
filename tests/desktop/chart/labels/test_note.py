from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRect, QSize
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest

from core.domain.events import ForecastMode
from desktop.chart.labels.forecast import note_box
from desktop.chart.painting.text import Box, Span, row_width
from desktop.chart.widget import ChartWidget
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.support import candle, forecast_after, random_series, texts

NOTE = "Training is stopped: the newest forecast is from 1 Dec 2020 14:05"


def noted(show_chart: ShowChart, size: QSize) -> ChartWidget:
    chart = show_chart(random_series(100))
    chart.resize(size)
    chart.set_note(NOTE)
    settle(chart)
    return chart


@pytest.mark.parametrize("size", [QSize(1_200, 700), QSize(600, 500), QSize(300, 400)])
def test_the_note_is_on_the_right_beside_the_readout(show_chart: ShowChart, size: QSize) -> None:
    chart = noted(show_chart, size)
    note, frame = chart.overlay.note, chart.frame
    assert note is not None and [word for row in note.rows for word in texts((row,)).split()] == NOTE.split()
    assert not note.rect.intersects(chart.overlay.readout.rect)
    assert frame.layout.plot.contains(note.rect)
    assert note.rect.top() < frame.layout.price_bottom
    assert note.rect.right() > frame.layout.plot_right * 0.9


@pytest.mark.parametrize("panes", [0, 2])
@pytest.mark.parametrize("size", [QSize(1_200, 700), QSize(896, 410), QSize(600, 600)])
@pytest.mark.parametrize("newer", [0, 3])
def test_neither_candles_nor_ghosts_are_behind_the_note(
    show_chart: ShowChart, size: QSize, panes: int, newer: int
) -> None:
    series = random_series(100)
    chart = show_chart(series)
    for number in range(panes):
        chart.add_pane(f"Pane {number}")
    chart.set_forecast(forecast_after(series, mode=ForecastMode.REPLAY))
    for number in range(newer):
        series.add(candle(100 + number, series[-1].close))
    chart.resize(size)
    chart.set_note(NOTE)
    settle(chart)
    frame, note, label = chart.frame, chart.overlay.note, chart.overlay.forecast_label
    highest = min(frame.y(series[index].high) for index in range(frame.first, len(series)))
    highest = min(highest, *(frame.y(placed.ghost.high) for placed in chart.model.ghosts()))
    assert note is not None and label is not None
    assert note.rect.bottom() < frame.layout.price_top <= highest
    assert not note.rect.intersects(label.rect) and not note.rect.intersects(chart.overlay.readout.rect)


def in_a_low_chart(show_chart: ShowChart, size: QSize) -> ChartWidget:
    series = random_series(100)
    chart = show_chart(series)
    chart.set_forecast(forecast_after(series, mode=ForecastMode.REPLAY))
    chart.resize(size)
    chart.set_note(NOTE)
    settle(chart)
    return chart


def test_where_the_chart_is_low_it_is_cut_to_a_line_and_hides_no_candle(show_chart: ShowChart) -> None:
    chart, cut = in_a_low_chart(show_chart, QSize(400, 150)), 0
    for height in range(60, 240, 10):
        chart.resize(400, height)
        settle(chart)
        note, label, overlay = chart.overlay.note, chart.overlay.forecast_label, chart.overlay
        if note is None:
            assert height < 80, "no room for anything"
            continue
        assert chart.frame.price_pane.rect.contains(note.rect) and note.rect.bottom() < chart.frame.layout.price_top
        assert not note.rect.intersects(overlay.readout.rect)
        assert label is None or not note.rect.intersects(label.rect)
        (words, *further) = [texts((row,)).strip() for row in note.rows]
        if not further:
            cut += 1
            assert words.endswith("…") and NOTE.startswith(words[:-1].strip()), words
    assert cut > 5


@pytest.mark.parametrize("title", ["BTC/USDT · 1m", "A market of a file with a long name · 15m"])
def test_beside_a_readout_that_has_grown_it_is_whole(show_chart: ShowChart, title: str) -> None:
    """A selection adds a line in the row that the remark had."""
    chart = in_a_low_chart(show_chart, QSize(860, 500))
    frame, overlay = chart.frame, chart.overlay
    assert overlay.note is not None and len(overlay.note.rows) == 1 and overlay.forecast_label is not None
    ink, label, line = QColor(), overlay.forecast_label.rect, frame.fonts.line
    lines = ((Span(title, ink),), overlay.readout.rows[-1], (Span("Selected: a note, at 0.5, below the prices", ink),))
    grown = Box(QRect(6, 6, 520, 3 * line + 4), lines, ink)
    note = note_box(frame, NOTE, grown, label)
    assert note is not None and [word for row in note.rows for word in texts((row,)).split()] == NOTE.split()
    assert not note.rect.intersects(label) and note.rect.left() > 6 + row_width(lines[0], frame.fonts)
    assert not note.rect.intersects(grown.rect.adjusted(0, line + 2, 0, 0))


def test_a_note_that_is_cut_shows_all_of_it_under_the_mouse(show_chart: ShowChart) -> None:
    chart = in_a_low_chart(show_chart, QSize(400, 150))
    note = chart.overlay.note
    assert note is not None and texts(note.rows).strip().endswith("…")
    place = note.rect.center()
    QTest.mouseMove(chart.viewport(), place + QPoint(1, 0))
    QTest.mouseMove(chart.viewport(), place)
    settle(chart)
    tooltip = chart.overlay.tooltip
    assert tooltip is not None
    assert [word for row in tooltip.rows for word in texts((row,)).split()] == NOTE.split()


def test_the_note_is_painted_at_once_and_goes_without_a_trace(show_chart: ShowChart) -> None:
    chart = show_chart(random_series(100))
    settle(chart)
    before = chart.grab().toImage()
    chart.set_note(NOTE)
    settle(chart)
    assert chart.grab().toImage() != before
    chart.set_note("")
    settle(chart)
    assert chart.overlay.note is None
    assert chart.grab().toImage() == before


def test_no_line_of_it_ends_between_a_number_and_its_unit(show_chart: ShowChart) -> None:
    chart = show_chart(random_series(100))
    chart.set_note("Catching up: 980 candles of 1,000 candles, forecasts in about 1 h 4 min, 97 % simple rules")
    for width in range(260, 720, 20):
        chart.resize(width, 420)
        settle(chart)
        note = chart.overlay.note
        assert note is not None
        rows = [texts((row,)).strip() for row in note.rows]
        assert not [row for row in rows[:-1] if row[-1].isdigit()], rows
