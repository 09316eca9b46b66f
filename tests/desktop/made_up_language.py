"""A language for tests: translated texts are in brackets, so that a text without them is untranslated."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QCoreApplication, Qt, QTranslator
from PySide6.QtWidgets import (
    QAbstractButton,
    QComboBox,
    QGroupBox,
    QLabel,
    QLineEdit,
    QListView,
    QMenu,
    QPlainTextEdit,
    QSpinBox,
    QTabBar,
    QTableView,
    QWidget,
)

from desktop.ui.inputs import NumberBox
from desktop.ui.plain_text import with_usual_spaces
from tests.support.table_texts import every_text

_INNERMOST = re.compile(r"⟦[^⟦⟧]*⟧")
_MARKS_OF_HTML = re.compile(r"<[^>]*>|&\w+;|&#\d+;")
_KEY = r"(?:(?:Ctrl|Alt|Shift|Meta)\+)*(?:Del|Return|Esc|Space|Up|Down|Left|Right|End|F\d+|\S)"
_KEYS = re.compile(rf"\({_KEY}\)|^{_KEY}$", re.MULTILINE)
_LETTERS = re.compile(r"[^\W\d_]{2}")


class MadeUpLanguage(QTranslator):
    """Knows all texts of Qt, and of ours those that `make translation` lists; but not the names of keys, which Qt reads
    back."""

    def __init__(self) -> None:
        super().__init__()
        self._known = every_text()
        self._ours = {context for context, _ in self._known}

    def translate(self, context: str, source: str, disambiguation: str | None = None, n: int = -1) -> str:
        is_missing = context in self._ours and (context, source) not in self._known
        return source if context == "QShortcut" or not source or is_missing else f"⟦{source}⟧"

    def isEmpty(self) -> bool:
        """Qt ignores an empty translator."""
        return False


@contextmanager
def installed_language(application: QCoreApplication) -> Iterator[MadeUpLanguage]:
    """Widgets created from now on use it."""
    language = MadeUpLanguage()
    assert application.installTranslator(language)
    yield language
    application.removeTranslator(language)


def untranslated(text: str, data: frozenset[str] = frozenset()) -> bool:
    """Whether it has words outside of the brackets, but for keys and marks of HTML; a text, or a part of one, that is
    `data` is fine, and a sentence of it also in the midst of others."""
    parts = re.split(r"\n| · ", _MARKS_OF_HTML.sub("\n", with_usual_spaces(text)))
    text = "\n".join(part for part in parts if part.strip() not in data)
    for sentence in sorted((each for each in data if " " in each), key=len, reverse=True):
        text = text.replace(sentence, "")
    inside = 1
    while inside:
        text, inside = _INNERMOST.subn("", text)
    return bool(_LETTERS.search(_KEYS.sub("", text)))


def texts_of(widget: QWidget) -> Iterator[str]:
    """A widget's own texts, not its children's: labels, tooltips, accessible names."""
    yield from (widget.toolTip(), widget.accessibleName(), widget.accessibleDescription())
    if widget.isWindow():
        yield widget.windowTitle()
    if isinstance(widget, QLabel | QAbstractButton):
        yield widget.text()
    elif isinstance(widget, QGroupBox | QMenu):
        yield widget.title()
    elif isinstance(widget, QLineEdit | QPlainTextEdit):
        yield widget.placeholderText()
    else:
        yield from _of_parts(widget)


def _of_parts(widget: QWidget) -> Iterator[str]:
    match widget:
        case QComboBox():
            for number in range(widget.count()):
                yield from (widget.itemText(number), widget.itemData(number, Qt.ItemDataRole.ToolTipRole) or "")
        case QTabBar():
            yield from (widget.tabText(number) for number in range(widget.count()))
        case QSpinBox():
            yield from (widget.prefix(), widget.suffix())
        case NumberBox():
            yield from (widget._suffix, widget.specialValueText())
        case QTableView():
            yield from _headers(widget)
        case QListView():
            yield from _entries(widget)


def _entries(view: QListView) -> Iterator[str]:
    """Accessible texts also cover what is only painted."""
    for row in range(view.model().rowCount()):
        yield view.model().index(row, 0).data(Qt.ItemDataRole.AccessibleTextRole) or ""


def _headers(table: QTableView) -> Iterator[str]:
    model, across = table.model(), Qt.Orientation.Horizontal
    for column in range(model.columnCount()):
        for role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            yield model.headerData(column, across, role) or ""
