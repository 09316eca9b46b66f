"""The tool bar: the inputs that may be changed while training runs, and the training actions."""

from __future__ import annotations

import math
from functools import partial

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QToolBar, QToolButton, QWidget

from core.domain.events import TrainerState
from desktop.actions import ActionId, ActionRegistry
from desktop.state.run_state import RunState
from desktop.state.training_words import is_finished
from desktop.ui.icons import tabular
from desktop.ui.inputs import LogSpinBox, SeekSlider, readable_decimal
from desktop.ui.interface_size import enlarge_icons, follow_interface_size
from desktop.ui.plain_text import Label
from desktop.ui.stacks import beside
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_SMALLEST_RATE, _LARGEST_RATE = 1e-12, 1.0
_SMALLEST_NORM, _LARGEST_NORM = 1e-12, 1e6
_WIDTH_LETTERS = 13
_DUTY_STEP = 5
_SLIDER_WIDTH = 90
_ICON_SIZE = 20
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
    """Learning rate, clip threshold, share of the time. Only changes of the user's are emitted, not those by
    `show_values` and `show_duty`."""

    learning_rate_changed = Signal(float)
    clip_norm_changed = Signal(float)
    duty_changed = Signal(int)
    """Percent, when the slider is released, or moved by a key or the wheel."""
    refused = Signal(str)
    """Why a typed number is refused: the former one stays in force."""

    def __init__(self, learning_rate: float, clip_norm: float, duty_percent: int = 100) -> None:
        super().__init__()
        self.learning_rate = self._make_input(_SMALLEST_RATE, _LARGEST_RATE, translate("Panels", "Learning rate"))
        self.clip_norm = self._make_input(_SMALLEST_NORM, _LARGEST_NORM, translate("Panels", "Clip threshold"))
        self.learning_rate.setToolTip(
            translate(
                "Panels",
                "Learning rate, before warm-up and schedule. A rollback halves it.\nTakes effect at the next step; "
                "1e-4 may be typed.",
            )
        )
        self.clip_norm.setToolTip(
            translate(
                "Panels",
                "Clip threshold: gradients longer than this are scaled down to it. Takes effect at the next step.",
            )
        )
        layout = beside(self, margins=(6, 0, 6, 0), spacing=6)
        for title, box in (
            (translate("Panels", "Learning rate"), self.learning_rate),
            (translate("Panels", "Clip threshold"), self.clip_norm),
        ):
            label = Label(title)
            label.setBuddy(box)
            label.setToolTip(box.toolTip())
            layout.addWidget(label)
            layout.addWidget(box)
        self.rate_now = self._make_rate_now()
        layout.insertWidget(layout.indexOf(self.learning_rate) + 1, self.rate_now)
        self.duty, self.duty_percent = self._make_slider(), Label()
        self._add_slider(layout)
        self.show_values(learning_rate, clip_norm)
        self.show_duty(duty_percent)
        self.learning_rate.valueChanged.connect(self.learning_rate_changed.emit)
        self.clip_norm.valueChanged.connect(self.clip_norm_changed.emit)
        for box in (self.learning_rate, self.clip_norm):
            box.refused.connect(self.refused)
        self.duty.sliderMoved.connect(lambda steps: self._show_percent(steps * _DUTY_STEP))
        self.duty.valueChanged.connect(self._on_duty)

    def show_values(self, learning_rate: float, clip_norm: float) -> None:
        """Show the current values. An input in which the user is typing is not changed."""
        for box, value in ((self.learning_rate, learning_rate), (self.clip_norm, clip_norm)):
            is_typing = box.hasFocus() and box.lineEdit().isModified()
            if is_typing or math.isclose(box.value(), value, rel_tol=1e-6):
                continue
            box.blockSignals(True)
            box.setValue(value)
            box.blockSignals(False)

    def show_rate_now(self, learning_rate: float | None) -> None:
        """Show the rate of the newest step beside the box if it differs. None: unknown."""
        is_other = learning_rate is not None and not math.isclose(
            learning_rate, self.learning_rate.value(), rel_tol=0.01
        )
        self.rate_now.setVisible(is_other)
        if learning_rate is not None and is_other:
            self.rate_now.setText(translate("Panels", "now {0}").format(readable_decimal(learning_rate)))

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

    def _make_rate_now(self) -> Label:
        label = Label()
        label.setFont(tabular(label.font()))
        label.setToolTip(
            translate(
                "Panels",
                "Rate of the newest step: still warming up, or changed by the schedule\n(adaptive: halved after "
                "harmful learning). A model of several\nmarkets learns at up to four times the setting.",
            )
        )
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
        title = Label(translate("Panels", "Time for training"))
        title.setBuddy(self.duty)
        for part in (title, self.duty, self.duty_percent):
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


def make_tool_bar(actions: ActionRegistry, inputs: TrainingInputs) -> QToolBar:
    """The window's tool bar: training actions have their name beside the icon."""
    bar = QToolBar(translate("Panels", "Training"), movable=False)
    bar.setObjectName("tool_bar")
    enlarge_icons(bar, _ICON_SIZE)
    actions.fill_tool_bar(bar)
    bar.addSeparator()
    bar.addWidget(inputs)
    for action_id in _NAMED:
        button = bar.widgetForAction(actions[action_id])
        if isinstance(button, QToolButton):
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    return bar


def reserve_width_for_resume(bar: QToolBar, actions: ActionRegistry) -> None:
    """Reserve the width of its longest text for `Pause`. Call it once the actions have icons."""
    button = bar.widgetForAction(actions[ActionId.PAUSE])
    if isinstance(button, QToolButton):
        follow_interface_size(button, partial(_reserve_width, button))


def _reserve_width(button: QToolButton) -> None:
    button.ensurePolished()
    metrics = button.fontMetrics()
    texts = (translate("Actions", text).replace("&", "") for text in (RESUME, PAUSING, RESUMING))
    longer = max(map(metrics.horizontalAdvance, texts)) - metrics.horizontalAdvance(button.text())
    button.setMinimumWidth(button.sizeHint().width() + max(longer, 0))
