from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from core.domain.diagnosis import Disease, DivergenceRecovery, SettingChange
from core.domain.events import EventBatch, Incident, Severity, TrainerFailed, TrainerState, TrainerStatus
from core.domain.incident_kinds import PAUSES, IncidentKind
from core.market.feeds.base import FeedState, FeedStatus
from core.market.shown_names import SAMPLE_MARKET
from desktop.state.run_state import RunState
from desktop.ui.banner import Banner, BannerRow, Notice
from desktop.ui.plain_text import Label, with_usual_spaces
from desktop.ui.theme import Theme
from desktop.window.state_notices import NoticeWriter
from tests.desktop import scenario


def test_it_hides_while_there_is_nothing_to_say(banner: Banner) -> None:
    assert banner.isHidden()
    banner.show_notice(Notice("a", Severity.INFO, "Something."))
    assert not banner.isHidden()
    banner.withdraw("a")
    assert banner.isHidden()


def test_the_most_severe_notice_is_shown_and_the_next_after_dismissal(qtbot: QtBot, banner: Banner) -> None:
    banner.show_notice(Notice("grave", Severity.ERROR, "Grave."))
    banner.show_notice(Notice("mild", Severity.WARNING, "Mild."))
    banner.show_notice(Notice("new", Severity.WARNING, "Newer."))
    shown = []
    for _ in range(3):
        shown.append(banner.text.text())
        qtbot.mouseClick(banner.other_row.dismiss_button, Qt.MouseButton.LeftButton)
    assert shown == ["Grave.", "Newer.", "Mild."]
    assert banner.isHidden()


def test_a_price_alert_is_shown_first_until_dismissed(banner: Banner) -> None:
    banner.show_notice(Notice("grave", Severity.ERROR, "Something broke."))
    banner.show_notice(Notice("answer", Severity.ERROR, "That cannot be done.", is_answer=True))
    banner.show_notice(Notice("alert 1", Severity.WARNING, "Alert: one.", is_alert=True))
    assert banner.text.text() == "Alert: one."
    banner.show_notice(Notice("alert 2", Severity.WARNING, "Alert: two.", is_alert=True))
    banner.show_notice(Notice("graver", Severity.ERROR, "Something else broke."))
    banner.show_notice(Notice("answer 2", Severity.ERROR, "Nor can that.", is_answer=True))
    said = []
    while banner.shown is not None:
        said.append(banner.text.text())
        banner.dismiss()
    assert said == [
        "Alert: two.",
        "Alert: one.",
        "Nor can that.",
        "Something else broke.",
        "That cannot be done.",
        ("Something broke."),
    ]


def test_answers_and_errors_are_visible_beside_a_price_alert(qtbot: QtBot, banner: Banner) -> None:
    """Regression: undismissed alerts hid a diverged model."""
    alerts, others, done = banner.alert_row, banner.other_row, list[str]()
    for name in ("one", "two"):
        banner.show_notice(Notice(name, Severity.WARNING, f"Alert: {name}.", is_alert=True))
    assert not alerts.isHidden() and others.isHidden()
    banner.show_notice(Notice("done", Severity.INFO, "It was done.", is_answer=True, passes=True))
    assert (alerts.text.text(), others.text.text()) == ("Alert: two.", "It was done.")
    assert not others.isHidden() and banner.passing.isActive(), "it is on the screen"
    banner.show_notice(
        Notice("grave", Severity.ERROR, "It broke.", action="Fix", on_action=lambda: done.append("fixed"))
    )
    banner.show_notice(Notice("answer", Severity.WARNING, "That cannot be done.", is_answer=True))
    assert (alerts.text.text(), others.text.text()) == ("Alert: two.", "That cannot be done.")
    qtbot.mouseClick(others.dismiss_button, Qt.MouseButton.LeftButton)
    assert others.text.text() == "It broke."
    qtbot.mouseClick(others.action, Qt.MouseButton.LeftButton)
    assert done == ["fixed"] and others.text.text() == "It was done."
    qtbot.mouseClick(alerts.dismiss_button, Qt.MouseButton.LeftButton)
    assert (alerts.text.text(), others.text.text()) == ("Alert: one.", "It was done.")
    banner.passing.timeout.emit()
    assert others.isHidden() and not alerts.isHidden() and not banner.isHidden()
    qtbot.mouseClick(alerts.dismiss_button, Qt.MouseButton.LeftButton)
    assert banner.isHidden()


