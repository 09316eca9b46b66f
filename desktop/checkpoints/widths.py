"""Column widths of the checkpoint table: numbers are shown in full, words get their usual width, notes the rest."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QFontMetrics

from core.checkpoints.row import CheckpointRow
from desktop.checkpoints.columns import COLUMNS, REASONS, Column
from desktop.ui.translation import translate

ICON_SIZE = 15
WORDS_INDENT = "  "
"""Keeps words apart from the numbers to their left, which end where they begin."""
_CELL_MARGIN = 14
_ADDED_TO_TITLES = "   "
_FIRST_ROWS = 1_000
"""Rows that are measured: all of very many would take seconds."""
_LONGEST_WORDS = 28
"""Characters of a name or of tags that are given room."""
_MEASURED_WORDS = frozenset({"name", "tags"})


class ColumnWidths:
    """Grows with what it is shown and never shrinks, so that columns do not dance."""

    def __init__(self) -> None:
        self._longest: dict[str, str] = {}
        """By column: the text that needs most room so far."""
        self._measured: set[tuple[str, str, tuple[str, ...]]] = set()

    def measure(self, rows: Sequence[CheckpointRow], metrics: QFontMetrics) -> bool:
        """Look at the first of these rows. True where one needs more room than all before."""
        has_grown = False
        for row in rows[:_FIRST_ROWS]:
            key = (row.info.checkpoint_id, row.info.name, row.info.tags)
            if key not in self._measured:
                self._measured.add(key)
                has_grown = self._measure(row, metrics) or has_grown
        return has_grown

    def natural(self, metrics: QFontMetrics) -> dict[str, int]:
        """By name: wide enough for what comes, and for the header."""
        widths = {column.name: self._natural(column, metrics) for column in COLUMNS}
        widths["marks"] = 3 * (ICON_SIZE + 3) + 10
        return widths

    def _natural(self, column: Column, metrics: QFontMetrics) -> int:
        texts = [translate("Checkpoints", column.title) + _ADDED_TO_TITLES]
        if column.name != "note":  # it is the last one, and takes what the others leave
            texts += [_shown(column, text) for text in (column.sample, self._longest.get(column.name, ""))]
        if column.name == "reason":
            texts += [_shown(column, translate("Checkpoints", reason)) for reason in REASONS]
        return max(metrics.horizontalAdvance(text) for text in texts) + _CELL_MARGIN

    def _measure(self, row: CheckpointRow, metrics: QFontMetrics) -> bool:
        has_grown = False
        for column in COLUMNS:
            if not column.is_number and column.name not in _MEASURED_WORDS:
                continue
            text, before = column.text(row), self._longest.get(column.name, column.sample)
            text = text if column.is_number else text[:_LONGEST_WORDS]
            if metrics.horizontalAdvance(text) > metrics.horizontalAdvance(before):
                self._longest[column.name] = text
                has_grown = True
        return has_grown


def _shown(column: Column, text: str) -> str:
    return text if column.is_number else WORDS_INDENT + text
