from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QToolBar
from pytestqt.qtbot import QtBot

from core.domain.candle import Interval, Market
from core.domain.diagnosis import Diagnosis, DivergenceRecovery, SettingChange
from core.domain.events import CheckpointsChanged, Incident, JobProgress, Severity, TrainerFailed, TrainerState
from core.domain.incident_kinds import IncidentKind
from core.domain.watchlist import WatchedMarket
from core.market.feeds.base import FeedState, FeedStatus
from core.settings.tree import MarketSettings
from core.training.commands import (
    RestoreCheckpoint,
    SaveCheckpoint,
    SetClipNorm,
    SetDevice,
    SetDuty,
    SetLearningRate,
    SetPaused,
    StepOnce,
)
from desktop.actions import ActionId
from desktop.checkpoints.columns import COLUMNS
from desktop.layouts.arrangements import TRAIN
from desktop.panels.accuracy.models_table import Column
from desktop.panels.gradients.diagnosis_card import DiagnosisCard
from desktop.ui.panel_base import Panel
from desktop.ui.plain_text import with_usual_spaces
from tests.desktop import scenario
from tests.desktop.conftest import Bench, MakeBench, fill


@pytest.fixture
def bench(make_bench: MakeBench) -> Bench:
    return make_bench(scenario.checkpoints())


@pytest.fixture
def shared(lasting: Bench) -> Iterator[Bench]:
    """One window for all tests that change only its state: after each there is neither a run nor a notice."""
    scenario.watch(lasting.state)
    yield lasting
    lasting.state.begin(None)
    while lasting.window.banner.shown is not None:
        lasting.window.banner.dismiss()


def button(bench: Bench, action_id: ActionId) -> QAbstractButton:
    found = bench.window.findChild(QToolBar, "tool_bar").widgetForAction(bench.shell.actions[action_id])
    assert isinstance(found, QAbstractButton)
    return found


def click(qtbot: QtBot, bench: Bench, action_id: ActionId) -> None:
    qtbot.mouseClick(button(bench, action_id), Qt.MouseButton.LeftButton)


TRAINING = (ActionId.START, ActionId.PAUSE, ActionId.STEP_ONCE, ActionId.STOP, ActionId.SAVE_CHECKPOINT)


OFFERED = {
    None: {ActionId.START},
    TrainerState.STARTING: {ActionId.STOP},
    TrainerState.CATCHING_UP: set(TRAINING) - {ActionId.START},
    TrainerState.TRAINING: set(TRAINING) - {ActionId.START},
    TrainerState.PAUSED: set(TRAINING) - {ActionId.START},
    TrainerState.RESTARTING: {ActionId.STOP},
    TrainerState.STOPPED: {ActionId.START},
    TrainerState.FAILED: {ActionId.START},
}


def test_only_possible_actions_are_enabled(shared: Bench) -> None:
    for state, offered in OFFERED.items():
        if state is not None:
            shared.state.apply(scenario.status(state))
        assert {each for each in TRAINING if button(shared, each).isEnabled()} == offered, state


def test_a_finished_run_offers_no_training_actions(shared: Bench) -> None:
    shared.state.apply(scenario.status())
    shared.state.markets.on_feed_event(
        shared.state.market, FeedStatus(FeedState.ENDED, "The end of walk was reached.", 0)
    )
    offered = {each for each in TRAINING if button(shared, each).isEnabled()}
    assert offered == {ActionId.STOP, ActionId.SAVE_CHECKPOINT}
    shared.state.markets.on_feed_event(
        shared.state.market, FeedStatus(FeedState.REPLAYING, "walk at 1 candle a second.", 0)
    )
    assert {each for each in TRAINING if button(shared, each).isEnabled()} == OFFERED[TrainerState.TRAINING]


def test_buttons_emit_their_command(qtbot: QtBot, shared: Bench) -> None:
    shared.state.apply(scenario.status())
    wanted = {
        ActionId.STEP_ONCE: StepOnce(),
        ActionId.SAVE_CHECKPOINT: SaveCheckpoint(),
    }
    for action_id, command in wanted.items():
        with qtbot.waitSignal(shared.window.command_requested) as sent:
            click(qtbot, shared, action_id)
        assert sent.args == [command]
    with qtbot.waitSignal(shared.window.stop_requested):
        click(qtbot, shared, ActionId.STOP)


