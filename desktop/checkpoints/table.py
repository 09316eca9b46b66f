"""The table itself: columns can be moved, resized and hidden; the texts of rows are made only when visible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QLocale, QRect, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyleOptionViewItem,
    QTableView,
)

from core.checkpoints.catalog import Catalog
from core.checkpoints.row import CheckpointRow
from core.settings.window import BrowserSettings
from desktop.checkpoints.columns import (
    ALL_RUNS_COLUMNS,
    BEST,
    BY_NAME,
    COLUMNS,
    FIRST_COLUMNS,
    IN_USE,
    LEADING,
    LEAST_FIRST,
    PINNED,
    PLACE,
    SHRINKING,
    WHERE_FILLED,
    WRECKED,
    marks,
)
from desktop.checkpoints.model import CheckpointTableModel
from desktop.checkpoints.widths import ICON_SIZE, WORDS_INDENT, ColumnWidths
from desktop.ui.icons import icon
from desktop.ui.tables import Index, PaintedCell, RowCells, style_table
from desktop.ui.theme import Theme
from desktop.ui.translation import translate


class CheckpointTable(QTableView):
    """Shows a CheckpointTableModel. Until columns are chosen, the least important ones are hidden if there is no room,
    and the tooltip has them: the note stays in view. Chosen columns stay, as do columns with a set width; the table
    then scrolls. Symbol and run are beside the checkpoints of all runs."""

    arranged = Signal(object)
    """BrowserSettings: the user has changed columns, widths or sorting."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.rows = CheckpointTableModel(self)
        self.settings = BrowserSettings()
        self._is_arranging = False
        self._unfilled = WHERE_FILLED
        self._crowded_out = frozenset[str]()
        self._widths = ColumnWidths()
        self._brought_into_view = ""
        self.setModel(self.rows)
        keep_numbers_whole(self)
        self._apply_style(theme)
        self.rows.sorting_asked.connect(self._on_sorting)
        header = self.horizontalHeader()
        header.sectionMoved.connect(lambda *_: self._on_moved())
        header.sectionResized.connect(self._on_resized)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.arrange(self.settings)

    def shown_columns(self) -> tuple[str, ...]:
        """The names of the columns that are seen, from left to right."""
        header = self.horizontalHeader()
        order = (header.logicalIndex(place) for place in range(header.count()))
        return tuple(COLUMNS[number].name for number in order if not self.isColumnHidden(number))

    def chosen_columns(self) -> tuple[str, ...]:
        """The `shown_columns` and those that are hidden only for lack of room, without those that all runs bring."""
        header = self.horizontalHeader()
        order = (COLUMNS[header.logicalIndex(place)].name for place in range(header.count()))
        known = (name for name in order if name in self._crowded_out or not self.isColumnHidden(PLACE[name]))
        return tuple(name for name in known if name not in self._of_all_runs())

    def arrange(self, settings: BrowserSettings) -> None:
        """Apply columns, widths and sorting; unknown names are skipped. Emits nothing."""
        self.settings = settings
        chosen = self._arranged()
        self._is_arranging = True
        header = self.horizontalHeader()
        rest = [column.name for column in COLUMNS if column.name not in chosen]
        for place, name in enumerate((*chosen, *rest)):
            header.moveSection(header.visualIndex(PLACE[name]), place)
        for number, column in enumerate(COLUMNS):
            self.setColumnHidden(number, column.name not in chosen)
        sort_by = settings.sort_by if settings.sort_by in PLACE else "step"
        order = Qt.SortOrder.DescendingOrder if settings.is_descending else Qt.SortOrder.AscendingOrder
        with QSignalBlocker(self.rows):
            header.setSortIndicator(PLACE[sort_by], order)
        self._is_arranging = False
        self.size_columns()

    def _of_all_runs(self) -> tuple[str, ...]:
        """The columns that are shown only because all runs are."""
        is_all = self.settings.all_runs
        return tuple(name for name in ALL_RUNS_COLUMNS if is_all and name not in self.settings.columns)

    def _arranged(self) -> list[str]:
        """The columns that are to be shown, from left to right."""
        chosen = [name for name in self.settings.columns if name in PLACE] or list(FIRST_COLUMNS)
        leading = list(takewhile(LEADING.__contains__, chosen))
        return [*leading, *self._of_all_runs(), *chosen[len(leading) :]]

    @property
    def sorting(self) -> tuple[str, bool]:
        """The catalog's column that is sorted by, and whether the largest comes first."""
        name = self.settings.sort_by if self.settings.sort_by in BY_NAME else "step"
        return BY_NAME[name].sort or name, self.settings.is_descending

    def show_rows(self, catalog: Catalog, rows: Sequence[CheckpointRow]) -> None:
        """Show these rows; those that remain stay selected."""
        unfilled = _unfilled(catalog)
        if self._widths.measure(rows, self.fontMetrics()):
            self.size_columns()
        if unfilled != self._unfilled:
            self._unfilled = unfilled
            self.fit_columns()
        self.rows.show(rows)
        self._bring_into_view()

    def selected_rows(self) -> list[int]:
        return sorted(index.row() for index in self.selectionModel().selectedRows())

    def select_ids(self, ids: Sequence[str]) -> list[str]:
        """Select only the shown ones of these checkpoints. Returns their ids."""
        rows, last = self.rows.rows_of(ids), len(COLUMNS) - 1
        selection = QItemSelection()
        for row in rows:
            selection.select(self.rows.index(row, 0), self.rows.index(row, last))
        flags = QItemSelectionModel.SelectionFlag
        self.selectionModel().select(selection, flags.ClearAndSelect)
        if rows:
            self.selectionModel().setCurrentIndex(self.rows.index(rows[0], PLACE["step"]), flags.NoUpdate)
        return [self.rows.info(row).checkpoint_id for row in rows]

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit_columns()

    def reveal_column(self, name: str) -> None:
        """Show a column whose content has just changed, even if the user's choice omits it, beside the columns that
        identify a row. Scroll there once the change is shown."""
        self._brought_into_view = name
        if self.settings.columns and name not in self.settings.columns:
            shown = self.chosen_columns()
            place = len(list(takewhile(LEADING.__contains__, shown)))
            self._change(replace(self.settings, columns=(*shown[:place], name, *shown[place:])))
            self.arrange(self.settings)
        self._bring_into_view()

    def _bring_into_view(self) -> None:
        name = self._brought_into_view
        if not name or self.isColumnHidden(PLACE[name]) or not self.rows.rowCount():
            return
        self._brought_into_view = ""
        self.updateGeometries()  # a column that was hidden until now is not counted by the scroll bar else
        self.horizontalScrollBar().setValue(0)  # no further than must be
        row = max(self.currentIndex().row(), 0)
        self.scrollTo(self.rows.index(row, PLACE[name]))

    def fit_columns(self) -> None:
        """Unless columns were chosen, hide as many as the others need to be whole; then narrow columns of words."""
        self._crowded_out = frozenset()
        if self.settings.columns:
            return
        natural = {**self._widths.natural(self.fontMetrics()), **self.settings.widths}  # a hidden column has no width
        arranged = self._arranged()
        widths = {name: natural[name] for name in arranged if name not in self._unfilled}
        room, least = self.viewport().width(), self._widths.least(self.fontMetrics())
        self._crowded_out = self._least_important(widths, room, least)
        widths = {name: width for name, width in widths.items() if name not in self._crowded_out}
        self._is_arranging = True
        for name in arranged:
            self.setColumnHidden(PLACE[name], name not in widths)
        for name, width in self._narrowed(widths, room, least).items():
            self.horizontalHeader().resizeSection(PLACE[name], width)
        self._is_arranging = False

    def _least_important(self, widths: Mapping[str, int], room: int, least: int) -> frozenset[str]:
        """The columns that have to be hidden so that the others fit; the last one only if words cannot be narrowed."""
        hidden, needed = set[str](), sum(widths.values())
        for name in (each for each in LEAST_FIRST if each in widths and each not in self.settings.widths):
            if name == LEAST_FIRST[-1]:
                needed -= sum(max(widths[each] - least, 0) for each in SHRINKING if each in widths.keys() - hidden)
            if needed > room:
                hidden.add(name)
                needed -= widths[name]
        return frozenset(hidden)

    def _narrowed(self, widths: Mapping[str, int], room: int, least: int) -> dict[str, int]:
        """Widths of the columns of words: less than these, as far as the others need it."""
        excess, narrowed = sum(widths.values()) - room, {}
        for name in (each for each in SHRINKING if each in widths and each not in self.settings.widths):
            narrowed[name] = max(min(widths[name], least), widths[name] - max(excess, 0))
            excess -= widths[name] - narrowed[name]
        return narrowed

    def size_columns(self) -> None:
        """Set the widths that the font needs, or the user's own."""
        metrics = self.fontMetrics()
        self.verticalHeader().setDefaultSectionSize(metrics.height() + 6)
        header = self.horizontalHeader()
        header.setMinimumSectionSize(3 * metrics.averageCharWidth())
        self._is_arranging = True
        for name, width in self._widths.natural(metrics).items():
            header.resizeSection(PLACE[name], self.settings.widths.get(name, width))
        self._is_arranging = False
        self.fit_columns()

    def _on_sorting(self, number: int, order: Qt.SortOrder) -> None:
        is_descending = order is Qt.SortOrder.DescendingOrder
        self._change(replace(self.settings, sort_by=COLUMNS[number].name, is_descending=is_descending))

    def _on_moved(self) -> None:
        if not self._is_arranging:
            self._change(replace(self.settings, columns=self.chosen_columns()))
            self.arrange(self.settings)

    def _on_resized(self, number: int, before: int, width: int) -> None:
        if self._is_arranging or not self.isVisible() or 0 in (before, width) or self._is_stretched(number):
            return
        self._change(replace(self.settings, widths={**self.settings.widths, COLUMNS[number].name: max(8, width)}))

    def _is_stretched(self, number: int) -> bool:
        """Whether the column is the last one, which fills the free room: its width is not the user's choice."""
        header = self.horizontalHeader()
        shown = [place for place in range(header.count()) if not self.isColumnHidden(header.logicalIndex(place))]
        return bool(shown) and header.visualIndex(number) == shown[-1]

    def _change(self, settings: BrowserSettings) -> None:
        if settings != self.settings:
            self.settings = settings
            self.arranged.emit(settings)

    def _apply_style(self, theme: Theme) -> None:
        texts, numbers = TextDelegate(self), NumberDelegate(self)
        self.setItemDelegateForColumn(0, MarksCell(theme, self))
        for number, column in enumerate(COLUMNS):
            if number:
                self.setItemDelegateForColumn(number, numbers if column.is_number else texts)
        style_table(self, translate("Checkpoints", "Checkpoints"))
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        # Every row is as high as the others: Qt need not ask all of them.
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = self.horizontalHeader()
        header.setSectionsMovable(True)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setStretchLastSection(True)
        self.setSortingEnabled(True)


