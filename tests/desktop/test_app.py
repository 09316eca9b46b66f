"""The whole window, composed as it is for the user: real feed, real worker, real database; only the model is small."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from qasync import QEventLoop

import resources
from core import settings as settings_file
from core.diagnosis import Diagnosis, Disease, SettingChange
from core.events import TrainerState
from core.market.candle import Market
from core.market.price_lines import LineKind
from core.settings import (
    CheckpointSettings,
    GradientSettings,
    MarketSettings,
    ModelSettings,
    Settings,
    TrainingSettings,
)
from core.storage.folder import DataFolder
from desktop.actions import ActionId
from desktop.app import Application
from desktop.commands.options import Context, in_safe_mode
from desktop.dialogs.welcome import WelcomeDialog
from desktop.formatting import format_time

SAMPLE = Path(resources.__file__).parent / "sample_eurusd_1h.csv"
CATCH_UP = 40
Story = Callable[[Application], Awaitable[None]]


def context(root: Path, host: str = "thread", **market: object) -> Context:
    chosen = {"feed": "replay", "file": str(SAMPLE), "speed": 20.0, "catch_up_candles": CATCH_UP, **market}
    settings = Settings(
        market=MarketSettings(**chosen),  # type: ignore[arg-type]
        model=ModelSettings(width=8, layers=1, heads=2, context=8, horizons=3),
        training=TrainingSettings(seed=1, replay_samples=3, device="cpu", host=host),  # type: ignore[arg-type]
        checkpoints=CheckpointSettings(every_steps=10, undo_minutes=0),
    )
    folder = DataFolder(root)
    folder.ensure()
    return Context(settings, folder, as_json=False)


def live(qapp: QApplication, context: Context, story: Story) -> None:
    """Open the window, let the story happen, close the window, and wait until all of it has ended."""

    async def run() -> None:
        application = Application(context, qapp)
        application.window.resize(1280, 720)
        application.start()
        try:
            await story(application)
        finally:
            application.window.close()
            await application.close()

    qapp.setQuitOnLastWindowClosed(False)  # as run_application does
    with QEventLoop(qapp) as loop:
        asyncio.set_event_loop(loop)
        loop.run_until_complete(asyncio.wait_for(run(), 280.0))
    asyncio.set_event_loop(None)


async def until(condition: Callable[[], bool], what: str, timeout_s: float = 120.0) -> None:
    try:
        async with asyncio.timeout(timeout_s):
            while not condition():  # noqa: ASYNC110 - what is waited for is Qt's, and has no asyncio event
                await asyncio.sleep(0.02)
    except TimeoutError:
        pytest.fail(f"waited {timeout_s} s for {what}")


def step_of(application: Application) -> int:
    status = application.state.status
    return 0 if status is None else status.step


@pytest.mark.parametrize("host", ["thread", "process"])
def test_candles_ghosts_and_training_come_and_go_on_after_a_restart(
    qapp: QApplication, tmp_path: Path, host: str
) -> None:
    reached = 0

    async def first(application: Application) -> None:
        nonlocal reached
        await until(lambda: step_of(application) > CATCH_UP, "training beyond the catch-up")
        assert application.series is not None and len(application.series) > CATCH_UP
        assert application.state.forecast is not None and len(application.state.forecast.ghosts) == 3
        assert application.chart.model.forecast is not None
        reached = step_of(application)

    async def second(application: Application) -> None:
        await until(lambda: application.state.trainer is not None, "the trainer")
        assert application.state.trainer is not None and application.state.trainer.step >= reached
        assert len(application.state.steps) >= reached, "the curves show what was learned before"
        assert application.series is not None and len(application.series) >= CATCH_UP
        await until(lambda: step_of(application) > reached + 2, "further steps")

    live(qapp, context(tmp_path, host), first)
    live(qapp, context(tmp_path, host), second)


@dataclasses.dataclass(frozen=True)
class Start:
    """What the window says and offers while a trainer is starting, which may be over before one looks again."""

    is_loading: bool
    state: TrainerState | None
    can_stop: bool
    can_start: bool


def starts_of(application: Application) -> list[Start]:
    """Each time from now on that the state tells of a start."""
    state, actions = application.state, application.window.actions_of_window
    told: list[Start] = []

    def look() -> None:
        if state.is_starting:
            offers = (actions[action_id].isEnabled() for action_id in (ActionId.STOP, ActionId.START))
            told.append(Start(state.is_loading, state.trainer_state, *offers))

    state.status_changed.connect(look)
    return told


def test_the_window_says_what_it_is_waiting_for_and_that_a_forecast_is_old(qapp: QApplication, tmp_path: Path) -> None:
    """A start with nothing, a stop, a start that goes on with what there is."""

    async def first(application: Application) -> None:
        starts = starts_of(application)
        await until(lambda: step_of(application) > 5, "training")
        assert starts, "the start was not told"
        assert not any(start.is_loading for start in starts), "there is no last run"

    async def second(application: Application) -> None:
        state, actions = application.state, application.window.actions_of_window
        starts = starts_of(application)
        await until(lambda: len(state.steps) > 5, "what was learned before")
        assert starts[0] == Start(is_loading=True, state=TrainerState.STARTING, can_stop=True, can_start=False)
        assert not state.is_loading
        application.runs.stop_training()
        await until(lambda: not application.runs.is_training, "the stop")
        await until(lambda: state.trainer_state is TrainerState.STOPPED, "the word of it")
        assert state.jobs.running() == ()
        forecast = state.forecast
        assert forecast is not None
        assert format_time(forecast.inputs_until_ms) in application.chart.model.note
        actions[ActionId.START].trigger()
        await until(lambda: state.trainer_state is TrainerState.TRAINING, "training again")
        await until(lambda: application.chart.model.note == "", "a forecast that is fresh")

    live(qapp, context(tmp_path), first)
    live(qapp, context(tmp_path), second)


def test_a_trainer_that_is_stopped_before_it_stands_is_stopped(qapp: QApplication, tmp_path: Path) -> None:
    async def story(application: Application) -> None:
        await until(lambda: application.state.is_starting, "the start")
        application.runs.stop_training()
        await until(lambda: not application.runs.is_training and not application.state.is_starting, "the stop")
        assert application.window.actions_of_window[ActionId.START].isEnabled()

    live(qapp, context(tmp_path, "process"), story)


@pytest.mark.parametrize("host", ["thread", "process"])
def test_pause_step_resume_stop_and_start_by_their_keys(qapp: QApplication, tmp_path: Path, host: str) -> None:
    async def story(application: Application) -> None:
        window, state = application.window, application.state
        await until(lambda: step_of(application) > 5, "training")
        QTest.keyClick(window, Qt.Key.Key_F6)
        await until(lambda: state.trainer_state is TrainerState.PAUSED, "the pause")
        paused_at = step_of(application)
        QTest.keyClick(window, Qt.Key.Key_F7)
        await until(lambda: step_of(application) == paused_at + 1, "one step")
        QTest.keyClick(window, Qt.Key.Key_F6)
        await until(lambda: step_of(application) > paused_at + 2, "going on")
        window.actions_of_window[ActionId.STOP].trigger()
        await until(lambda: state.trainer_state is TrainerState.STOPPED, "the stop")
        await until(lambda: not application.runs.is_training, "the worker's end")
        stopped_at = step_of(application)
        log = context(tmp_path).folder.database
        assert log.with_name(f"{log.name}-wal").exists(), "the leaving trainer deleted the window's log"
        QTest.keyClick(window, Qt.Key.Key_F5)
        await until(lambda: step_of(application) > stopped_at, "training again")
        assert state.failure is None

    live(qapp, context(tmp_path, host), story)


def test_rate_clip_and_duty_reach_the_trainer_and_the_settings_file(qapp: QApplication, tmp_path: Path) -> None:
    async def story(application: Application) -> None:
        await until(lambda: step_of(application) > 3, "training")
        application.window.inputs.learning_rate_changed.emit(0.002)
        application.window.inputs.clip_norm_changed.emit(0.25)
        application.window.inputs.duty_changed.emit(60)

        def has_both() -> bool:
            status = application.state.status
            return status is not None and (status.learning_rate, status.clip_norm) == (0.002, 0.25)

        await until(has_both, "the new values")

    live(qapp, context(tmp_path), story)
    stored = DataFolder(tmp_path).settings.read_text()
    assert '"learning_rate": 0.002' in stored and '"duty_percent": 60' in stored


def test_the_doctors_advice_reaches_the_trainer_by_a_click_and_is_undone(qapp: QApplication, tmp_path: Path) -> None:
    async def story(application: Application) -> None:
        window, state, card = application.window, application.state, application.window.gradients.card
        await until(lambda: step_of(application) > 3, "training")
        assert state.run_id is not None and state.gradients.newest is not None
        change = SettingChange("gradients", "clip_norm", 0.42)
        state.apply(Diagnosis(state.run_id, 3, Disease.NEVER_CLIPPING, "No step was clipped.", "Lower it.", change))
        window.show_dock(ActionId.SHOW_GRADIENTS)
        await until(card.apply_button.isVisible, "the verdict")
        QTest.mouseClick(card.apply_button, Qt.MouseButton.LeftButton)
        await until(lambda: clip_norm_of(application) == pytest.approx(0.42), "the new threshold")
        QTest.mouseClick(card.undo_button, Qt.MouseButton.LeftButton)
        await until(lambda: clip_norm_of(application) == 1.0, "the former threshold")

    live(qapp, context(tmp_path), story)


def clip_norm_of(application: Application) -> float | None:
    status = application.state.status
    return None if status is None else status.clip_norm


def test_a_checkpoint_is_restored_and_the_incident_says_so(qapp: QApplication, tmp_path: Path) -> None:
    async def story(application: Application) -> None:
        await until(lambda: len(application.window.source.checkpoints()) >= 2, "two checkpoints")
        oldest = application.window.source.checkpoints()[-1]
        application.window.restore_requested.emit(oldest.checkpoint_id)
        await until(lambda: any(each.kind == "restored" for each in application.state.incidents), "the restore")

    live(qapp, context(tmp_path), story)


def test_pin_note_and_deletion_reach_the_table_and_the_trainer(qapp: QApplication, tmp_path: Path) -> None:
    async def story(application: Application) -> None:
        source = application.window.source
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

    live(qapp, context(tmp_path), story)


@pytest.mark.parametrize("host", ["thread"])
def test_the_replayed_market_crosses_an_alert_and_it_stays_crossed_after_a_restart(
    qapp: QApplication, tmp_path: Path, host: str
) -> None:
    async def first(application: Application) -> None:
        await until(lambda: step_of(application) > 3, "training")
        assert application.series is not None
        close, lines = application.series[-1].close, application.charting.tools.lines
        for price in (close + 1e-5, close - 1e-5):
            lines.add(LineKind.ALERT, price)
        await until(lambda: any(line.crossed_at_ms is not None for line in lines.book.lines), "the crossing")
        last = application.series[-1]
        crossed = [line for line in lines.book.lines if line.crossed_at_ms is not None]
        assert all((line.crossed_at_ms or 0) < last.open_time_ms + 10 * 3_600_000 for line in crossed), "market time"

    async def second(application: Application) -> None:
        lines = application.charting.tools.lines
        await until(lambda: len(lines.book.lines) == 2, "the lines")
        assert any(line.crossed_at_ms is not None for line in lines.book.lines)

    live(qapp, context(tmp_path, host), first)
    live(qapp, context(tmp_path, host), second)


@pytest.mark.parametrize("host", ["thread", "process"])
def test_another_market_is_watched_instead(qapp: QApplication, tmp_path: Path, host: str) -> None:
    async def story(application: Application) -> None:
        await until(lambda: step_of(application) > 3, "training")
        first = application.state.run_id
        market = dataclasses.replace(application.window.settings.market, feed="simulate", file=None, interval="1m")
        settings = dataclasses.replace(application.window.settings, market=market)
        application.window.apply_settings(settings)
        application.window.market_chosen.emit(market)
        await until(lambda: application.state.run_id not in (None, first) and step_of(application) > 3, "the other run")
        assert "SIM-1" in application.window.windowTitle() and "simulated" in application.window.windowTitle()

    live(qapp, context(tmp_path, host), story)


def test_a_simulated_market_goes_on_when_the_window_is_opened_again(qapp: QApplication, tmp_path: Path) -> None:
    made = context(tmp_path, feed="simulate", file=None)
    unseeded = dataclasses.replace(made.settings.training, seed=None)
    made = dataclasses.replace(made, settings=dataclasses.replace(made.settings, training=unseeded))
    symbols: list[str] = []
    candles: list[int] = []
    steps: list[int] = []

    async def story(application: Application) -> None:
        opened: list[Market] = []
        application.runs.opened.connect(opened.append)
        enough = CATCH_UP + 3 if not candles else candles[0] + 3
        await until(lambda: step_of(application) >= enough, "training")
        assert application.series is not None
        symbols.append(opened[0].symbol)
        candles.append(len(application.series))
        steps.append(step_of(application))

    live(qapp, made, story)
    live(qapp, made, story)
    assert symbols[0] == symbols[1] and symbols[0].startswith("SIM-")
    assert candles[1] > candles[0] and steps[1] > steps[0]


def test_of_many_markets_that_are_chosen_quickly_the_last_is_opened(qapp: QApplication, tmp_path: Path) -> None:
    async def story(application: Application) -> None:
        await until(lambda: step_of(application) > 3, "training")
        opened: list[str] = []
        asked: list[str] = []
        application.runs.opened.connect(lambda market: opened.append(str(market.interval)))
        application.runs.opening.connect(lambda market: asked.append(market.interval))
        before = application.window.settings
        for interval in ("1m", "5m", "15m", "15m", "1h", "4h"):
            market = dataclasses.replace(before.market, feed="simulate", file=None, interval=interval)
            application.runs.open(dataclasses.replace(before, market=market))
        assert asked == ["1m", "5m", "15m", "1h", "4h"], "each is shown as under way at once, and twice is once"
        await until(lambda: opened[-1:] == ["4h"] and step_of(application) > 3, "the last market")
        assert opened == ["4h"], "those that nobody waits for any more are not opened"

    live(qapp, context(tmp_path), story)


def test_a_missing_file_is_a_sentence_and_the_window_stays(qapp: QApplication, tmp_path: Path) -> None:
    async def story(application: Application) -> None:
        await until(lambda: application.window.banner.shown is not None, "the banner")
        shown = application.window.banner.shown
        assert shown is not None and "nowhere.csv" in shown.text
        assert application.window.isVisible()

    live(qapp, context(tmp_path, file=str(tmp_path / "nowhere.csv")), story)


def test_no_exchange_means_the_sample_and_a_banner_that_says_so(qapp: QApplication, tmp_path: Path) -> None:
    async def story(application: Application) -> None:
        await until(lambda: application.series is not None and len(application.series) >= CATCH_UP, "the sample")
        shown = application.window.banner.shown
        assert shown is not None and "sample" in shown.text
        assert "EUR/USD sample" in application.window.windowTitle()

    live(qapp, context(tmp_path, feed="auto", venue="no-exchange", file=None), story)


def test_a_damaged_database_is_set_aside_and_the_window_goes_on(qapp: QApplication, tmp_path: Path) -> None:
    chosen = context(tmp_path)
    chosen.folder.database.write_bytes(b"this is no database" * 100)

    async def story(application: Application) -> None:
        await until(lambda: step_of(application) > 3, "training on a new database")

    live(qapp, chosen, story)
    assert list(chosen.folder.quarantine.iterdir()) != []


def test_the_first_start_asks_and_the_second_does_not(qapp: QApplication, tmp_path: Path) -> None:
    made = dataclasses.replace(context(tmp_path), is_first_start=True)

    async def first(application: Application) -> None:
        await until(lambda: application.window.findChild(WelcomeDialog) is not None, "the welcome")
        welcome = application.window.findChild(WelcomeDialog)
        assert application.series is None, "nothing is opened before the choice"
        QTest.mouseClick(welcome.sources.button("Simulated"), Qt.MouseButton.LeftButton)
        QTest.mouseClick(welcome.start, Qt.MouseButton.LeftButton)
        await until(lambda: application.series is not None and len(application.series) > 5, "candles")
        assert application.window.settings.market.feed == "simulate"

    live(qapp, made, first)
    saved, warnings = settings_file.load(made.folder.settings)
    assert saved.market.feed == "simulate" and not warnings


def test_a_welcome_that_is_closed_goes_on_with_the_defaults_and_is_not_shown_again(
    qapp: QApplication, tmp_path: Path
) -> None:
    made = dataclasses.replace(context(tmp_path), is_first_start=True)

    async def story(application: Application) -> None:
        await until(lambda: application.window.findChild(WelcomeDialog) is not None, "the welcome")
        QTest.keyClick(application.window.findChild(WelcomeDialog), Qt.Key.Key_Escape)
        await until(lambda: application.series is not None and len(application.series) > 5, "candles")

    live(qapp, made, story)
    assert made.folder.settings.exists()


def test_safe_mode_takes_the_defaults_and_leaves_what_is_saved_alone(qapp: QApplication, tmp_path: Path) -> None:
    made = context(tmp_path)
    saved = dataclasses.replace(made.settings, gradients=GradientSettings(clip_norm=0.25))
    settings_file.save(saved, made.folder.settings)
    safe = in_safe_mode(dataclasses.replace(made, settings=saved))

    async def story(application: Application) -> None:
        assert application.window.settings.gradients == GradientSettings()
        assert application.window.settings.market == saved.market, "the market is kept"
        notice = application.window.banner.shown
        assert notice is not None and "Safe mode" in notice.text
        application.window.actions_of_window[ActionId.THEME_LIGHT].trigger()

    live(qapp, safe, story)
    assert settings_file.load(made.folder.settings) == (saved, ())
    assert not made.folder.layout.exists()


def test_what_was_wrong_in_the_settings_file_is_said(qapp: QApplication, tmp_path: Path) -> None:
    made = dataclasses.replace(context(tmp_path), warnings=("Setting 'a' was dropped.", "Setting 'b' was dropped."))

    async def story(application: Application) -> None:
        notice = application.window.banner.shown
        assert notice is not None and notice.text.startswith("Setting 'a' was dropped. And 1 more")

    live(qapp, made, story)