def test_returning_to_the_gpu_means_the_one_in_the_settings(qtbot: QtBot, bench: Bench) -> None:
    settings = bench.shell.settings.current
    bench.shell.settings.change(replace(settings, training=replace(settings.training, device="cuda:1")))
    bench.state.apply(Incident(None, 0, Severity.INFO, IncidentKind.GPU_IS_BACK, "The GPU answers again.", "", ""))
    with qtbot.waitSignal(bench.window.command_requested) as asked:
        qtbot.mouseClick(bench.window.banner.action, Qt.MouseButton.LeftButton)
    assert asked.args == [SetDevice("cuda:1")]


def test_start_works_by_key_before_anything_runs(qtbot: QtBot, bench: Bench) -> None:
    bench.window.activateWindow()
    with qtbot.waitSignal(bench.window.start_requested):
        qtbot.keyClick(bench.window, Qt.Key.Key_F5)


def test_pause_becomes_resume_when_the_trainer_says_that_it_is_paused(qtbot: QtBot, shared: Bench) -> None:
    shared.state.trainer_starts(has_run=False)
    shared.state.apply(scenario.ready())
    shared.state.apply(scenario.status())
    with qtbot.waitSignal(shared.window.command_requested) as asked:
        click(qtbot, shared, ActionId.PAUSE)
    assert asked.args == [SetPaused(True)]
    assert button(shared, ActionId.PAUSE).text() == "Pausing…", "at once: the step under way may take seconds"
    qtbot.waitUntil(lambda: shared.window.status.trainer.text() == "Pausing…")
    shared.state.apply(scenario.status())
    assert button(shared, ActionId.PAUSE).text() == "Pausing…", "this status was sent before the pause"
    shared.state.apply(scenario.status(TrainerState.PAUSED))
    assert button(shared, ActionId.PAUSE).text() == "Resume"
    with qtbot.waitSignal(shared.window.command_requested) as asked:
        click(qtbot, shared, ActionId.PAUSE)
    assert asked.args == [SetPaused(False)]
    assert button(shared, ActionId.PAUSE).text() == "Resuming…"
    shared.state.trainer_is_over()
    assert button(shared, ActionId.PAUSE).text() == "Pause", "no trainer will answer"


def test_the_learning_rate_is_sent_and_stored(qtbot: QtBot, bench: Bench) -> None:
    box = bench.window.inputs.learning_rate
    box.selectAll()
    qtbot.keyClicks(box, "2e-4")
    window = bench.window
    with qtbot.waitSignal(window.command_requested) as sent:
        qtbot.keyClick(box, Qt.Key.Key_Return)
    assert bench.shell.settings.current.training.learning_rate == pytest.approx(2e-4)
    assert sent.args == [SetLearningRate(pytest.approx(2e-4))]


def test_the_share_of_the_time_is_sent_and_stored(qtbot: QtBot, bench: Bench) -> None:
    window = bench.window
    with qtbot.waitSignal(window.command_requested) as sent:
        qtbot.keyClick(window.inputs.duty, Qt.Key.Key_Left)
    assert window.shell.settings.current.training.duty_percent == 95
    assert sent.args == [SetDuty(95)]


def show_verdict(qtbot: QtBot, bench: Bench, diagnosis: Diagnosis) -> DiagnosisCard:
    fill(bench)
    bench.state.apply(diagnosis)
    bench.window.show_dock(ActionId.SHOW_GRADIENTS)
    qtbot.waitUntil(lambda: not bench.window.has_stale_panels())
    return bench.window.panels.gradients.card