class TextDelegate(RowCells):
    """Separates words from the numbers to their left, which end at the same edge."""

    def displayText(self, value: object, locale: QLocale | QLocale.Language) -> str:
        return f"{WORDS_INDENT}{value}"


class MarksCell(PaintedCell):
    """The icons of best or wrecked, in use and pinned side by side, each always in its own place."""

    def draw(self, painter: QPainter, place: QRect, row: CheckpointRow, *, is_selected: bool) -> None:
        palette, held = self.theme.palette, marks(row.info)
        icons = (
            (WRECKED, "alert-outline", palette.bad),  # in the place of the best, which it cannot be
            (BEST, "trophy-outline", palette.warning),
            (IN_USE, "play-circle-outline", palette.good),
            (PINNED, "pin", palette.accent),
        )
        left, top = place.left() + 4, place.center().y() - ICON_SIZE // 2
        for word, name, colour in icons:
            if word in held:
                drawn = icon(name, palette.inverse_text if is_selected else colour)
                drawn.paint(painter, QRect(left, top, ICON_SIZE, ICON_SIZE))
            if word != WRECKED:
                left += ICON_SIZE + 3


def _unfilled(catalog: Catalog) -> frozenset[str]:
    """The columns of `WHERE_FILLED` in which no checkpoint has a value."""
    has = {
        "name": any(row.info.name for row in catalog),
        "tags": any(row.info.tags for row in catalog),
        "evaluated": any(row.evaluation is not None for row in catalog),
    }
    return frozenset(name for name in WHERE_FILLED if not has[name])


