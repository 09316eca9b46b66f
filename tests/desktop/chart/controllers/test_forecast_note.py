from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from core.domain.candle import FILE_VENUE, Market
from core.domain.candle_series import CandleSeries
from core.domain.clock import ManualClock
from core.domain.events import FirstForecast, ForecastMade, JobProgress, TrainerFailed, TrainerState
from core.market.feeds.base import FeedState, FeedStatus, FeedVitals
from core.settings.tree import MarketSettings, Settings
from core.settings.window import ChartSettings
from core.training.hosting.catch_up import JOB_ID, CatchUpMeter
from desktop.chart.controllers.composition import ForecastNote
from desktop.chart.items.forecast import FuturesLayer
from desktop.chart.widget import ChartWidget
from desktop.state.run_state import RunState
from desktop.state.settings_store import SettingsStore
from desktop.ui.formatting import format_time
from desktop.ui.theme import Theme
from tests.desktop import scenario
from tests.desktop.chart.support import forecast_with_paths, random_series


@pytest.fixture
def settings() -> SettingsStore:
    """Without the legend, which is shown when there is no note."""
    return SettingsStore(Settings(chart=ChartSettings(show_legend=False)))


@pytest.fixture
def chart(qtbot: object, theme: Theme, state: RunState, settings: SettingsStore) -> ChartWidget:
    chart = ChartWidget(theme, ManualClock(0))
    qtbot.addWidget(chart)  # type: ignore[attr-defined]
    ForecastNote(state, chart, settings)
    return chart


def of_an_exchange(chart: ChartWidget, state: RunState) -> ForecastMade:
    """The candles of an exchange are on the chart. Their forecast, which the state has not taken yet."""
    candles = scenario.market()
    series = CandleSeries(scenario.MINUTE)
    series.extend(candles)
    chart.set_series(series, "")
    scenario.watch(state)
    return scenario.forecast(candles)


def test_a_fresh_forecast_has_no_note(chart: ChartWidget, state: RunState) -> None:
    state.apply(scenario.ready())
    state.apply(scenario.forecast(scenario.market()))
    for trainer_state in (TrainerState.TRAINING, TrainerState.PAUSED):  # forecasts continue while training is paused
        state.apply(scenario.status(trainer_state))
        assert chart.model.note == ""


@pytest.mark.parametrize("over", [TrainerState.STOPPED, TrainerState.RESTARTING, TrainerFailed("It cannot continue.")])
def test_a_forecast_without_a_trainer_names_its_time(
    chart: ChartWidget, state: RunState, over: TrainerState | TrainerFailed
) -> None:
    forecast = scenario.forecast(scenario.market())
    state.apply(scenario.ready())
    state.apply(forecast)
    state.apply(over if isinstance(over, TrainerFailed) else scenario.status(over))
    assert format_time(forecast.inputs_until_ms) in chart.model.note
    state.apply(scenario.ready())
    state.apply(scenario.status(TrainerState.TRAINING))
    assert chart.model.note == ""


def test_during_catch_up_the_note_says_when_forecasts_start(
    chart: ChartWidget, state: RunState, clock: ManualClock
) -> None:
    meter = CatchUpMeter(clock)
    state.apply(scenario.ready())
    state.apply(scenario.status(TrainerState.CATCHING_UP))
    for behind in (1_000, 500):
        report = meter.report(behind)
        assert report is not None
        state.apply(report)
        clock.advance_ms(34_000)
    assert "34 s" in chart.model.note
    state.apply(JobProgress("other", "Something else", 1, 2))
    last = meter.report(3)
    assert last is not None
    state.apply(last)
    assert chart.model.note == ""


@pytest.mark.parametrize("trainer_state", [TrainerState.CATCHING_UP, TrainerState.TRAINING, TrainerState.PAUSED])
def test_ghosts_that_are_all_past_leave_a_note(
    chart: ChartWidget, state: RunState, trainer_state: TrainerState
) -> None:
    """As in a replay faster than the trainer: the chart is 40 candles ahead of training."""
    candles = scenario.market()
    series = CandleSeries(scenario.MINUTE)
    series.extend(candles)
    chart.set_series(series, "")
    state.apply(scenario.ready())
    for made_after, is_noted in ((candles[:-40], True), (candles[:-20], True), (candles, False)):
        forecast = scenario.forecast(made_after)
        state.apply(forecast)
        chart.set_forecast(forecast)
        state.apply(scenario.status(trainer_state))
        assert bool(chart.model.ghosts()) is not is_noted
        assert (str(len(candles) - len(made_after)) in chart.model.note) is is_noted
        assert bool(chart.model.note) is is_noted


