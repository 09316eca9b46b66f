"""A figure is only given if the chart really painted the requested change."""

from __future__ import annotations

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from tests.benchmarks.chart.measures import TICKS
from tests.benchmarks.chart.rig import HEIGHT, IN_VIEW, WIDTH, MeasureError, Rig
from tests.benchmarks.chart.run import measure_sizes
from tests.desktop.chart.paint_helpers import picture, screen

SAMPLES = 2


def test_the_picture_changes_with_each_timed_tick(qtbot: QtBot) -> None:
    rig, ticks = Rig(1_000), TICKS
    ticks.prepare(rig)
    shown = screen(rig.chart)
    for turn in range(8):
        assert ticks.sample_ms(rig, turn) > 0.0
        before, shown = shown, screen(rig.chart)
        assert not np.array_equal(shown, before)
    whole = picture(rig.chart)[: shown.shape[0], : shown.shape[1]]
    assert np.array_equal(shown, whole)
    rig.close()


def test_the_whole_chart_is_measured_in_the_documented_size(qtbot: QtBot) -> None:
    rig = Rig(2_000)
    chart = rig.chart
    assert (chart.width(), chart.height()) == (WIDTH, HEIGHT)
    assert abs(rig.in_view - IN_VIEW) <= 2
    assert chart.style_shown.shows_volume and chart.style_shown.shows_bands
    assert chart.overlay.cross is not None and chart.model.ghosts()
    assert chart.overlay.last_price is not None and len(chart.overlay.last_price.rows) == 2, "price and countdown"
    rig.close()


def test_a_change_without_a_paint_is_not_a_frame(qtbot: QtBot) -> None:
    rig = Rig(1_000)
    with pytest.raises(MeasureError, match="0 paints"):
        rig.timed_ms(lambda: None)
    rig.close()


def test_each_size_gets_every_figure(qtbot: QtBot) -> None:
    said: list[str] = []
    found = measure_sizes((500, 1_000), SAMPLES, said.append)
    assert set(found) == {"500", "1000"} and said
    for figures in found.values():
        assert abs(figures["in_view"] - IN_VIEW) <= 2
        for name in ("tick_ms", "cursor_ms", "pan_ms", "all_ms", "append_ms"):
            figure = figures[name]
            assert 0.0 < figure["p50"] <= figure["p99"] <= figure["max"] and figure["samples"] == SAMPLES
        assert figures["tick_ms"]["closed_paints"] == figures["cursor_ms"]["closed_paints"] == 0
        assert figures["pan_ms"]["closed_paints"] == figures["all_ms"]["closed_paints"] == SAMPLES
