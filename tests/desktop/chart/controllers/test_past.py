"""Keys, settings and chart agree about past forecasts; reads happen between frames, never on mouse events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from core.domain.candle_series import CandleSeries
from core.settings.tree import Settings
from core.storage.errors import StorageError
from core.storage.record_reader import RecordReader
from desktop.actions import ActionId
from desktop.chart.controllers.appearance import ChartAppearance
from desktop.chart.controllers.past import ChartPast
from tests.desktop import scenario
from tests.desktop.chart.conftest import settle
from tests.desktop.chart.controllers.tools import wait_for_keys
from tests.desktop.chart.past_support import event_of, issued, open_recorded, scores_of
from tests.desktop.chart.support import MINUTE_MS, point_over, random_series
from tests.desktop.conftest import Bench, MakeBench

SERIES = random_series(600)
RECORDED = 590

ALT_SHIFT = Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.ShiftModifier


class Recorded:
    """A window over a real record, with the statements that SQLite ran."""

    def __init__(self, bench: Bench, record: object, reader: RecordReader, statements: list[str]) -> None:
        self.bench, self.chart, self.record, self.reader = bench, bench.chart, record, reader
        self.statements = statements
        self.shown = CandleSeries(SERIES.interval)
        self.shown.extend(SERIES[index] for index in range(RECORDED))
        scenario.watch(bench.state, None)
        self.chart.set_series(self.shown, "BTC/USDT · 1m")
        ChartAppearance(bench.shell, bench.chart)
        ChartPast(bench.shell, self.chart, bench.state, bench.source, lambda _run: reader)
        scenario.watch(bench.state, None)
        bench.state.apply(scenario.ready(reader.run_id))

    def press(self, key: Qt.Key) -> None:
        QTest.keyClick(self.bench.window, key, ALT_SHIFT)
        settle(self.chart)

    @property
    def settings(self) -> Settings:
        return self.bench.shell.settings.current

    def in_view(self) -> int:
        frame = self.chart.frame
        return len(self.chart.model.past.view(self.shown, frame.first, frame.stop))


@pytest.fixture
def recorded(qtbot: QtBot, make_chart_bench: MakeBench, tmp_path: Path) -> Iterator[Recorded]:
    with open_recorded(tmp_path, SERIES, RECORDED) as (db, record):
        statements: list[str] = []
        db.conn.set_trace_callback(statements.append)
        made = Recorded(make_chart_bench(), record, record.reader, statements)
        wait_for_keys(qtbot, made.bench)
        yield made
        db.conn.set_trace_callback(None)


def wait_for_all(qtbot: QtBot, recorded: Recorded) -> None:
    frame = recorded.chart.frame
    qtbot.waitUntil(lambda: recorded.in_view() == frame.stop - frame.first)
    settle(recorded.chart)


def test_keys_toggle_past_forecasts_and_are_stored(qtbot: QtBot, recorded: Recorded) -> None:
    layers = recorded.chart._layers
    before = len(layers)
    recorded.press(Qt.Key.Key_H)
    assert recorded.settings.chart.hindsight and len(layers) == before + 1
    wait_for_all(qtbot, recorded)
    recorded.press(Qt.Key.Key_H)
    assert not recorded.settings.chart.hindsight and len(layers) == before


def test_a_key_cycles_through_the_horizons(qtbot: QtBot, recorded: Recorded) -> None:
    past, horizons = recorded.chart.model.past, recorded.settings.model.horizons
    recorded.press(Qt.Key.Key_X)
    assert recorded.settings.chart.hindsight and past.horizon == 1, "the first press shows what the next ones change"
    seen = []
    for _ in range(horizons):
        recorded.press(Qt.Key.Key_X)
        seen.append(past.horizon)
    assert seen == [*range(2, horizons + 1), 1]
    assert recorded.settings.chart.hindsight_horizon == 1


def test_settings_from_elsewhere_are_shown_and_kept_within_the_models_horizons(recorded: Recorded) -> None:
    window = recorded.bench.window
    chart = replace(window.shell.settings.current.chart, hindsight=True, hindsight_horizon=60)
    window.shell.settings.change(replace(window.shell.settings.current, chart=chart))
    actions = window.shell.actions
    assert actions[ActionId.HINDSIGHT].isChecked()
    assert recorded.chart.model.past.horizon == window.shell.settings.current.model.horizons


def test_mouse_ticks_and_scores_run_no_query(qtbot: QtBot, recorded: Recorded) -> None:
    recorded.press(Qt.Key.Key_H)
    wait_for_all(qtbot, recorded)
    chart, state = recorded.chart, recorded.bench.state
    chart.model.regimes.at(SERIES[0].open_time_ms)  # the tooltip shows them too
    qtbot.waitUntil(lambda: not chart.model.regimes.is_waiting)
    recorded.statements.clear()
    paints, tooltips = chart.closed_paints, 0
    for index in range(chart.frame.stop - 40, chart.frame.stop):
        QTest.mouseMove(chart.viewport(), point_over(chart, index, recorded.shown[index].close))
        settle(chart)
        tooltips += chart.overlay.tooltip is not None
    assert tooltips == 40 and recorded.statements == []
    assert chart.closed_paints == paints
    before = recorded.in_view()
    for index in range(RECORDED, RECORDED + 3):
        state.apply(issued(SERIES[index - 1]).event(recorded.reader.run_id))
        recorded.shown.add(SERIES[index])
        chart.refresh()
        for score in scores_of(SERIES, index):
            origin = SERIES.index_at(score.origin_open_time_ms)
            assert origin is not None
            state.apply(event_of(issued(SERIES[origin]), score.horizon, SERIES[index], recorded.reader.run_id))
        settle(chart)
    assert recorded.statements == []
    assert recorded.in_view() >= before
    found = chart.model.past_forecast(RECORDED + 2)
    assert found is not None and found.step == SERIES[RECORDED + 1].open_time_ms // MINUTE_MS % 10_000


def test_panning_reads_each_block_once(qtbot: QtBot, recorded: Recorded) -> None:
    recorded.press(Qt.Key.Key_H)
    wait_for_all(qtbot, recorded)
    chart = recorded.chart
    for _ in range(2):
        chart.go_to_oldest()
        settle(chart)
        # The first targets have no forecast: there are no candles before them.
        qtbot.waitUntil(lambda: recorded.in_view() >= chart.frame.stop - chart.frame.first - 1)
        chart.go_to_newest()
        settle(chart)
        wait_for_all(qtbot, recorded)
    blocks = [each for each in recorded.statements if "FROM scores AS s" in each]
    assert 0 < len(blocks) <= -(-RECORDED // 256) + 1


def test_hovering_reads_its_forecast_without_the_overlay(qtbot: QtBot, recorded: Recorded) -> None:
    chart = recorded.chart
    index = chart.frame.stop - 10
    QTest.mouseMove(chart.viewport(), point_over(chart, index - 1, recorded.shown[index - 1].close))
    QTest.mouseMove(chart.viewport(), point_over(chart, index, recorded.shown[index].close))
    settle(chart)
    qtbot.waitUntil(lambda: chart.overlay.tooltip is not None)


def test_a_failed_read_is_reported_once_and_not_retried(qtbot: QtBot, make_chart_bench: MakeBench) -> None:
    class Broken:
        reads = 0

        def past_forecasts(self, horizon: int, first_ms: int, stop_ms: int, most: int) -> object:
            raise StorageError("The database is locked.")

        def scored_span(self, horizon: int) -> tuple[int, int] | None:
            self.reads += 1
            raise StorageError("The database is locked by another program.")

    bench, broken = make_chart_bench(), Broken()
    ChartAppearance(bench.shell, bench.chart)
    ChartPast(bench.shell, bench.chart, bench.state, bench.source, lambda _run: broken)  # type: ignore[arg-type, return-value]
    scenario.watch(bench.state, None)
    bench.chart.set_series(SERIES, "BTC/USDT · 1m")
    bench.state.apply(scenario.ready())
    wait_for_keys(qtbot, bench)
    QTest.keyClick(bench.window, Qt.Key.Key_H, ALT_SHIFT)
    settle(bench.chart)
    qtbot.waitUntil(lambda: bench.window.banner.shown is not None)
    notice = bench.window.banner.shown
    assert notice is not None and "locked by another program" in notice.text
    for _ in range(5):
        bench.chart.zoom(0.9)
        settle(bench.chart)
    assert broken.reads == 1
