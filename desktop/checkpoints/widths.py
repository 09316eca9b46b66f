"""Column widths of the checkpoint table: numbers are shown in full, words get their usual width, notes the rest."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from PySide6.QtGui import QFontMetrics

from core.checkpoints.catalog import Catalog, CheckpointRow, Rows
from desktop.checkpoints.columns import COLUMNS, REASONS, Column
from desktop.ui.translation import translate

ICON_SIZE = 15
WORDS_INDENT = "  "
"""Keeps words apart from the numbers to their left, which end where they begin."""
_CELL_MARGIN = 14
_ADDED_TO_TITLES = "   "
_EXTREME = (
    *("step", "skill", "skill_low", "skill_high", "shown_skill", "model_gain"),
    *("evaluated", "evaluated_low", "evaluated_high", "loss", "size"),
)
"""Where the longest numbers are found."""
_FIRST_ROWS = 60
"""Of which names and tags are measured: those of a hundred thousand would take a second."""
_LONGEST_WORDS = 28
"""Characters of a name or of tags that are given room."""
_MEASURED_WORDS = frozenset({"name", "tags"})


class ColumnWidths:
    """Grows with what it is shown and never shrinks, so that columns do not dance."""

    def __init__(self) -> None:
        self._longest: dict[str, str] = {}
        """By column: the text that needs most room so far."""
        self._measured: set[tuple[str, str, tuple[str, ...]]] = set()

    def measure(self, catalog: Catalog, rows: Rows, metrics: QFontMetrics) -> bool:
        """Look at rows of the catalog. True where one needs more room than all before."""
        has_grown = False
        for kept in _sample_rows(catalog, rows):
            key = (kept.info.checkpoint_id, kept.info.name, kept.info.tags)
            if key not in self._measured:
                self._measured.add(key)
                has_grown = self._take(kept, metrics) or has_grown
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

    def _take(self, kept: CheckpointRow, metrics: QFontMetrics) -> bool:
        has_grown = False
        for column in COLUMNS:
            if not column.is_number and column.name not in _MEASURED_WORDS:
                continue
            text, before = column.text(kept), self._longest.get(column.name, column.sample)
            text = text if column.is_number else text[:_LONGEST_WORDS]
            if metrics.horizontalAdvance(text) > metrics.horizontalAdvance(before):
                self._longest[column.name] = text
                has_grown = True
        return has_grown


def _shown(column: Column, text: str) -> str:
    return text if column.is_number else WORDS_INDENT + text


def _sample_rows(catalog: Catalog, rows: Rows) -> Iterator[CheckpointRow]:
    """Those with the longest numbers, and the first ones."""
    places = set(rows[:_FIRST_ROWS].tolist())
    restored = rows[catalog.text("reason").where(lambda reason: reason == "restore")[rows]]  # their scores are marked
    places |= set(restored[:_FIRST_ROWS].tolist())
    for name in _EXTREME:
        values = catalog.number(name)[rows]
        known = np.flatnonzero(np.isfinite(values))
        if known.size:
            places |= {int(rows[known[find(values[known])]]) for find in (np.argmin, np.argmax)}
    yield from catalog.take(np.array(sorted(places), dtype=np.int64))
