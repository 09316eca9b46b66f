from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from core.events import GPU_IS_BACK, Incident, Severity, TrainerFailed
from core.market.feeds.base import FeedState, FeedStatus
from desktop.panels.banner import Banner, Notice
from desktop.panels.notices import NoticeWriter
from desktop.state import RunState
from desktop.theme import Theme
from tests.desktop import scenario


@pytest.fixture
def banner(qtbot: QtBot, theme: Theme) -> Banner:
    banner = Banner(theme)
    qtbot.addWidget(banner)
    return banner


def test_it_hides_while_there_is_nothing_to_say(banner: Banner) -> None:
    assert banner.isHidden()
    banner.tell(Notice("a", Severity.INFO, "Something."))
    assert not banner.isHidden()
    banner.withdraw("a")
    assert banner.isHidden()


def test_the_gravest_is_shown_and_the_next_follows_when_it_is_dismissed(qtbot: QtBot, banner: Banner) -> None:
    banner.tell(Notice("grave", Severity.ERROR, "Grave."))
    banner.tell(Notice("mild", Severity.WARNING, "Mild."))
    banner.tell(Notice("new", Severity.WARNING, "Newer."))
    shown = []
    for _ in range(3):
        shown.append(banner.text.text())
        qtbot.mouseClick(banner.dismiss_button, Qt.MouseButton.LeftButton)
    assert shown == ["Grave.", "Newer.", "Mild."]
    assert banner.isHidden()


def test_the_same_key_replaces(banner: Banner) -> None:
    banner.tell(Notice("a", Severity.INFO, "Old."))
    banner.tell(Notice("a", Severity.INFO, "New."))
    banner.dismiss()
    assert banner.isHidden()


def test_the_action_is_done_once_and_takes_the_notice_away(qtbot: QtBot, banner: Banner) -> None:
    done: list[str] = []
    banner.tell(Notice("a", Severity.ERROR, "Broken.", action="Mend", on_action=lambda: done.append("mended")))
    qtbot.mouseClick(banner.action, Qt.MouseButton.LeftButton)
    assert done == ["mended"] and banner.isHidden()


def test_markup_in_a_notice_is_shown_as_it_is(banner: Banner) -> None:
    banner.tell(Notice("a", Severity.INFO, "<b>not bold</b>"))
    assert banner.text.textFormat() is Qt.TextFormat.PlainText


class Wishes(list[str]):
    def writer(self, state: RunState, banner: Banner) -> NoticeWriter:
        return NoticeWriter(
            state,
            banner,
            on_start=lambda: self.append("start"),
            on_choose_market=lambda: self.append("market"),
            on_show_incidents=lambda: self.append("incidents"),
            on_use_gpu=lambda: self.append("gpu"),
            parent=banner,
        )


def test_a_failure_offers_to_start_again_until_the_trainer_stands(
    qtbot: QtBot, banner: Banner, state: RunState
) -> None:
    wishes = Wishes()
    wishes.writer(state, banner)
    state.apply(TrainerFailed("It cannot go on.", "details"))
    assert banner.text.text() == "It cannot go on."
    qtbot.mouseClick(banner.action, Qt.MouseButton.LeftButton)
    assert wishes == ["start"]
    state.apply(TrainerFailed("Again."))
    state.apply(scenario.ready())
    assert banner.isHidden()


def test_a_feed_that_failed_offers_another_market_until_it_lives(banner: Banner, state: RunState) -> None:
    Wishes().writer(state, banner)
    state.apply(FeedStatus(FeedState.FAILED, "Binance refuses this country (451).", 0))
    assert "451" in banner.text.text() and banner.action.text() == "Choose market…"
    state.apply(scenario.live_feed())
    assert banner.isHidden()


def test_only_grave_incidents_that_are_new_are_shown(banner: Banner, state: RunState) -> None:
    Wishes().writer(state, banner)
    state.prime(scenario.RUN, incidents=scenario.incidents())
    state.apply(scenario.incidents()[1])
    assert banner.isHidden()
    state.apply(scenario.incidents()[2])
    assert "signal 9" in banner.text.text()


def test_a_gpu_that_is_back_is_offered_until_a_trainer_starts(qtbot: QtBot, banner: Banner, state: RunState) -> None:
    wishes = Wishes()
    wishes.writer(state, banner)
    offer = Incident(
        None, scenario.NOW_MS, Severity.INFO, GPU_IS_BACK, "The GPU answers.", "The CPU goes on.", "Nothing."
    )
    state.apply(offer)
    assert "The GPU answers." in banner.text.text()
    qtbot.mouseClick(banner.action, Qt.MouseButton.LeftButton)
    assert wishes == ["gpu"] and banner.isHidden()
    state.apply(offer)
    state.apply(scenario.ready())
    assert banner.isHidden(), "it has ended up on some device by now"


def test_other_notices_stay_when_the_feed_says_something(banner: Banner, state: RunState) -> None:
    Wishes().writer(state, banner)
    banner.tell(Notice("feed", Severity.WARNING, "The sample is replayed, for Binance did not answer."))
    state.apply(scenario.live_feed())
    assert "sample" in banner.text.text()
