"""The status bar: the feed's state, the run in a few words, and the oldest job."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QProgressBar, QSizePolicy, QToolButton, QWidget

from core.domain.events import JobProgress, MarketStatus, TrainerState
from core.domain.plain_text import plain
from core.machine.readings import MachineReading
from core.market.feeds.base import FeedState
from core.market.shown_names import shown_symbol
from core.training.hosting.catch_up import JOB_ID
from desktop.panels.accuracy.answers import Answers, answers_of
from desktop.panels.feed.words import in_one_line, state_colour
from desktop.state.run_state import RunState
from desktop.state.training_words import ending_words, is_finished
from desktop.ui.formatting import MISSING, format_count, format_duration, format_number
from desktop.ui.icons import Dot, put_icon, tabular
from desktop.ui.interface_size import enlarge_icons
from desktop.ui.panel_base import Panel, colour_text, set_text
from desktop.ui.plain_text import ElidedLabel, Label, set_tooltip
from desktop.ui.stacks import NO_MARGINS, beside
from desktop.ui.theme import Theme
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate
from desktop.window.controls import PAUSING, RESUMING
from desktop.window.machine_load import load_lines

_TRAINER_WORDS = {
    TrainerState.STARTING: QT_TRANSLATE_NOOP("Panels", "Training is starting"),
    TrainerState.CATCHING_UP: QT_TRANSLATE_NOOP("Panels", "Catching up"),
    TrainerState.TRAINING: QT_TRANSLATE_NOOP("Panels", "Training"),
    TrainerState.PAUSED: QT_TRANSLATE_NOOP("Panels", "Paused"),
    TrainerState.RESTARTING: QT_TRANSLATE_NOOP("Panels", "Training is restarting"),
    TrainerState.STOPPED: QT_TRANSLATE_NOOP("Panels", "Stopped"),
    TrainerState.FAILED: QT_TRANSLATE_NOOP("Panels", "Training failed"),
}
_FREEING = QT_TRANSLATE_NOOP("Panels", "Releasing the device")
_FREED = QT_TRANSLATE_NOOP("Panels", "Paused, device released")
_CAUGHT_UP = QT_TRANSLATE_NOOP("Panels", "Caught up")
_FINISHED = QT_TRANSLATE_NOOP("Panels", "Training finished")
_WAITING = QT_TRANSLATE_NOOP("Panels", "Waiting for candles")
_AT_WORK = frozenset({TrainerState.CATCHING_UP, TrainerState.TRAINING})
_SILENT = frozenset({FeedState.CONNECTING, FeedState.RECONNECTING, FeedState.FAILED})
_IDLE_AFTER_MS = 10_000
_NEXT_CANDLES = 2
_ICON_PX = 14
_PROGRESS_PX = (50, 110)
_MARGINS_PX = (8, 0, 4, 0)
_SPACING_PX = 6
_LONGEST_TITLE = 60
"""Characters of a job's title: the feed's sentence is beside it."""
_PAUSED_BY_BREAKER = QT_TRANSLATE_NOOP("Panels", "Paused after three crashes")


class JobBar(QToolButton):
    """A button to the list of jobs, which shows the oldest running one."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setAutoRaise(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        put_icon(self, "progress-clock", theme)
        enlarge_icons(self, _ICON_PX)
        self.setAccessibleName(translate("Jobs", "Jobs"))
        self.title = ElidedLabel()
        self._progress = QProgressBar(textVisible=False)
        self._progress.setFixedHeight(10)
        self._progress.setMinimumWidth(_PROGRESS_PX[0])
        self._progress.setMaximumWidth(_PROGRESS_PX[1])
        self._progress.setAccessibleName(translate("Jobs", "Progress of the oldest job"))
        self._left = Label()
        self._row = beside(self, margins=(6, 0, 6, 0), spacing=6)
        for part in (self.title, self._progress, self._left):
            self._row.addWidget(part, 0, Qt.AlignmentFlag.AlignVCenter)
            part.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self._left.setFont(tabular(self.font()))
        self.show_jobs(())

    def sizeHint(self) -> QSize:
        return super().sizeHint() if self.title.isHidden() else self._row.sizeHint()

    def minimumSizeHint(self) -> QSize:
        return super().sizeHint() if self.title.isHidden() else self._row.minimumSize()

    def show_jobs(self, jobs: tuple[JobProgress, ...]) -> None:
        """Show the first of `jobs`, and how many more there are."""
        for part in (self.title, self._progress, self._left):
            part.setVisible(bool(jobs))
        self.setText("" if jobs else translate("Jobs", "Jobs"))
        styles = Qt.ToolButtonStyle
        self.setToolButtonStyle(styles.ToolButtonTextOnly if jobs else styles.ToolButtonTextBesideIcon)
        if not jobs:
            set_tooltip(self, translate("Jobs", "Background jobs: none is running"))
            return
        job = jobs[0]
        more = translate("Jobs", " (and {0} more)").format(len(jobs) - 1) if len(jobs) > 1 else ""
        self.title.setText(plain(job.title, _LONGEST_TITLE) + more)
        # A range of 0 to 0 is Qt's way to say that the length is not known.
        self._progress.setRange(0, max(job.total, 0))
        self._progress.setValue(min(job.done, job.total))
        left = job.seconds_left
        self._left.setText("" if left is None else translate("Jobs", "{0} left").format(format_duration(left)))
        lines = [*(self._describe(each) for each in jobs), translate("Jobs", "Click for the list of jobs.")]
        set_tooltip(self, "\n".join(lines))

    def _describe(self, job: JobProgress) -> str:
        if job.total <= 0:
            return job.title
        done, total = format_count(job.done), format_count(job.total)
        return translate("Jobs", "{0}: {1} of {2}").format(job.title, done, total)


