"""The chart at a past candle, over a real record: the ghosts as stored, and nothing later."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from sqlite_utils import Database

from core.domain.candle import Interval
from core.domain.candle_series import CandleSeries
from core.indicators.spec import IndicatorSpec
from core.market.feeds.replay_speed import ReplayPace
from core.storage.record_reader import RecordReader
from core.storage.record_writer import TrainingRecord
from core.training.online.issued_forecast import from_stored
from desktop.actions import ActionId
from desktop.chart.controllers.context_menu import ChartMenu
from desktop.chart.controllers.saving import image_of
from desktop.chart.controllers.time_travel import TimeTravel
from desktop.chart.items.hindsight import HindsightLayer
from desktop.chart.items.indicator import IndicatorLayer
from desktop.chart.items.markers import Marker, MarkerKind, MarkersLayer, MarkerTrack
from desktop.chart.items.previews import Preview, PreviewLayer
from desktop.chart.widget import ChartWidget
from desktop.ui.theme import Mode
from tests.desktop import scenario
from tests.desktop.chart.conftest import settle
from tests.desktop.chart.controllers.tools import wait_for_keys
from tests.desktop.chart.past_support import HORIZONS, conditions_at, issued, open_recorded, scores_of, stored
from tests.desktop.chart.support import MINUTE_MS, forecast_after, forming_after, point_over, random_series
from tests.desktop.conftest import Bench, MakeBench
from tests.support.contrast import GRAPHICS, contrast

SERIES = random_series(400)
FILE = list(random_series(len(SERIES) + 100))
FIRST_TRAINED = 100
"""Candles before it have no forecast."""


@dataclass
class Traveller:
    """A window over a real record, at now: with a forming candle, the newest forecast and a remark on it."""

    bench: Bench
    travel: TimeTravel
    series: CandleSeries
    record: TrainingRecord
    db: Database

    @property
    def chart(self) -> ChartWidget:
        return self.bench.chart

    def press(self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        QTest.keyClick(self.bench.window, key, modifier)
        self.settle()

    def step_back(self, times: int = 1) -> None:
        for _ in range(times):
            self.press(Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)

    def settle(self) -> None:
        QApplication.processEvents()  # reads the stored forecast
        settle(self.chart)


@pytest.fixture
def at_now(qtbot: QtBot, make_chart_bench: MakeBench, tmp_path: Path) -> Iterator[Traveller]:
    with open_recorded(tmp_path, SERIES, 1) as (db, record):
        with record.write():
            for index in range(FIRST_TRAINED, len(SERIES)):
                record.add_forecast(stored(SERIES[index]))
                record.add_conditions(SERIES[index].open_time_ms, conditions_at(SERIES[index].open_time_ms))
            for index in range(FIRST_TRAINED + HORIZONS, len(SERIES)):
                record.add_scores(scores_of(SERIES, index))
        bench, series = make_chart_bench(), first_of(SERIES, len(SERIES))
        reader = record.reader
        travel = TimeTravel(bench.shell, bench.chart, bench.state, lambda _run: reader)
        scenario.watch(bench.state, None)
        bench.state.apply(scenario.ready(reader.run_id))
        bench.chart.set_series(series, "BTC/USDT · 1m")
        bench.chart.set_forming(forming_after(series))
        bench.chart.set_forecast(made_at(len(series) - 1, reader))
        bench.chart.set_live(True)
        wait_for_keys(qtbot, bench)
        made = Traveller(bench, travel, series, record, db)
        made.settle()
        yield made


def first_of(series: CandleSeries, count: int) -> CandleSeries:
    return CandleSeries.from_columns(series.interval, series.open_time_ms[:count], series.values[:, :count])


def made_at(index: int, reader: RecordReader):  # type: ignore[no-untyped-def]
    origin = SERIES[index].open_time_ms
    made = reader.forecast_of(origin)
    assert made is not None
    return from_stored(made, SERIES.interval, *reader.conditions_of(origin)).drawn(reader.run_id)


def picture_of(traveller: Traveller, count: int, chart: ChartWidget) -> QImage:
    """The picture of a chart with only the first candles and the forecast made with the last of them, in the same
    view."""
    shown = traveller.chart
    chart.resize(shown.size())
    chart.set_series(first_of(SERIES, count), "BTC/USDT · 1m")
    chart.set_forecast(made_at(count - 1, traveller.record.reader))
    chart.restyle(**{name: getattr(shown.style_shown, name) for name in ("palette", "font", "time_zone")})
    settle(chart)
    while chart.scale.spacing != shown.scale.spacing:
        chart.scale.zoom_at(shown.scale.spacing / chart.scale.spacing, 0.0)
    chart.scale.pan_to(shown.scale.right)
    learn_of_the_past(chart, traveller.record.reader)
    return image_of(chart)


def learn_of_the_past(chart: ChartWidget, reader: RecordReader) -> None:
    """Load all past forecasts that the current picture needs."""
    chart.model.past.begin(reader, MINUTE_MS)
    chart.layers_changed()
    image_of(chart)
    while chart.model.past.is_waiting:
        chart.model.past.load_next()
        chart.layers_changed()
        image_of(chart)


def test_ten_steps_back_show_the_ghosts_that_were_stored_with_that_candle(at_now: Traveller) -> None:
    at_now.step_back(10)
    model = at_now.chart.model
    assert model.count == len(SERIES) - 10 and model.newest == SERIES[-11]
    assert model.forming is None
    assert [placed.ghost for placed in model.ghosts()] == list(issued(SERIES[-11 + len(SERIES)]).ghosts)
    assert model.forecast_age == 0 and model.note == ""
    assert at_now.travel.bar.isVisible() and "10 candles ago" in at_now.travel.bar.label.text()


def test_nothing_later_is_drawn(at_now: Traveller, qtbot: QtBot) -> None:
    """Identical, pixel by pixel, to a chart without later data, with every layer shown that could reveal later data."""
    chart = at_now.chart
    chart.set_note("the newest forecast is from now")
    previews, markers = PreviewLayer(), MarkersLayer()
    previews.show_previews([Preview("best", forecast_after(SERIES))])
    times = [SERIES[index].open_time_ms for index in (-12, -11, -10, -3)]
    markers.track = MarkerTrack([Marker(time, MarkerKind.BEST, "It was.", None) for time in times])
    alone = ChartWidget(at_now.bench.theme, at_now.bench.clock)
    qtbot.addWidget(alone)
    indicator = IndicatorSpec.of("ema")
    for layer in (previews, markers, IndicatorLayer(indicator, 0), HindsightLayer()):
        chart.add_layer(layer)
    learn_of_the_past(chart, at_now.record.reader)
    now = image_of(chart)
    at_now.step_back(10)
    then = image_of(chart)
    shown = MarkersLayer()
    shown.track = MarkerTrack([Marker(time, MarkerKind.BEST, "", None) for time in times[:2]])
    for layer in (shown, IndicatorLayer(indicator, 0), HindsightLayer()):
        alone.add_layer(layer)
    assert then == picture_of(at_now, len(SERIES) - 10, alone)
    assert alone.model.past_forecast(len(SERIES) - 11) is not None, "there is a hindsight to be equal"
    assert then != now


def test_returning_to_now_shows_the_current_state(at_now: Traveller) -> None:
    chart, before = at_now.chart, image_of(at_now.chart)
    at_now.step_back(25)
    for key in (Qt.Key.Key_Escape, Qt.Key.Key_End):
        QTest.keyClick(chart, key)
        at_now.settle()
        assert chart.model.moment is None and not at_now.travel.bar.isVisible()
        assert image_of(chart) == before
        at_now.step_back(2)
    at_now.press(Qt.Key.Key_F9, Qt.KeyboardModifier.ShiftModifier)
    assert image_of(chart) == before


def test_stepping_forward_from_the_last_but_one_returns_to_now(at_now: Traveller) -> None:
    at_now.step_back(2)
    assert at_now.travel.shown == len(SERIES) - 3
    for _ in range(2):
        assert at_now.travel.is_past
        at_now.press(Qt.Key.Key_Right, Qt.KeyboardModifier.AltModifier)
    assert not at_now.travel.is_past and at_now.chart.model.forming is not None


def test_the_view_does_not_move_while_the_candle_is_in_it(at_now: Traveller) -> None:
    scale = at_now.chart.scale
    before = (scale.left, scale.right)
    at_now.step_back(10)
    assert (scale.left, scale.right) == before
    at_now.travel.go_to(150)
    assert scale.left < 150 < scale.right - 3, "with room for the forecast"


def test_candles_that_arrive_meanwhile_wait_until_the_return(at_now: Traveller) -> None:
    chart, newest = at_now.chart, forming_after(SERIES)
    at_now.step_back(3)
    then = image_of(chart)
    at_now.series.add(newest)
    chart.set_forming(replace(newest, open_time_ms=newest.open_time_ms + MINUTE_MS))
    chart.set_forecast(forecast_after(at_now.series))
    chart.refresh()
    at_now.travel.present()
    at_now.settle()
    assert image_of(chart) == then
    assert "4 candles ago" in at_now.travel.bar.label.text()
    at_now.travel.back_to_now()
    assert chart.model.count == len(SERIES) + 1 and chart.model.forming is not None
    assert chart.model.forecast == forecast_after(at_now.series)


def test_history_loaded_meanwhile_does_not_change_the_view(at_now: Traveller) -> None:
    chart = at_now.chart
    chart.set_series(CandleSeries.from_columns(SERIES.interval, SERIES.open_time_ms[200:], SERIES.values[:, 200:]), "x")
    at_now.travel.go_to(100)
    at_now.settle()
    shown, at_left = chart.model.newest, chart.model.time_at(round(chart.scale.left) + 30)
    chart.replace_series(first_of(SERIES, len(SERIES)))
    at_now.settle()
    assert chart.model.newest == shown and chart.model.count == 301
    assert chart.model.time_at(round(chart.scale.left) + 30) == at_left


def test_a_candle_without_a_forecast_says_so(at_now: Traveller) -> None:
    at_now.travel.go_to(FIRST_TRAINED - 1)
    at_now.settle()
    assert not at_now.chart.model.ghosts()
    assert at_now.chart.model.note == "No forecast was stored with this candle"
    at_now.travel.go_to(FIRST_TRAINED)
    at_now.settle()
    assert at_now.chart.model.ghosts() and at_now.chart.model.note == ""


def test_ghosts_remain_after_thinning_the_forecast_details(at_now: Traveller) -> None:
    with at_now.db.conn:
        at_now.db.execute("DELETE FROM forecast_details")  # as `Thinner` does
    at_now.step_back(10)
    shown = [placed.ghost for placed in at_now.chart.model.ghosts()]
    exact = issued(SERIES[len(SERIES) - 11]).ghosts
    assert [ghost.close for ghost in shown] == pytest.approx([ghost.close for ghost in exact], rel=1e-6)
    assert [ghost.high for ghost in shown] == pytest.approx([ghost.high for ghost in exact], rel=1e-6)


def test_at_a_coarser_interval_the_last_candles_ghosts_are_merged(at_now: Traveller) -> None:
    coarse = CandleSeries(Interval.parse("5m"))
    coarse.extend(SERIES[index] for index in range(0, len(SERIES), 5))
    at_now.step_back(7)
    time_ms = at_now.chart.model.moment.time_ms  # type: ignore[union-attr]
    at_now.chart.set_series(coarse, "5m", is_same_market=True)
    at_now.settle()
    model = at_now.chart.model
    assert model.moment is not None and model.moment.time_ms == time_ms
    assert model.newest is not None and coarse.interval.close_time_ms(model.newest.open_time_ms) <= time_ms


def test_another_market_is_shown_as_of_now(at_now: Traveller) -> None:
    at_now.step_back(10)
    at_now.chart.set_series(random_series(50, seed=3), "another")
    at_now.settle()
    assert not at_now.travel.is_past and at_now.chart.model.count == 50 and not at_now.travel.bar.isVisible()


def test_without_candles_there_is_no_past(at_now: Traveller) -> None:
    at_now.step_back()
    at_now.chart.set_series(CandleSeries(SERIES.interval), "nothing yet")
    at_now.travel.step_back()
    assert not at_now.travel.is_past
    assert not at_now.bench.shell.actions[ActionId.TRAVEL_BACK].isEnabled()


def test_a_candles_menu_travels_to_it(at_now: Traveller) -> None:
    chart, index = at_now.chart, len(SERIES) - 20
    menu = ChartMenu(chart)
    menu.add(at_now.travel.add_to_menu)
    at = chart.point_at(point_over(chart, index, SERIES[index].close).toPointF())
    here = next(action for action in menu.build(at).actions() if "here" in action.text())
    here.trigger()
    at_now.settle()
    assert at_now.travel.shown == index
    names = [action.text() for action in menu.build(at).actions()]
    assert any("now" in name for name in names)


def test_the_slider_of_a_replay_is_at_the_file_position(at_now: Traveller) -> None:
    """Regression: it stayed at its right end from the first candle of a file to the last."""
    slider = at_now.travel.bar.slider
    at_now.travel.set_pace(ReplayPace(1.0, [FILE]))
    assert (slider.value(), slider.maximum()) == (len(SERIES) - 1, len(SERIES) + 99)
    at_now.step_back()
    assert (slider.value(), slider.maximum()) == (len(SERIES) - 2, len(SERIES) + 99)
    at_now.travel.set_pace(None)
    assert slider.maximum() == len(SERIES) - 1


def test_the_bar_of_a_replay_needs_little_room(at_now: Traveller) -> None:
    """1366 x 768 at 200 %: what a narrow bar leaves out does not count for the window's least width."""
    at_now.travel.set_pace(ReplayPace(1.0, [FILE]))
    bar = at_now.travel.bar
    for width in (1600, bar.minimumSizeHint().width(), 1600):
        assert bar.minimumSizeHint().width() < 420
        bar.resize(width, bar.height())
        assert bar.label.isVisibleTo(bar) is (width == 1600)


