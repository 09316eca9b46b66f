"""The table of models and baselines: its columns, a row's numbers as text, and a tick that draws the row's ghosts."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QEvent, QObject, Qt, Signal
from PySide6.QtGui import QIcon, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QStyledItemDelegate, QStyleOptionViewItem, QTableView

from core.domain.events import Estimate
from core.evaluation.leaderboard import LeaderboardRow
from core.evaluation.report.figures import floored_percent
from core.forecast.experts import EXPERTS, LOSS_ROWS, MODEL, REFERENCE
from core.storage.evidence_blocks import COMBINATION
from desktop.panels.accuracy.words import expert_name, measured, points, value_of
from desktop.ui.colour_choice import preview_colour
from desktop.ui.formatting import MISSING, format_count, format_number, format_time
from desktop.ui.icons import icon
from desktop.ui.interface_size import follow_interface_size, space_rows
from desktop.ui.plain_text import paragraphs
from desktop.ui.tables import LEFT, RIGHT, Index, NamedColumn, RowsModel, style_table
from desktop.ui.theme import Theme
from desktop.ui.translation import translate

WITHOUT_MODEL = LOSS_ROWS[0]
_CHECK = Qt.ItemDataRole.CheckStateRole


class Column(NamedColumn):
    """The columns of the table, from the left."""

    GHOSTS = "Draw", "Draws its candles beside the ghosts. Click or Space: switch", lambda entry: "", RIGHT
    RANK = (
        "Rank",
        "One more than the number of rows that are proven better. None before any row is proven better than another",
        lambda entry: format_count(entry.row.rank),
        RIGHT,
    )
    NAME = (
        "Forecaster",
        "The ghosts on the chart, which combine all; the same without the model; each model and baseline alone",
        lambda entry: expert_name(entry.row.name),
        LEFT,
    )
    CLOSE = (
        "Close skill, %",
        "How much smaller its loss of the close is than that of “no change”, with the interval",
        lambda entry: _measured(entry.row.close, 1, signed=True),
        RIGHT,
    )
    RANGE = (
        "Range skill, %",
        "The same for the range of the candle, from low to high",
        lambda entry: _measured(entry.row.range, 1, signed=True),
        RIGHT,
    )
    BEHIND = (
        "Behind the leader, %",
        "By how much it loses more than the leader, as a share of what “no change” loses. Indistinguishable: the "
        "interval includes 0",
        lambda entry: _behind(entry.row),
        LEFT,
    )
    WEIGHT = (
        "Weight, %",
        "Its weight in the close of the ghosts that are on the chart now",
        lambda entry: _weight(entry.weight),
        RIGHT,
    )
    BAND = (
        "90 % band, %",
        "How often the close was inside its 90 % band",
        lambda entry: _measured(entry.row.coverage_90, 1),
        RIGHT,
    )
    DIRECTION = (
        "Direction, %",
        "How often the close was on its side of the last one, without flat candles. Coin flip: 50 %",
        lambda entry: _measured(entry.row.direction, 1),
        RIGHT,
    )
    COST = (
        "ms",
        "Milliseconds a candle: of the model a training step, of a challenger all its work. The baselines together "
        "take less than one and are not measured",
        lambda entry: format_number(entry.row.cost_ms, 1),
        RIGHT,
    )
    ANSWERED = (
        "Answered, %",
        "How many of the forecasts that were due a challenger gave, in all markets of its model. At the others the "
        "forecast without any model is scored in its place",
        lambda entry: format_number(None if entry.row.answered is None else floored_percent(entry.row.answered), 1),
        RIGHT,
    )
    N = (
        "n",
        "Scored candles; of a forecaster alone in blocks of 50",
        lambda entry: format_count(entry.row.n),
        RIGHT,
    )
    SINCE = "Since", "The first of these candles", lambda entry: format_time(entry.row.since_ms), RIGHT

    @property
    def meaning(self) -> str:
        """The meaning after the title, which may be cut in the header."""
        return f"{self.title}\n{super().meaning}"


BY_IMPORTANCE = (
    Column.NAME,
    Column.CLOSE,
    Column.GHOSTS,
    Column.RANGE,
    Column.RANK,
    Column.BEHIND,
    Column.WEIGHT,
    Column.BAND,
    Column.DIRECTION,
    Column.N,
    Column.COST,
    Column.ANSWERED,
    Column.SINCE,
)
"""Without room for all columns, the last ones are hidden; a row's tooltip has all of them."""
_GLOSSARY = {
    Column.NAME: "ghost",
    Column.RANK: "rank",
    Column.CLOSE: "skill",
    Column.RANGE: "skill",
    Column.BEHIND: "rank",
    Column.WEIGHT: "weight",
    Column.BAND: "coverage",
    Column.DIRECTION: "direction",
    Column.N: "live-caught-up-replayed-simulated",
}
"""Entries of docs/glossary.md that a click on a title opens."""
_OF_ROWS = {
    COMBINATION: "ghost",
    WITHOUT_MODEL: "without-the-model",
    EXPERTS[MODEL]: "model",
    EXPERTS[REFERENCE]: "no-change",
}
"""Entries that a double click on a row opens; those of other experts are baselines or challengers."""
_ESTIMATES = {
    Column.CLOSE: attrgetter("row.close"),
    Column.RANGE: attrgetter("row.range"),
    Column.BAND: attrgetter("row.coverage_90"),
    Column.DIRECTION: attrgetter("row.direction"),
}
"""The estimate behind each column that shows a number with its interval."""


