"""The table of checkpoints for Qt: a model over plain rows, and a proxy that sorts by value and filters by words."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QLocale,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
)

from core.events import CheckpointInfo
from desktop.checkpoints.source import SCORE_MEANING, score_text
from desktop.formatting import format_count, format_number, format_time
from desktop.panels.base import paragraphs

SORT_ROLE = Qt.ItemDataRole.UserRole
INFO_ROLE = Qt.ItemDataRole.UserRole + 1

Index = QModelIndex | QPersistentModelIndex
ROOT = QModelIndex()

_REASONS = {
    "periodic": "Periodic",
    "best": "Best so far",
    "pause": "On pause",
    "exit": "On exit",
    "manual": "By hand",
}


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its title, what it means, and an info's text and sort value there; sample: as wide as its
    texts come."""

    title: str
    meaning: str
    text: Callable[[CheckpointInfo], str]
    value: Callable[[CheckpointInfo], Any]
    sample: str
    is_number: bool = True


def format_bytes(size: int) -> str:
    """``1.4 MB``, in powers of 1,000."""
    return QLocale.c().formattedDataSize(size, 1, QLocale.DataSizeFormat.DataSizeSIFormat).replace("kB", "KB")


def reason_text(reason: str) -> str:
    """Why it was saved, for people."""
    return _REASONS.get(reason, reason.capitalize())


def marks(info: CheckpointInfo) -> tuple[str, ...]:
    """The words for best, in use and pinned that hold."""
    held = (("best", info.is_best), ("in use", info.is_in_use), ("pinned", info.is_pinned))
    return tuple(word for word, holds in held if holds)


COLUMNS = (
    Column("", "Best, in use, pinned", lambda info: "", lambda info: len(marks(info)), "", is_number=False),
    Column(
        "Step", "Training steps taken when it was saved", lambda i: format_count(i.step), lambda i: i.step, "123,456"
    ),
    Column(
        "Candle",
        "The newest candle it had learned from",
        lambda info: format_time(info.candle_open_time_ms),
        lambda info: info.candle_open_time_ms,
        "30 Nov 2026 00:00",
    ),
    Column(
        "Saved",
        "When",
        lambda info: format_time(info.created_at_ms),
        lambda info: info.created_at_ms,
        "30 Nov 2026 00:00",
    ),
    Column(
        "Reason",
        "Why it was saved",
        lambda info: reason_text(info.reason),
        lambda info: reason_text(info.reason),
        "Best so far",
        is_number=False,
    ),
    Column(
        "Score",
        SCORE_MEANING,
        score_text,
        lambda info: _finite_or_lowest(info.skill),
        "+1.0 % (−10.5 to 10.4)",
    ),
    Column(
        "Loss",
        "Training loss, averaged over the newest steps",
        lambda info: format_number(info.loss, 4),
        lambda info: _finite_or_lowest(info.loss, sign=-1.0),
        "0.0000",
    ),
    Column("Size", "On disk", lambda info: format_bytes(info.size_bytes), lambda info: info.size_bytes, "100.0 MB"),
    Column(
        "Note",
        "Your own words",
        lambda info: info.note,
        lambda info: info.note.casefold(),
        "Some words",
        is_number=False,
    ),
)


class CheckpointTableModel(QAbstractTableModel):
    """Rows are checkpoints. Showing another list changes, adds and removes rows, so that the selection stays."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._infos: list[CheckpointInfo] = []

    def show(self, infos: Sequence[CheckpointInfo]) -> None:
        """Show these instead."""
        wanted = {info.checkpoint_id for info in infos}
        for row in reversed(range(len(self._infos))):
            if self._infos[row].checkpoint_id not in wanted:
                self.beginRemoveRows(QModelIndex(), row, row)
                del self._infos[row]
                self.endRemoveRows()
        if [info.checkpoint_id for info in self._infos] != [i.checkpoint_id for i in infos if self._holds(i)]:
            self.beginResetModel()
            self._infos = list(infos)
            self.endResetModel()
            return
        for row, info in enumerate(infos):
            self._place(row, info)

    def rowCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(self._infos)

    def columnCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(COLUMNS)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        info, column = self._infos[index.row()], COLUMNS[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.text(info)
        if role == SORT_ROLE:
            return column.value(info)
        if role == INFO_ROLE:
            return info
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if column.is_number else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.ToolTipRole:
            return _tooltip(info)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return column.text(info) or ", ".join(marks(info))
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is not Qt.Orientation.Horizontal:
            return None
        column = COLUMNS[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.title if column.is_number else f"  {column.title}"
        if role == Qt.ItemDataRole.ToolTipRole:
            return paragraphs(column.meaning)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if column.is_number else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        return None

    def _holds(self, info: CheckpointInfo) -> bool:
        return any(each.checkpoint_id == info.checkpoint_id for each in self._infos)

    def _place(self, row: int, info: CheckpointInfo) -> None:
        if row < len(self._infos) and self._infos[row].checkpoint_id == info.checkpoint_id:
            if self._infos[row] != info:
                self._infos[row] = info
                self.dataChanged.emit(self.index(row, 0), self.index(row, len(COLUMNS) - 1))
            return
        self.beginInsertRows(QModelIndex(), row, row)
        self._infos.insert(row, info)
        self.endInsertRows()


class CheckpointFilter(QSortFilterProxyModel):
    """Shows the rows that hold every word typed: in step, times, reason, note, or best, in use, pinned."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._words: tuple[str, ...] = ()
        self.setSortRole(SORT_ROLE)

    def show_only(self, text: str) -> None:
        """Filter by the words of `text`; an empty one shows all."""
        self._words = tuple(text.casefold().split())
        self.invalidateFilter()

    def filterAcceptsRow(self, source_row: int, source_parent: Index) -> bool:
        info = self.sourceModel().index(source_row, 0, source_parent).data(INFO_ROLE)
        return all(word in _searched_text(info) for word in self._words)


def _searched_text(info: CheckpointInfo) -> str:
    parts = (
        str(info.step),
        format_count(info.step),
        format_time(info.candle_open_time_ms),
        format_time(info.created_at_ms),
        reason_text(info.reason),
        *marks(info),
        info.note,
    )
    return " ".join(parts).casefold()


def _tooltip(info: CheckpointInfo) -> str:
    held = ", ".join(marks(info))
    reason = reason_text(info.reason).lower()
    lines = [
        f"Step {format_count(info.step)}" + (f" ({held})" if held else ""),
        f"Saved {format_time(info.created_at_ms)} ({reason}), {format_bytes(info.size_bytes)}",
        f"Loss {format_number(info.loss, 4)}, score {score_text(info)}",
        f"{format_count(info.scored)} candles were scored when it was saved",
        f"File: {info.file}",
        f"SHA-256: {info.sha256[:16]}…",
    ]
    if info.note:
        lines.append(f"Note: {info.note}")
    return "\n".join(lines)


def _finite_or_lowest(value: float | None, sign: float = 1.0) -> float:
    """A sort value under which what was not measured is never the best."""
    return value if value is not None and math.isfinite(value) else -sign * math.inf