class Divider(QWidget):
    """A thin upright line between two texts."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setFixedSize(QSize(5, 14))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(2, 0, 1, self.height(), self._theme.palette.border)
        painter.end()


class Facts(QWidget):
    """Texts after a thin line, shown or hidden together."""

    def __init__(self, theme: Theme, labels: Sequence[Label]) -> None:
        super().__init__()
        beside(self, Divider(theme), *labels, margins=NO_MARGINS, spacing=_SPACING_PX)
        for label in labels:
            label.setFont(tabular(self.font()))


class StatusPanel(Panel):
    """Feed, trainer, step, loss, the answers to three questions, device, and the running jobs. Without room for all,
    the device is hidden first, then loss and step, then the ends of sentences, and at last what the model and its
    learning add."""

    def __init__(self, state: RunState, theme: Theme) -> None:
        super().__init__(theme)
        self._state = state
        self._reading: MachineReading | None = None
        self._dot = Dot()
        self.feed = ElidedLabel()
        self.trainer, self.step, self.loss, self.device = (Label() for _ in range(4))
        self.answers = tuple(Label() for _ in range(3))
        self.jobs = JobBar(theme)
        self._of_ghosts, self._of_model = Facts(theme, self.answers[:1]), Facts(theme, self.answers[1:])
        self._has_answers = False
        trainer, step, loss, device = (
            Facts(theme, [each]) for each in (self.trainer, self.step, self.loss, self.device)
        )
        self._parts = (self._dot, self.feed, self.jobs, trainer, step, loss, self._of_ghosts, self._of_model, device)
        self._first_dropped = (device, loss, step)
        beside(self, *self._parts, stretched=self.feed, margins=_MARGINS_PX, spacing=_SPACING_PX)
        self.follow(state.feed_changed, state.status_changed, state.steps_changed, state.jobs_changed)
        self.follow(state.run_changed, state.forecast_changed)

    def tick(self) -> None:
        self._refresh_feed()
        set_text(self.trainer, self._trainer_words(self._state.trainer_state))
        self._fit()

    def minimumSizeHint(self) -> QSize:
        """Without what is hidden first: the window may be narrower than all of it."""
        room = super().minimumSizeHint()
        dropped = (*self._first_dropped, self._of_model)
        shown = (part.minimumSizeHint().width() + _SPACING_PX for part in dropped if part.isVisibleTo(self))
        return QSize(room.width() - sum(shown), room.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def refresh(self) -> None:
        self._refresh_feed()
        self.jobs.show_jobs(self._state.jobs.running())
        status, trainer_state = self._state.status, self._state.trainer_state
        set_text(self.trainer, self._trainer_words(trainer_state))
        set_text(self.step, translate("Panels", "Step {0}").format(format_count(self._state.step)))
        set_text(
            self.loss,
            translate("Panels", "Loss {0}").format(format_number(None if status is None else status.loss.current, 4)),
        )
        loss_of = translate("Panels", "Training loss, averaged over the newest 50 steps")
        if len(self._state.members) > 1:
            loss_of = translate(
                "Panels", "Training loss, averaged over the newest 50 steps of all markets learned from"
            )
        set_tooltip(self.loss, loss_of)
        shown = self._state.market_status
        self._show_answers(None if shown is None else self._answers(shown))
        trainer = self._state.trainer
        self._show_device(status.device if status is not None else trainer.device if trainer is not None else "")
        self._fit()

    def show_reading(self, reading: MachineReading) -> None:
        """The machine's load: in the device's tooltip, and in place of the device what is hot or nearly full."""
        self._reading = reading
        self.mark_stale()

    def _show_device(self, device: str) -> None:
        lines = [] if self._reading is None else load_lines(self._reading)
        warnings = [text for text, is_warning in lines if is_warning]
        set_text(self.device, ", ".join(warnings) or device or MISSING)
        colour_text(self.device, self.palette_now.warning if warnings else self.palette_now.text)
        load = translate("Panels", "Load of the machine, of all programs:")
        of_device = translate("Panels", "Training device: {0}").format(device or MISSING)
        set_tooltip(self.device, "\n".join([of_device, *([load] if lines else []), *(text for text, _ in lines)]))

    def _fit(self) -> None:
        """Show the feed and the running job in full as long as something less important can be hidden."""
        self._of_model.setVisible(self._has_answers)
        always = [part for part in self._parts if part not in self._first_dropped and not part.isHidden()]
        left, _, right, _ = _MARGINS_PX
        needed = left + right + sum(_room_for(part) for part in (*always, *self._first_dropped)) - _SPACING_PX
        for part in self._first_dropped:
            part.setVisible(needed <= self.width())
            needed -= 0 if needed <= self.width() else _room_for(part)
        least = left + right + sum(part.minimumSizeHint().width() + _SPACING_PX for part in always) - _SPACING_PX
        self._of_model.setVisible(self._has_answers and least <= self.width())

    def _answers(self, status: MarketStatus) -> Answers:
        has_ended, has_diverged = bool(ending_words(self._state)), self._state.has_diverged
        return answers_of(status.accuracy, status.online, has_ended=has_ended, has_diverged=has_diverged)

    def _show_answers(self, answers: Answers | None) -> None:
        """Each in a word with its sign; the tooltip has the sentence. Of several markets they are the charted one's."""
        found, market = () if answers is None else answers.all(), self._state.market
        of_market = ""
        if market is not None and len(self._state.members) > 1:
            of_market = f"{shown_symbol(market.venue, market.symbol)}: "
        self._has_answers = bool(found)
        self._of_ghosts.setVisible(self._has_answers)
        for label, answer in zip_longest(self.answers, found):
            label.setVisible(answer is not None)
            if answers is not None and answer is not None:
                word = f"{answer.name} {answer.found.value}"
                set_text(label, of_market + word if label is self.answers[0] else word)
                set_tooltip(label, f"{of_market}{answer.in_full}.\n{answer.meaning}")
                label.setAccessibleName(of_market + answer.text)
                colour_text(label, answers.colour(answer, self.palette_now))

    def _refresh_feed(self) -> None:
        feed, palette = self._state.feed, self.palette_now
        if feed is None:
            self.feed.setText(translate("Panels", "No feed yet"))
            self._dot.show_colour(palette.muted_text)
            return
        self._dot.show_colour(state_colour(feed.state, palette))
        sentence = feed.sentence_at(self._state.clock.now_ms())
        set_text(self.feed, in_one_line(feed.state, sentence))
        set_tooltip(self.feed, sentence)

    def _trainer_words(self, trainer_state: TrainerState | None) -> str:
        failure = self._state.failure
        if trainer_state is TrainerState.FAILED and failure is not None and failure.by_breaker:
            return translate("Panels", _PAUSED_BY_BREAKER)
        if trainer_state is TrainerState.CATCHING_UP and self._is_caught_up():
            return translate("Panels", _CAUGHT_UP)
        if self._state.pause_requested is not None:
            return translate("Actions", PAUSING if self._state.pause_requested else RESUMING)
        if is_finished(self._state):
            return translate("Panels", _FINISHED)
        if trainer_state in _AT_WORK and self._is_waiting():
            return translate("Panels", _WAITING)
        if self._state.is_on_break:
            return translate("Panels", _FREEING if self._state.has_trainer else _FREED)
        if trainer_state is None:
            return translate("Panels", "Not training")
        if trainer_state is TrainerState.TRAINING and self._state.jobs.find(JOB_ID):
            trainer_state = TrainerState.CATCHING_UP  # a replay's trainer knows of no later candle
        return translate("Panels", _TRAINER_WORDS[trainer_state])

    def _is_waiting(self) -> bool:
        """Whether no candle can arrive, and none is being learned. The trainer reports its state with candles only, so
        its last report stays while the exchange is unreachable."""
        feed, status = self._state.feed, self._state.status
        if self._state.is_on_break or feed is None or feed.state not in _SILENT or self._state.jobs.find(JOB_ID):
            return False
        last_step_ms = None if status is None else status.last_step_at_ms
        return last_step_ms is None or self._state.clock.now_ms() - last_step_ms > _IDLE_AFTER_MS

    def _is_caught_up(self) -> bool:
        """Whether it has learned from the newest candle: until the next one closes, possibly in hours, there is nothing
        to catch up with."""
        forecast = self._state.forecast
        if forecast is None or len(forecast.ghosts) < _NEXT_CANDLES:
            return False
        return self._state.clock.now_ms() < forecast.ghosts[1].open_time_ms


def _room_for(part: QWidget) -> int:
    """The width of all parts, with the gap beside them."""
    return part.sizeHint().expandedTo(part.minimumSize()).width() + _SPACING_PX