def test_each_row_counts_its_waiting_notices(banner: Banner) -> None:
    banner.show_notice(Notice("alert", Severity.WARNING, "Alert: one.", is_alert=True))
    for number in range(3):
        banner.show_notice(Notice(f"alert {number}", Severity.WARNING, "Alert: again.", is_alert=True))
    banner.show_notice(Notice("grave", Severity.ERROR, "It broke."))
    banner.show_notice(Notice("mild", Severity.WARNING, "Mild."))
    more = [
        [label.text() for label in row.findChildren(Label) if "more" in label.text()]
        for row in banner.children()
        if isinstance(row, BannerRow)
    ]
    assert more == [["3 more"], ["1 more"]]


def test_an_error_under_an_alert_does_not_replace_an_equally_severe_answer(banner: Banner) -> None:
    banner.show_notice(Notice("alert", Severity.WARNING, "Alert: one.", is_alert=True))
    banner.show_notice(Notice("answer", Severity.ERROR, "That cannot be done.", is_answer=True))
    banner.show_notice(Notice("grave", Severity.ERROR, "It broke."))
    assert banner.other_row.text.text() == "That cannot be done."


def test_an_answer_is_shown_at_once_until_a_more_severe_notice(banner: Banner) -> None:
    banner.show_notice(Notice("old", Severity.WARNING, "An old warning."))
    banner.show_notice(Notice("answer", Severity.INFO, "Done as asked.", is_answer=True))
    assert banner.text.text() == "Done as asked."
    banner.show_notice(Notice("aside", Severity.INFO, "By the way."))
    assert banner.text.text() == "Done as asked."
    banner.show_notice(Notice("grave", Severity.ERROR, "Something broke."))
    assert banner.text.text() == "Something broke."
    banner.withdraw("grave")
    assert banner.text.text() == "An old warning."
    banner.show_notice(Notice("answer", Severity.INFO, "Done again.", is_answer=True))
    banner.dismiss()
    assert banner.text.text() == "An old warning."


def test_repeating_a_more_severe_notice_does_not_replace_an_answer(banner: Banner) -> None:
    """Regression: each verdict repeats a diverged model's notice, which hid the button of the requested restore."""
    grave = Notice("diverged", Severity.ERROR, "The model has diverged.")
    banner.show_notice(grave)
    banner.show_notice(Notice("preview", Severity.INFO, "The chart shows what it would forecast.", is_answer=True))
    banner.show_notice(replace(grave, text="The model has diverged still."))
    assert banner.text.text() == "The chart shows what it would forecast."
    banner.show_notice(Notice("storage", Severity.ERROR, "The disk is full."))
    assert banner.text.text() == "The disk is full."
    banner.dismiss()
    banner.show_notice(replace(grave, key="slow", severity=Severity.INFO))
    banner.show_notice(Notice("preview", Severity.INFO, "The chart shows it.", is_answer=True))
    banner.show_notice(replace(grave, key="slow"))
    assert "diverged" in banner.text.text(), "it has become more severe"


def test_a_confirmation_expires_once_it_was_visible(banner: Banner) -> None:
    banner.show_notice(Notice("old", Severity.WARNING, "An old warning."))
    banner.show_notice(Notice("done", Severity.INFO, "It was done.", passes=True))
    assert not banner.passing.isActive(), "it is behind the warning, so it was not visible"
    banner.withdraw("old")
    assert banner.text.text() == "It was done." and banner.passing.isActive()
    left = banner.passing.interval()
    assert left == 30_000
    banner.passing.timeout.emit()
    assert banner.isHidden() and not banner.passing.isActive()