def in_sentences(entry: Entry) -> str:
    """All cells, each with its title."""
    shown = (column for column in Column if column not in (Column.GHOSTS, Column.NAME))
    cells = (f"{column.title}: {text}" for column in shown if (text := column.text(entry)) != MISSING)
    return "\n".join((Column.NAME.text(entry), *cells, translate("Panels", "Double click: what it is")))


def _measured(estimate: Estimate | None, decimals: int, *, signed: bool = False) -> str:
    """The value alone before there is an interval."""
    if estimate is None:
        return MISSING
    if estimate.value is not None and value_of(estimate) is None:
        return points(estimate.value, decimals, signed=signed)
    return measured(estimate, decimals, signed=signed)


def _behind(row: LeaderboardRow) -> str:
    if row.behind_leader is None:
        return MISSING if row.rank is None else translate("Panels", "leader")
    if row.is_indistinguishable is None:
        return translate("Panels", "too early to compare")
    if row.is_indistinguishable:
        return translate("Panels", "indistinguishable")
    return measured(row.behind_leader, 2, signed=False)


def _weight(share: float | None) -> str:
    if not share:
        return MISSING
    return "<1" if share < 0.01 else points(share, 0, signed=False)


@dataclass(frozen=True, slots=True)
class Entry:
    """A row, its tick, and its share of the ghosts."""

    row: LeaderboardRow
    is_ticked: bool
    colour: int | None
    """The number of its colour on the chart; None: not drawn by a tick."""
    why_not: str
    """Why the tick cannot be changed; empty if it can."""
    weight: float | None = None


class ModelsModel(RowsModel[Entry]):
    """`tick_changed` carries a row's name, and whether its ghosts are wanted."""

    tick_changed = Signal(str, bool)

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(tuple(Column), parent, tooltip=in_sentences, key=lambda entry: entry.row.name)
        self._theme = theme

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        is_tick = index.column() == Column.GHOSTS and not self.rows[index.row()].why_not
        return flags | Qt.ItemFlag.ItemIsUserCheckable if is_tick else flags

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if role != _CHECK or not self.flags(index) & Qt.ItemFlag.ItemIsUserCheckable:
            return False
        is_wanted = Qt.CheckState(value) is Qt.CheckState.Checked
        self.tick_changed.emit(self.rows[index.row()].row.name, is_wanted)
        return True

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        entry, column = self.rows[index.row()], Column(index.column())
        found = self._tick_data(entry, role) if column is Column.GHOSTS else None
        if found is None and role == Qt.ItemDataRole.ForegroundRole:
            estimate = _ESTIMATES[column](entry) if column in _ESTIMATES else None
            has_no_interval = estimate is not None and estimate.low is None
            is_faint = has_no_interval or column.text(entry) == MISSING
            return self._theme.palette.muted_text if is_faint else None
        return super().data(index, role) if found is None else found

    def _tick_data(self, entry: Entry, role: int) -> Any:
        match role:
            case Qt.ItemDataRole.CheckStateRole:
                return Qt.CheckState.Checked if entry.is_ticked else Qt.CheckState.Unchecked
            case Qt.ItemDataRole.DecorationRole:
                return self._box(entry)
            case Qt.ItemDataRole.ToolTipRole:
                return paragraphs(entry.why_not or translate("Panels", Column.GHOSTS.english[1]))
            case Qt.ItemDataRole.AccessibleTextRole:
                return translate("Panels", "Ghosts of: {0}").format(expert_name(entry.row.name))
            case Qt.ItemDataRole.AccessibleDescriptionRole:
                return entry.why_not or None
        return None

    def _box(self, entry: Entry) -> QIcon:
        """A check box in the colour of the ghosts; faint if it cannot be changed."""
        palette = self._theme.palette
        colour = palette.muted_text if entry.why_not else palette.text
        if entry.colour is not None:
            colour = preview_colour(palette, entry.colour)
        name = "checkbox-marked" if entry.is_ticked else "checkbox-blank-outline"
        return icon(name, colour, palette.inverse_text)


