"""The bar below the chart for a past moment or a replay: buttons, a slider, and the shown time."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QComboBox, QToolButton, QWidget

from desktop.actions import ActionId, ActionRegistry
from desktop.ui.accessible import name_box
from desktop.ui.formatting import format_candles
from desktop.ui.icons import tabular
from desktop.ui.inputs import SeekSlider
from desktop.ui.plain_text import Label, paragraphs
from desktop.ui.stacks import beside
from desktop.ui.theme import Palette, mixed
from desktop.ui.translation import translate

SPEEDS = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
"""Candles a second to choose from."""
_STEPS = (ActionId.TRAVEL_BACK, ActionId.TRAVEL_PLAY, ActionId.TRAVEL_FORWARD)
_ICON_PX = 16
_PAGE = 10
_NARROWEST_SLIDER_PX = 60
_TINT_SHARE = 0.15


class TravelBar(QWidget):
    """Buttons, slider and label; the controller decides what they show."""

    index_chosen = Signal(int)
    """The candle at the slider."""
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
        self.slider.setPageStep(_PAGE)
        self.slider.setMinimumWidth(_NARROWEST_SLIDER_PX)
        self.slider.valueChanged.connect(self.index_chosen)
        self.said = Label()
        self.said.setFont(tabular(self.font()))
        self.speed = QComboBox()
        name_box(self.speed, translate("Charting", "Candles per second"))
        self.speed.setToolTip(translate("Charting", "Playback speed in candles per second"))
        self.speed.activated.connect(lambda place: self.speed_chosen.emit(self.speed.itemData(place)))
        self._lay_out(actions)
        self.hide()

    def _lay_out(self, actions: ActionRegistry) -> None:
        steps = [_button(actions, action_id) for action_id in _STEPS]
        self.now = _button(actions, ActionId.TRAVEL_NOW)
        self.now.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        parts = (*steps, self.slider, self.said, self.speed, self.now)
        beside(self, *parts, stretched=self.slider, margins=(8, 2, 8, 2), spacing=4)

    def show_place(self, index: int, last: int, words: str, *, to_come: int, is_past: bool) -> None:
        """Show the newest visible candle out of so many; words: the description. to_come: candles that the replay has
        after the last."""
        with QSignalBlocker(self.slider):
            self.slider.setRange(0, max(last, 0) + to_come)
            self.slider.setValue(index)
        hint = translate("Charting", "Newest candle shown on the chart")
        if to_come:
            ahead = translate("Charting", "The last {0} of the slider have not been replayed yet.")
            hint = f"{hint}\n{ahead.format(format_candles(to_come))}"
        self.slider.setToolTip(paragraphs(hint))
        self.said.setText(words)
        self._is_past = is_past
        self.now.setVisible(is_past)
        self._tint()

    def show_speed(self, speed: float) -> None:
        """Show the speed in force; one that is not in the list is added."""
        offered = sorted({*SPEEDS, speed})
        if [self.speed.itemData(place) for place in range(self.speed.count())] != offered:
            self.speed.clear()
            for each in offered:
                self.speed.addItem(translate("Charting", "{0} per second").format(f"{each:g}"), each)
        self.speed.setCurrentIndex(offered.index(speed))

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


def _button(actions: ActionRegistry, action_id: ActionId) -> QToolButton:
    button = QToolButton(autoRaise=True)
    button.setDefaultAction(actions[action_id])
    button.setAutoRepeat(action_id in (ActionId.TRAVEL_BACK, ActionId.TRAVEL_FORWARD))
    button.setIconSize(QSize(_ICON_PX, _ICON_PX))
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return button
