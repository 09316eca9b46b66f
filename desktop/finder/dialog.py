"""The finder's box: an input line, and the list of matches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import QDialog, QFrame, QLineEdit, QListView, QStyleOptionViewItem, QWidget

from core.domain.plain_text import plain
from desktop.finder.search import Entry, EntryKind, found
from desktop.ui.plain_text import Label
from desktop.ui.stacks import NO_MARGINS, stacked
from desktop.ui.tables import LEFT, RIGHT, ROW_ROLE, Column, Index, PaintedCell, RowsModel, write_line
from desktop.ui.theme import Theme
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

MOST_SHOWN = 200
_SIZE = QSize(640, 420)
_MARGIN = 10
_LINE_PADDING = 5
_TO_LIST = frozenset({Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown})


@dataclass(frozen=True, slots=True)
class Question:
    """The texts of the box: its name, what can be typed, and that nothing matches."""

    name: str
    hint: str
    nothing: str


ANYTHING = Question(
    QT_TRANSLATE_NOOP("Finder", "Find anything"),
    QT_TRANSLATE_NOOP("Finder", "An action, a setting, an indicator, a checkpoint or a market"),
    QT_TRANSLATE_NOOP("Finder", "Nothing matches all of these words."),
)
MARKET = Question(
    QT_TRANSLATE_NOOP("Finder", "Find a market"),
    QT_TRANSLATE_NOOP("Finder", "A market, or an interval in minutes"),
    QT_TRANSLATE_NOOP("Finder", "No market or interval matches. Ctrl+M opens any market."),
)


class FinderDialog(QDialog):
    """Used by typing, Up, Down and Enter. The chosen entry runs after the box has closed."""

    def __init__(self, entries: Iterable[Entry], theme: Theme, parent: QWidget, question: Question = ANYTHING) -> None:
        super().__init__(parent, Qt.WindowType.Dialog | Qt.WindowType.FramelessWindowHint)
        self.question = question
        name = translate("Finder", question.name)
        self.setWindowTitle(name)
        self._entries: Sequence[Entry] = ()
        self._chosen: Entry | None = None
        self.line = QLineEdit(placeholderText=translate("Finder", question.hint), clearButtonEnabled=True)
        self.line.setAccessibleName(name)
        self.list = QListView(uniformItemSizes=True)
        self.list.setAccessibleName(translate("Finder", "Matches"))
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.model = _FoundModel(self)
        self.list.setModel(self.model)
        self.list.setItemDelegate(_LineCell(theme, self.list))
        self.empty = Label(translate("Finder", question.nothing), alignment=Qt.AlignmentFlag.AlignCenter)
        self.note = Label(wraps=True)
        """Explains why no match is marked."""
        frame = QFrame(frameShape=QFrame.Shape.StyledPanel)
        stacked(self, frame, margins=NO_MARGINS)
        parts = (self.line, self.list, self.empty, self.note)
        stacked(frame, *parts, stretched=(self.list, self.empty), margins=(_MARGIN,) * 4)
        self.line.textChanged.connect(self._search)
        self.line.installEventFilter(self)
        self.list.clicked.connect(self._choose)
        self.finished.connect(self._run_chosen)
        self.offer(entries)
        size = _SIZE.boundedTo(parent.size() - QSize(40, 60))
        self.resize(size)
        self.move(parent.mapToGlobal(QPoint((parent.width() - size.width()) // 2, 48)))  # in its upper middle

    def offer(self, entries: Iterable[Entry]) -> None:
        """Search these entries from now on, also for the text typed so far."""
        self._entries = tuple(entries)
        self._search(self.line.text())

    def open_for_typing(self, typed: str) -> None:
        """Show it with this text in its line. It receives the next keys too: a popup gets them at once, even before the
        desktop focuses it."""
        place = self.pos()
        self.setWindowFlags(Qt.WindowType.Popup | Qt.WindowType.FramelessWindowHint)
        self.move(place)  # which other flags forget
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.line.setClearButtonEnabled(False)  # two letters are quickly taken back, and a popup has no Tab to it
        self.line.setText(typed)
        self.show()
        self.line.setFocus(Qt.FocusReason.PopupFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if event.key() in _TO_LIST:
                self.list.keyPressEvent(event)
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._choose(self.list.currentIndex())
                return True
        return super().eventFilter(watched, event)

    def _search(self, typed: str) -> None:
        entries = found(self._entries, typed, MOST_SHOWN)
        self.model.show(entries)
        self.list.setVisible(bool(entries))
        self.empty.setVisible(not entries)
        is_other = bool(entries) and _is_another_market(typed, entries)
        text = translate("Finder", "No market named {0} here. Choose one of these.")
        note = text.format(typed.strip().upper()) if is_other else _why_disabled(entries)
        self.note.setText(note)
        self.note.setVisible(bool(note))
        if entries:
            self.list.setCurrentIndex(self.model.index(-1 if is_other else 0, 0))
            self.list.scrollToTop()

    def _choose(self, index: QModelIndex) -> None:
        entry = index.data(ROW_ROLE) if index.isValid() else None
        if isinstance(entry, Entry) and entry.is_enabled:
            self._chosen = entry
            self.accept()

    def _run_chosen(self) -> None:
        """Called once the box has closed, so that nothing opens beneath it."""
        if self._chosen is not None:
            self._chosen.run()


def _is_another_market(typed: str, entries: Sequence[Entry]) -> bool:
    """Whether a symbol was typed with its quote, and the best match is another market: Enter must not open BTC/USDT for
    BTC/USD."""
    base, _, quote = typed.strip().partition("/")
    is_symbol = bool(base and quote) and entries[0].kind is EntryKind.MARKET
    return is_symbol and entries[0].text.casefold() != typed.strip().casefold()


def _why_disabled(entries: Sequence[Entry]) -> str:
    """Why Enter does nothing, if the best match is disabled for a known reason."""
    return entries[0].reason if entries and not entries[0].is_enabled else ""


class _FoundModel(RowsModel[Entry]):
    """The entries; disabled ones cannot be chosen."""

    def __init__(self, parent: QObject) -> None:
        def spoken(entry: Entry) -> str:
            return " · ".join(part for part in (entry.text, entry.kind.shown, entry.keys) if part)

        line: Column[Entry] = Column("", lambda entry: entry.text, spoken=spoken)
        super().__init__((line,), parent, tooltip=lambda entry: entry.details)

    def show(self, rows: Sequence[Entry]) -> None:
        """Show these rows without a selection, as the typed text has changed."""
        self.beginResetModel()
        self.rows = list(rows)
        self.endResetModel()

    def flags(self, index: Index) -> Qt.ItemFlag:
        is_enabled = self.rows[index.row()].is_enabled
        selectable = Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
        return selectable | Qt.ItemFlag.ItemIsEnabled if is_enabled else selectable


class _LineCell(PaintedCell):
    """The text, its details fainter behind it, the kind and the keys at the right."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(0, self.view.fontMetrics().height() + 2 * _LINE_PADDING)

    def draw(self, painter: QPainter, place: QRect, row: Entry, *, is_selected: bool) -> None:
        faint = self.ink(is_selected=is_selected, is_faint=True)
        ink = self.ink(is_selected=is_selected) if row.is_enabled else faint
        room = place.adjusted(_MARGIN, 0, -_MARGIN, 0)
        parts = ((row.kind.shown, faint, RIGHT), (row.keys, faint, RIGHT), (row.text, ink, LEFT))
        for text, colour, side in (*parts, (row.details, faint, LEFT)):
            if text:
                write_line(painter, room, plain(text), colour, side)
                used = painter.fontMetrics().horizontalAdvance(plain(text)) + 2 * _MARGIN
                room = room.adjusted(0, 0, -used, 0) if side == RIGHT else room.adjusted(used, 0, 0, 0)
