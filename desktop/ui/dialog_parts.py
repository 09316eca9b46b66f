"""What dialogs share: the usual buttons, a line for a path, and the sentence on what is wrong. No dialog is larger than
the screen that it opens on: what has no room there is scrolled."""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakMethod

from PySide6.QtCore import QSize, QTimer
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLineEdit, QScrollArea, QStyle, QVBoxLayout, QWidget

from desktop.ui.plain_text import WrappedLabel, paragraphs
from desktop.ui.translation import translate

_SHARE_OF_SCREEN = 0.92
"""The rest is for the desktop's frame around a window."""


def ok_and_cancel(dialog: QDialog, accept: str = "") -> QDialogButtonBox:
    """The buttons of a dialog that asks. accept: the words on the first one, where OK says too little."""
    kinds = QDialogButtonBox.StandardButton
    buttons = QDialogButtonBox(kinds.Ok | kinds.Cancel)
    if accept:
        buttons.button(kinds.Ok).setText(accept)
    buttons.accepted.connect(dialog.accept)
    buttons.rejected.connect(dialog.reject)
    return buttons


def close_button(dialog: QDialog) -> QDialogButtonBox:
    """The button of a dialog that shows."""
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
    buttons.rejected.connect(dialog.reject)
    return buttons


_CHARACTERS = 56
"""Of /home/somebody/Downloads/binance-BTCUSDT-15m-2024.csv there are 53."""


class PathLine(QLineEdit):
    """A dialog around it is as wide as a usual path needs; on a small screen it may be narrower."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.textChanged.connect(lambda typed: self.setToolTip(paragraphs(typed)))
        self.setText(text)

    def sizeHint(self) -> QSize:
        size = super().sizeHint()
        return size.expandedTo(QSize(_CHARACTERS * self.fontMetrics().horizontalAdvance("n"), size.height()))


_ACCEPTING = (QDialogButtonBox.StandardButton.Ok, QDialogButtonBox.StandardButton.Save)


class Problem(WrappedLabel):
    """What `ask` says in a ValueError, which may be nothing: OK is offered only where it raises none. Hidden while
    nothing is wrong."""

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
        """Ask now. keeps_refusal: nothing was typed since the last refusal, which stays to be read where nothing else
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
        """In place of the text, until the next check."""
        self.setText(sentence)
        self.setVisible(bool(sentence))

    def show_waiting(self, sentence: str) -> None:
        """The same, and OK was pressed: it is not offered until the next check."""
        self.show_sentence(sentence)
        self._offer(False)

    def _offer(self, is_possible: bool) -> None:
        for kind in _ACCEPTING:
            if (button := self._buttons.button(kind)) is not None:
                button.setEnabled(is_possible)


def room_on_screen(widget: QWidget) -> QSize:
    """How large a dialog over this widget, or this dialog itself, may be."""
    return widget.screen().availableGeometry().size() * _SHARE_OF_SCREEN


def keep_on_screen(dialog: QDialog) -> None:
    """Call it before the dialog is shown."""
    room = room_on_screen(dialog)
    dialog.ensurePolished()
    # Not a dialog of Qt's: it repeats its own layout at any time.
    is_ours = type(dialog) is QDialog or not type(dialog).__module__.startswith("PySide6")
    if is_ours and not _fits(dialog.minimumSizeHint(), room):
        bar = dialog.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent)
        wanted = dialog.sizeHint() + QSize(bar, bar)
        _scroll(dialog, room)
        dialog.resize(wanted.expandedTo(dialog.size()).boundedTo(room))
    if dialog.minimumWidth() > room.width():
        dialog.setMinimumWidth(room.width())
    if dialog.minimumHeight() > room.height():
        dialog.setMinimumHeight(room.height())
    if not _fits(dialog.size(), room):
        dialog.resize(dialog.size().boundedTo(room))


def _fits(size: QSize, room: QSize) -> bool:
    return size.boundedTo(room) == size


def _scroll(dialog: QDialog, room: QSize) -> None:
    """Put all into an area that scrolls, but the buttons where they have room."""
    whole = dialog.layout()
    if whole is None:
        return
    inside, area, margins = QWidget(), QScrollArea(), whole.contentsMargins()
    widest = room.width() - margins.left() - margins.right()
    boxes = [box for box in dialog.findChildren(QDialogButtonBox) if whole.indexOf(box) >= 0]
    buttons = [box for box in boxes if box.minimumSizeHint().width() <= widest]
    for box in buttons:
        whole.removeWidget(box)
    whole.setContentsMargins(0, 0, 0, 0)
    inside.setLayout(whole)  # which takes it, and all that it holds, from the dialog
    area.setWidget(inside)
    area.setWidgetResizable(True)
    area.setFrameShape(QScrollArea.Shape.NoFrame)
    area.setAccessibleName(translate("Dialogs", "All fields"))
    outer = QVBoxLayout(dialog)
    outer.setContentsMargins(margins)
    outer.addWidget(area, 1)
    for box in buttons:
        outer.addWidget(box)