def test_training_that_was_stopped_before_it_was_ready_is_not_said_to_be_behind(
    chart: ChartWidget, state: RunState
) -> None:
    candles = scenario.market()
    series = CandleSeries(scenario.MINUTE)
    series.extend(candles)
    chart.set_series(series, "")
    made = replace(scenario.forecast(candles[:-40]), is_by_simple_rules=True)
    state.apply(FirstForecast(made, scenario.MARKET))
    chart.set_forecast(made)
    assert state.trainer_state is None and chart.model.note.startswith("Training is stopped")


@pytest.mark.parametrize("ahead", [0, 40])
def test_the_note_of_a_catch_up_is_true_with_and_without_the_simple_rules_ghosts(
    chart: ChartWidget, state: RunState, clock: ManualClock, ahead: int
) -> None:
    """A replay passes them again and again; whose they are is in their label."""
    candles = scenario.market()
    series = CandleSeries(scenario.MINUTE)
    series.extend(candles)
    chart.set_series(series, "")
    state.apply(scenario.ready())
    state.apply(scenario.status(TrainerState.CATCHING_UP))
    made = replace(scenario.forecast(candles[: len(candles) - ahead]), is_by_simple_rules=True)
    state.apply(FirstForecast(made, scenario.MARKET))
    chart.set_forecast(made)
    report = CatchUpMeter(clock).report(1_000)
    assert report is not None
    state.apply(report)
    assert bool(chart.model.ghosts()) is (ahead == 0)
    assert chart.model.note == "Learning from stored candles: the model forecasts new candles when it is done"


def test_the_first_candle_after_a_weekend_explains_why_no_ghost_is_ahead(
    qtbot: QtBot, chart: ChartWidget, state: RunState
) -> None:
    """Regression: neither ghosts nor a note, until the trainer had learned from it."""
    friday = scenario.market()
    series = CandleSeries(scenario.MINUTE)
    series.extend(friday)
    chart.set_series(series, "")
    state.apply(scenario.ready())
    state.apply(scenario.status(TrainerState.TRAINING))
    forecast = scenario.forecast(friday)
    state.apply(forecast)
    chart.set_forecast(forecast)
    assert chart.model.ghosts() and chart.model.note == ""
    series.add(replace(friday[-1], open_time_ms=friday[-1].open_time_ms + 48 * 3_600_000))
    chart.refresh()
    qtbot.waitUntil(lambda: bool(chart.model.note))
    assert chart.model.note == "Training is 1 candle behind: forecasts of new candles will follow"


def test_before_the_first_forecast_a_catch_up_is_reported_too(chart: ChartWidget, state: RunState) -> None:
    series = CandleSeries(scenario.MINUTE)
    series.extend(scenario.market())
    chart.set_series(series, "")
    state.apply(scenario.ready())
    state.apply(scenario.status(TrainerState.CATCHING_UP))
    assert "forecasts will follow" in chart.model.note
    state.apply(scenario.status(TrainerState.TRAINING))
    assert chart.model.note == ""


def test_another_run_clears_the_note(chart: ChartWidget, state: RunState) -> None:
    state.apply(scenario.status(TrainerState.STOPPED))
    assert chart.model.note
    state.begin(None)
    assert chart.model.note == ""


@pytest.mark.parametrize(
    ("feed", "words"), [(FeedState.ENDED, "The file has ended"), (FeedState.STORED, "The stored candles have ended")]
)
def test_the_forecast_at_the_end_of_a_file_says_that_it_will_not_be_scored(
    chart: ChartWidget, state: RunState, feed: FeedState, words: str
) -> None:
    """Regression: "The file has ended" was said of a replay that had been left in its middle."""
    state.feed_record.opened(Market(FILE_VENUE, "walk#dd2831", scenario.MINUTE))
    state.apply(scenario.ready())
    state.apply(scenario.forecast(scenario.market()))
    state.apply(scenario.status(TrainerState.CATCHING_UP))
    state.markets.on_feed_event(state.market, FeedStatus(feed, "The end of walk was reached.", 0))
    assert "ended" not in chart.model.note
    state.apply(scenario.status(TrainerState.TRAINING))
    assert chart.model.note == f"{words}: this forecast cannot be scored until more candles arrive"


