"""All runs that have checkpoints: archives or compares them, or shows their checkpoints."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPushButton, QWidget

from core.checkpoints.catalog import Catalog
from core.checkpoints.row import CheckpointRow
from core.domain.candle import Interval, Market
from core.market.shown_names import symbols_apart
from desktop.checkpoints.columns import format_bytes, symbols_text
from desktop.state.checkpoint_source import CheckpointSource, adds_text
from desktop.ui.dialog_parts import close_button
from desktop.ui.formatting import MISSING, format_count, format_time
from desktop.ui.plain_text import Label
from desktop.ui.stacks import stacked
from desktop.ui.tables import RIGHT, Column, RowsModel, text_table
from desktop.ui.translation import translate

MOST_COMPARED = 6


@dataclass(frozen=True, slots=True)
class RunLine:
    """One run, described by its checkpoints."""

    run_id: str
    newest: CheckpointRow
    best: CheckpointRow | None
    count: int
    size_bytes: int
    is_archived: bool

    @property
    def market(self) -> Market:
        return Market(self.newest.venue, self.newest.symbol, Interval(self.newest.interval_ms))


def run_lines(catalog: Catalog) -> list[RunLine]:
    """The runs that have checkpoints, the most recently saved first."""
    by_run: dict[str, list[CheckpointRow]] = {}
    for row in catalog.rows():
        by_run.setdefault(row.info.run_id, []).append(row)
    return [
        RunLine(
            run_id,
            newest=rows[0],
            best=next((row for row in rows if row.info.is_best), None),
            count=len(rows),
            size_bytes=sum(row.info.size_bytes for row in rows),
            is_archived=rows[0].is_archived,
        )
        for run_id, rows in by_run.items()
    ]


class RunsDialog(QDialog):
    """`show_requested` carries a run's id, `compare_requested` the best checkpoints of several runs."""

    show_requested = Signal(str)
    compare_requested = Signal(object)

    def __init__(self, source: CheckpointSource, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(translate("Checkpoints", "Runs"))
        self._source = source
        self._symbols: dict[Market, str] = {}
        self.model = RowsModel(self._columns(), self, key=lambda line: line.run_id)
        self.table = text_table(self.model, translate("Checkpoints", "Runs"))
        self.table.horizontalHeader().setStretchLastSection(True)
        self.show_button = QPushButton(translate("Checkpoints", "&Show checkpoints"))
        self.compare_button = QPushButton(translate("Checkpoints", "&Compare best"))
        self.archive_button = QPushButton(translate("Checkpoints", "&Archive"))
        self._build()
        source.changed.connect(self._fill)
        self._fill()

    def selected(self) -> list[RunLine]:
        return self.model.chosen(self.table)

    def _columns(self) -> tuple[Column[RunLine], ...]:
        return (
            Column(translate("Checkpoints", "Run"), lambda line: line.run_id),
            Column(
                translate("Checkpoints", "Symbol"), lambda line: symbols_text(line.newest, self._symbols[line.market])
            ),
            Column(translate("Checkpoints", "Interval"), lambda line: str(line.market.interval)),
            Column(translate("Checkpoints", "Checkpoints"), lambda line: format_count(line.count), side=RIGHT),
            Column(translate("Checkpoints", "Size"), lambda line: format_bytes(line.size_bytes), side=RIGHT),
            Column(translate("Checkpoints", "Newest"), lambda line: format_time(line.newest.info.created_at_ms)),
            Column(
                translate("Checkpoints", "Best adds"),
                lambda line: MISSING if line.best is None else adds_text(line.best.info),
            ),
            Column(translate("Checkpoints", "State"), self._state),
        )

    def _state(self, line: RunLine) -> str:
        states = (
            (translate("Checkpoints", "watched"), line.run_id == self._source.run_id),
            (translate("Checkpoints", "archived"), line.is_archived),
        )
        return ", ".join(name for name, holds in states if holds)

    def _build(self) -> None:
        about = Label(
            translate(
                "Checkpoints", "“All runs” excludes archived runs. To see their checkpoints, filter by: archived."
            ),
            wraps=True,
        )
        buttons = close_button(self)
        for button in (self.show_button, self.compare_button, self.archive_button):
            button.setAutoDefault(False)
            buttons.addButton(button, QDialogButtonBox.ButtonRole.ActionRole)
        self.table.selectionModel().selectionChanged.connect(self._update_buttons)
        self.table.activated.connect(lambda _index: self._show())
        self.show_button.clicked.connect(self._show)
        self.compare_button.clicked.connect(
            lambda: self.compare_requested.emit([line.best or line.newest for line in self.selected()])
        )
        self.archive_button.clicked.connect(self._archive)
        stacked(self, about, self.table, buttons, stretched=self.table)
        self.resize(900, 380)

    def _fill(self) -> None:
        lines = run_lines(self._source.catalog)
        self._symbols = symbols_apart(line.market for line in lines)
        self.model.show(lines)
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

    def _archive(self) -> None:
        chosen = self.selected()
        is_archived = not all(line.is_archived for line in chosen)
        self._source.set_archived([line.run_id for line in chosen], is_archived)
