"""The whole window, composed as it is for the user: real feed, real worker, real database; only the model is small."""

from __future__ import annotations

import dataclasses
import functools
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from core.domain.candle import Interval, Market
from core.domain.events import TrainerState, TrainerStatus
from core.domain.price_lines import LineKind
from core.evaluation.summary import stored_status
from core.settings import tree as settings_file
from core.settings.tree import GradientSettings
from core.storage import recovering
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.training.commands import RestoreCheckpoint, SetClipNorm, SetDuty, SetLearningRate
from core.training.hosting.process_host import ProcessHost
from core.training.online.trainer_spec import SessionSpec
from desktop.actions import ActionId
from desktop.app.composition import Application
from desktop.commands.options import in_safe_mode
from desktop.dialogs.welcome import WelcomeDialog
from desktop.services.candle_loader import SHOWN_AT_FIRST
from desktop.ui.formatting import format_time
from desktop.ui.panel_base import EmptyState
from tests.core.storage.samples import candle
from tests.desktop.whole_window import CATCH_UP, CandleGate, IdleWorker, context, run_window, step_of, until
from tests.support import thread_child

HOSTS = ["thread", pytest.param("process", marks=pytest.mark.slow)]


@dataclasses.dataclass(frozen=True)
class Start:
    """What the window shows and offers while a trainer starts, which may be too short to poll."""

    is_loading: bool
    state: TrainerState | None
    can_stop: bool
    can_start: bool


def starts_of(application: Application) -> list[Start]:
    """Records each start that the state reports from now on."""
    state, actions = application.state, application.window.shell.actions
    starts: list[Start] = []

    def look() -> None:
        if state.is_starting:
            offers = (actions[action_id].isEnabled() for action_id in (ActionId.STOP, ActionId.START))
            starts.append(Start(state.is_loading, state.trainer_state, *offers))

    state.status_changed.connect(look)
    return starts


