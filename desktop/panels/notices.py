"""Turns what the state says into notices of the banner, and takes them away when they no longer hold."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from core.events import GPU_IS_BACK, RESTORED, Incident, Severity, TrainerFailed
from core.market.feeds.base import FeedState
from desktop.panels.banner import Banner, Notice
from desktop.state import RunState

_FEED, _TRAINER, _INCIDENT, _STORAGE = "feed failed", "trainer failed", "grave incident", "storage"
_RESTORED = "restored"
_GPU = "gpu is back"


class NoticeWriter(QObject):
    """Watches the state for the banner."""

    def __init__(
        self,
        state: RunState,
        banner: Banner,
        *,
        on_start: Callable[[], object],
        on_choose_market: Callable[[], object],
        on_show_incidents: Callable[[], object],
        on_use_gpu: Callable[[], object],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._state, self._banner = state, banner
        self._on_start, self._on_choose_market, self._on_show = on_start, on_choose_market, on_show_incidents
        self._on_use_gpu = on_use_gpu
        state.failed.connect(self._on_failed)
        state.ready.connect(self._on_ready)
        state.feed_changed.connect(self._on_feed)
        state.incident_happened.connect(self._on_incident)
        state.run_changed.connect(self._on_run)

    def storage_trouble(self, sentence: str) -> None:
        """A read or write of the database failed."""
        self._banner.tell(Notice(_STORAGE, Severity.ERROR, sentence))

    def _on_ready(self) -> None:
        """A trainer that was just started is on the device that it got: an older offer no longer holds."""
        for key in (_TRAINER, _GPU):
            self._banner.withdraw(key)

    def _on_failed(self, event: TrainerFailed) -> None:
        notice = Notice(_TRAINER, Severity.ERROR, event.sentence, event.details, "Start again", self._on_start)
        self._banner.tell(notice)

    def _on_feed(self) -> None:
        feed = self._state.feed
        if feed is None or feed.state is not FeedState.FAILED:
            self._banner.withdraw(_FEED)
            return
        self._banner.tell(
            Notice(_FEED, Severity.ERROR, feed.sentence, action="Choose market…", on_action=self._on_choose_market)
        )

    def _on_incident(self, incident: Incident) -> None:
        """Only grave ones, offers, and what was asked for; all are in their panel."""
        if incident.kind == GPU_IS_BACK:
            text = f"{incident.what_happened} {incident.what_was_done}"
            self._banner.tell(
                Notice(_GPU, incident.severity, text, action="Go back to the GPU", on_action=self._on_use_gpu)
            )
        if incident.kind == RESTORED:
            self._banner.tell(Notice(_RESTORED, incident.severity, incident.what_happened))
        if incident.severity is Severity.ERROR:
            text = " ".join(part for part in (incident.what_happened, incident.what_was_done) if part)
            notice = Notice(_INCIDENT, Severity.ERROR, text, incident.details, "Show incidents", self._on_show)
            self._banner.tell(notice)

    def _on_run(self) -> None:
        for key in (_TRAINER, _INCIDENT, _GPU, _RESTORED):
            self._banner.withdraw(key)