def test_the_advice_reaches_trainer_and_settings_and_is_undone(qtbot: QtBot, bench: Bench) -> None:
    card, window = show_verdict(qtbot, bench, scenario.diagnosis()), bench.window
    with qtbot.waitSignal(window.command_requested) as sent, qtbot.waitSignal(window.shell.settings.changed):
        qtbot.mouseClick(card.apply_button, Qt.MouseButton.LeftButton)
    assert sent.args == [SetClipNorm(3.4)]
    assert window.shell.settings.current.gradients.clip_norm == 3.4
    with qtbot.waitSignal(window.command_requested) as sent, qtbot.waitSignal(window.shell.settings.changed):
        qtbot.mouseClick(card.undo_button, Qt.MouseButton.LeftButton)
    assert sent.args == [SetClipNorm(1.0)]
    assert window.shell.settings.current.gradients.clip_norm == 1.0


def test_advice_for_the_next_start_is_stored_and_nothing_is_sent(qtbot: QtBot, bench: Bench) -> None:
    card, window = show_verdict(qtbot, bench, scenario.diagnosis(change=scenario.NEW_RUN)), bench.window
    with (
        qtbot.assertNotEmitted(window.command_requested),
        qtbot.waitSignal(window.shell.settings.changed) as stored,
    ):
        qtbot.mouseClick(card.apply_button, Qt.MouseButton.LeftButton)
    assert stored.args[0].model.initialisation == "by-activation"


def test_a_threshold_from_the_preferences_is_known_to_the_verdict(qtbot: QtBot, bench: Bench) -> None:
    card = show_verdict(qtbot, bench, scenario.diagnosis())
    dialog = bench.window.open_preferences()
    dialog.form("gradients").editor("clip_norm").put(3.4)
    dialog.accept()
    assert not card.apply_button.isEnabled() and "already" in card.note.text()


def test_a_market_is_chosen_and_stored(qtbot: QtBot, bench: Bench) -> None:
    dialog = bench.window.open_market()
    dialog.symbol.setCurrentText("ETH/USDT")
    with qtbot.waitSignals([bench.shell.settings.changed, bench.market_choice.chosen]):
        dialog.accept()
    assert bench.shell.settings.current.market == MarketSettings(symbol="ETH/USDT")


def test_preferences_reach_the_trainer_and_the_theme_at_once(qtbot: QtBot, bench: Bench) -> None:
    sent: list[object] = []
    bench.window.command_requested.connect(sent.append)
    dialog = bench.window.open_preferences()
    dialog.form("gradients").editor("clip_norm").put(2.0)
    dialog.form("appearance").editor("theme").put("light")
    with qtbot.waitSignals([bench.window.command_requested, bench.shell.settings.changed]):
        dialog.accept()
    assert bench.theme.mode == "light" and sent == [SetClipNorm(2.0)]
    assert bench.shell.actions[ActionId.THEME_LIGHT].isChecked()


def test_ticks_of_forecasters_are_a_setting(bench: Bench) -> None:
    page, settings = bench.window.panels.accuracy.details.models, bench.shell.settings
    page.ghosts_requested.emit(("HAR", "model"))
    assert settings.current.chart.expert_ghosts == page._ticked == ("HAR", "model")
    settings.change_chart(expert_ghosts=())
    assert page._ticked == ()


def test_the_view_menu_switches_the_theme(qtbot: QtBot, bench: Bench) -> None:
    actions = bench.shell.actions
    with qtbot.waitSignal(bench.shell.settings.changed) as stored:
        actions[ActionId.THEME_LIGHT].trigger()
    assert stored.args[0].appearance.theme == "light" and bench.theme.mode == "light"


def test_the_rate_in_force_stays_in_the_tool_bar_whatever_else_is_set(bench: Bench) -> None:
    """After a rollback the trainer goes by half of what is set: the box said 1 and training used 0.5."""
    window, rate = bench.window, bench.shell.settings.current.training.learning_rate
    bench.state.apply(scenario.status(learning_rate=rate / 2.0))
    window.shell.actions[ActionId.THEME_LIGHT].trigger()
    window.shell.settings.change(
        replace(window.shell.settings.current, chart=replace(window.shell.settings.current.chart, regimes=True))
    )
    assert window.inputs.learning_rate.value() == pytest.approx(rate / 2.0)