@pytest.mark.parametrize("lost", [FeedState.RECONNECTING, FeedState.FAILED])
def test_a_forecast_that_outlived_its_candle_without_an_exchange_names_its_time(
    chart: ChartWidget, state: RunState, clock: ManualClock, lost: FeedState
) -> None:
    """Stored candles of an exchange that cannot be reached: the next candle would have closed by now."""
    forecast = of_an_exchange(chart, state)
    state.apply(forecast)
    state.apply(scenario.status(TrainerState.TRAINING))
    state.markets.on_feed_event(state.market, FeedStatus(lost, "Binance cannot be reached.", clock.now_ms()))
    assert chart.model.note == ""
    clock.advance_ms(forecast.inputs_until_ms + 60_001 - clock.now_ms())
    state.markets.on_feed_event(state.market, FeedStatus(lost, "Binance cannot be reached.", clock.now_ms()))
    silent = f"No new candles: the newest forecast is from {format_time(forecast.inputs_until_ms)}"
    assert chart.model.note == silent
    state.apply(JobProgress(JOB_ID, "Learning from stored candles", 1, 2))
    assert chart.model.note == silent, "the forecasts that it will make are old as well"
    state.apply(JobProgress(JOB_ID, "Learning from stored candles", 2, 2))
    state.markets.on_feed_event(state.market, FeedStatus(FeedState.LIVE, "", clock.now_ms()))
    assert chart.model.note == ""


def test_in_an_outage_age_and_note_follow_the_exchange_clock_without_any_event(
    chart: ChartWidget, state: RunState, clock: ManualClock
) -> None:
    forecast = of_an_exchange(chart, state)
    chart.set_forecast(forecast)
    state.apply(forecast)
    state.apply(scenario.status(TrainerState.TRAINING))
    clock.advance_ms(forecast.inputs_until_ms + 30_000 - clock.now_ms())
    state.markets.on_feed_event(
        state.market, FeedStatus(FeedState.RECONNECTING, "Binance refused the connection.", clock.now_ms())
    )
    (note,) = chart.findChildren(ForecastNote)
    assert note._seconds.isActive() and chart.model.forecast_age == 0 and chart.model.note == ""
    for minutes in (1, 2):
        clock.advance_ms(60_000)
        note.refresh()
        assert chart.model.forecast_age == minutes and "No new candles" in chart.model.note
    state.feed_record.add_report(FeedVitals(clock.now_ms(), "binance", clock_offset_ms=-60_000.0))
    note.refresh()
    assert chart.model.forecast_age == 1, "this computer's clock was ahead of the exchange's"
    state.feed_record.begin(MarketSettings())
    note.refresh()
    assert not note._seconds.isActive() and chart.model.forecast_age == 0


@pytest.mark.parametrize(
    ("drift", "paths", "words"),
    [(3e-4, False, "path, the trend"), (0.0, False, "median close"), (0.0, True, "paths, no trend to show")],
)
def test_the_legend_says_what_the_ghosts_follow_once_that_is_computed(
    chart: ChartWidget, state: RunState, settings: SettingsStore, qtbot: QtBot, drift: float, paths: bool, words: str
) -> None:
    series = random_series(400)
    forecast = forecast_with_paths(series, drift)
    settings.change_chart(show_legend=True)
    chart.restyle(shows_paths=paths)
    chart.add_layer(FuturesLayer())
    chart.set_series(series, "")
    chart.set_forecast(forecast)
    state.apply(scenario.ready())
    state.apply(replace(forecast, run_id=scenario.RUN))
    state.apply(scenario.status(TrainerState.TRAINING))
    assert "median close" in chart.model.note, "at first"
    with qtbot.waitSignal(chart.computed):
        chart.show()
    assert words in chart.model.note and chart.model.central_path() is not None


def test_a_legend_says_what_ghosts_and_bands_mean_until_it_is_clicked(
    chart: ChartWidget, state: RunState, settings: SettingsStore, qtbot: QtBot
) -> None:
    chart.resize(1_000, 500)
    chart.show()
    forecast = of_an_exchange(chart, state)
    state.apply(scenario.ready())
    chart.set_forecast(forecast)
    state.apply(forecast)
    state.apply(scenario.status(TrainerState.TRAINING))
    settings.change_chart(show_legend=True)
    assert "median" in chart.model.note and "90 %" in chart.model.note
    note, candles = chart.overlay.note, chart.frame.layout.price_top
    assert note is not None and note.rect.bottom() <= candles, "no candle is behind it"
    at = note.rect.center() / chart.frame.ratio
    qtbot.mouseClick(chart.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(at.x(), note.rect.bottom() + 40))
    assert settings.current.chart.show_legend, "a click elsewhere"
    qtbot.mouseClick(chart.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert not settings.current.chart.show_legend and chart.model.note == ""
    settings.change_chart(show_legend=True)
    assert "median" in chart.model.note
    state.apply(scenario.status(TrainerState.STOPPED))
    assert "median" not in chart.model.note, "why the forecast is old is more important"
