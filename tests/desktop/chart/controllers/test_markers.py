"""Training markers: placed at their candles, grouped, explained, opened, and free of cost for a tick."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.domain.candle import Candle
from core.domain.candle_series import CandleSeries
from core.domain.events import Incident, Severity
from core.domain.incident_kinds import IncidentKind
from core.storage.folder import DataFolder
from desktop.actions import ActionId
from desktop.chart.controllers.appearance import ChartAppearance
from desktop.chart.controllers.markers import candle_time
from desktop.chart.data.model import ChartModel
from desktop.chart.items.markers import Marker, MarkerGroup, MarkerKind, MarkerTrack
from desktop.panels.events.panel import EventsPanel
from desktop.state.step_history import StepHistory
from tests.desktop import scenario
from tests.desktop.chart.controllers.tools import ToolBench, opened
from tests.desktop.chart.support import MINUTE_MS, START_MS, forming_after, random_series
from tests.desktop.conftest import MakeBench
from tests.support.counted import calls_of

GAP = frozenset({30, 31, 32, 33, 34})


@pytest.fixture
def bench(bench: ToolBench) -> ToolBench:
    bench.tools.markers.gather()
    bench.bench.chart.flush()
    return bench


def marker(time_ms: int, kind: MarkerKind = MarkerKind.INFO) -> Marker:
    return Marker(time_ms, kind, "It happened.", None)


def model_with_gap() -> ChartModel:
    model, series = ChartModel(), random_series(60, skip=GAP)
    model.set_series(series, "")
    model.set_forming(forming_after(series))
    return model


def place_of(bench: ToolBench, kind: MarkerKind) -> QPoint:
    """The logical middle of the first marker of a kind."""
    chart, layer = bench.bench.chart, bench.tools.markers.layer
    frame = chart.frame
    for y in range(0, frame.layout.price_bottom, 3):
        for x in range(0, frame.layout.plot_right, 3):
            found = layer.marker_at(frame, chart.model, QPoint(x, y))
            if found is not None and found.kind is kind:
                return QPoint(x + 5, y + 5)
    raise AssertionError(f"no {kind.name} on the chart")


@given(
    minutes=st.lists(st.integers(-5, 66), max_size=30),
    apart=st.floats(0.1, 20.0),
    first=st.floats(-5, 60),
    width=st.floats(1, 70),
)
def test_groups_hold_each_marker_in_view_once_at_the_candle_of_its_time(
    minutes: list[int], apart: float, first: float, width: float
) -> None:
    model = model_with_gap()
    track = MarkerTrack(marker(START_MS + minute * MINUTE_MS + 17) for minute in minutes)
    groups = track.groups(model, first, first + width, apart)
    times = [model.time_at(index) for index in range(model.count + 1)]
    slot = 2 ** max(0, int(np.ceil(np.log2(apart))))
    expected: dict[int, list[int]] = {}
    for minute in sorted(minutes):
        moment = START_MS + minute * MINUTE_MS + 17
        before = [index for index, opened_at in enumerate(times) if opened_at is not None and opened_at <= moment]
        if before and moment < (times[-1] or 0) + MINUTE_MS:
            expected.setdefault(before[-1] // slot, []).append(moment)
    inside = {
        number: moments
        for number, moments in expected.items()
        if number * slot > first + 1 + slot and (number + 1) * slot < first + width - slot
    }
    found = {int(group.index) // slot: sorted(each.time_ms for each in group.markers) for group in groups}
    for number, moments in inside.items():
        assert found[number] == moments
    shown = [each.time_ms for group in groups for each in group.markers]
    assert len(shown) <= sum(len(moments) for moments in expected.values())


def test_the_most_important_marker_is_at_the_bottom() -> None:
    at = START_MS + 3 * MINUTE_MS
    (group,) = MarkerTrack(marker(at, kind) for kind in reversed(MarkerKind)).groups(model_with_gap(), 0, 59, 1.0)
    assert [each.kind for each in group.markers] == list(MarkerKind)


def steps_of(*pairs: tuple[int, int]) -> StepHistory:
    """Steps at a wall time on a candle."""
    history = StepHistory()
    for number, (step, (at_ms, candle_ms)) in enumerate(zip(scenario.steps(len(pairs)), pairs, strict=True)):
        history.add(replace(step, step=number, at_ms=at_ms, candle_open_time_ms=candle_ms))
    return history


def test_an_incident_of_a_catch_up_is_at_the_training_candle() -> None:
    series = random_series(100)
    now = START_MS + 100 * MINUTE_MS
    history = steps_of((now, START_MS + 4 * MINUTE_MS), (now + 300, START_MS + 5 * MINUTE_MS))
    assert candle_time(now + 299, history, series) == START_MS + 4 * MINUTE_MS
    assert candle_time(now + 301, history, series) == START_MS + 5 * MINUTE_MS


def test_an_incident_of_a_pause_is_at_its_time_and_one_of_a_replay_at_the_last_step() -> None:
    series = random_series(100)
    paused = START_MS + 50 * MINUTE_MS
    history = steps_of((START_MS + 20 * MINUTE_MS, START_MS + 19 * MINUTE_MS))
    assert candle_time(paused, history, series) == paused
    years_later = START_MS + 10**11
    assert candle_time(years_later, history, series) == START_MS + 19 * MINUTE_MS
    assert candle_time(years_later, StepHistory(), series) is None


def test_incidents_a_best_a_restore_and_a_rollback_are_marked(bench: ToolBench, qtbot: QtBot) -> None:
    state, layer = bench.bench.state, bench.tools.markers.layer
    for kind, severity in ((IncidentKind.RESTORED, Severity.INFO), (IncidentKind.ROLLED_BACK, Severity.ERROR)):
        state.apply(Incident(scenario.RUN, scenario.NOW_MS - 1_200_000, severity, kind, "So it was.", "Done.", ""))
    qtbot.waitUntil(lambda: len(layer.track) == 6)
    groups = layer.track.groups(bench.bench.chart.model, 0, len(bench.candles), 1.0)
    kinds = [each.kind for group in groups for each in group.markers]
    assert set(kinds) == set(MarkerKind)


@pytest.fixture
def whole(make_bench: MakeBench, tmp_path: Path) -> Iterator[ToolBench]:
    """With the docks that a click on a marker opens."""
    DataFolder(tmp_path).ensure()
    with opened(lambda: make_bench(scenario.checkpoints()), tmp_path) as made:
        made.tools.markers.gather()
        made.bench.chart.flush()
        yield made


def test_the_tooltip_shows_the_message_and_a_click_opens_its_panel(whole: ToolBench) -> None:
    bench = whole
    at = place_of(bench, MarkerKind.WARNING)
    bench.hover(at)
    tooltip = bench.bench.chart.overlay.tooltip
    assert tooltip is not None
    words = " ".join(span.text for row in tooltip.rows for span in row)
    assert "A gradient was not finite." in words
    window = bench.bench.window
    window.show_dock(ActionId.SHOW_CHECKPOINTS)
    QApplication.processEvents()
    bench.bench.chart.flush()
    right = bench.bench.chart.scale.right
    bench.click(place_of(bench, MarkerKind.WARNING))
    panel = window.docks[ActionId.SHOW_EVENTS].widget()
    assert isinstance(panel, EventsPanel)
    QApplication.processEvents()
    assert panel.is_on_screen
    assert [event.text for event in panel.selected()] == ["A gradient was not finite."]
    assert bench.bench.chart.scale.right == right
    best = place_of(bench, MarkerKind.BEST)
    bench.hover(best)
    tooltip = bench.bench.chart.overlay.tooltip
    assert tooltip is not None and "its model adds" in " ".join(span.text for row in tooltip.rows for span in row)
    bench.click(best)
    (selected,) = window.panels.checkpoints.selected()
    assert selected.is_best and window.panels.checkpoints.is_on_screen


def test_they_are_hidden_by_an_action_that_is_remembered(bench: ToolBench) -> None:
    chart, action = bench.bench.chart, bench.bench.shell.actions[ActionId.SHOW_MARKERS]
    ChartAppearance(bench.bench.shell, chart)
    chart.flush()
    at = place_of(bench, MarkerKind.WARNING)
    shown = chart.grab().toImage().copy(at.x() - 8, at.y() - 8, 16, 16)
    assert action.isChecked()
    action.trigger()
    chart.flush()
    assert not bench.bench.shell.settings.current.chart.show_markers
    assert chart.grab().toImage().copy(at.x() - 8, at.y() - 8, 16, 16) != shown
    assert bench.tools.markers.layer.marker_at(chart.frame, chart.model, at) is None


def test_another_run_has_no_markers(bench: ToolBench) -> None:
    scenario.watch(bench.bench.state, "another")
    assert len(bench.tools.markers.layer.track) == 0


def test_old_incidents_are_marked_once_the_history_is_loaded(bench: ToolBench, qtbot: QtBot) -> None:
    """As at startup: the newest candles are shown immediately, the rest follows."""
    chart = bench.bench.chart
    whole = chart.model.series
    assert whole is not None
    newest = CandleSeries(whole.interval)
    newest.extend(bench.candles[-200:])
    long_ago = bench.candles[10].open_time_ms + 500
    state = bench.bench.state
    scenario.watch(state, "another")
    chart.set_series(newest, "", is_same_market=True)
    state.apply(Incident("another", long_ago, Severity.ERROR, "nan", "So it was.", "Done.", ""))
    bench.tools.markers.gather()
    assert long_ago not in [each.time_ms for group in _groups(bench) for each in group.markers]
    chart.replace_series(whole)
    qtbot.waitUntil(lambda: long_ago in [each.time_ms for group in _groups(bench) for each in group.markers])


def _groups(bench: ToolBench) -> Sequence[MarkerGroup]:
    model = bench.bench.chart.model
    return bench.tools.markers.layer.track.groups(model, 0, model.count, 1.0)


def test_ten_thousand_markers_cost_a_tick_nothing(bench: ToolBench) -> None:
    chart, layer = bench.bench.chart, bench.tools.markers.layer
    first, kinds = bench.candles[0].open_time_ms, list(MarkerKind)
    many = MarkerTrack(marker(first + number * 7_000, kinds[number % 6]) for number in range(10_000))

    def tick(number: int) -> None:
        close = bench.newest.close + number % 3
        chart.set_forming(Candle(bench.newest.open_time_ms + MINUTE_MS, close, close, close, close, 1.0))
        chart.flush()
        chart.repaint()

    def calls(track: MarkerTrack) -> int:
        layer.track = track
        chart.layers_changed()
        tick(0)
        painted = chart.closed_paints
        counted = sum(calls_of(lambda: [tick(number) for number in range(1, 5)]).values())
        assert chart.closed_paints == painted
        return counted

    bare = calls(MarkerTrack())
    assert 0 < calls(many) <= 1.1 * bare