def test_a_confirmation_stays_while_hidden_focused_or_hovered(qtbot: QtBot, theme: Theme) -> None:
    window, banner, elsewhere = QWidget(), Banner(theme), QLineEdit()
    qtbot.addWidget(window)
    layout = QVBoxLayout(window)
    layout.addWidget(banner)
    layout.addWidget(elsewhere)
    banner.show_notice(Notice("done", Severity.INFO, "It was done.", action="Open", on_action=list, passes=True))
    banner.passing.timeout.emit()
    assert banner.shown is not None, "the window is not there yet"
    window.show()
    window.activateWindow()
    banner.action.setFocus()
    qtbot.waitUntil(banner.action.hasFocus)
    banner.passing.timeout.emit()
    assert banner.shown is not None, "Return would have gone to another widget"
    elsewhere.setFocus()
    banner.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, True)
    banner.passing.timeout.emit()
    assert banner.shown is not None, "the mouse is over it"
    banner.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, False)
    assert banner.passing.isActive()
    banner.passing.timeout.emit()
    assert banner.shown is None


def test_only_confirmations_end_with_the_market(banner: Banner) -> None:
    banner.show_notice(Notice("done", Severity.INFO, "It was done.", passes=True))
    banner.show_notice(Notice("old", Severity.WARNING, "An old warning."))
    banner.withdraw_passing()
    assert banner.text.text() == "An old warning."
    banner.dismiss()
    assert banner.isHidden()


def test_the_same_key_replaces(banner: Banner) -> None:
    banner.show_notice(Notice("a", Severity.INFO, "Old."))
    banner.show_notice(Notice("a", Severity.INFO, "New."))
    banner.dismiss()
    assert banner.isHidden()


def test_the_action_runs_once_and_dismisses_the_notice(qtbot: QtBot, banner: Banner) -> None:
    done: list[str] = []
    banner.show_notice(Notice("a", Severity.ERROR, "Broken.", action="Fix", on_action=lambda: done.append("fixed")))
    qtbot.mouseClick(banner.action, Qt.MouseButton.LeftButton)
    assert done == ["fixed"] and banner.isHidden()


def test_markup_in_a_notice_is_shown_as_plain_text(banner: Banner) -> None:
    banner.show_notice(Notice("a", Severity.INFO, "<b>not bold</b>"))
    assert banner.text.textFormat() is Qt.TextFormat.PlainText


class Requests(list[object]):
    def writer(self, state: RunState, banner: Banner) -> NoticeWriter:
        return NoticeWriter(
            state,
            banner,
            on_start=lambda: self.append("start"),
            on_choose_market=lambda: self.append("market"),
            on_show_incidents=lambda: self.append("incidents"),
            on_recovery=self.append,
            on_use_gpu=lambda: self.append("gpu"),
            on_resume=lambda: self.append("resume"),
            on_replay_again=self.append,
            parent=banner,
        )


def test_a_failure_offers_a_restart_until_the_trainer_is_ready(qtbot: QtBot, banner: Banner, state: RunState) -> None:
    wishes = Requests()
    wishes.writer(state, banner)
    state.apply(TrainerFailed("It cannot continue.", "details"))
    assert banner.text.text() == "It cannot continue."
    qtbot.mouseClick(banner.action, Qt.MouseButton.LeftButton)
    assert wishes == ["start"]
    state.apply(TrainerFailed("Again."))
    state.apply(scenario.ready())
    assert banner.isHidden()


def test_a_failed_feed_offers_another_market_until_it_is_live(banner: Banner, state: RunState) -> None:
    Requests().writer(state, banner)
    state.markets.on_feed_event(state.market, FeedStatus(FeedState.FAILED, "Binance refuses this country (451).", 0))
    assert "451" in banner.text.text() and banner.action.text() == "Choose market…"
    state.markets.on_feed_event(state.market, scenario.live_feed())
    assert banner.isHidden()


