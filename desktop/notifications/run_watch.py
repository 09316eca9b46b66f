"""Desktop messages while the window is not in front: new best checkpoint, incident, lost feed, finished job."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Slot

from core.domain.checkpoint_info import CheckpointInfo
from core.domain.events import Incident, Severity, TrainerState
from core.market.feeds.base import FeedState
from core.settings.window import NotificationSettings
from desktop.notifications.messages import DesktopMessages
from desktop.state.checkpoint_source import adds_text
from desktop.state.job_list import Job, JobState
from desktop.state.run_state import RunState
from desktop.state.shell import Shell
from desktop.ui import formatting
from desktop.ui.translation import translate

_LOST_AFTER_MS = 15_000
"""A feed that reconnects sooner is not reported."""
_INCIDENTS_APART_S = 60.0
_FLOWING = frozenset({FeedState.LIVE, FeedState.CATCHING_UP, FeedState.REPLAYING, FeedState.SIMULATED})


class RunWatch(QObject):
    """Sends the kinds of messages that the settings enable."""

    def __init__(
        self, shell: Shell, state: RunState, messages: DesktopMessages, lost_after_ms: int = _LOST_AFTER_MS
    ) -> None:
        super().__init__(shell.window)
        self._shell, self._state, self._messages = shell, state, messages
        self._was_live = self._is_loss_reported = False
        self._incident_sent_s: float | None = None
        self._patience = QTimer(self, singleShot=True, interval=lost_after_ms)
        self._patience.timeout.connect(self._report_loss)
        state.incident_happened.connect(self._on_incident)
        state.checkpoint_saved.connect(self._on_saved)
        state.feed_changed.connect(self._on_feed)

    @property
    def _wanted(self) -> NotificationSettings:
        return self._shell.settings.current.notifications

    @Slot(object)
    def notify_of_job(self, job: Job) -> None:
        """A job of the user's has ended."""
        if self._wanted.jobs:
            is_done = job.state is JobState.DONE
            title = translate("Notifications", "Job done") if is_done else translate("Notifications", "Job failed")
            self._send(title, f"{job.report.title}: {job.result}")

    def _send(self, title: str, text: str) -> None:
        if self._wanted.while_in_front or not self._shell.window.isActiveWindow():
            self._messages.send(title, text)

    def _on_incident(self, incident: Incident) -> None:
        """Report at most one incident a minute; all are in the panel."""
        if not self._wanted.incidents or incident.severity is Severity.INFO or incident.count > 1:
            return
        now_s = self._state.clock.monotonic_s()
        if self._incident_sent_s is not None and now_s - self._incident_sent_s < _INCIDENTS_APART_S:
            return
        self._incident_sent_s = now_s
        self._send(
            translate("Notifications", "Training incident"),
            f"{incident.what_happened} {incident.what_was_done}".strip(),
        )

    def _on_saved(self, saved: CheckpointInfo) -> None:
        """Report a new best, except while catching up, when each minute has one."""
        is_live = self._state.trainer_state is TrainerState.TRAINING and self._was_live
        if self._wanted.new_best and saved.reason == "best" and is_live:
            self._send(
                translate("Notifications", "New best checkpoint"),
                translate("Notifications", "The model of step {0} adds {1} to the ghosts.").format(
                    formatting.format_count(saved.step), adds_text(saved)
                ),
            )

    def _on_feed(self) -> None:
        feed = self._state.feed
        if feed is None:  # another market
            self._patience.stop()
            self._was_live = self._is_loss_reported = False
        elif feed.state in _FLOWING:
            self._patience.stop()
            if self._is_loss_reported and self._wanted.feed:
                self._send(translate("Notifications", "Feed restored"), feed.sentence)
            self._is_loss_reported = False
            self._was_live = self._was_live or feed.state is FeedState.LIVE
        elif feed.state is FeedState.FAILED and self._was_live:
            self._report_loss()
        elif self._was_live and not self._is_loss_reported and not self._patience.isActive():
            self._patience.start()

    def _report_loss(self) -> None:
        self._patience.stop()
        feed = self._state.feed
        if feed is not None and not self._is_loss_reported and self._wanted.feed:
            self._is_loss_reported = True
            self._send(translate("Notifications", "Feed lost"), feed.sentence)
