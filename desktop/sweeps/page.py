"""The Sweeps page: progress and verdict of a sweep, its cells in a table, and three pictures of its settings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QComboBox, QSplitter, QToolBar, QWidget

from core.checkpoints.filtering import Filter, FilterError
from core.sweeps.points import Point
from core.sweeps.rows import CellRow, CellState, Part
from desktop.actions import ActionId, ActionRegistry, panel_actions
from desktop.checkpoints.filter_bar import FilterLine
from desktop.services.sweep_judge import Judged
from desktop.services.sweep_reader import FoundSweep, SweepWatch, Trouble
from desktop.state.job_list import Job
from desktop.sweeps.heat_map import HeatMapPicture
from desktop.sweeps.parallel import ParallelPicture
from desktop.sweeps.picture import Picture
from desktop.sweeps.skill_cost import SkillCostPicture
from desktop.sweeps.table import SweepTable
from desktop.sweeps.texts import cells_text, progress_text, proof_text, verdict_texts
from desktop.ui.accessible import name_box
from desktop.ui.formatting import format_count
from desktop.ui.panel_base import EmptyState, colour_text, mute, set_text
from desktop.ui.plain_text import ElidedLabel, Label, WrappedLabel, set_tooltip
from desktop.ui.stacks import NO_MARGINS, beside, divided, stacked
from desktop.ui.theme import Theme
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_NONE = QT_TRANSLATE_NOOP("Sweeps", "No sweeps yet. “New sweep” compares settings, models and files.")
_NO_MATCH = QT_TRANSLATE_NOOP("Sweeps", "No cell matches the filter.")
_HELP = QT_TRANSLATE_NOOP(
    "Sweeps",
    "Words are searched in model, settings, file, state and fault. Or compare columns in the words of SQLite, with "
    "numbers in the unit that a row shows: skill_second > 0.5 and width = 64. More: failed, or not done; "
    "seconds < 60; file like '%BTC%'. Ctrl+Space lists the columns.",
)


_LARGE_PX = 1000
"""The splitter shrinks equal sizes in proportion."""
_OPEN = (CellState.WAITING, CellState.RUNNING)


class SweepsPage(QWidget):
    """A page of the window. It reads a sweep only while it is shown. Call `finish` before the window is deleted."""

    run_requested = Signal(Path)
    """The folder of a sweep that is to be continued, or stopped while it runs."""
    new_requested = Signal()
    open_requested = Signal()
    report_written = Signal(Path)
    """A report to be opened."""
    trouble = Signal(str)
    use_requested = Signal(object, str)
    """`CellRow` whose settings are to be those of the next run, and what is proven of them."""
    left = Signal()
    """The chart is to be shown again."""

    def __init__(self, root: Path, theme: Theme) -> None:
        """root: the folder with a folder for each sweep."""
        super().__init__()
        self._theme = theme
        self.found: FoundSweep | None = None
        self.judged: Judged | None = None
        """The verdict on `found`, once it is there."""
        self._condition: Filter | None = None
        self._job: Job | None = None
        self.watch = SweepWatch(root, self)
        self.actions_of_panel = ActionRegistry(panel_actions("Sweeps"), self, theme)
        self.sweeps, self.part = QComboBox(), QComboBox()
        self.status, self.details, self.verdict = ElidedLabel(), WrappedLabel(), WrappedLabel()
        self.message, self.count = Label(wraps=True), Label()
        self.table = SweepTable(theme)
        self.filter = FilterLine(self.message)
        self.pictures: tuple[Picture, ...] = (HeatMapPicture(theme), ParallelPicture(theme), SkillCostPicture(theme))
        self._lay_out()
        self.verdict.hide()
        self.empty = EmptyState(translate("Sweeps", _NONE), self.table.viewport())
        self._connect()
        self._update()

    @property
    def folder(self) -> Path | None:
        """Of the sweep that is chosen."""
        chosen = self.sweeps.currentData()
        return None if chosen is None else Path(chosen)

    def selected(self) -> list[CellRow]:
        return self.table.selected()

    def open(self, folder: Path) -> None:
        """Choose the sweep in this folder, which may be any."""
        if self.sweeps.findData(str(folder)) < 0:
            self.sweeps.insertItem(0, folder.name, str(folder))
        self.sweeps.setCurrentIndex(self.sweeps.findData(str(folder)))

    def show_job(self, job: Job | None) -> None:
        """The running job of the chosen sweep; None: none."""
        self._job = job
        self._show_progress()
        self._update_actions()

    def finish(self) -> bool:
        """Wait until no thread reads. False on a timeout."""
        return self.watch.close()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._follow()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.watch.stop()

    def _lay_out(self) -> None:
        name_box(self.sweeps, translate("Sweeps", "Sweep"))
        self.sweeps.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.sweeps.setMinimumContentsLength(16)
        self._name_filter()
        buttons = QToolBar(translate("Sweeps", "Sweep actions"))
        buttons.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.actions_of_panel.fill_tool_bar(buttons)
        top = beside(None, self.sweeps, self.status, buttons, stretched=self.status, margins=NO_MARGINS, spacing=8)
        line = beside(None, self.filter, self.count, self.part, stretched=self.filter, margins=NO_MARGINS, spacing=8)
        cells, charts = QWidget(), divided(*self.pictures, shares=(1, 1, 1))
        parts = line, self.message, self.table, self.details
        stacked(cells, *parts, stretched=self.table, margins=NO_MARGINS, spacing=4)
        split = QSplitter(Qt.Orientation.Vertical, childrenCollapsible=False)
        for place, part in enumerate((cells, charts)):
            split.addWidget(part)
            split.setStretchFactor(place, 1)
        for each in (split, charts):
            each.setSizes([_LARGE_PX] * each.count())
        stacked(self, top, self.verdict, split, stretched=split, margins=(8, 4, 8, 6), spacing=4)
        self.setAccessibleName(translate("Sweeps", "Sweeps"))

    def _name_filter(self) -> None:
        self.filter.setAccessibleName(translate("Sweeps", "Cell filter"))
        self.filter.setPlaceholderText(translate("Sweeps", "Filter, such as skill_second > 0.5 or failed"))
        set_tooltip(self.filter, translate("Sweeps", _HELP))
        name_box(self.part, translate("Sweeps", "Part of the files on the pictures"))
        self.part.addItem(translate("Sweeps", "Pictures: first part, to choose"), Part.FIRST.value)
        self.part.addItem(translate("Sweeps", "Pictures: second part, to judge"), Part.SECOND.value)
        set_tooltip(
            self.part,
            translate(
                "Sweeps",
                "The best is chosen on the first part of each file, and judged on the second. A choice by the second "
                "part leaves nothing to judge it by.",
            ),
        )
        mute(self.count, self.details)

    def _connect(self) -> None:
        self.watch.listed.connect(self._on_listed)
        self.watch.found.connect(self._on_found)
        self.watch.failed.connect(self._on_failed)
        self.watch.judged.connect(self._on_judged)
        self.watch.written.connect(self.report_written)
        self.watch.not_written.connect(self.trouble)
        self.sweeps.currentIndexChanged.connect(self._on_chosen)
        self.part.currentIndexChanged.connect(self._draw)
        self.filter.changed.connect(self._on_filter)
        self.filter.left.connect(self._focus_table)
        self.table.sorting_changed.connect(self._show_cells)
        self.table.doubleClicked.connect(self._ask_report)
        for picture in self.pictures:
            picture.configuration_chosen.connect(self.choose)
        self.actions_of_panel.offer_menu(self.table)
        self._theme.follow(self, self._colour)
        ids = ActionId
        self.actions_of_panel.wire(
            {
                ids.SWEEP_NEW: self.new_requested.emit,
                ids.SWEEP_OPEN: self.open_requested.emit,
                ids.SWEEP_RUN: self._ask_run,
                ids.SWEEP_REPORT: self._ask_report,
                ids.SWEEP_PAGE: self._ask_sweep_report,
                ids.SWEEP_USE: self._ask_use,
                ids.SWEEP_FILTER: self._focus_filter,
                ids.SWEEP_CLOSE: self.left.emit,
            }
        )

    @Slot(int)
    def choose(self, configuration: int) -> None:
        """Select the cells of a configuration, also those that the filter hides."""
        if self.found is None:
            return
        numbers = {cell.number for cell in self.found.table.cells if cell.configuration.number == configuration}
        if not numbers <= {cell.number for cell in self.table.rows_model.rows}:
            self.filter.clear()
        self.table.select(numbers)

    @Slot(object)
    def _on_listed(self, folders: Sequence[Path]) -> None:
        """Add new sweeps at the top; the chosen one stays. With none chosen, choose the newest."""
        known = {self.sweeps.itemData(place) for place in range(self.sweeps.count())}
        new = [folder for folder in folders if str(folder) not in known]
        if not new:
            return
        with QSignalBlocker(self.sweeps):
            chosen = self.sweeps.currentData()
            for folder in reversed(new):
                self.sweeps.insertItem(0, folder.name, str(folder))
            self.sweeps.setCurrentIndex(max(self.sweeps.findData(chosen), 0))
        if chosen is None:
            self._on_chosen()

    @Slot()
    def _on_chosen(self) -> None:
        self.found = self.judged = None
        self._update()
        if self.isVisible():
            self._follow()

    def _follow(self) -> None:
        """Without a chosen sweep the thread is asked for the list alone."""
        self.watch.follow(self.folder)

    @Slot(object)
    def _on_found(self, found: FoundSweep) -> None:
        self.found, self.judged = found, None
        if self.table.show_columns(found.table):
            self.table.selectionModel().selectionChanged.connect(self._on_selection)
        self._use_subject()
        self._update(fits=True)

    def _use_subject(self) -> None:
        """The columns of this sweep are those of its filter."""
        assert self.found is not None
        if self.filter.subject.names != self.found.table.subject.names:
            self.filter.subject = self.found.table.subject
            self.filter.clear()

    @Slot(object)
    def _on_failed(self, trouble: Trouble) -> None:
        self.found = None
        self._update()
        self.empty.update_state(is_empty=True, is_loading=False, text=trouble.sentence)

    @Slot(object)
    def _on_judged(self, judged: Judged) -> None:
        self.judged = judged
        self._show_verdict()

    def _show_verdict(self) -> None:
        text, details = verdict_texts(self.found, self.judged)
        self.verdict.setText(text)
        set_tooltip(self.verdict, details)
        self.verdict.setVisible(bool(text))

    @Slot(object)
    def _on_filter(self, condition: Filter | None) -> None:
        self._condition = condition
        self._show_cells()

    def _update(self, *, fits: bool = False) -> None:
        self._show_cells(fits=fits)
        self._show_progress()
        self._show_verdict()
        self._draw()
        self._update_actions()

    @Slot()
    def _show_cells(self, *, fits: bool = False) -> None:
        cells: list[CellRow] = []
        total = 0 if self.found is None else len(self.found.table.cells)
        if self.found is not None:
            name, is_descending = self.table.sorting
            try:
                cells = self.found.table.rows(self._condition, order_by=name, is_descending=is_descending)
            except FilterError as error:
                self.filter.show_fault(error)
                return
        self.table.show_cells(cells, fits=fits)
        count = translate("Sweeps", "{0} of {1} cells").format(format_count(len(cells)), format_count(total))
        set_text(self.count, count if total else "")
        self._show_empty(total, len(cells))
        self._on_selection()  # rows that are hidden are no longer selected, and Qt does not report it

    def _show_empty(self, total: int, shown: int) -> None:
        text = translate("Sweeps", _NO_MATCH if total else _NONE)
        self.empty.update_state(is_empty=not shown, is_loading=False, text=text)

    def _show_progress(self) -> None:
        text = "" if self.found is None else progress_text(self.found.table.cells, self.found.most_cells, self._job)
        set_text(self.status, text)

    @property
    def _points(self) -> tuple[Point, ...]:
        if self.found is None:
            return ()
        return self.found.first if self.part.currentData() == Part.FIRST.value else self.found.second

    @Slot()
    def _draw(self) -> None:
        for picture in self.pictures:
            picture.show_points(self._points)
        self._show_details()

    @Slot()
    def _on_selection(self) -> None:
        numbers = {cell.configuration.number for cell in self.selected()}
        for picture in self.pictures:
            picture.choose(next(iter(numbers)) if len(numbers) == 1 else None)
        self._show_details()
        self._update_actions()

    def _show_details(self) -> None:
        self.details.setText("" if self.found is None else cells_text(self.selected(), self._points))

    def _update_actions(self) -> None:
        actions, chosen = self.actions_of_panel, self.selected()
        is_one = len({cell.configuration.number for cell in chosen}) == 1
        actions[ActionId.SWEEP_USE].setEnabled(is_one)
        actions[ActionId.SWEEP_REPORT].setEnabled(bool(chosen))
        actions[ActionId.SWEEP_PAGE].setEnabled(self.found is not None)
        actions[ActionId.SWEEP_RUN].setEnabled(self._is_open() or self._job is not None)
        self._present_run(is_running=self._job is not None)

    def _is_open(self) -> bool:
        """Whether cells have not ended; of a budget, perhaps some that are not proposed yet."""
        if self.found is None:
            return False
        cells = self.found.table.cells
        return len(cells) < self.found.most_cells or any(cell.state in _OPEN for cell in cells)

    def _present_run(self, *, is_running: bool) -> None:
        texts = (
            (translate("Actions", "S&top"), translate("Actions", "Stop this sweep; cells that have ended are kept"))
            if is_running
            else (
                translate("Actions", "Con&tinue"),
                translate("Actions", "Run the cells that have not ended, as a job"),
            )
        )
        self.actions_of_panel.present(ActionId.SWEEP_RUN, *texts, "stop" if is_running else "play")

    def _colour(self, palette: object) -> None:
        colour_text(self.message, self._theme.palette.bad)

    @Slot()
    def _ask_run(self) -> None:
        if self.folder is not None:
            self.run_requested.emit(self.folder)

    @Slot()
    def _ask_report(self) -> None:
        chosen = self.selected()
        if self.found is not None and chosen:
            self.watch.write(self.found.folder, chosen[0].number)

    @Slot()
    def _ask_sweep_report(self) -> None:
        if self.found is not None:
            self.watch.write(self.found.folder, 0)

    @Slot()
    def _ask_use(self) -> None:
        chosen = self.selected()
        if chosen:
            self.use_requested.emit(chosen[0], proof_text(self.judged, chosen[0].configuration))

    @Slot()
    def _focus_filter(self) -> None:
        self.filter.setFocus(Qt.FocusReason.ShortcutFocusReason)

    @Slot()
    def _focus_table(self) -> None:
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)
        if self.table.rows_model.rowCount() and not self.selected():
            self.table.selectRow(0)