def test_a_replay_jumps_to_the_candle_ahead_where_the_slider_is_released(at_now: Traveller) -> None:
    """Regression: it snapped back without a word."""
    pace, slider = ReplayPace(1.0, [FILE]), at_now.travel.bar.slider
    at_now.travel.set_pace(pace)
    at_now.step_back(3)
    place = QPoint(slider.width() - 1, slider.height() // 2)
    QTest.mousePress(slider, Qt.MouseButton.LeftButton, pos=place)
    wanted = FILE[slider.value()].open_time_ms
    assert slider.value() > len(SERIES) and at_now.travel.bar.label.text().startswith("Jump to")
    assert not pace.is_at_once(wanted), "it may still be dragged back"
    at_now.travel.present()  # a candle arrives
    assert FILE[slider.value()].open_time_ms == wanted
    QTest.mouseRelease(slider, Qt.MouseButton.LeftButton, pos=place)
    assert pace.is_at_once(wanted) and not pace.is_at_once(wanted + MINUTE_MS) and not at_now.travel.is_past


def test_a_replay_can_be_as_fast_as_possible_and_a_walk_cannot(at_now: Traveller) -> None:
    pace, speed, waits = ReplayPace(0.0, [FILE]), at_now.travel.bar.speed, at_now.travel.bar.waits
    at_now.step_back()
    offered = speed.count()
    assert not waits.isVisible(), "only a replay can wait"
    at_now.travel.set_pace(pace)
    assert speed.currentText() == "As fast as possible" and speed.count() == offered + 1 and waits.isVisible()
    speed.setCurrentIndex(0)
    speed.activated.emit(0)
    assert pace.speed == speed.itemData(0) > 0.0
    at_now.travel.set_pace(None)
    assert speed.count() == offered and speed.currentData() > 0.0


def test_the_chosen_speed_stays_for_the_next_replay_and_is_that_of_the_market_dialog(at_now: Traveller) -> None:
    """Regressions: a switch of market went back to two candles a second; the dialog showed a speed that no longer
    applied, and choosing it again changed nothing."""
    travel, settings = at_now.travel, at_now.bench.shell.settings
    travel.set_pace(ReplayPace(2.0, [FILE]))
    travel.bar.speed_chosen.emit(10.0)
    assert settings.current.market.speed == 10.0
    travel.set_pace(None)
    travel.set_pace(following := ReplayPace(2.0, [FILE]))
    assert following.speed == travel.bar.speed.currentData() == 10.0
    settings.change(replace(settings.current, market=replace(settings.current.market, speed=2.0)))
    travel.set_pace(of_dialog := ReplayPace(2.0, [FILE]))
    assert of_dialog.speed == travel.bar.speed.currentData() == 2.0


def test_the_speed_is_named_as_the_one_after_the_warm_up_while_that_lasts(at_now: Traveller) -> None:
    """Regression: "2 per second" stood beside candles that came at twelve a second."""
    speed = at_now.travel.bar.speed
    at_now.travel.set_pace(ReplayPace(2.0, [FILE], FILE[len(SERIES) + 1].open_time_ms))
    assert speed.currentText() == "then 2 per second" and speed.currentData() == 2.0
    series = at_now.chart.model.whole
    series.extend(FILE[len(SERIES) : len(SERIES) + 5])
    at_now.chart.refresh()
    at_now.travel.present()
    assert speed.currentText() == "2 per second"


def test_the_slider_seeks_by_mouse_and_keys(at_now: Traveller) -> None:
    at_now.step_back()
    slider = at_now.travel.bar.slider
    assert (slider.minimum(), slider.maximum(), slider.value()) == (0, len(SERIES) - 1, len(SERIES) - 2)
    slider.setFocus()
    QTest.keyClick(slider, Qt.Key.Key_PageDown)
    at_now.settle()
    assert at_now.travel.shown == len(SERIES) - 12
    for share in (0.5, 0.1, 0.75):
        place = QPoint(round(share * slider.width()), slider.height() // 2)
        QTest.mouseClick(slider, Qt.MouseButton.LeftButton, pos=place)
        at_now.settle()
        shown = at_now.travel.shown
        assert shown is not None and abs(shown - share * len(SERIES)) < 0.1 * len(SERIES), "the place clicked, no page"
        assert slider.handle_rect().contains(place)
    QTest.keyClick(slider, Qt.Key.Key_Home)
    at_now.settle()
    assert at_now.chart.model.count == 1
    QTest.keyClick(slider, Qt.Key.Key_End)
    assert not at_now.travel.is_past


@pytest.mark.parametrize("mode", ["dark", "light"])
def test_the_slider_is_visible_now_and_in_the_past(at_now: Traveller, qapp: QApplication, mode: Mode) -> None:
    """Regression: on the dark bar its groove had the colour of the bar."""
    travel, slider = at_now.travel, at_now.travel.bar.slider
    travel.set_pace(ReplayPace(2.0, [FILE]))
    at_now.bench.theme.set_mode(mode)
    at_now.bench.theme.apply_to(qapp)
    for step in (at_now.settle, at_now.step_back):
        step()
        image, middle = slider.grab().toImage(), slider.height() // 2
        ground = travel.bar.grab().toImage().pixelColor(1, 1)
        free = slider.width() - 8  # beyond the handle
        column = [image.pixelColor(free, y) for y in range(middle - 5, middle + 6)]
        assert sum(contrast(pixel, ground) >= GRAPHICS for pixel in column) >= 2, "an outline above and below"


def test_playing_advances_until_now(at_now: Traveller, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    at_now.travel.bar.speed_chosen.emit(30.0)
    at_now.step_back(5)
    walked, go_to = list[int](), at_now.travel.go_to
    monkeypatch.setattr(at_now.travel, "go_to", lambda index: (walked.append(index), go_to(index)))
    actions = at_now.bench.shell.actions
    at_now.press(Qt.Key.Key_F9)
    assert "Pause" in actions[ActionId.TRAVEL_PLAY].text()
    qtbot.waitUntil(lambda: not at_now.travel.is_past)
    assert walked == list(range(len(SERIES) - 5, len(SERIES)))
    assert at_now.chart.model.forming is not None and "Play" in actions[ActionId.TRAVEL_PLAY].text()