def test_only_new_severe_incidents_are_shown(banner: Banner, state: RunState) -> None:
    Requests().writer(state, banner)
    scenario.watch(state)
    state.add_incidents(scenario.incidents())
    state.apply(scenario.incidents()[1])
    assert banner.isHidden()
    state.apply(scenario.incidents()[2])
    assert "signal 9" in banner.text.text()


NOW_MS = scenario.NOW_MS


def incident(kind: str, at_ms: int = NOW_MS) -> Incident:
    return Incident(scenario.RUN, at_ms, Severity.ERROR, kind, f"It is about {kind}.", "It was done.", "A step.")


def status(state: TrainerState, last_step_at_ms: int = NOW_MS - 1) -> TrainerStatus:
    return replace(scenario.status(state), last_step_at_ms=last_step_at_ms)


@pytest.mark.parametrize("kind", sorted(PAUSES))
def test_a_pause_offers_to_resume_until_resumed(qtbot: QtBot, banner: Banner, state: RunState, kind: str) -> None:
    wishes = Requests()
    wishes.writer(state, banner)
    state.apply(status(TrainerState.TRAINING))
    state.apply(EventBatch((incident(kind), status(TrainerState.PAUSED))))
    assert kind in banner.text.text()
    state.apply(status(TrainerState.PAUSED))
    assert not banner.isHidden(), "it is still paused"
    qtbot.mouseClick(banner.action, Qt.MouseButton.LeftButton)
    assert wishes == ["resume"]
    state.apply(EventBatch((incident(kind), status(TrainerState.PAUSED))))
    state.apply(status(TrainerState.TRAINING))
    assert banner.isHidden(), "resumed by the tool bar"


@pytest.mark.parametrize("over", [TrainerState.STOPPED, None])
def test_stopping_a_paused_training_ends_the_offer_to_resume(
    banner: Banner, state: RunState, over: TrainerState | None
) -> None:
    Requests().writer(state, banner)
    state.apply(EventBatch((incident(next(iter(PAUSES))), status(TrainerState.PAUSED))))
    state.apply(TrainerFailed("Over.") if over is None else status(over))
    assert banner.isHidden() or banner.text.text() == "Over."


def test_a_pause_outlives_the_trainer_that_paused(banner: Banner, state: RunState) -> None:
    """The next trainer reports ready, as if training, before it gets the pause command."""
    Requests().writer(state, banner)
    state.apply(EventBatch((incident(next(iter(PAUSES))), status(TrainerState.PAUSED))))
    state.apply(status(TrainerState.RESTARTING))
    state.apply(EventBatch((scenario.ready(), status(TrainerState.TRAINING))))
    state.apply(status(TrainerState.PAUSED))
    assert not banner.isHidden()
    state.apply(status(TrainerState.TRAINING, NOW_MS + 1))
    assert banner.isHidden()


def test_the_notice_of_an_ended_trainer_goes_once_the_next_one_trains(banner: Banner, state: RunState) -> None:
    Requests().writer(state, banner)
    state.apply(status(TrainerState.TRAINING))
    state.apply(incident(IncidentKind.TRAINER_ENDED))
    state.apply(status(TrainerState.RESTARTING))
    state.apply(EventBatch((scenario.ready(), status(TrainerState.TRAINING))))
    assert not banner.isHidden(), "it is ready, but has not trained"
    state.apply(status(TrainerState.TRAINING, NOW_MS + 1))
    assert banner.isHidden()
    assert len(state.incidents) == 1, "it stays in Incidents"


def test_the_circuit_breaker_is_reported_once_with_a_restart_button(
    qtbot: QtBot, banner: Banner, state: RunState
) -> None:
    wishes = Requests()
    wishes.writer(state, banner)
    for event in (
        incident(IncidentKind.TRAINER_ENDED),
        incident(IncidentKind.BREAKER),
        TrainerFailed("It is paused.", by_breaker=True),
    ):
        state.apply(event)
    assert banner.text.text() == "It is paused."
    qtbot.mouseClick(banner.action, Qt.MouseButton.LeftButton)
    assert wishes == ["start"] and banner.isHidden()


