"""The tool bar: the inputs that may be changed while training runs, and the training actions."""

from __future__ import annotations

import math

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QToolBar, QToolButton, QWidget

from core.domain.events import TrainerState
from desktop.actions import ActionId, ActionRegistry
from desktop.state.run_state import RunState
from desktop.state.training_words import is_finished
from desktop.ui.icons import tabular
from desktop.ui.inputs import LogSpinBox, SeekSlider
from desktop.ui.interface_size import enlarge_icons, follow_interface_size
from desktop.ui.panel_base import set_text
from desktop.ui.plain_text import ElidedLabel, Label, set_tooltip
from desktop.ui.stacks import beside
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_SMALLEST_RATE, _LARGEST_RATE = 1e-12, 1.0
_WIDTH_LETTERS = 13
_DUTY_STEP = 5
_SLIDER_WIDTH = 90
_ICON_SIZE, _ROOM_BESIDE_PX = 20, 8
RESUME = QT_TRANSLATE_NOOP("Actions", "&Resume")
"""The text of `Pause` while training is paused."""
PAUSING, RESUMING = QT_TRANSLATE_NOOP("Actions", "Pausing…"), QT_TRANSLATE_NOOP("Actions", "Resuming…")
"""The text of `Pause` until the trainer has answered."""
_RESTING = frozenset({None, TrainerState.STOPPED, TrainerState.FAILED})
_STARTING = frozenset({TrainerState.STARTING, TrainerState.RESTARTING})
_WHILE_AT_WORK = (ActionId.STOP, ActionId.FREE_DEVICE, ActionId.FREE_DEVICE_SHORT, ActionId.FREE_DEVICE_LONG)
_WHILE_RUNNING = (ActionId.PAUSE, ActionId.STEP_ONCE, ActionId.SAVE_CHECKPOINT)
_WHILE_LEARNING = (ActionId.PAUSE, ActionId.STEP_ONCE)
"""Actions without effect once there is nothing left to learn."""
_NAMED = (ActionId.START, ActionId.PAUSE, ActionId.STEP_ONCE, ActionId.STOP)


