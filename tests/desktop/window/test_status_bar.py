from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from core.domain.candle import Market
from core.domain.clock import ManualClock
from core.domain.events import JobProgress, TrainerFailed, TrainerState
from core.market.feeds.base import FeedState, FeedStatus
from core.training.hosting.catch_up import JOB_ID
from desktop.state.run_state import RunState
from desktop.ui.plain_text import ElidedLabel
from desktop.ui.theme import Theme
from desktop.window.status_bar import Divider, StatusPanel
from tests.desktop import scenario
from tests.desktop.conftest import shown_panel


@pytest.fixture
def panel(qtbot: QtBot, state: RunState, theme: Theme) -> StatusPanel:
    panel = StatusPanel(state, theme)
    qtbot.addWidget(panel)
    return panel


def trainer_words(panel: StatusPanel) -> str:
    panel.refresh()
    return panel.trainer.text().lower()


def test_a_tripped_circuit_breaker_is_shown_as_a_pause(panel: StatusPanel, state: RunState) -> None:
    """The banner calls it a pause, so the status bar must too."""
    state.apply(scenario.status(TrainerState.TRAINING))
    state.apply(TrainerFailed("The third time.", by_breaker=True))
    assert "paused" in trainer_words(panel) and "failed" not in trainer_words(panel)
    state.apply(TrainerFailed("The disk is full."))
    assert "failed" in trainer_words(panel)


def test_caught_up_is_shown_until_the_next_candle_closes(
    panel: StatusPanel, state: RunState, clock: ManualClock
) -> None:
    """With candles of an hour that may take an hour."""
    state.apply(scenario.status(TrainerState.CATCHING_UP))
    assert trainer_words(panel) == "catching up", "it has not forecast anything yet"
    state.apply(scenario.forecast(scenario.market()))
    assert trainer_words(panel) == "caught up"
    clock.advance_ms(scenario.MINUTE.duration_ms)
    assert trainer_words(panel) == "catching up"


@pytest.mark.parametrize("trainer_state", [TrainerState.CATCHING_UP, TrainerState.TRAINING])
def test_learning_from_stored_candles_has_one_word_live_and_in_a_replay(
    panel: StatusPanel, state: RunState, trainer_state: TrainerState
) -> None:
    state.apply(scenario.status(trainer_state))
    state.apply(JobProgress(JOB_ID, "Learning from stored candles", 1, 1_000))
    assert trainer_words(panel) == "catching up"


@pytest.mark.parametrize("trainer_state", [TrainerState.CATCHING_UP, TrainerState.TRAINING])
def test_waiting_is_shown_while_no_candle_can_arrive(
    panel: StatusPanel, state: RunState, clock: ManualClock, trainer_state: TrainerState
) -> None:
    """The trainer sends no status until a candle arrives, so its last status is outdated."""
    state.apply(scenario.status(trainer_state, last_step_at_ms=clock.now_ms()))
    state.markets.on_feed_event(
        state.market, FeedStatus(FeedState.RECONNECTING, "The connection was cut.", clock.now_ms())
    )
    assert "waiting" not in trainer_words(panel), "stored candles are still being learned"
    clock.advance_ms(30 * 60_000)
    state.apply(JobProgress(JOB_ID, "Learning from stored candles", 1, 1_000))
    panel.tick()
    assert "waiting" not in panel.trainer.text().lower(), "a slow step"
    state.apply(JobProgress(JOB_ID, "Learning from stored candles", 1_000, 1_000))
    panel.tick()
    assert "waiting" in panel.trainer.text().lower()
    state.markets.on_feed_event(state.market, FeedStatus(FeedState.LIVE, "Live.", clock.now_ms()))
    assert "waiting" not in trainer_words(panel)


def test_a_fully_learned_replay_is_finished(panel: StatusPanel, state: RunState) -> None:
    """Regression: "Training" stayed beside "Ended"."""
    state.apply(scenario.status())
    assert trainer_words(panel) == "training"
    state.markets.on_feed_event(state.market, FeedStatus(FeedState.ENDED, "The end of walk was reached.", 0))
    assert trainer_words(panel) == "training finished"


def test_waiting_for_the_exchange_does_not_hide_a_pause(
    panel: StatusPanel, state: RunState, clock: ManualClock
) -> None:
    state.markets.on_feed_event(state.market, FeedStatus(FeedState.CONNECTING, "Connecting.", clock.now_ms()))
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
    panel: StatusPanel, state: RunState, feed: FeedState, sentence: str, shown: str
) -> None:
    state.markets.on_feed_event(state.market, FeedStatus(feed, sentence, 0))
    panel.refresh()
    assert panel.feed.text() == shown