def test_a_recovered_gpu_is_offered_until_a_trainer_starts(qtbot: QtBot, banner: Banner, state: RunState) -> None:
    wishes = Requests()
    wishes.writer(state, banner)
    offer = Incident(
        None,
        scenario.NOW_MS,
        Severity.INFO,
        IncidentKind.GPU_IS_BACK,
        "The GPU answers.",
        "The CPU continues.",
        "Nothing.",
    )
    state.apply(offer)
    assert "The GPU answers." in banner.text.text()
    qtbot.mouseClick(banner.action, Qt.MouseButton.LeftButton)
    assert wishes == ["gpu"] and banner.isHidden()
    state.apply(offer)
    state.apply(scenario.ready())
    assert banner.isHidden(), "it has ended up on some device by now"


def test_feed_reports_keep_other_notices(banner: Banner, state: RunState) -> None:
    Requests().writer(state, banner)
    banner.show_notice(Notice("feed", Severity.WARNING, "The sample is replayed, for Binance did not answer."))
    state.markets.on_feed_event(state.market, scenario.live_feed())
    assert "sample" in banner.text.text()


WAY = DivergenceRecovery((SettingChange("training", "learning_rate", 3e-5),), "run-300", 12_300)


def test_a_diverged_model_offers_a_restore_button(qtbot: QtBot, banner: Banner, state: RunState) -> None:
    wishes = Requests()
    wishes.writer(state, banner)
    advice = "Set the learning rate back from 1 to 3e-5 and restore the checkpoint of step 12,300."
    state.apply(scenario.diagnosis(Disease.DIVERGED, advice=advice, recovery=WAY))
    assert banner.shown is not None and banner.shown.severity is Severity.ERROR
    assert banner.text.text() == f"The model has diverged: forecasts without it are better. {advice}"
    assert scenario.diagnosis().evidence in with_usual_spaces(banner.other_row.toolTip())
    assert banner.action.text() == "Go back to step 12,300"
    qtbot.mouseClick(banner.action, Qt.MouseButton.LeftButton)
    assert wishes == [WAY] and banner.isHidden()


def test_the_notice_of_a_diverged_model_goes_when_it_is_healthy_again(banner: Banner, state: RunState) -> None:
    Requests().writer(state, banner)
    state.apply(scenario.diagnosis(Disease.DIVERGED, recovery=DivergenceRecovery(WAY.changes)))
    assert banner.action.text() == "Lower the learning rate", "there is no checkpoint to go back to"
    state.apply(scenario.diagnosis(Disease.UNKNOWN))
    assert banner.isHidden()


def test_the_notice_of_a_restore_expires(banner: Banner, state: RunState) -> None:
    """Regression: it stayed for minutes, also on another market's chart."""
    Requests().writer(state, banner)
    said = "The checkpoint of step 40 was restored on request."
    state.apply(EventBatch((Incident(None, scenario.NOW_MS, Severity.INFO, IncidentKind.RESTORED, said, "", ""),)))
    assert banner.text.text() == said and banner.passing.isActive()
    banner.withdraw_passing()
    assert banner.shown is None


def test_a_replay_that_has_ended_can_be_begun_again(qtbot: QtBot, banner: Banner, state: RunState) -> None:
    requests = Requests()
    requests.writer(state, banner)
    scenario.watch(state, market=SAMPLE_MARKET)
    state.markets.on_feed_event(SAMPLE_MARKET, FeedStatus(FeedState.STORED, "Only stored candles are shown.", 0))
    assert banner.isHidden(), "its end was not reached"
    state.markets.on_feed_event(SAMPLE_MARKET, FeedStatus(FeedState.ENDED, "The end was reached.", 0))
    assert banner.text.text() == "The end was reached." and banner.action.text() == "Replay again"
    qtbot.mouseClick(banner.action, Qt.MouseButton.LeftButton)
    assert requests == [SAMPLE_MARKET]
