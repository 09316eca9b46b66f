"""Column widths of the checkpoint table: numbers are shown in full, words get their usual width, notes the rest."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QFontMetrics

from core.checkpoints.row import CheckpointRow
from desktop.checkpoints.columns import COLUMNS, REASONS, Column
from desktop.ui.translation import translate

ICON_SIZE = 15
WORDS_INDENT = "  "
"""Separates words from the numbers to their left, which end at the same edge."""
_CELL_MARGIN = 14
_ADDED_TO_TITLES = "   "
_FIRST_ROWS = 1_000
"""Number of measured rows: measuring very many would take seconds."""
_LONGEST_WORDS = {"name": 28, "tags": 28, "note": 20, "symbol": 28}
"""Columns of the user's words and of symbols: how many characters are given room. The note also fills the rest."""
_FEWEST_LETTERS = 6
"""Of words in a narrowed column."""


class ColumnWidths:
    """Grows with its content and never shrinks, so that columns do not jump."""

    def __init__(self) -> None:
        self._longest: dict[str, str] = {}
        """The widest text so far, by column."""
        self._measured: set[tuple[str, str, tuple[str, ...], str]] = set()

    def measure(self, rows: Sequence[CheckpointRow], metrics: QFontMetrics) -> bool:
        """Measure the first of these rows. True if one is wider than all before."""
        has_grown = False
        for row in rows[:_FIRST_ROWS]:
            key = (row.info.checkpoint_id, row.info.name, row.info.tags, row.info.note)
            if key not in self._measured:
                self._measured.add(key)
                has_grown |= self._measure(row, metrics)
        return has_grown

    def natural(self, metrics: QFontMetrics) -> dict[str, int]:
        """Widths that fit later values and the header, by column."""
        widths = {column.name: self._natural(column, metrics) for column in COLUMNS}
        widths["marks"] = 3 * (ICON_SIZE + 3) + 10
        return widths

    @staticmethod
    def least(metrics: QFontMetrics) -> int:
        """Width of a narrowed column of words."""
        return _FEWEST_LETTERS * metrics.averageCharWidth() + _CELL_MARGIN

    def _natural(self, column: Column, metrics: QFontMetrics) -> int:
        texts = [translate("Checkpoints", column.title) + _ADDED_TO_TITLES]
        texts.append(_shown(column, self._longest.get(column.name, "")))
        if column.name != "note":  # it is the last one, and fills the rest
            texts.append(_shown(column, column.sample))
        if column.name == "reason":
            texts += [_shown(column, translate("Checkpoints", reason)) for reason in REASONS]
        return max(metrics.horizontalAdvance(text) for text in texts) + _CELL_MARGIN

    def _measure(self, row: CheckpointRow, metrics: QFontMetrics) -> bool:
        has_grown = False
        for column in COLUMNS:
            if not column.is_number and column.name not in _LONGEST_WORDS:
                continue
            text, before = column.text(row), self._longest.get(column.name, "")
            text = text if column.is_number else text[: _LONGEST_WORDS[column.name]]
            if metrics.horizontalAdvance(text) > metrics.horizontalAdvance(before):
                self._longest[column.name] = text
                has_grown = True
        return has_grown


def _shown(column: Column, text: str) -> str:
    return text if column.is_number else WORDS_INDENT + text
