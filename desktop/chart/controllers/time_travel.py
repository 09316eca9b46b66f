"""The chart at a past candle: steps by slider, menu and keys, playback until now; and a replay's speed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Slot
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QMenu

from core.domain.candle import Interval
from core.domain.events import TrainerState
from core.market.feeds.replay_speed import ReplayPace
from core.storage.errors import StorageError
from core.storage.record_reader import RecordReader
from core.training.hosting.catch_up import JOB_ID
from core.training.online.issued_forecast import from_stored
from desktop.actions import ActionId, translated
from desktop.chart.controllers.travel_bar import SPEEDS, TravelBar
from desktop.chart.data.model import Moment
from desktop.chart.tools.tool import Area, ChartPoint
from desktop.chart.widget import ChartWidget
from desktop.state.run_state import RunState
from desktop.state.shell import Shell
from desktop.ui.accessible import announce
from desktop.ui.formatting import format_candles, format_time
from desktop.ui.icons import icon
from desktop.ui.translation import translate

_AGE_IN_WARM_UP, _AGE_IN_REPLAY = 3, 1
"""Candles by which a replay is ahead of the model, and of what the window has drawn: a little more than one in the
warm-up; one otherwise, for the moment until the model has answered."""
_USUAL_SPEED = 2.0
"""Candles a second."""


class TimeTravel(QObject):
    """Sets the moment that the chart shows, and the pace of a replay. The feed continues, or pauses, independently of
    that moment."""

    def __init__(
        self, shell: Shell, chart: ChartWidget, state: RunState, open_reader: Callable[[str], RecordReader]
    ) -> None:
        super().__init__(shell.window)
        self._shell, self._chart, self._state, self._open_reader = shell, chart, state, open_reader
        self._speed = _USUAL_SPEED
        self.bar = TravelBar(shell.actions, lambda: chart.style_shown.palette)
        self.bar.show_speed(self._speed)
        self._reading, self._walk = QTimer(self, singleShot=True), QTimer(self)
        self._reading.timeout.connect(self._read)
        self._walk.timeout.connect(self._walk_on)
        self._pace: ReplayPace | None = None
        self._shows_warm_up = False
        around = chart.parentWidget()
        if around is not None and (layout := around.layout()) is not None:
            layout.addWidget(self.bar)
        self._wire()
        self.present()

    @property
    def is_past(self) -> bool:
        return self._chart.model.moment is not None

    @property
    def shown(self) -> int:
        """The index of the newest closed candle shown; -1 if there is none."""
        return self._chart.model.count - 1

    @property
    def newest(self) -> int:
        """The index of the newest closed candle there is."""
        return len(self._chart.model.whole) - 1

    def go_to(self, index: int) -> None:
        """Show the chart at the close of this candle; from the newest on, the present. To one that is still to come the
        replay jumps."""
        whole = self._chart.model.whole
        if not len(whole) or index >= self.newest:
            self.back_to_now()
            self._jump_ahead(index)
            return
        opened_ms = int(whole.open_time_ms[max(index, 0)])
        self._chart.show_moment(Moment(whole.interval.close_time_ms(opened_ms)))
        self._reading.start(0)  # several quick steps share one read
        self.present()
        announce(self.bar, self.bar.label.text())

    @Slot()
    def back_to_now(self) -> None:
        """Show everything up to now."""
        self._walk.stop()
        if self.is_past:
            self._chart.show_moment(None)
        self.present()

    def step_back(self) -> None:
        """Go one candle back; stops playback."""
        self._jump(self.shown - 1)

    def step_forward(self) -> None:
        """Go one candle forward; stops playback."""
        if self.is_past:
            self._jump(self.shown + 1)
        elif self._pace is not None:
            self._pace.step()
            self.present()

    def play(self) -> None:
        """Play candle by candle until now, then the replay; pause if it plays already."""
        if self._walk.isActive():
            self._walk.stop()
        elif self.is_past:
            self._walk.start(round(1000 / self._speed))
        elif self._pace is not None:
            (self._pace.play if self._pace.is_paused else self._pace.pause)()
        self.present()

    @Slot(object)
    def set_pace(self, pace: ReplayPace | None) -> None:
        """Set the running feed's pace; None if it has none."""
        self._pace = pace
        if pace is not None:
            chosen = self._shell.settings.current.market.speed
            if chosen is not None:
                pace.set_speed(chosen)  # a feed that is opened once more has the speed that it began with
            self._speed = pace.speed or _USUAL_SPEED
        self._show_speed()
        self.present()

    def stop(self) -> None:
        """Stop reading and playing, because the window is closing."""
        self._reading.stop()
        self._walk.stop()

    def add_to_menu(self, menu: QMenu, at: ChartPoint) -> None:
        """Entries to go back to a place, and to now."""
        ink, index = self._chart.style_shown.palette.text, round(at.index)
        is_candle = at.area in (Area.PLOT, Area.TIME_AXIS) and 0 <= index <= self.shown and index < self.newest
        if is_candle:
            menu.addAction(icon("history", ink), translate("Chart", "&Go back to here"), lambda: self.go_to(index))
        if self.is_past:
            menu.addAction(icon("clock-end", ink), translate("Chart", "&Back to now"), self.back_to_now)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """End and Esc return to now, if nothing else on the chart uses them first."""
        if event.type() != QEvent.Type.KeyPress or not isinstance(event, QKeyEvent) or not self.is_past:
            return False
        is_free = self._chart.key_mark is None and QGuiApplication.mouseButtons() == Qt.MouseButton.NoButton
        key, modifiers = event.key(), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if modifiers or not (key == Qt.Key.Key_End or (key == Qt.Key.Key_Escape and is_free)):
            return False
        self.back_to_now()
        return True

    @Slot()
    def present(self) -> None:
        """Update bar and actions."""
        if self._shows_warm_up is not self._is_warm_up():
            self._show_speed()
        words = self._words()
        self.bar.show_place(self.shown, self.newest, words, to_come=self._to_come(), is_past=self.is_past)
        can_play = self.is_past or self._pace is not None
        self.bar.setVisible(can_play)
        actions, ids = self._shell.actions, ActionId
        actions[ids.TRAVEL_BACK].setEnabled(self.shown > 0)
        actions[ids.TRAVEL_NOW].setEnabled(self.is_past)
        for action_id in (ids.TRAVEL_PLAY, ids.TRAVEL_FORWARD):
            actions[action_id].setEnabled(can_play)
        play = translated(ids.TRAVEL_PLAY.info)
        offer = (play.text, play.tooltip, play.icon)
        if self._is_playing():
            offer = (translate("Actions", "&Pause"), translate("Actions", "Pause at the candle shown"), "pause")
        actions.present(ids.TRAVEL_PLAY, *offer)

    def _wire(self) -> None:
        ids, state = ActionId, self._state
        self._shell.actions.wire(
            {
                ids.TRAVEL_BACK: self.step_back,
                ids.TRAVEL_PLAY: self.play,
                ids.TRAVEL_FORWARD: self.step_forward,
                ids.TRAVEL_NOW: self.back_to_now,
                ids.GO_TO_NEWEST: self.back_to_now,
            }
        )
        self.bar.index_chosen.connect(self._jump)
        self.bar.ahead_shown.connect(self._show_ahead)
        self.bar.speed_chosen.connect(self._on_speed)
        self._chart.installEventFilter(self)
        self._chart.series_changed.connect(self._on_series)
        for changed in (state.record_changed, state.ready, state.forecast_changed):
            changed.connect(self._read_again)
        for changed in (state.status_changed, state.jobs_changed):
            changed.connect(self._show_words)
        self._shell.settings.changed.connect(self.present)  # the time zone may have changed

    def _show_speed(self) -> None:
        pace, self._shows_warm_up = self._pace, self._is_warm_up()
        speed = self._speed if pace is None else pace.speed
        self.bar.show_speed(speed, is_replay=pace is not None, is_warm_up=self._shows_warm_up)
        self._chart.set_usual_age(0 if pace is None else _AGE_IN_WARM_UP if self._shows_warm_up else _AGE_IN_REPLAY)

    def _is_warm_up(self) -> bool:
        """Whether the replay has not reached the candles that come at its speed."""
        whole = self._chart.model.whole
        if self._pace is None or not len(whole):
            return False
        return self._pace.is_warm_up(whole.interval.close_time_ms(int(whole.open_time_ms[-1])))

    def _is_playing(self) -> bool:
        is_replaying = self._pace is not None and not self._pace.is_paused
        return self._walk.isActive() or (is_replaying and not self.is_past)

    def _is_waiting(self) -> bool:
        """Whether the replay waits for the model for longer than a candle takes it."""
        if not self._is_playing() or not self._shell.settings.current.chart.replay_waits:
            return False
        is_starting = self._state.trainer_state in (TrainerState.STARTING, TrainerState.RESTARTING)
        return is_starting or self._state.jobs.find(JOB_ID) is not None

    @Slot()
    def _show_words(self) -> None:
        if self._pace is not None and not self.bar.is_ahead:
            self.bar.label.setText(self._words())

    def _to_come(self) -> int:
        """Number of candles of the shown interval that the replay has yet to deliver."""
        whole, interval_ms = self._chart.model.whole, self._state.interval_ms
        if self._pace is None or interval_ms is None or not len(whole):
            return 0
        left = self._pace.left_after(whole.interval.close_time_ms(int(whole.open_time_ms[-1])))
        return round(left * interval_ms / whole.interval.duration_ms)

    def _words(self) -> str:
        moment, whole = self._chart.model.moment, self._chart.model.whole
        if not len(whole):
            return ""
        zone = self._chart.style_shown.time_zone
        newest_ms = whole.interval.close_time_ms(int(whole.open_time_ms[-1]))
        time = format_time(newest_ms if moment is None else moment.time_ms, zone, seconds=whole.interval.has_seconds)
        if moment is None:
            words = translate("Chart", "Replay at {0}") if self._is_playing() else translate("Chart", "Paused at {0}")
            if self._is_playing() and self._is_warm_up():
                words = translate("Chart", "Warm-up at {0}")
            if self._is_waiting():
                words = translate("Chart", "Waiting for the model at {0}")
            return words.format(time)
        return translate("Chart", "Showing {0}, {1} ago").format(time, format_candles(self.newest - self.shown))

    def _ahead_ms(self, index: int) -> int | None:
        """When the candle of this index opens that the replay has yet to deliver; None if it has none."""
        whole, interval_ms = self._chart.model.whole, self._state.interval_ms
        if self._pace is None or interval_ms is None or not len(whole) or index <= self.newest:
            return None
        newest_ms = whole.interval.close_time_ms(int(whole.open_time_ms[-1])) - interval_ms
        count = (index - self.newest) * whole.interval.duration_ms // interval_ms
        return self._pace.coming(newest_ms, count)

    def _jump_ahead(self, index: int) -> None:
        time_ms = self._ahead_ms(index)
        if time_ms is not None and self._pace is not None:
            self._pace.jump_to(time_ms)

    @Slot(int)
    def _show_ahead(self, index: int) -> None:
        time_ms = self._ahead_ms(index)
        if time_ms is not None:
            zone = self._chart.style_shown.time_zone
            self.bar.label.setText(translate("Chart", "Jump to {0}").format(format_time(time_ms, zone)))

    def _jump(self, index: int) -> None:
        self._walk.stop()
        self.go_to(index)

    def _on_speed(self, speed: float) -> None:
        self._speed = speed or max(SPEEDS)
        if self._pace is not None:
            self._pace.set_speed(speed)
            settings = self._shell.settings
            settings.change(replace(settings.current, market=replace(settings.current.market, speed=speed)))
        if self._walk.isActive():
            self._walk.start(round(1000 / self._speed))

    @Slot()
    def _walk_on(self) -> None:
        self.go_to(self.shown + 1)
        if not self.is_past and self._pace is not None:  # playing continues with the replay
            self._pace.play()
            self.present()

    @Slot()
    def _on_series(self) -> None:
        """Stop playing at another market, and update bar and actions."""
        if not self.is_past:
            self._walk.stop()
        self.present()

    @Slot()
    def _read_again(self) -> None:
        moment = self._chart.model.moment
        if moment is not None and moment.forecast is None:
            self._reading.start(0)

    @Slot()
    def _read(self) -> None:
        """Read between frames: ghosts come later than their step only if SQLite is slow."""
        moment = self._chart.model.moment
        if moment is None:
            return
        found = self._stored(moment.time_ms)
        if found != moment:
            self._chart.show_moment(found)

    def _stored(self, time_ms: int) -> Moment:
        """The moment with the stored forecast of the watched run, or, without a trainer, of the last one."""
        state = self._state
        last_id = None if state.last_run is None else state.last_run.run_id
        run_id, interval_ms = state.run_id or last_id, state.interval_ms
        if run_id is None or interval_ms is None:
            return Moment(
                time_ms, note=translate("Chart", "No forecast is stored: no model was trained on this market")
            )
        try:
            return _read_moment(self._open_reader(run_id), time_ms, Interval(interval_ms))
        except StorageError as error:
            return Moment(time_ms, note=translate("Chart", "The forecast could not be read: {0}").format(error))


def _read_moment(reader: RecordReader, time_ms: int, interval: Interval) -> Moment:
    origin_ms = time_ms - interval.duration_ms
    stored = reader.forecast_of(origin_ms)
    if stored is not None:
        made = from_stored(stored, interval, *reader.conditions_of(origin_ms))
        return Moment(time_ms, made.drawn(reader.run_id))
    latest_ms = reader.latest_origin_ms()
    if latest_ms is not None and latest_ms < origin_ms:
        return Moment(time_ms, note=translate("Chart", "Training has not reached this candle: no forecast yet"))
    return Moment(time_ms, note=translate("Chart", "No forecast was stored with this candle"))