class NumberDelegate(RowCells):
    """Shows numbers whole in the visible part of their cell, or an ellipsis if that fits."""

    def __init__(self, table: QTableView) -> None:
        super().__init__(table)
        self._table = table

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        super().initStyleOption(option, index)
        cell: QRect = option.rect  # type: ignore[attr-defined]
        seen = cell.intersected(self._table.viewport().rect())
        if seen.isEmpty() or seen.width() == cell.width():
            return
        option.rect = seen  # type: ignore[attr-defined]
        room = seen.width() - 2 * (self._table.style().pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin) + 1)
        texts = (option.text, "…", "")  # type: ignore[attr-defined]
        metrics = option.fontMetrics  # type: ignore[attr-defined]
        option.text = next(text for text in texts if not text or metrics.horizontalAdvance(text) <= room)  # type: ignore[attr-defined]


class SeenTitles(QHeaderView):
    """Writes titles into the visible part of their sections."""

    def __init__(self, table: QTableView) -> None:
        super().__init__(Qt.Orientation.Horizontal, table)
        self.setSectionsClickable(True)

    def paintSection(self, painter: QPainter, rect: QRect, logical_index: int) -> None:
        super().paintSection(painter, rect.intersected(self.viewport().rect()), logical_index)


def keep_numbers_whole(table: QTableView) -> None:
    """Repaint the whole table whenever it is scrolled sideways: Qt would move the painted pixels."""
    table.setHorizontalHeader(SeenTitles(table))
    scrolled = table.horizontalScrollBar().valueChanged
    scrolled.connect(lambda _value: table.viewport().update())
    scrolled.connect(lambda _value: table.horizontalHeader().viewport().update())