class TrainingInputs(QWidget):
    """Learning rate and share of the time. Only changes of the user's are emitted, not those by `show_rate` and
    `show_duty`."""

    learning_rate_changed = Signal(float)
    duty_changed = Signal(int)
    """Percent, when the slider is released, or moved by a key or the wheel."""
    refused = Signal(str)
    """Why a typed number is refused: the former one stays in force."""

    def __init__(self, learning_rate: float, duty_percent: int = 100) -> None:
        super().__init__()
        self.learning_rate = self._make_input(_SMALLEST_RATE, _LARGEST_RATE, translate("Panels", "Learning rate"))
        title = Label(translate("Panels", "Learning rate"))
        title.setBuddy(self.learning_rate)
        self._of_rate = title, self.learning_rate
        self.rate_reason = self._make_reason()
        self.duty_title = Label(translate("Panels", "Time for training"))
        self.duty, self.duty_percent = self._make_slider(), Label()
        layout = beside(self, margins=(6, 0, 6, 0), spacing=6)
        self._add_slider(layout)
        layout.addSpacing(8)
        for part in (title, self.learning_rate):
            layout.addWidget(part)
        layout.addWidget(self.rate_reason, 1)
        layout.addStretch(0)  # takes the room while there is no reason
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.show_reason("")
        self.show_rate(learning_rate)
        self.show_duty(duty_percent)
        self.learning_rate.valueChanged.connect(self.learning_rate_changed.emit)
        self.learning_rate.refused.connect(self.refused)
        self.duty.sliderMoved.connect(lambda steps: self._show_percent(steps * _DUTY_STEP))
        self.duty.valueChanged.connect(self._on_duty)

    def show_rate(self, learning_rate: float) -> None:
        """Show the current value, unless the user is typing another."""
        box = self.learning_rate
        is_typing = box.hasFocus() and box.lineEdit().isModified()
        if is_typing or math.isclose(box.value(), learning_rate, rel_tol=1e-6):
            return
        box.blockSignals(True)
        box.setValue(learning_rate)
        box.blockSignals(False)

    def show_reason(self, text: str) -> None:
        """Show beside the box why training uses another rate than the one that was set; empty: it does not."""
        set_text(self.rate_reason, text)
        self.rate_reason.setVisible(bool(text))
        more = translate("Panels", "The adaptive schedule halves the rate after harmful learning; see Events.")
        set_tooltip(self.rate_reason, f"{text}\n{more}")
        about = translate(
            "Panels",
            "Learning rate, before warm-up and schedule. A rollback halves it.\nTakes effect at the next step; "
            "1e-4 may be typed.",
        )
        for part in self._of_rate:  # a narrow tool bar has no room for the reason
            set_tooltip(part, f"{about}\n{text}".rstrip())

    def show_duty(self, percent: int) -> None:
        """Show the current share of the time. A slider that is being dragged is not changed."""
        if self.duty.isSliderDown():
            return
        self.duty.blockSignals(True)
        self.duty.setValue(round(percent / _DUTY_STEP))
        self.duty.blockSignals(False)
        self._show_percent(percent)

    def _on_duty(self, steps: int) -> None:
        self._show_percent(steps * _DUTY_STEP)
        self.duty_changed.emit(steps * _DUTY_STEP)

    def _show_percent(self, percent: int) -> None:
        self.duty_percent.setText(f"{percent} %")

    def _make_reason(self) -> ElidedLabel:
        """The last part of the bar, in the room that is left: nothing moves when it comes or goes."""
        label = ElidedLabel()
        label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        label.setFont(tabular(label.font()))
        label.setAccessibleName(translate("Panels", "Learning rate in use"))
        label.hide()
        return label

    def _make_slider(self) -> SeekSlider:
        slider = SeekSlider()
        slider.setRange(1, 100 // _DUTY_STEP)
        slider.setPageStep(2)
        slider.setTracking(False)
        slider.setFixedWidth(_SLIDER_WIDTH)
        slider.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        slider.setAccessibleName(translate("Panels", "Time for training"))
        slider.setToolTip(
            translate(
                "Panels",
                "Share of the time that training may take. Less makes training slower and keeps the desktop "
                "responsive;\nno candle is skipped. Takes effect at the next step.",
            )
        )
        return slider

    def _add_slider(self, layout: QHBoxLayout) -> None:
        self.duty_title.setBuddy(self.duty)
        for part in (self.duty_title, self.duty, self.duty_percent):
            part.setToolTip(self.duty.toolTip())
            layout.addWidget(part)
        self.duty_percent.setFont(tabular(self.duty_percent.font()))
        label = self.duty_percent
        follow_interface_size(label, lambda: label.setFixedWidth(label.fontMetrics().horizontalAdvance("100 %")))
        self.duty_percent.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)

    def _make_input(self, low: float, high: float, name: str) -> LogSpinBox:
        box = LogSpinBox(low, high)
        box.setAccessibleName(name)
        box.setFont(tabular(box.font()))
        follow_interface_size(box, lambda: box.setFixedWidth(box.fontMetrics().horizontalAdvance("0") * _WIDTH_LETTERS))
        return box