def test_a_wait_is_counted_down(panel: StatusPanel, state: RunState, clock: ManualClock) -> None:
    now_ms = clock.now_ms()
    state.markets.on_feed_event(
        state.market, FeedStatus(FeedState.RECONNECTING, "Cut.", now_ms, retry_at_ms=now_ms + 9_000)
    )
    panel.refresh()
    clock.advance_ms(2_000)
    panel.tick()
    assert panel.feed.text() == "Reconnecting: Cut. Next try in 7 s."


def texts_cut(panel: StatusPanel) -> list[str]:
    """Of those that do not end with an ellipsis where they have no room."""
    labels = [label for label in panel.findChildren(QLabel) if label.isVisible() and not isinstance(label, ElidedLabel)]
    return [label.text() for label in labels if label.visibleRegion().boundingRect().width() < label.sizeHint().width()]


def at_width(panel: StatusPanel, width: int) -> None:
    panel.resize(width, 24)
    QApplication.processEvents()


@pytest.mark.parametrize("jobs", [0, 1, 2])
def test_what_has_no_room_is_dropped_rather_than_cut(qtbot: QtBot, state: RunState, theme: Theme, jobs: int) -> None:
    """Regression: at 800 pixels the work under way was cut, and its time left lay over its progress."""
    panel = StatusPanel(state, theme)
    state.markets.on_feed_event(state.market, scenario.live_feed())
    state.apply(scenario.status(TrainerState.CATCHING_UP))
    for number in range(jobs):
        state.apply(JobProgress(f"{number}", "Learning from stored candles", 250, 1_000, 75.0))
    shown_panel(qtbot, bar := QWidget(), 1600, 24)
    panel.setParent(bar)  # by itself it would keep the least width that its layout asks for
    panel.show()
    panel.refresh()
    dropped = (panel.device, panel.loss, panel.step)
    counts = []
    for width in (1600, 1280, 1024, 900, 800, 720):
        at_width(panel, width)
        assert texts_cut(panel) == []
        assert panel.trainer.isVisible() and panel.answers[0].isVisible()
        assert width < 800 or all(answer.isVisible() for answer in panel.answers)
        counts.append(sum(label.isVisible() for label in dropped))
        assert [label.isVisible() for label in dropped] == [False] * (3 - counts[-1]) + [True] * counts[-1]
        if counts[-1] and jobs:
            assert panel.jobs.title.width() >= panel.jobs.title.sizeHint().width(), "named in full first"
        if counts[-1]:
            assert panel.feed.width() >= panel.feed.sizeHint().width(), "so is the feed"
    assert counts[0] == 3 and counts == sorted(counts, reverse=True) and counts[-1] == 0
    at_width(panel, 1600)
    assert all(label.isVisible() for label in dropped)
    assert not jobs or "Learning from stored candles: 250" in panel.jobs.toolTip()
    at_width(panel, panel.minimumSizeHint().width())
    assert texts_cut(panel) == [] and [answer.isVisible() for answer in panel.answers] == [True, False, False]


def test_no_line_is_left_of_answers_that_are_not_there(qtbot: QtBot, state: RunState, theme: Theme) -> None:
    panel = StatusPanel(state, theme)
    shown_panel(qtbot, panel, 1280, 24)
    assert [line.isVisible() for line in panel.findChildren(Divider)] == [True, True, True, False, False, True]
    state.apply(scenario.status())
    panel.refresh()
    assert all(line.isVisible() for line in panel.findChildren(Divider))


def test_of_several_markets_the_answers_name_the_one_on_the_chart(qtbot: QtBot, state: RunState, theme: Theme) -> None:
    """The loss beside them is of all."""
    panel, market = StatusPanel(state, theme), Market("kraken", "ETH/EUR", scenario.MINUTE)
    shown_panel(qtbot, panel, 1600, 24)
    scenario.watch(state, None, market)
    state.apply(scenario.status(markets=(scenario.market_status(market),)))
    panel.refresh()
    assert panel.answers[0].text().startswith("Ghosts") and "all markets" not in panel.loss.toolTip()
    state.set_members(scenario.RUN, {scenario.RUN: market, "other": Market("kraken", "XBT/EUR", scenario.MINUTE)})
    state.apply(scenario.status(markets=(scenario.market_status(market),)))
    panel.refresh()
    first, *others = panel.answers
    assert first.text().startswith("ETH/EUR: Ghosts") and not any("ETH" in each.text() for each in others)
    assert all(each.accessibleName().startswith("ETH/EUR: ") for each in panel.answers if each.isVisible())
    assert "all markets" in panel.loss.toolTip()
