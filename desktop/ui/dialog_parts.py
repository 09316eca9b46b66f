"""Common parts of dialogs: the usual buttons, a line for a path, and the message about a fault. No dialog is larger
than its screen: content without room is scrolled."""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakMethod

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLineEdit, QScrollArea, QStyle, QVBoxLayout, QWidget

from desktop.ui.plain_text import WrappedLabel, set_tooltip
from desktop.ui.translation import translate

_SHARE_OF_SCREEN = 0.92
"""The rest is for the desktop's frame around a window."""


def ok_and_cancel(dialog: QDialog, accept: str = "") -> QDialogButtonBox:
    """The buttons of a dialog that asks. accept: the text of the first one, if OK is too vague."""
    kinds = QDialogButtonBox.StandardButton
    buttons = QDialogButtonBox(kinds.Ok | kinds.Cancel)
    if accept:
        buttons.button(kinds.Ok).setText(accept)
    buttons.accepted.connect(dialog.accept)
    buttons.rejected.connect(dialog.reject)
    return buttons


def close_button(dialog: QDialog) -> QDialogButtonBox:
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
    buttons.rejected.connect(dialog.reject)
    return buttons


_CHARACTERS = 56
"""The path /home/somebody/Downloads/binance-BTCUSDT-15m-2024.csv has 53."""


class PathLine(QLineEdit):
    """A dialog around it is as wide as a usual path needs; on a small screen it may be narrower."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.textChanged.connect(lambda typed: set_tooltip(self, typed))
        self.setText(text)

    def sizeHint(self) -> QSize:
        size = super().sizeHint()
        return size.expandedTo(QSize(_CHARACTERS * self.fontMetrics().horizontalAdvance("n"), size.height()))


_ACCEPTING = (QDialogButtonBox.StandardButton.Ok, QDialogButtonBox.StandardButton.Save)


class Problem(WrappedLabel):
    """Shows the message, if any, of a ValueError from `ask`, and enables OK if there is none. Hidden without a
    message."""

    def __init__(self, ask: Callable[[], object], buttons: QDialogButtonBox) -> None:
        super().__init__()
        self._ask, self._buttons = WeakMethod(ask), buttons  # of the dialog, which holds this and is to go when closed
        self._is_refusing = False
        self._refusal = ""
        """The sentence of the last refusal, until something else is typed."""
        self.setAccessibleName(translate("Dialogs", "Problem"))

    def refuse(self, sentence: str) -> None:
        """Report that the typed text is invalid and was replaced by the former value. The same key press must not
        accept that, so OK is offered again once its event is over."""
        self._is_refusing = True

        def over() -> None:
            self._is_refusing = False
            self._refusal = sentence
            self.check(keeps_refusal=True)

        QTimer.singleShot(0, self, over)

    def check(self, *, keeps_refusal: bool = False) -> None:
        """Ask now. keeps_refusal: nothing was typed since the last refusal, which stays visible unless something else
        is wrong."""
        if not keeps_refusal:
            self._refusal = ""
        sentence, is_right = "", True
        ask = self._ask()
        assert ask is not None, "the dialog holds this"
        try:
            ask()
        except ValueError as error:
            sentence, is_right = str(error), False
        self.show_sentence(sentence or self._refusal)
        self._offer(is_right and not self._is_refusing)

    def show_sentence(self, sentence: str) -> None:
        """Show this sentence until the next check."""
        self.setText(sentence)
        self.setVisible(bool(sentence))

    def show_waiting(self, sentence: str) -> None:
        """Show this sentence after OK was pressed, and disable OK until the next check."""
        self.show_sentence(sentence)
        self._offer(False)

    def _offer(self, is_possible: bool) -> None:
        for kind in _ACCEPTING:
            if (button := self._buttons.button(kind)) is not None:
                button.setEnabled(is_possible)


def room_on_screen(widget: QWidget) -> QSize:
    """The largest size of a dialog over this widget, or of this dialog itself."""
    return widget.screen().availableGeometry().size() * _SHARE_OF_SCREEN


def keep_on_screen(dialog: QDialog) -> None:
    """Fit a dialog that is not shown yet to the screen: content without room is scrolled."""
    room = room_on_screen(dialog)
    dialog.ensurePolished()
    # Not a dialog of Qt's: it repeats its own layout at any time.
    is_ours = type(dialog) is QDialog or not type(dialog).__module__.startswith("PySide6")
    least = dialog.minimumSizeHint()
    if is_ours and least.boundedTo(room) != least:
        bar = dialog.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent)
        natural = dialog.sizeHint() + QSize(bar, bar)
        _scroll(dialog, room)
        dialog.resize(natural.expandedTo(dialog.size()).boundedTo(room))
    elif is_ours and not dialog.testAttribute(Qt.WidgetAttribute.WA_Resized):
        dialog.resize(dialog.sizeHint().boundedTo(room))  # Qt itself would use no more than two thirds of the screen
    if dialog.minimumWidth() > room.width():
        dialog.setMinimumWidth(room.width())
    if dialog.minimumHeight() > room.height():
        dialog.setMinimumHeight(room.height())
    if dialog.size().boundedTo(room) != dialog.size():
        dialog.resize(dialog.size().boundedTo(room))


def _scroll(dialog: QDialog, room: QSize) -> None:
    """Put everything into a scrolling area, except the buttons if they have room."""
    layout = dialog.layout()
    if layout is None:
        return
    inside, area, margins = QWidget(), QScrollArea(), layout.contentsMargins()
    widest = room.width() - margins.left() - margins.right()
    boxes = [box for box in dialog.findChildren(QDialogButtonBox) if layout.indexOf(box) >= 0]
    buttons = [box for box in boxes if box.minimumSizeHint().width() <= widest]
    for box in buttons:
        layout.removeWidget(box)
    layout.setContentsMargins(0, 0, 0, 0)
    inside.setLayout(layout)  # which takes it, and all that it holds, from the dialog
    area.setWidget(inside)
    area.setWidgetResizable(True)
    area.setFrameShape(QScrollArea.Shape.NoFrame)
    area.setAccessibleName(translate("Dialogs", "All fields"))
    outer = QVBoxLayout(dialog)
    outer.setContentsMargins(margins)
    outer.addWidget(area, 1)
    for box in buttons:
        outer.addWidget(box)
