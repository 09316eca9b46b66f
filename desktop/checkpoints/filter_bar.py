"""The line that filters are typed into: it completes names, and reports an error below."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QLocale, QSize, QStringListModel, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCompleter, QLineEdit

from core.checkpoints.filtering import CHECKPOINTS, FilterError, Subject, complete, parse
from desktop.ui.panel_base import set_text
from desktop.ui.plain_text import Label, set_tooltip
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

PLACEHOLDER = QT_TRANSLATE_NOOP("Checkpoints", "Filter, such as tag:keep or adds > 1 %")
_HELP = QT_TRANSLATE_NOOP(
    "Checkpoints",
    "Words are searched in reason, note, name, tags, run, symbol and device; also: best, in use, pinned. One tag: "
    "tag:keep.\nOr compare columns in the words of SQLite, with numbers in the unit that a row shows: adds > 1 is more "
    "than 1 %. More: size < 5 and not pinned. Texts are in quotation marks: note like '%night%'. Missing values: adds "
    "is null.\nTimes: saved >= 2026-11-14, or age < 7, in days.",
)
_SHORT_FILTER = "adds > 1 and best"
_RETURNS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_WAIT_MS = 400
"""After the last key, before an unfinished filter is called a mistake."""


class FilterLine(QLineEdit):
    """`changed` carries a Filter, or None for all; while the typed text is invalid, the last one applies."""

    changed = Signal(object)
    left = Signal()
    """The focus is to move to the table."""

    def __init__(self, message: Label, subject: Subject = CHECKPOINTS) -> None:
        """message: where faults are reported."""
        super().__init__()
        self._message, self.subject = message, subject
        self.has_decimal_comma = QLocale.system().decimalPoint() == ","
        self.fault: FilterError | None = None
        """The fault of the text; None if it is valid."""
        self.setPlaceholderText(translate("Checkpoints", PLACEHOLDER))
        set_tooltip(self, translate("Checkpoints", _HELP))
        self.setAccessibleName(translate("Checkpoints", "Checkpoint filter"))
        self.setClearButtonEnabled(True)
        self._words = QStringListModel(self)
        self._completer = QCompleter(self._words, self)
        self._completer.setWidget(self)
        self._completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        self._completer.activated.connect(self._insert)
        self._patience = QTimer(self, singleShot=True, interval=_WAIT_MS)
        self._patience.timeout.connect(self._show_fault)
        self.textChanged.connect(self._on_text)
        self.textEdited.connect(self._offer)
        message.hide()

    @property
    def offered(self) -> list[str]:
        return self._words.stringList() if self._completer.popup().isVisible() else []

    def minimumSizeHint(self) -> QSize:
        """Room for a filter, however narrow the panel: the buttons beside it can move into a menu."""
        hint = super().minimumSizeHint()
        return hint + QSize(self.fontMetrics().horizontalAdvance(_SHORT_FILTER), 0)

    def event(self, event: QEvent) -> bool:
        """Its own keys come before shortcuts of what is around it, such as Esc and Return of a page."""
        if isinstance(event, QKeyEvent) and event.type() is QEvent.Type.ShortcutOverride:
            is_own = event.key() in _RETURNS or (event.key() == Qt.Key.Key_Escape and bool(self.text()))
            if is_own and event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier):
                event.accept()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        popup = self._completer.popup()
        if popup.isVisible() and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if popup.currentIndex().isValid():
                self._insert(popup.currentIndex().data())
                popup.hide()
                return
            popup.hide()
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
            return
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Down):
            self._show_fault()
            if self.fault is None:
                self.left.emit()
            return
        if event.key() == Qt.Key.Key_Space and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self._offer(is_requested=True)
            return
        super().keyPressEvent(event)

    def focusNextPrevChild(self, is_next: bool) -> bool:
        """Tab completes to the first of the offered words, or to the chosen one."""
        popup = self._completer.popup()
        if not popup.isVisible() or not is_next:
            return super().focusNextPrevChild(is_next)
        chosen = popup.currentIndex()
        self._insert(chosen.data() if chosen.isValid() else self._words.stringList()[0])
        popup.hide()
        return True

    def _on_text(self, text: str) -> None:
        self._patience.stop()
        try:
            condition = parse(text, has_decimal_comma=self.has_decimal_comma, subject=self.subject)
        except FilterError as error:
            self.fault = error
            self._patience.start()
            return
        self.fault = None
        self._message.hide()
        self.changed.emit(condition)

    def show_fault(self, error: FilterError) -> None:
        """Report an error that was found only when the filter was applied."""
        self.fault = error
        self._show_fault()

    def show_hint(self, text: str) -> None:
        """Why a valid filter may find less or more than expected; empty for none."""
        if self.fault is None:
            self._message.setVisible(bool(text))
            set_text(self._message, text)

    def _show_fault(self) -> None:
        self._patience.stop()
        self._message.setVisible(self.fault is not None)
        if self.fault is not None:
            set_text(self._message, str(self.fault))

    def _offer(self, _text: str = "", *, is_requested: bool = False) -> None:
        found = complete(self.text(), self.cursorPosition(), self.subject)
        fits = found.words if is_requested or found.start < self.cursorPosition() else ()
        popup = self._completer.popup()
        if not fits:
            popup.hide()
            return
        self._words.setStringList(list(fits))
        self._completer.complete()
        popup.setFixedWidth(popup.sizeHintForColumn(0) + 24)

    def _insert(self, word: str) -> None:
        found = complete(self.text(), self.cursorPosition(), self.subject)
        before, after = self.text()[: found.start], self.text()[self.cursorPosition() :]
        space = "" if after.startswith(" ") else " "
        self.setText(f"{before}{word}{space}{after}")
        self.setCursorPosition(len(before) + len(word) + 1)