class TrainingActions(QObject):
    """Enables the training actions that the state allows, and sets the text of Pause."""

    def __init__(self, state: RunState, actions: ActionRegistry, parent: QObject) -> None:
        super().__init__(parent)
        self._state, self._actions = state, actions
        self._shown: tuple[bool, bool | None] = (False, None)
        state.status_changed.connect(self._on_status)
        state.run_changed.connect(self._on_status)
        for signal in (state.feed_changed, state.jobs_changed, state.forecast_changed):
            signal.connect(self._update_enabled)
        self._on_status()

    def _on_status(self) -> None:
        self._update_enabled()
        self._present_pause()

    def _update_enabled(self) -> None:
        state = self._state.trainer_state
        is_resting, is_starting = state in _RESTING, state in _STARTING
        self._actions[ActionId.START].setEnabled(is_resting)
        for action_id in _WHILE_AT_WORK:
            self._actions[action_id].setEnabled(not is_resting)
        for action_id in _WHILE_RUNNING:
            is_idle = action_id in _WHILE_LEARNING and is_finished(self._state)
            self._actions[action_id].setEnabled(not is_resting and not is_starting and not is_idle)

    def _present_pause(self) -> None:
        shown = (self._state.trainer_state is TrainerState.PAUSED, self._state.pause_requested)
        if shown == self._shown:
            return
        self._shown = shown
        texts = (
            (translate("Actions", RESUME), translate("Actions", "Resume learning"), "play-pause")
            if shown[0]
            else (
                translate("Actions", "&Pause"),
                translate("Actions", "Pause learning; candles are still forecast and scored"),
                "pause",
            )
        )
        if shown[1] is not None:
            soon = translate("Actions", "Takes effect after the current step")
            texts = (translate("Actions", PAUSING if shown[1] else RESUMING), soon, texts[2])
        self._actions.present(ActionId.PAUSE, *texts)


class TrainingBar(QToolBar):
    """The window's tool bar. Without room for all, training actions show their icons alone, and the time for training
    has no title: what does not fit would hide behind a button."""

    def __init__(self, actions: ActionRegistry, inputs: TrainingInputs) -> None:
        """actions: with their icons."""
        super().__init__(translate("Panels", "Training"), movable=False)
        self.setObjectName("tool_bar")
        enlarge_icons(self, _ICON_SIZE)
        actions.fill_tool_bar(self)
        self.addSeparator()
        self.addWidget(inputs)
        self._inputs, self._is_short = inputs, False
        named = {action_id: self.widgetForAction(actions[action_id]) for action_id in _NAMED}
        self._named = [button for button in named.values() if isinstance(button, QToolButton)]
        self._pause = self._named[_NAMED.index(ActionId.PAUSE)]
        follow_interface_size(self, lambda: self._show_names(is_short=False))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        room = self.contentsRect().width() - 2 * _ROOM_BESIDE_PX
        if self._is_short:
            room -= self._width_of_names() + _ROOM_BESIDE_PX  # more than is needed: it would flicker
        is_short = self._needed_width() > room
        if is_short is not self._is_short:
            self._show_names(is_short=is_short)

    def _needed_width(self) -> int:
        parts = [part for action in self.actions() if (part := self.widgetForAction(action)) is not self._inputs]
        others = sum(part.sizeHint().expandedTo(part.minimumSize()).width() for part in parts)
        layout = self.layout()
        spacing = 0 if layout is None else layout.spacing()
        return others + self._inputs.sizeHint().width() + (len(parts) + 1) * spacing

    def _width_of_names(self) -> int:
        """What names and title need in addition to the icons."""
        advance = self.fontMetrics().horizontalAdvance
        texts = [*(button.text() for button in self._named), self._inputs.duty_title.text()]
        return sum(advance(text) + _ROOM_BESIDE_PX for text in texts) + self._room_for_resume()

    def _show_names(self, *, is_short: bool) -> None:
        self._is_short = is_short
        styles = Qt.ToolButtonStyle
        for button in self._named:
            button.setToolButtonStyle(styles.ToolButtonIconOnly if is_short else styles.ToolButtonTextBesideIcon)
        self._inputs.duty_title.setVisible(not is_short)
        self._pause.setMinimumWidth(0)
        if not is_short:
            self._pause.ensurePolished()
            self._pause.setMinimumWidth(self._pause.sizeHint().width() + self._room_for_resume())

    def _room_for_resume(self) -> int:
        """What `Pause` needs in addition for its longest text."""
        advance = self._pause.fontMetrics().horizontalAdvance
        texts = (translate("Actions", text).replace("&", "") for text in (RESUME, PAUSING, RESUMING))
        return max(max(map(advance, texts)) - advance(self._pause.text()), 0)