def test_ghosts_are_ahead_of_the_newest_candle_while_the_trainer_starts(
    qapp: QApplication, tmp_path: Path, gate: CandleGate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The trainer's process is held until they were visible."""
    were_seen = threading.Event()

    def held(spec: SessionSpec, pipe: Any) -> None:
        assert were_seen.wait(60.0)
        thread_child.serve(spec, pipe)

    host = functools.partial(ProcessHost, entry=held, context=thread_child.ThreadContext())
    monkeypatch.setattr("core.training.hosting.process_host.ProcessHost", host)

    async def story(application: Application) -> None:
        chart, state = application.chart, application.state
        try:
            await until(lambda: bool(chart.model.ghosts()), "ghosts")
            assert chart.model.forecast is not None and chart.model.forecast.is_by_simple_rules
            assert state.forecast is None or state.forecast != chart.model.forecast
            assert "the baselines forecast" in chart.model.note
        finally:
            were_seen.set()
        await until(lambda: step_of(application) > 0, "the trainer")

    run_window(qapp, context(tmp_path, "process"), story)


def test_stored_results_are_shown_while_the_trainer_starts(
    qapp: QApplication, learned: Path, gate: CandleGate, idle_trainer: None
) -> None:
    """Accuracy, Gradients and Incidents said "Loading the last run" for as long as the trainer's process took."""

    async def story(application: Application) -> None:
        state, accuracy = application.state, application.window.panels.accuracy
        await until(lambda: state.status is not None, "what is stored")
        assert state.trainer is None and state.trainer_state is TrainerState.STARTING and not state.is_loading
        assert (
            state.market_status is not None and state.market_status.accuracy.scored == len(state.steps) > CATCH_UP - 10
        )
        assert state.step == state.steps.last.step and state.status.loss.current is not None
        accuracy.refresh()
        assert not any(each.isVisibleTo(accuracy) for each in accuracy.findChildren(EmptyState))

    run_window(qapp, context(learned), story)


def test_stored_scores_are_read_beside_the_window(
    qapp: QApplication, learned: Path, gate: CandleGate, idle_trainer: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: each change of market froze the window for it."""
    readers: list[threading.Thread] = []

    def record(*arguments: Any) -> TrainerStatus:
        readers.append(threading.current_thread())
        return stored_status(*arguments)

    async def story(application: Application) -> None:
        await until(lambda: application.state.status is not None, "what is stored")
        assert readers and threading.main_thread() not in readers

    monkeypatch.setattr("core.evaluation.summary.stored_status", record)
    run_window(qapp, context(learned), story)


@pytest.mark.parametrize("host", HOSTS)
def test_candles_ghosts_and_training_continue_after_a_restart(
    qapp: QApplication, tmp_path: Path, gate: CandleGate, host: str
) -> None:
    reached = 0

    async def first(application: Application) -> None:
        nonlocal reached
        starts = starts_of(application)
        await until(lambda: step_of(application) >= CATCH_UP - 2, "the catch-up")
        assert starts and not any(start.is_loading for start in starts), "there is no last run"
        gate.release(3)
        await until(lambda: step_of(application) > CATCH_UP, "training beyond the catch-up")
        assert application.series is not None and len(application.series) > CATCH_UP
        assert application.state.forecast is not None and len(application.state.forecast.ghosts) == 3
        assert application.chart.model.forecast is not None
        reached = step_of(application)

    async def second(application: Application) -> None:
        state, starts = application.state, starts_of(application)
        await until(lambda: application.state.trainer is not None, "the trainer")
        assert starts[0] == Start(is_loading=True, state=TrainerState.STARTING, can_stop=True, can_start=False)
        assert not state.is_loading and state.trainer is not None and state.trainer.step >= reached
        assert len(state.steps) >= reached, "the curves include the steps of the last session"
        assert application.series is not None and len(application.series) >= CATCH_UP
        gate.release(3)
        await until(lambda: step_of(application) > reached + 2, "further steps")

    run_window(qapp, context(tmp_path, host), first)
    run_window(qapp, context(tmp_path, host), second)


@pytest.mark.parametrize("host", HOSTS)
def test_pause_step_resume_stop_and_start_by_shortcut(
    qapp: QApplication, tmp_path: Path, gate: CandleGate, host: str
) -> None:
    async def story(application: Application) -> None:
        window, state = application.window, application.state
        await until(lambda: step_of(application) > 5, "training")
        QTest.keyClick(window, Qt.Key.Key_F6)
        await until(lambda: state.trainer_state is TrainerState.PAUSED, "the pause")
        paused_at = step_of(application)
        QTest.keyClick(window, Qt.Key.Key_F7)
        await until(lambda: step_of(application) == paused_at + 1, "one step")
        QTest.keyClick(window, Qt.Key.Key_F6)
        gate.release(5)
        await until(lambda: step_of(application) > paused_at + 2, "further training")
        window.shell.actions[ActionId.STOP].trigger()
        await until(lambda: state.trainer_state is TrainerState.STOPPED, "the stop")
        await until(lambda: not application.trainer.is_running, "the worker's end")
        assert state.jobs.running() == () and state.forecast is not None
        assert format_time(state.forecast.inputs_until_ms) in application.chart.model.note, "the forecast is old"
        stopped_at = step_of(application)
        log = context(tmp_path).folder.database
        assert log.with_name(f"{log.name}-wal").exists(), "the leaving trainer deleted the window's log"
        QTest.keyClick(window, Qt.Key.Key_F5)
        gate.release(3)
        await until(lambda: step_of(application) > stopped_at, "training again")
        await until(lambda: "median" in application.chart.model.note, "a forecast that is fresh, and its legend")
        assert state.failure is None

    run_window(qapp, context(tmp_path, host), story)


def worker_of(application: Application) -> IdleWorker:
    (worker,) = application.trainer.findChildren(IdleWorker)
    return worker


def test_rate_clip_and_duty_reach_the_trainer_and_the_settings_file(
    qapp: QApplication, tmp_path: Path, idle_trainer: None
) -> None:
    async def story(application: Application) -> None:
        await until(lambda: application.trainer.is_running, "a trainer")
        application.window.inputs.learning_rate_changed.emit(0.002)
        settings = application.settings.current
        clipped = dataclasses.replace(settings.gradients, clip_norm=0.25)
        application.settings.change(dataclasses.replace(settings, gradients=clipped))
        application.window.inputs.duty_changed.emit(60)
        assert worker_of(application).commands() == [SetLearningRate(0.002), SetClipNorm(0.25), SetDuty(60)]

    made = context(tmp_path)
    run_window(qapp, made, story)
    stored, _ = settings_file.load(made.folder.settings)
    assert (stored.training.learning_rate, stored.training.duty_percent) == (0.002, 60)
    assert stored.gradients.clip_norm == 0.25


def test_a_checkpoint_is_restored_and_pin_note_and_deletion_reach_the_table_and_the_trainer(
    qapp: QApplication, tmp_path: Path, gate: CandleGate
) -> None:
    async def story(application: Application) -> None:
        source = application.source
        await until(lambda: len(source.checkpoints()) >= 3, "three checkpoints")
        pinned, victim = source.checkpoints()[-1], source.checkpoints()[-2]
        source.set_pinned([pinned.checkpoint_id], True)
        source.set_note(pinned.checkpoint_id, "the first one")
        source.request_deletion([victim.checkpoint_id])

        def is_done() -> bool:
            known = {info.checkpoint_id: info for info in source.checkpoints()}
            kept = known.get(pinned.checkpoint_id)
            return (
                kept is not None
                and kept.is_pinned
                and kept.note == "the first one"
                and victim.checkpoint_id not in known
                and not (tmp_path / victim.file).exists()  # which the trainer does in its own time
            )

        await until(is_done, "pin, note and deletion")
        assert (tmp_path / pinned.file).exists()
        application.window.command_requested.emit(RestoreCheckpoint(pinned.checkpoint_id))
        await until(lambda: any(each.kind == "restored" for each in application.state.incidents), "the restore")

    run_window(qapp, context(tmp_path), story)


def test_the_replayed_market_crosses_an_alert_and_it_stays_crossed_after_a_restart(
    qapp: QApplication, tmp_path: Path, gate: CandleGate, idle_trainer: None
) -> None:
    async def first(application: Application) -> None:
        await until(lambda: application.series is not None and len(application.series) == CATCH_UP, "the catch-up")
        assert application.series is not None
        close, lines = application.series[-1].close, application.charting.tools.lines
        for price in (close + 1e-5, close - 1e-5):
            lines.add(LineKind.ALERT, price)
        gate.release(5)
        await until(lambda: any(line.crossed_at_ms is not None for line in lines.things), "the crossing")
        last = application.series[-1]
        crossed = [line for line in lines.things if line.crossed_at_ms is not None]
        assert all((line.crossed_at_ms or 0) < last.open_time_ms + 10 * 3_600_000 for line in crossed), "market time"

    async def second(application: Application) -> None:
        lines = application.charting.tools.lines
        await until(lambda: len(lines.things) == 2, "the lines")
        assert any(line.crossed_at_ms is not None for line in lines.things)

    run_window(qapp, context(tmp_path), first)
    run_window(qapp, context(tmp_path), second)


def test_of_several_markets_chosen_quickly_only_the_last_is_opened(
    qapp: QApplication, tmp_path: Path, gate: CandleGate
) -> None:
    async def story(application: Application) -> None:
        window, runs = application.window, application.runs
        await until(lambda: step_of(application) > 3, "training")
        first = application.state.run_id
        opened: list[str] = []
        asked: list[str] = []
        application.watched.opened.connect(lambda market: opened.append(str(market.interval)))
        application.watched.opening.connect(lambda market: asked.append(market.interval))
        before = window.shell.settings.current
        for interval in ("1m", "5m", "15m", "15m", "1h"):
            market = dataclasses.replace(before.market, feed="simulate", file=None, interval=interval)
            runs.open(dataclasses.replace(before, market=market))
        market = dataclasses.replace(before.market, feed="simulate", file=None, interval="4h")
        window.shell.settings.change(dataclasses.replace(before, market=market))
        application.market_choice.chosen.emit(market)
        assert asked == ["1m", "5m", "15m", "1h", "4h"], "each is shown as under way at once, and twice is once"
        await until(lambda: application.state.run_id not in (None, first) and step_of(application) > 3, "the other run")
        assert opened == ["4h"], "superseded choices are not opened"
        assert "SIM-1" in window.windowTitle() and "simulated" in window.windowTitle()

    run_window(qapp, context(tmp_path), story)


def candles_of(application: Application) -> int:
    return 0 if application.series is None else len(application.series)


def test_a_simulated_market_continues_after_a_restart(
    qapp: QApplication, tmp_path: Path, gate: CandleGate, idle_trainer: None
) -> None:
    """Without a seed each simulation is a new market, unless one is stored already."""
    made = context(tmp_path, feed="simulate", file=None)
    unseeded = dataclasses.replace(made.settings.training, seed=None)
    made = dataclasses.replace(made, settings=dataclasses.replace(made.settings, training=unseeded))
    symbols: list[str] = []
    counts: list[int] = []

    async def story(application: Application) -> None:
        application.watched.opened.connect(lambda market: symbols.append(market.symbol))
        await until(lambda: candles_of(application) >= CATCH_UP + 3 * len(counts), "what there was")
        gate.release(100)
        await until(lambda: candles_of(application) >= CATCH_UP + 3 * (len(counts) + 1), "more of it")
        counts.append(candles_of(application))

    run_window(qapp, made, story)
    run_window(qapp, made, story)
    assert symbols[0] == symbols[1] and symbols[0].startswith("SIM-")


def test_a_missing_file_shows_a_message_and_the_window_stays_open(
    qapp: QApplication, tmp_path: Path, gate: CandleGate, idle_trainer: None
) -> None:
    async def story(application: Application) -> None:
        await until(lambda: application.window.banner.shown is not None, "the banner")
        shown = application.window.banner.shown
        assert shown is not None and "nowhere.csv" in shown.text
        assert application.window.isVisible()

    run_window(qapp, context(tmp_path, file=str(tmp_path / "nowhere.csv")), story)


def test_without_an_exchange_the_sample_is_replayed_with_a_notice(
    qapp: QApplication, tmp_path: Path, gate: CandleGate, idle_trainer: None
) -> None:
    async def story(application: Application) -> None:
        await until(lambda: application.series is not None and len(application.series) >= CATCH_UP, "the sample")
        shown = application.window.banner.shown
        assert shown is not None and "sample" in shown.text
        assert "EUR/USD sample" in application.window.windowTitle()

    run_window(qapp, context(tmp_path, feed="auto", venue="no-exchange", file=None), story)


def test_stored_candles_are_shown_while_the_database_is_checked(
    qapp: QApplication, tmp_path: Path, gate: CandleGate, idle_trainer: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = context(tmp_path, feed="auto", venue="no-exchange", file=None)
    market = Market("no-exchange", chosen.settings.market.symbol, Interval.parse(chosen.settings.market.interval))
    with closing(open_database(chosen.folder.database)) as db:
        CandleStore(db).save(market, [candle(number) for number in range(3_000)])
    monkeypatch.setattr(recovering, "_SMALL_BYTES", 1 << 16)
    may_go_on = threading.Event()
    look = recovering.open_database

    def wait(*arguments: object, **options: object) -> object:
        assert may_go_on.wait(60)
        return look(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(recovering, "open_database", wait)

    async def story(application: Application) -> None:
        model = application.chart.model
        try:
            await until(lambda: model.count >= SHOWN_AT_FIRST, "stored candles")
            assert "checking the database" in model.title and application.series is None
        finally:
            may_go_on.set()
        await until(lambda: application.series is not None and len(application.series) >= CATCH_UP, "the sample")
        assert "checking the database" not in model.title

    run_window(qapp, chosen, story)


def test_a_damaged_database_is_set_aside_and_the_window_opens(
    qapp: QApplication, tmp_path: Path, gate: CandleGate, idle_trainer: None
) -> None:
    chosen = context(tmp_path)
    chosen.folder.database.write_bytes(b"this is no database" * 100)

    async def story(application: Application) -> None:
        await until(lambda: application.series is not None and len(application.series) >= CATCH_UP, "candles")
        assert application.trainer.is_running

    run_window(qapp, chosen, story)
    assert list(chosen.folder.quarantine.iterdir()) != []


def test_the_welcome_is_shown_at_the_first_start_only(
    qapp: QApplication, tmp_path: Path, gate: CandleGate, idle_trainer: None
) -> None:
    made = dataclasses.replace(context(tmp_path), is_first_start=True)

    async def first(application: Application) -> None:
        await until(lambda: application.window.findChild(WelcomeDialog) is not None, "the welcome")
        welcome = application.window.findChild(WelcomeDialog)
        assert application.series is None, "nothing is opened before the choice"
        QTest.mouseClick(welcome.sources.button("Simulated"), Qt.MouseButton.LeftButton)
        QTest.mouseClick(welcome.start, Qt.MouseButton.LeftButton)
        await until(lambda: application.series is not None and len(application.series) > 5, "candles")
        assert application.settings.current.market.feed == "simulate"

    run_window(qapp, made, first)
    saved, warnings = settings_file.load(made.folder.settings)
    assert saved.market.feed == "simulate" and not warnings


def test_closing_the_welcome_uses_the_defaults_and_it_is_not_shown_again(
    qapp: QApplication, tmp_path: Path, gate: CandleGate, idle_trainer: None
) -> None:
    made = dataclasses.replace(context(tmp_path), is_first_start=True)

    async def story(application: Application) -> None:
        await until(lambda: application.window.findChild(WelcomeDialog) is not None, "the welcome")
        QTest.keyClick(application.window.findChild(WelcomeDialog), Qt.Key.Key_Escape)
        await until(lambda: application.series is not None and len(application.series) > 5, "candles")

    run_window(qapp, made, story)
    assert made.folder.settings.exists()


def test_safe_mode_uses_the_defaults_and_keeps_the_saved_settings(
    qapp: QApplication, tmp_path: Path, gate: CandleGate, idle_trainer: None
) -> None:
    made = context(tmp_path)
    saved = dataclasses.replace(made.settings, gradients=GradientSettings(clip_norm=0.25))
    settings_file.save(saved, made.folder.settings)
    safe = in_safe_mode(dataclasses.replace(made, settings=saved))

    async def story(application: Application) -> None:
        assert application.settings.current.gradients == GradientSettings()
        assert application.settings.current.market == saved.market, "the market is kept"
        notice = application.window.banner.shown
        assert notice is not None and "Safe mode" in notice.text
        application.window.shell.actions[ActionId.THEME_LIGHT].trigger()

    run_window(qapp, safe, story)
    assert settings_file.load(made.folder.settings) == (saved, ())
    assert not made.folder.layout.exists()


def test_errors_in_the_settings_file_are_shown(
    qapp: QApplication, tmp_path: Path, gate: CandleGate, idle_trainer: None
) -> None:
    made = dataclasses.replace(context(tmp_path), warnings=("Setting 'a' was dropped.", "Setting 'b' was dropped."))

    async def story(application: Application) -> None:
        notice = application.window.banner.shown
        assert notice is not None and notice.text.startswith("Setting 'a' was dropped. And 1 more")

    run_window(qapp, made, story)
