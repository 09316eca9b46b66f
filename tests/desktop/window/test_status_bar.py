from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from core.domain.clock import ManualClock
from core.domain.events import JobProgress, TrainerFailed, TrainerState
from core.market.feeds.base import FeedState, FeedStatus
from core.training.hosting.catch_up import JOB_ID
from desktop.state.run_state import RunState
from desktop.ui.theme import Theme
from desktop.window.status_bar import StatusPanel
from tests.desktop import scenario


def trainer_words(panel: StatusPanel) -> str:
    panel.refresh()
    return panel.trainer.text().lower()


def test_a_tripped_circuit_breaker_is_shown_as_a_pause(qtbot: QtBot, state: RunState, theme: Theme) -> None:
    """The banner calls it a pause, so the status bar must too."""
    panel = StatusPanel(state, theme)
    qtbot.addWidget(panel)
    state.apply(scenario.status(TrainerState.TRAINING))
    state.apply(TrainerFailed("The third time.", by_breaker=True))
    assert "paused" in trainer_words(panel) and "failed" not in trainer_words(panel)
    state.apply(TrainerFailed("The disk is full."))
    assert "failed" in trainer_words(panel)


def test_caught_up_is_shown_until_the_next_candle_closes(
    qtbot: QtBot, state: RunState, theme: Theme, clock: ManualClock
) -> None:
    """With candles of an hour that may take an hour."""
    panel = StatusPanel(state, theme)
    qtbot.addWidget(panel)
    state.apply(scenario.status(TrainerState.CATCHING_UP))
    assert trainer_words(panel) == "catching up", "it has not forecast anything yet"
    state.apply(scenario.forecast(scenario.market()))
    assert trainer_words(panel) == "caught up"
    clock.advance_ms(scenario.MINUTE.duration_ms)
    assert trainer_words(panel) == "catching up"


@pytest.mark.parametrize("trainer_state", [TrainerState.CATCHING_UP, TrainerState.TRAINING])
def test_learning_from_stored_candles_has_one_word_live_and_in_a_replay(
    qtbot: QtBot, state: RunState, theme: Theme, trainer_state: TrainerState
) -> None:
    panel = StatusPanel(state, theme)
    qtbot.addWidget(panel)
    state.apply(scenario.status(trainer_state))
    state.apply(JobProgress(JOB_ID, "Learning from stored candles", 1, 1_000))
    assert trainer_words(panel) == "catching up"


@pytest.mark.parametrize("trainer_state", [TrainerState.CATCHING_UP, TrainerState.TRAINING])
def test_waiting_is_shown_while_no_candle_can_arrive(
    qtbot: QtBot, state: RunState, theme: Theme, clock: ManualClock, trainer_state: TrainerState
) -> None:
    """The trainer sends no status until a candle arrives, so its last status is outdated."""
    panel = StatusPanel(state, theme)
    qtbot.addWidget(panel)
    state.apply(scenario.status(trainer_state, last_step_at_ms=clock.now_ms()))
    state.apply(FeedStatus(FeedState.RECONNECTING, "The connection was cut.", clock.now_ms()))
    assert "waiting" not in trainer_words(panel), "stored candles are still being learned"
    clock.advance_ms(30 * 60_000)
    state.apply(JobProgress(JOB_ID, "Learning from stored candles", 1, 1_000))
    panel.tick()
    assert "waiting" not in panel.trainer.text().lower(), "a slow step"
    state.apply(JobProgress(JOB_ID, "Learning from stored candles", 1_000, 1_000))
    panel.tick()
    assert "waiting" in panel.trainer.text().lower()
    state.apply(FeedStatus(FeedState.LIVE, "Live.", clock.now_ms()))
    assert "waiting" not in trainer_words(panel)


def test_a_fully_learned_replay_is_finished(qtbot: QtBot, state: RunState, theme: Theme) -> None:
    """Regression: "Training" stayed beside "Ended"."""
    panel = StatusPanel(state, theme)
    qtbot.addWidget(panel)
    state.apply(scenario.status())
    assert trainer_words(panel) == "training"
    state.apply(FeedStatus(FeedState.ENDED, "The end of walk was reached.", 0))
    assert trainer_words(panel) == "training finished"


def test_waiting_for_the_exchange_does_not_hide_a_pause(
    qtbot: QtBot, state: RunState, theme: Theme, clock: ManualClock
) -> None:
    panel = StatusPanel(state, theme)
    qtbot.addWidget(panel)
    state.apply(FeedStatus(FeedState.CONNECTING, "Connecting.", clock.now_ms()))
    state.apply(scenario.status(TrainerState.TRAINING, last_step_at_ms=None))
    assert "waiting" in trainer_words(panel)
    state.apply(scenario.status(TrainerState.PAUSED, last_step_at_ms=None))
    assert trainer_words(panel) == "paused"


@pytest.mark.parametrize(
    ("feed", "sentence", "shown"),
    [
        (FeedState.LIVE, "Receiving BTC/USDT.", "Live: Receiving BTC/USDT."),
        (FeedState.RECONNECTING, "The connection was cut.", "Reconnecting: The connection was cut."),
        (FeedState.CATCHING_UP, "Fetching 10 candles.", "Catching up: Fetching 10 candles."),
    ],
)
def test_the_feeds_state_is_shown_once(
    qtbot: QtBot, state: RunState, theme: Theme, feed: FeedState, sentence: str, shown: str
) -> None:
    panel = StatusPanel(state, theme)
    qtbot.addWidget(panel)
    state.apply(FeedStatus(feed, sentence, 0))
    panel.refresh()
    assert panel.feed.text() == shown


def test_a_wait_is_counted_down(qtbot: QtBot, state: RunState, theme: Theme, clock: ManualClock) -> None:
    panel = StatusPanel(state, theme)
    qtbot.addWidget(panel)
    now_ms = clock.now_ms()
    state.apply(FeedStatus(FeedState.RECONNECTING, "Cut.", now_ms, retry_at_ms=now_ms + 9_000))
    panel.refresh()
    clock.advance_ms(2_000)
    panel.tick()
    assert panel.feed.text() == "Reconnecting: Cut. Next try in 7 s."
