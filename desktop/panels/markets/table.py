"""The table of markets: its columns as there is room for them, rows that the user moves, and the line that filters and
sorts them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from functools import partial

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QHeaderView,
    QLineEdit,
    QMenu,
    QStyle,
    QTableView,
    QToolButton,
    QWidget,
)

from desktop.panels.markets.cells import (
    BAR_PX,
    CELL_MARGIN_PX,
    DOT_PX,
    PADDING_PX,
    SWITCH_PX,
    ChartCell,
    FeedCell,
    Lines,
    MarketCell,
    NumberCell,
    SwitchCell,
    change_lines,
    price_lines,
    small,
    worth_lines,
)
from desktop.panels.markets.model import SORTABLE, Column, MarketsModel, texts_below
from desktop.panels.markets.row import Row
from desktop.ui.icons import put_icon
from desktop.ui.interface_size import enlarged, follow_interface_size
from desktop.ui.plain_text import set_tooltip
from desktop.ui.stacks import NO_MARGINS, beside
from desktop.ui.tables import Index, style_table
from desktop.ui.theme import Palette, Theme
from desktop.ui.translation import translate

_OWN_ORDER = -1
_LEAST_CHART, _MOST_CHART, _MOST_MARKET, _GAP, _LEAST_WIDTH = 64, 200, 220, 4, 40
_BY_IMPORTANCE = (
    Column.MARKET,
    Column.LAST,
    Column.CHART,
    Column.LEARNED,
    Column.SKILL,
    Column.CHANGE,
    Column.GAIN,
    Column.FEED,
)
"""Without room for all columns, the last ones are hidden."""
_MAY_BE_EMPTY = frozenset({Column.CHART, Column.CHANGE, Column.SKILL, Column.GAIN})
_BESIDE = {Column.MARKET: BAR_PX + DOT_PX + PADDING_PX, Column.FEED: DOT_PX + PADDING_PX}
"""Room beside the texts of a cell, in pixels."""
_MEASURED = frozenset(Column) - {Column.CHART, Column.LEARNED}
"""Columns with texts."""
_MOST = {column: 130 if column is Column.MARKET else 160 for column in Column}
"""The widest a column may be, in pixels at the usual text size. Longer names are shortened: a file's may be long."""


