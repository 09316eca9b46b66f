"""Shows the state in notices of the banner, and removes them when they no longer hold."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject

from core.domain.candle import FILE_VENUE, Market
from core.domain.diagnosis import Disease, DivergenceRecovery
from core.domain.events import Incident, Severity, TrainerFailed, TrainerState
from core.domain.incident_kinds import PAUSES, IncidentKind
from core.market.feeds.base import FeedState
from desktop.panels.gradients.diagnosis_card import recovery_text
from desktop.state.run_state import RunState
from desktop.ui.banner import Banner, Notice
from desktop.ui.translation import translate

_FEED, _TRAINER, _INCIDENT = "feed failed", "trainer failed", "grave incident"
_RESTORED = "restored"
_GPU = "gpu is back"
_REPLAYED = "replay ended"
_ENDED, _PAUSED = "trainer ended", "trainer paused"
_DIVERGED = "diverged"
_LEARNING = frozenset({TrainerState.TRAINING, TrainerState.CATCHING_UP})
_OVER = frozenset({TrainerState.STOPPED, TrainerState.FAILED})


class NoticeWriter(QObject):
    """Shows and withdraws the notices that follow from the state."""

    def __init__(
        self,
        state: RunState,
        banner: Banner,
        *,
        on_start: Callable[[], object],
        on_choose_market: Callable[[], object],
        on_show_incidents: Callable[[], object],
        on_use_gpu: Callable[[], object],
        on_resume: Callable[[], object],
        on_recovery: Callable[[DivergenceRecovery], object],
        on_replay_again: Callable[[Market], object],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._state, self._banner = state, banner
        self._on_start, self._on_choose_market, self._on_show = on_start, on_choose_market, on_show_incidents
        self._on_replay_again = on_replay_again
        self._on_use_gpu, self._on_resume, self._on_recovery = on_use_gpu, on_resume, on_recovery
        self._shown_at_ms: dict[str, int] = {}
        self._former_state: TrainerState | None = None
        state.failed.connect(self._on_failed)
        state.ready.connect(self._on_ready)
        state.status_changed.connect(self._on_status)
        state.feed_changed.connect(self._on_feed)
        state.incident_happened.connect(self._on_incident)
        state.diagnosis_changed.connect(self._on_diagnosis)
        state.run_changed.connect(self._on_run)

    def _on_ready(self) -> None:
        """A restarted trainer has its device: an older offer no longer holds."""
        for key in (_TRAINER, _GPU):
            self._banner.withdraw(key)

    def _on_status(self) -> None:
        """Remove notices that no longer hold. Only a step proves that it trains again: a restarted trainer reports
        training before it knows that it is paused."""
        state, status = self._state.trainer_state, self._state.status
        former, self._former_state = self._former_state, state
        last_step_ms = None if status is None or state not in _LEARNING else status.last_step_at_ms
        for key in (_ENDED, _PAUSED):
            shown_at_ms = self._shown_at_ms.get(key)
            if shown_at_ms is not None and last_step_ms is not None and last_step_ms > shown_at_ms:
                self._banner.withdraw(key)
        if state in _OVER or (former is TrainerState.PAUSED and state in _LEARNING):
            self._banner.withdraw(_PAUSED)

    def _on_failed(self, event: TrainerFailed) -> None:
        self._banner.withdraw(_ENDED)  # the failure says it too
        if event.passing is not None:
            return  # reported by the watch of passing faults
        notice = Notice(
            _TRAINER, Severity.ERROR, event.sentence, event.details, translate("Panels", "Start again"), self._on_start
        )
        self._banner.show_notice(notice)

    def _on_feed(self) -> None:
        feed, market = self._state.feed, self._state.market
        has_ended = feed is not None and feed.state is FeedState.ENDED
        if feed is not None and has_ended and market is not None and market.venue == FILE_VENUE:
            again, on_again = translate("Panels", "Replay again"), partial(self._on_replay_again, market)
            self._banner.show_notice(Notice(_REPLAYED, Severity.INFO, feed.sentence, action=again, on_action=on_again))
        else:
            self._banner.withdraw(_REPLAYED)
        if feed is None or feed.state is not FeedState.FAILED or feed.passing is not None:
            self._banner.withdraw(_FEED)
            return
        self._banner.show_notice(
            Notice(
                _FEED,
                Severity.ERROR,
                feed.sentence,
                action=translate("Panels", "Choose market…"),
                on_action=self._on_choose_market,
            )
        )

    def _on_incident(self, incident: Incident) -> None:
        """Show only grave incidents, offers, and answers to requests; all are in their panel."""
        if incident.kind == IncidentKind.GPU_IS_BACK:
            text = f"{incident.what_happened} {incident.what_was_done}"
            self._banner.show_notice(
                Notice(
                    _GPU,
                    incident.severity,
                    text,
                    action=translate("Panels", "Switch back to the GPU"),
                    on_action=self._on_use_gpu,
                )
            )
        if incident.kind == IncidentKind.RESTORED:
            self._banner.show_notice(Notice(_RESTORED, incident.severity, incident.what_happened, passes=True))
        if (
            incident.severity is Severity.ERROR and incident.kind != IncidentKind.BREAKER
        ):  # its failure follows, with a button
            self._show_grave(incident)

    def _on_diagnosis(self) -> None:
        """A diverged model has a notice for as long as the doctor says so; a dismissed one returns with the next
        verdict, every hundred steps."""
        diagnosis = self._state.diagnosis
        if diagnosis is None or diagnosis.disease is not Disease.DIVERGED:
            self._banner.withdraw(_DIVERGED)
            return
        way = diagnosis.recovery
        self._banner.show_notice(
            Notice(
                _DIVERGED,
                Severity.ERROR,
                translate("Panels", "The model has diverged: forecasts without it are better. {0}").format(
                    diagnosis.advice
                ),
                diagnosis.evidence,
                "" if way is None else recovery_text(way),
                None if way is None else lambda: self._on_recovery(way),
            )
        )

    def _show_grave(self, incident: Incident) -> None:
        text = " ".join(part for part in (incident.what_happened, incident.what_was_done) if part)
        key, action, on_action = _INCIDENT, translate("Panels", "Show incidents"), self._on_show
        if incident.kind in PAUSES:
            key, action, on_action = _PAUSED, translate("Panels", "Resume"), self._on_resume
        elif incident.kind == IncidentKind.TRAINER_ENDED:
            key = _ENDED
        self._shown_at_ms[key] = incident.at_ms
        self._banner.show_notice(Notice(key, Severity.ERROR, text, incident.details, action, on_action))

    def _on_run(self) -> None:
        for key in (_TRAINER, _INCIDENT, _ENDED, _PAUSED, _GPU, _RESTORED, _DIVERGED):
            self._banner.withdraw(key)