def test_a_differing_rate_of_the_newest_step_is_shown_beside_the_box(shared: Bench) -> None:
    """The box said 0.09, and the adaptive schedule had reduced it to 0.0225."""
    label, state = shared.window.inputs.rate_reason, shared.state
    first, second, third = (replace(step, learning_rate=5e-5) for step in scenario.steps(3))
    state.apply(scenario.status(learning_rate=5e-5))
    state.apply(first)
    state.apply(scenario.status(learning_rate=5e-5))
    assert label.isHidden()
    state.apply(scenario.status(learning_rate=1e-4))
    assert label.isHidden(), "the step was done before the rate was set"
    state.apply(second)
    state.apply(scenario.status(learning_rate=1e-4))
    assert not label.isHidden() and label.text().startswith("now 0.00005")
    state.apply(replace(third, learning_rate=1e-4))
    state.apply(scenario.status(learning_rate=1e-4))
    assert label.isHidden()
    state.apply(scenario.status(learning_rate=2e-4))
    state.apply(replace(third, step=4))
    state.apply(scenario.status(learning_rate=2e-4))
    assert not label.isHidden()
    state.begin(None)
    assert label.isHidden(), "the next run has no step yet"


def test_nothing_moves_in_the_tool_bar_when_a_reason_of_the_rate_comes(qtbot: QtBot, shared: Bench) -> None:
    """Regression: the slider of the time for training jumped to the right by the length of a sentence."""
    inputs, places = shared.window.inputs, []
    for width in (900, 1200, 1600):
        shared.window.resize(width, 700)
        for reason in ("", "now 0.00005, halved by the adaptive schedule", "4 markets share a step", ""):
            inputs.show_reason(reason)
            QApplication.processEvents()
            parts = (inputs, inputs.duty, inputs.duty_percent, inputs.learning_rate, button(shared, ActionId.STOP))
            places.append((width, inputs.width(), *(part.mapTo(shared.window, QPoint()).x() for part in parts)))
            assert reason in with_usual_spaces(inputs.learning_rate.toolTip()), "also where there is no room beside it"
            room = inputs.width() - inputs.rate_reason.x()
            assert not reason or inputs.rate_reason.width() > 0.9 * room or room < 20, "it has all that is left"
    assert len(set(places)) == 3


def test_without_a_trainer_a_restore_changes_nothing(qtbot: QtBot, bench: Bench) -> None:
    """Regression: the rate was restored, the model was not, without a message."""
    window, state = bench.window, bench.state
    way = DivergenceRecovery((SettingChange("training", "learning_rate", 1e-6),), "run-300", 300)
    state.apply(scenario.status(TrainerState.STOPPED))
    with qtbot.assertNotEmitted(window.command_requested), qtbot.assertNotEmitted(window.shell.settings.changed):
        window.panels.gradients.card.recovery_requested.emit(way)
    assert window.banner.text.text().startswith("Restoring a checkpoint needs a running trainer")
    state.apply(scenario.status(TrainerState.PAUSED))
    sent: list[object] = []
    window.command_requested.connect(sent.append)
    window.panels.gradients.card.recovery_requested.emit(way)
    assert sent == [SetLearningRate(1e-6), RestoreCheckpoint("run-300", way.changes)]
    assert window.banner.text.text() == "Going back to step 300…"


def test_every_skill_names_its_quantity(qtbot: QtBot, bench: Bench) -> None:
    """That of the close, that of the range, and the checkpoints' mean of both are three numbers."""
    fill(bench)
    qtbot.waitUntil(lambda: not bench.window.has_stale_panels())
    texts = [label.text() for label in bench.window.findChildren(QLabel)]
    texts += [column.title for column in (*COLUMNS, *Column)]
    assert "Close skill, %" in texts and "Adds" in texts
    assert not [text for text in texts if text.startswith("Skill")]