class MarketsTable(QTableView):
    """`opened` and `switched` carry the number of a row; `dropped` also its new place.

    Rows are dragged without QDrag, whose own event loop would hold the window's tasks up.
    """

    opened = Signal(int)
    switched = Signal(int)
    dropped = Signal(int, int)

    def __init__(self, model: MarketsModel, theme: Theme) -> None:
        super().__init__()
        self._theme, self._model = theme, model
        self._pressed: QPoint | None = None
        self._place = QPoint()
        self.held_row: int | None = None
        """The row that is being dragged."""
        self._widths: dict[Column, int] = {}
        """The width of the widest text in each column so far, so that columns do not jitter."""
        self._filled: set[Column] = set()
        """Columns of `_MAY_BE_EMPTY` with a value in some row; the others are hidden first."""
        self.can_be_moved = True
        """Whether rows are in the user's own order."""
        self.setModel(model)
        self.chart_cell = ChartCell(theme, self)
        self._set_cells()
        style_table(self, translate("Panels", "Markets"), several=False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self._set_header()
        follow_interface_size(self, self._measure)
        header_changed = self.horizontalHeader().sortIndicatorChanged
        header_changed.connect(lambda _section, _order: self._measure())
        model.members_changed.connect(self._measure)
        model.dataChanged.connect(self._on_data)
        theme.follow(self, lambda _palette: self.viewport().update())  # candles' colours are no role of Qt's palette

    def _set_cells(self) -> None:
        theme = self._theme

        def price_lines_shown(row: Row, palette: Palette) -> Lines:
            return price_lines(row, palette, with_change=self.isColumnHidden(Column.CHANGE))

        cells = {
            Column.MARKET: MarketCell(theme, self),
            Column.CHART: self.chart_cell,
            Column.LAST: NumberCell(theme, self, price_lines_shown),
            Column.CHANGE: NumberCell(theme, self, change_lines),
            Column.LEARNED: SwitchCell(theme, self),
            Column.SKILL: NumberCell(theme, self, partial(worth_lines, is_of_model=False)),
            Column.GAIN: NumberCell(theme, self, partial(worth_lines, is_of_model=True)),
            Column.FEED: FeedCell(theme, self),
        }
        for column, cell in cells.items():
            self.setItemDelegateForColumn(column, cell)

    def _set_header(self) -> None:
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setMinimumSectionSize(1)
        header.setSectionsClickable(True)
        header.setSortIndicatorShown(True)
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit_columns()

    def _measure(self) -> None:
        self.verticalHeader().setDefaultSectionSize(2 * self.fontMetrics().height() + 6)
        metrics, header = self.fontMetrics(), self.horizontalHeader()
        self._widths = {column: _widest(metrics, (column.title,)) for column in Column}
        sorted_by = header.sortIndicatorSection()
        if sorted_by >= 0:
            self._widths[Column(sorted_by)] += header.style().pixelMetric(QStyle.PixelMetric.PM_HeaderMarkSize) + _GAP
        self._filled.clear()
        self._widths[Column.LEARNED] = max(self._widths[Column.LEARNED], SWITCH_PX[0] + CELL_MARGIN_PX)
        self._widen_columns(self._model.rows)
        self.fit_columns()

    def _on_data(self, first: Index, last: Index) -> None:
        """Measure only changed cells: the cost of an update must not grow with the rows."""
        columns = {column for column in _MEASURED if first.column() <= column <= last.column()}
        if columns and self._widen_columns(self._model.rows[first.row() : last.row() + 1], columns):
            self.fit_columns()

    def _widen_columns(self, rows: Iterable[Row], columns: Set[Column] = _MEASURED) -> bool:
        """Whether a column has to be wider than it was."""
        metrics, faint = self.fontMetrics(), QFontMetrics(small(self.font()))
        most = {column: enlarged(width) for column, width in _MOST.items()}
        before, filled = dict(self._widths), set(self._filled)
        for row in rows:
            known = row.known
            contents = known.newest, row.change, known.skill, known.model_gain
            columns_of = Column.CHART, Column.CHANGE, Column.SKILL, Column.GAIN
            self._filled |= {
                column for column, content in zip(columns_of, contents, strict=True) if content is not None
            }
            below = texts_below(row)
            for column in columns:
                width = max(_widest(metrics, (column.text(row),)), _widest(faint, below.get(column, ())))
                width += _BESIDE.get(column, 0)
                self._widths[column] = max(self._widths[column], min(width, most[column]))
        return before != self._widths or filled != self._filled

    def fit_columns(self) -> None:
        """Fit the columns to their numbers. The least important ones are hidden without room; chart and market share
        the rest."""
        least = {**self._widths, Column.CHART: _LEAST_CHART}
        room = self.viewport().width()
        shown: list[Column] = []
        for column in sorted(_BY_IMPORTANCE, key=lambda column: column in _MAY_BE_EMPTY - self._filled):
            if len(shown) >= 2 and room < least[column]:
                break
            shown.append(column)
            room -= least[column]
        for column in Column:
            self.setColumnHidden(column, column not in shown)
        chart = min(max(room, 0) * 2 // 3, _MOST_CHART - _LEAST_CHART) if Column.CHART in shown else 0
        market = room - chart
        if Column.FEED in shown:  # the rest is for its sentences
            market = max(0, min(market, _MOST_MARKET - least[Column.MARKET]))
            least[Column.FEED] += room - chart - market
        for column in shown:
            extra = {Column.CHART: chart, Column.MARKET: market}.get(column, 0)
            self.setColumnWidth(column, max(least[column] + extra, _LEAST_WIDTH))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        is_left = event.button() is Qt.MouseButton.LeftButton
        self._pressed = event.position().toPoint() if is_left else None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        place = event.position().toPoint()
        if self._pressed is None or not event.buttons() & Qt.MouseButton.LeftButton:
            super().mouseMoveEvent(event)
            return
        far = (place - self._pressed).manhattanLength() >= QApplication.startDragDistance()
        if self.held_row is None and self.can_be_moved and far and self.indexAt(self._pressed).isValid():
            self.held_row = self.indexAt(self._pressed).row()
            self.viewport().setCursor(Qt.CursorShape.ClosedHandCursor)
        if self.held_row is not None:
            self.viewport().update()
            self._place = place

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        held, pressed = self.held_row, self._pressed
        self._let_go()
        if held is not None:
            target = self.row_at(event.position().toPoint())
            if target != held:
                self.dropped.emit(held, target)
            return
        super().mouseReleaseEvent(event)
        index = self.indexAt(event.position().toPoint())
        former = QPoint(-1, -1) if pressed is None else pressed
        if index.isValid() and self.indexAt(former) == index and event.modifiers() == Qt.KeyboardModifier.NoModifier:
            (self.switched if index.column() == Column.LEARNED else self.opened).emit(index.row())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.held_row is not None:
            self._let_go()
        elif event.key() == Qt.Key.Key_Enter and self.currentIndex().isValid():
            self.opened.emit(self.currentIndex().row())
        else:
            super().keyPressEvent(event)

    def row_at(self, place: QPoint) -> int:
        """The target row of a drop: the first one above all rows, the last one below all."""
        count = self._model.rowCount()
        row = self.rowAt(place.y())
        return row if row >= 0 else 0 if place.y() < 0 else count - 1

    def paintEvent(self, event: object) -> None:
        super().paintEvent(event)  # type: ignore[arg-type]
        if self.held_row is None:
            return
        target = self.row_at(self._place)
        rectangle = self.visualRect(self._model.index(target, 0))
        y = rectangle.bottom() if target > self.held_row else rectangle.top()
        painter = QPainter(self.viewport())
        painter.setPen(QPen(self._theme.palette.accent, 2.0))
        painter.drawLine(0, y, self.viewport().width(), y)
        painter.end()

    def _let_go(self) -> None:
        if self.held_row is not None:
            self.viewport().unsetCursor()
            self.viewport().update()
        self.held_row = self._pressed = None


def _widest(metrics: QFontMetrics, texts: Sequence[str]) -> int:
    return max((metrics.horizontalAdvance(text) for text in texts), default=0) + CELL_MARGIN_PX


class _FilterBox(QLineEdit):
    """Down and Enter lead into the table, which `left` asks for; Escape shows all."""

    left = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.left.emit()
        elif event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        else:
            super().keyPressEvent(event)


class FilterLine(QWidget):
    """`sort_chosen` carries a column's number, -1 for the list's order."""

    sort_chosen = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.box = _FilterBox()
        self.sort = QToolButton()
        put_icon(self.sort, "sort", theme)
        self._choices: dict[int, QAction] = {}
        beside(self, self.box, self.sort, stretched=self.box, margins=NO_MARGINS, spacing=4)
        self.box.setPlaceholderText(translate("Panels", "Filter"))
        self.box.setAccessibleName(translate("Panels", "Filter the markets below"))
        words = translate("Panels", "Show only markets with these letters in symbol, exchange, interval or state")
        set_tooltip(self.box, words)
        self.box.setClearButtonEnabled(True)
        self.box.setMinimumWidth(60)
        set_tooltip(self.sort, translate("Panels", "Sort the markets; a click on a column's title does too"))
        self.sort.setAccessibleName(translate("Panels", "Sort"))
        self.sort.setAutoRaise(True)
        self.sort.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.sort.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.sort.setMenu(self._menu())

    def show_sorting(self, column: int) -> None:
        """Check what the table is sorted by."""
        self._choices.get(column, self._choices[_OWN_ORDER]).setChecked(True)

    def _menu(self) -> QMenu:
        menu, group = QMenu(self), QActionGroup(self)
        names = {_OWN_ORDER: translate("Panels", "Own order")}
        names |= {int(column): column.title for column in SORTABLE}
        for column, name in names.items():
            action = menu.addAction(name)
            action.setCheckable(True)
            group.addAction(action)
            action.triggered.connect(lambda _checked, column=column: self.sort_chosen.emit(column))
            self._choices[column] = action
        self._choices[_OWN_ORDER].setChecked(True)
        return menu
