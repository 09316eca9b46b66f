"""All runs that have checkpoints: which are put away, which are compared, whose checkpoints are shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPushButton, QWidget

from core.checkpoints.catalog import Catalog, CheckpointRow
from core.domain.candle import Interval, Market
from core.market.shown_names import symbols_apart
from desktop.checkpoints.columns import format_bytes, symbols_text
from desktop.state.checkpoint_source import CheckpointSource, score_text
from desktop.ui.dialog_parts import close_button
from desktop.ui.formatting import MISSING, format_count, format_time
from desktop.ui.plain_text import Label
from desktop.ui.stacks import stacked
from desktop.ui.tables import put_text, set_line_height, text_table
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_TITLES = (
    QT_TRANSLATE_NOOP("Checkpoints", "Run"),
    QT_TRANSLATE_NOOP("Checkpoints", "Symbol"),
    QT_TRANSLATE_NOOP("Checkpoints", "Interval"),
    QT_TRANSLATE_NOOP("Checkpoints", "Checkpoints"),
    QT_TRANSLATE_NOOP("Checkpoints", "Size"),
    QT_TRANSLATE_NOOP("Checkpoints", "Newest"),
    QT_TRANSLATE_NOOP("Checkpoints", "Best score"),
    QT_TRANSLATE_NOOP("Checkpoints", "State"),
)
MOST_COMPARED = 6


@dataclass(frozen=True, slots=True)
class RunLine:
    """One run, by what its checkpoints say of it."""

    run_id: str
    newest: CheckpointRow
    best: CheckpointRow | None
    count: int
    size_bytes: int
    is_archived: bool


def run_lines(catalog: Catalog) -> list[RunLine]:
    """The runs that have checkpoints, the one that saved last first."""
    by_run: dict[str, list[int]] = {}
    for row in range(len(catalog)):
        by_run.setdefault(catalog[row].info.run_id, []).append(row)
    best = catalog.number("best")
    lines = []
    for run_id, rows in by_run.items():
        newest = max((catalog[row] for row in rows), key=lambda kept: kept.sequence)
        found = next((catalog[row] for row in rows if best[row]), None)
        size = sum(catalog[row].info.size_bytes for row in rows)
        lines.append(RunLine(run_id, newest, found, len(rows), size, newest.is_archived))
    return sorted(lines, key=lambda line: line.newest.sequence, reverse=True)


class RunsDialog(QDialog):
    """`show_requested` carries a run's id, `compare_requested` the best checkpoints of several runs."""

    show_requested = Signal(str)
    compare_requested = Signal(object)

    def __init__(self, source: CheckpointSource, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(translate("Checkpoints", "Runs"))
        self._source = source
        self._lines: list[RunLine] = []
        titles = [translate("Checkpoints", title) for title in _TITLES]
        self.table = text_table(titles, translate("Checkpoints", "Runs"))
        set_line_height(self.table)
        self.table.horizontalHeader().setStretchLastSection(True)
        self.show_button = QPushButton(translate("Checkpoints", "&Show checkpoints"))
        self.compare_button = QPushButton(translate("Checkpoints", "&Compare best"))
        self.archive_button = QPushButton(translate("Checkpoints", "&Archive"))
        self._build()
        source.changed.connect(self._fill)
        self._fill()

    def selected(self) -> list[RunLine]:
        """What is selected, in the order of the table."""
        return [self._lines[row] for row in sorted({index.row() for index in self.table.selectedIndexes()})]

    def _build(self) -> None:
        about = Label(
            translate(
                "Checkpoints", "“All runs” excludes archived runs. To see their checkpoints, filter by: archived = yes."
            ),
            wraps=True,
        )
        buttons = close_button(self)
        for button in (self.show_button, self.compare_button, self.archive_button):
            button.setAutoDefault(False)
            buttons.addButton(button, QDialogButtonBox.ButtonRole.ActionRole)
        self.table.itemSelectionChanged.connect(self._update_buttons)
        self.table.itemActivated.connect(lambda _item: self._show())
        self.show_button.clicked.connect(self._show)
        self.compare_button.clicked.connect(self._compare)
        self.archive_button.clicked.connect(self._archive)
        stacked(self, about, self.table, buttons, stretched=self.table)
        self.resize(900, 380)

    def _fill(self) -> None:
        chosen = {line.run_id for line in self.selected()}
        self._lines = run_lines(self._source.catalog)
        self.table.setRowCount(len(self._lines))
        self.table.clearSelection()
        symbols = symbols_apart(_market(line) for line in self._lines)
        for row, line in enumerate(self._lines):
            for column, text in enumerate(_texts(line, symbols[_market(line)], self._source.run_id)):
                item = put_text(self.table, row, column, text, is_number=column in (3, 4))
                item.setSelected(line.run_id in chosen)
        self._update_buttons()

    def _update_buttons(self) -> None:
        chosen = self.selected()
        self.show_button.setEnabled(len(chosen) == 1)
        self.compare_button.setEnabled(2 <= len(chosen) <= MOST_COMPARED)
        self.archive_button.setEnabled(bool(chosen))
        is_all_archived = bool(chosen) and all(line.is_archived for line in chosen)
        self.archive_button.setText(
            translate("Checkpoints", "Un&archive") if is_all_archived else translate("Checkpoints", "&Archive")
        )

    def _show(self) -> None:
        chosen = self.selected()
        if len(chosen) == 1:
            self.show_requested.emit(chosen[0].run_id)
            self.accept()

    def _compare(self) -> None:
        """Of a run without a best one its newest."""
        self.compare_requested.emit([line.best or line.newest for line in self.selected()])

    def _archive(self) -> None:
        chosen = self.selected()
        is_archived = not all(line.is_archived for line in chosen)
        self._source.set_archived([line.run_id for line in chosen], is_archived)


def _market(line: RunLine) -> Market:
    return Market(line.newest.venue, line.newest.symbol, Interval(line.newest.interval_ms))


def _texts(line: RunLine, symbol: str, watched: str | None) -> Sequence[str]:
    newest = line.newest
    states = (
        (translate("Checkpoints", "watched"), line.run_id == watched),
        (translate("Checkpoints", "archived"), line.is_archived),
    )
    return (
        line.run_id,
        symbols_text(newest, symbol),
        str(Interval(newest.interval_ms)),
        format_count(line.count),
        format_bytes(line.size_bytes),
        format_time(newest.info.created_at_ms),
        MISSING if line.best is None else score_text(line.best.info),
        ", ".join(words for words, holds in states if holds),
    )