def test_the_status_bar_repeats_feed_step_loss_answers_and_device(qtbot: QtBot, shared: Bench) -> None:
    fill(shared)
    qtbot.waitUntil(lambda: not shared.window.has_stale_panels())
    status = shared.window.status
    shown = [label.text() for label in (status.feed, status.trainer, status.step, status.loss, *status.answers)]
    assert shown == [
        "Live: Binance, BTC/USDT 1m, newest trade just now.",
        "Training",
        "Step 12,340",
        "Loss 0.3127",
        "Ghosts –",
        "Model –",
        "Learning ✓",
    ]
    assert status.device.text() == "CPU, 1 thread"


def test_nothing_moves_in_the_tool_bar_when_pause_becomes_resume(qtbot: QtBot, shared: Bench) -> None:
    places = []
    for state in (TrainerState.TRAINING, TrainerState.PAUSED, TrainerState.TRAINING):
        shared.state.apply(scenario.status(state))
        qtbot.waitUntil(lambda text="Resume" if state is TrainerState.PAUSED else "Pause": text_of(shared) == text)
        places.append((shared.window.inputs.x(), button(shared, ActionId.STOP).x()))
    assert len(set(places)) == 1


def text_of(bench: Bench) -> str:
    bench.window.findChild(QToolBar, "tool_bar").layout().activate()
    return button(bench, ActionId.PAUSE).text()


def test_running_jobs_are_in_the_status_bar(qtbot: QtBot, bench: Bench) -> None:
    bench.state.apply(JobProgress("catch-up", "Learning from the past", 10, 1_000))
    bar, dock = bench.window.status.jobs, bench.window.docks[ActionId.SHOW_JOBS]
    qtbot.waitUntil(lambda: bar.title.text() == "Learning from the past")
    for is_shown in (True, False):
        qtbot.mouseClick(bar, Qt.MouseButton.LeftButton)
        assert dock.isVisible() is is_shown, "a click shows the list, and another hides it"
    bench.state.apply(JobProgress("catch-up", "Learning from the past", 10, 1_000, is_over=True))
    qtbot.waitUntil(lambda: bar.text() == "Jobs")
    qtbot.mouseClick(bar, Qt.MouseButton.LeftButton)
    assert dock.isVisible(), "finished ones too"


def test_a_locked_database_is_reported_in_the_banner(qtbot: QtBot, bench: Bench) -> None:
    bench.window.show_dock(ActionId.SHOW_CHECKPOINTS)
    bench.library.is_broken = True
    bench.state.apply(scenario.ready())
    bench.state.apply(CheckpointsChanged(scenario.RUN, None))
    qtbot.waitUntil(lambda: "locked" in bench.window.banner.text.text())


def test_show_incidents_brings_their_dock_to_the_front(qtbot: QtBot, bench: Bench) -> None:
    bench.state.apply(scenario.ready())
    bench.state.apply(scenario.incidents()[2])
    qtbot.mouseClick(bench.window.banner.action, Qt.MouseButton.LeftButton)
    incidents = bench.window.docks[ActionId.SHOW_EVENTS].widget()
    qtbot.waitUntil(lambda: incidents.is_on_screen)
    assert not bench.window.panels.checkpoints.is_on_screen


def test_start_again_from_the_banner(qtbot: QtBot, shared: Bench) -> None:
    shared.state.apply(TrainerFailed("It cannot continue."))
    with qtbot.waitSignal(shared.window.start_requested):
        qtbot.mouseClick(shared.window.banner.action, Qt.MouseButton.LeftButton)


def test_a_dock_closes_and_opens_by_its_key(qtbot: QtBot, bench: Bench) -> None:
    bench.window.activateWindow()
    dock = bench.window.docks[ActionId.SHOW_LOSS]
    for is_shown in (True, False):
        qtbot.keyClick(bench.window, Qt.Key.Key_1, Qt.KeyboardModifier.ControlModifier)
        assert dock.isVisible() is is_shown