class _TickCell(QStyledItemDelegate):
    """The model's icon is the box; Qt's own is hard to see on dark."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        super().initStyleOption(option, index)
        option.features &= ~QStyleOptionViewItem.ViewItemFeature.HasCheckIndicator  # type: ignore[attr-defined]

    def editorEvent(self, event: QEvent, model: QAbstractItemModel, option: QStyleOptionViewItem, index: Index) -> bool:
        """The table takes the click."""
        return False


class ModelsTable(QTableView):
    """Columns are as wide as their numbers; the least important ones are hidden without room. Space ticks a row. A
    click on a title, or a double click on a row, asks for its entry in the glossary."""

    entry_requested = Signal(str)

    def __init__(self, model: ModelsModel) -> None:
        super().__init__()
        self.setModel(model)
        self._model = model
        style_table(self, translate("Panels", "Models and baselines"), several=False)
        space_rows(self, 5)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.horizontalHeader().setMinimumSectionSize(1)
        self.setItemDelegateForColumn(Column.GHOSTS, _TickCell(self))
        self.clicked.connect(self._on_clicked)
        self.doubleClicked.connect(self._on_double_clicked)
        self.horizontalHeader().setSectionsClickable(True)
        self.horizontalHeader().sectionClicked.connect(self._on_title)
        follow_interface_size(self, self.fit_columns)
        model.layoutChanged.connect(self.fit_columns)
        model.dataChanged.connect(self.fit_columns)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit_columns()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        index = self.currentIndex()
        if event.key() != Qt.Key.Key_Space or not index.isValid():
            super().keyPressEvent(event)
        else:
            self._switch(index)

    def _on_clicked(self, index: Index) -> None:
        if index.column() == Column.GHOSTS:
            self._switch(index)

    def _on_title(self, column: int) -> None:
        if column in _GLOSSARY:
            self.entry_requested.emit(_GLOSSARY[Column(column)])

    def _on_double_clicked(self, index: Index) -> None:
        name = self._model.rows[index.row()].row.name
        if index.column() != Column.GHOSTS:
            self.entry_requested.emit(_OF_ROWS.get(name, "baseline" if name in EXPERTS else "challenger"))

    def _switch(self, index: Index) -> None:
        tick = self.model().index(index.row(), Column.GHOSTS)
        is_on = tick.data(Qt.ItemDataRole.CheckStateRole) is Qt.CheckState.Checked
        wanted = Qt.CheckState.Unchecked if is_on else Qt.CheckState.Checked
        self.model().setData(tick, wanted, Qt.ItemDataRole.CheckStateRole)

    def fit_columns(self) -> None:
        """Show as many columns as there is room for, and none without content."""
        room = self.viewport().width()
        shown: dict[Column, int] = {}
        for column in BY_IMPORTANCE:
            if column is not Column.GHOSTS and all(column.text(entry) == MISSING for entry in self._model.rows):
                continue
            width = max(self.sizeHintForColumn(column), self.horizontalHeader().sectionSizeHint(column))
            if shown and width > room:
                break
            shown[column] = width
            room -= width
        for column in Column:
            self.setColumnHidden(column, column not in shown)
        for column, width in shown.items():
            self.setColumnWidth(column, width)
