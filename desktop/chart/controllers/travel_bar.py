"""The bar below the chart: buttons of time travel, a slider over the candles, and a replay's speed."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QSignalBlocker, QSize, Qt, Signal, Slot
from PySide6.QtGui import QPalette, QResizeEvent
from PySide6.QtWidgets import QApplication, QComboBox, QToolButton, QWidget

from desktop.actions import ActionId, ActionRegistry
from desktop.ui.accessible import name_box
from desktop.ui.formatting import format_candles
from desktop.ui.icons import tabular
from desktop.ui.inputs import SeekSlider, set_choices
from desktop.ui.plain_text import Label, set_tooltip
from desktop.ui.stacks import beside
from desktop.ui.theme import Palette, mixed
from desktop.ui.translation import translate

SPEEDS = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
"""Candles a second to choose from. A replay can also be as fast as possible: 0."""
_STEPS = (ActionId.TRAVEL_BACK, ActionId.TRAVEL_PLAY, ActionId.TRAVEL_FORWARD)
_TINT_SHARE = 0.15


class TravelBar(QWidget):
    """Buttons, slider and label; the controller decides what they show."""

    index_chosen = Signal(int)
    """The candle at the slider: a past one while it is dragged, one to come once it is released."""
    ahead_shown = Signal(int)
    """The candle to come that the slider is being dragged to."""
    speed_chosen = Signal(float)
    """Candles a second."""

    def __init__(self, actions: ActionRegistry, palette_now: Callable[[], Palette]) -> None:
        super().__init__()
        self._palette_now = palette_now
        self._is_past = False
        self.setAutoFillBackground(True)
        self.setAccessibleName(translate("Charting", "Time travel"))
        self.slider = SeekSlider()
        self.slider.setAccessibleName(translate("Charting", "Candle shown"))
        self.slider.setPageStep(10)
        self.slider.setMinimumWidth(60)
        self.slider.valueChanged.connect(self._on_value)
        self.slider.sliderReleased.connect(self._on_release)
        self._last = 0
        self.label = Label()
        self.label.setFont(tabular(self.font()))
        self.speed = QComboBox()
        name_box(self.speed, translate("Charting", "Candles per second"))
        self.speed.setToolTip(translate("Charting", "Playback speed in candles per second"))
        self.speed.activated.connect(lambda place: self.speed_chosen.emit(self.speed.itemData(place)))
        steps = [_button(actions, action_id) for action_id in _STEPS]
        self.now = _button(actions, ActionId.TRAVEL_NOW)
        self.now.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.waits = _button(actions, ActionId.REPLAY_WAITS)
        self.waits.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        parts = (*steps, self.slider, self.label, self.waits, self.speed, self.now)
        beside(self, *parts, stretched=self.slider, margins=(8, 2, 8, 2), spacing=4)
        self._is_whole, self._whole_px = True, 0
        self.hide()

    def minimumSizeHint(self) -> QSize:
        """The bar of a narrow window has no label, and no text on its switch."""
        room = super().minimumSizeHint()
        if not self._is_whole:
            return room
        text_px = self.fontMetrics().horizontalAdvance(self.waits.text()) if self.waits.isVisibleTo(self) else 0
        return QSize(room.width() - self.label.minimumSizeHint().width() - text_px, room.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        if self._is_whole:
            self._whole_px = super().minimumSizeHint().width()
        is_whole = self.width() >= self._whole_px
        if is_whole is not self._is_whole:
            self._is_whole = is_whole
            beside_icon, icon_only = Qt.ToolButtonStyle.ToolButtonTextBesideIcon, Qt.ToolButtonStyle.ToolButtonIconOnly
            self.label.setVisible(is_whole)
            self.waits.setToolButtonStyle(beside_icon if is_whole else icon_only)

    def show_place(self, index: int, last: int, words: str, *, to_come: int, is_past: bool) -> None:
        """Show the place of the newest visible candle. words: the description. to_come: candles that the replay has
        after the last."""
        self._last = last
        with QSignalBlocker(self.slider):
            self.slider.setRange(0, max(last, 0) + to_come)
            if not self.is_ahead:  # else the user is choosing a candle to jump to
                self.slider.setValue(index)
        hint = translate("Charting", "Newest candle shown on the chart")
        if to_come:
            ahead = translate("Charting", "The last {0} are still to come: click or drag there to jump ahead.")
            hint = f"{hint}\n{ahead.format(format_candles(to_come))}"
        set_tooltip(self.slider, hint)
        if not self.is_ahead:
            self.label.setText(words)
        self._is_past = is_past
        self.now.setVisible(is_past)
        self._fit()
        self._tint()

    @property
    def is_ahead(self) -> bool:
        """Whether the slider is being dragged to a candle that is still to come."""
        return self.slider.isSliderDown() and self.slider.value() > self._last

    @Slot(int)
    def _on_value(self, index: int) -> None:
        (self.ahead_shown if self.is_ahead else self.index_chosen).emit(index)

    @Slot()
    def _on_release(self) -> None:
        if self.slider.value() > self._last:
            self.index_chosen.emit(self.slider.value())

    def show_speed(self, speed: float, *, is_replay: bool = False, is_warm_up: bool = False) -> None:
        """Show the speed in force, adding it to the list if missing. is_replay: it may be as fast as possible, 0.
        is_warm_up: until the speed applies, candles come as fast as the model learns them."""
        words, offered = translate("Charting", "{0} per second"), sorted({*SPEEDS, *([speed] if speed else [])})
        if is_warm_up:
            words = translate("Charting", "then {0} per second")
        choices = {words.format(f"{each:g}"): each for each in offered}
        if is_replay:
            choices[translate("Charting", "As fast as possible")] = 0.0
        set_choices(self.speed, choices)
        self.speed.setCurrentIndex(self.speed.findData(speed))
        self.waits.setVisible(is_replay)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange and hasattr(self, "_is_past"):  # the theme changed
            self._tint()

    def _tint(self) -> None:
        """Tinted in the past, to distinguish it from the present."""
        palette = self._palette_now()
        colours = self.palette()
        ground = mixed(palette.warning, palette.panel, _TINT_SHARE) if self._is_past else palette.panel
        if colours.color(QPalette.ColorRole.Window) != ground:
            colours.setColor(QPalette.ColorRole.Window, ground)
            self.setPalette(colours)
        for part in (self.slider, self.speed):  # the bar's ground replaces what their outlines are made from
            part.setPalette(QApplication.palette(part))


def _button(actions: ActionRegistry, action_id: ActionId) -> QToolButton:
    button = QToolButton(autoRaise=True)
    button.setDefaultAction(actions[action_id])
    button.setAutoRepeat(action_id in (ActionId.TRAVEL_BACK, ActionId.TRAVEL_FORWARD))
    button.setIconSize(QSize(16, 16))
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return button