def test_a_tab_behind_is_refreshed_when_it_comes_to_the_front(qtbot: QtBot, bench: Bench) -> None:
    bench.window.arrange(TRAIN)
    fill(bench)
    qtbot.waitUntil(lambda: not bench.window.has_stale_panels())
    checkpoints = bench.window.docks[ActionId.SHOW_CHECKPOINTS].widget()
    assert checkpoints.is_stale
    bench.window.show_dock(ActionId.SHOW_CHECKPOINTS)
    qtbot.waitUntil(lambda: not checkpoints.is_stale)


def test_another_market_empties_all_panels(qtbot: QtBot, shared: Bench) -> None:
    fill(shared)
    qtbot.waitUntil(lambda: not shared.window.has_stale_panels())
    shared.state.begin(None)
    qtbot.waitUntil(lambda: not shared.window.has_stale_panels())
    assert shared.window.status.step.text() == "Step –"
    assert shared.window.panels.checkpoints.model.rowCount() == 0
    assert shared.window.banner.isHidden()


def test_closing_stops_the_timers_and_emits_closed(qtbot: QtBot, bench: Bench) -> None:
    fill(bench)
    with qtbot.waitSignal(bench.window.closing):
        bench.window.close()
    bench.state.markets.on_feed_event(bench.state.market, FeedStatus(FeedState.ENDED, "The end.", 0))
    assert not bench.window._refresher.is_running


def test_a_thousand_steps_at_once_refresh_each_panel_once(
    qtbot: QtBot, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    qtbot.waitUntil(lambda: not bench.window.has_stale_panels())
    refreshed: Counter[Panel] = Counter()
    panels = [panel for panel in bench.window.findChildren(Panel) if panel.is_on_screen]
    for panel in panels:
        monkeypatch.setattr(panel, "refresh", counted(panel, refreshed))
    for step in scenario.steps(1_000):
        bench.state.apply(step)
        bench.state.apply(scenario.status())
    assert not refreshed
    qtbot.waitUntil(lambda: not bench.window.has_stale_panels())
    assert bench.window.status.step.text() == "Step 12,340"
    assert refreshed[bench.window.status] == 1 and set(refreshed.values()) == {1}


def counted(panel: Panel, refreshed: Counter[Panel]) -> Callable[[], None]:
    """Its `refresh`, which counts its calls."""
    refresh = panel.refresh

    def count_and_refresh() -> None:
        refreshed[panel] += 1
        refresh()

    return count_and_refresh


def test_a_market_is_shown_at_its_chosen_interval(bench: Bench) -> None:
    """Regression: after a market of 1h one of 1m was shown as 1h: six candles, and no ghosts."""
    window, one = bench.window, Interval.parse("1m")
    for choose in (
        lambda: window.open_market().chosen.emit(
            replace(window.shell.settings.current.market, symbol="ETH/USDT", interval="1m")
        ),
        lambda: bench.market_choice.watch(WatchedMarket("binance", "SOL/USDT", "1m")),
        lambda: bench.market_choice.open_stored(Market("file", "mine", one)),
    ):
        window.shell.settings.change_chart(interval="1h")
        choose()
        assert (
            window.shell.settings.current.chart.interval == "market"
            and window.shell.settings.current.market.interval == "1m"
        )
    window.shell.settings.change_chart(interval="1h")
    window.panels.events.feed.venue_requested.emit("kraken")
    assert window.shell.settings.current.chart.interval == "1h", "the same market from elsewhere"


def test_the_notice_of_a_refused_number_expires_and_ends_with_the_market(qtbot: QtBot, bench: Bench) -> None:
    """Regression: it stayed for minutes, also on another market's chart."""
    window = bench.window
    for ends in (
        window.banner.passing.timeout.emit,
        lambda: bench.market_choice.watch(WatchedMarket("binance", "SOL/USDT", "1h")),
    ):
        window.banner.notify("The sample is replayed.", Severity.WARNING, key="fell back")
        edit = window.inputs.learning_rate.lineEdit()
        edit.selectAll()
        qtbot.keyClicks(edit, "10")
        qtbot.keyClick(edit, Qt.Key.Key_Return)
        assert "10" in window.banner.text.text() and window.banner.passing.isActive(), "before what stood there"
        ends()
        assert window.banner.text.text() == "The sample is replayed.", "which still holds"
