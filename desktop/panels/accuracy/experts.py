"""Weights of the experts, and the loss of each alone: two tables, one below the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QTableWidget, QTableWidgetItem, QWidget

from core.domain.events import ExpertShares
from core.evaluation.findings import ExpertLoss, RunAccuracy
from desktop.panels.accuracy.pages import Page
from desktop.panels.accuracy.words import ahead, expert_name, not_yet, points, quantity_name, short_quantity_name
from desktop.ui.formatting import MISSING, format_count, format_percent, format_significant
from desktop.ui.interface_size import follow_interface_size, space_rows
from desktop.ui.panel_base import mute, set_text
from desktop.ui.plain_text import Label, paragraphs
from desktop.ui.scrolling import DownScrolling
from desktop.ui.stacks import NO_MARGINS, stacked
from desktop.ui.tables import LEFT, RIGHT, share_room, style_table
from desktop.ui.theme import Theme, mixed
from desktop.ui.translation import translate

_STRONGEST = 0.62
"""How much of the accent colour a weight of 100 % has: text on it must stay readable."""


@dataclass(frozen=True, slots=True)
class Cell:
    """share: 0 to 1, how strongly the cell is shaded; None for none."""

    text: str
    share: float | None = None
    tooltip: str = ""


class HeatTable(QTableWidget):
    """Names at the left, then cells of equal width. As high as its rows: the page around it scrolls."""

    def __init__(self, theme: Theme, name: str) -> None:
        """name: what a screen reader calls it."""
        super().__init__()
        self._theme = theme
        self._shown: tuple[object, ...] = ()
        self.rows: tuple[tuple[str, tuple[Cell, ...]], ...] = ()
        style_table(self, name)
        self.setSelectionMode(QTableWidget.SelectionMode.NoSelection)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFrameShape(QTableWidget.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAutoFillBackground(False)
        self.horizontalHeader().setMinimumSectionSize(1)
        self.horizontalHeader().hide()  # the heads are a row: they are no buttons
        space_rows(self, 4)
        follow_interface_size(self, self._fit)

    def show_rows(self, heads: Sequence[str], rows: Sequence[tuple[str, Sequence[Cell]]]) -> None:
        """Names of the columns, and rows of a name and its cells."""
        self.rows = tuple((name, tuple(cells)) for name, cells in rows)
        shown = (tuple(heads), self.rows, self._theme.palette)
        if shown == self._shown:
            return
        self._shown = shown
        self.setRowCount(1 + len(self.rows))
        self.setColumnCount(1 + len(heads))
        self.setHorizontalHeaderLabels(["", *heads])
        for row, (name, cells) in enumerate((("", tuple(map(Cell, heads))), *self.rows)):
            for column, cell in enumerate((Cell(name), *cells)):
                self.setItem(row, column, self._item(cell, is_name=column == 0, is_head=row == 0))
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        self.resizeColumnToContents(0)
        share_room(self, range(1, self.columnCount()))
        is_wider = self.horizontalHeader().length() > self.viewport().width()
        bar = self.horizontalScrollBar().sizeHint().height() if is_wider else 0
        self.setFixedHeight(self.verticalHeader().length() + bar)

    def _item(self, cell: Cell, *, is_name: bool, is_head: bool) -> QTableWidgetItem:
        palette, item = self._theme.palette, QTableWidgetItem(cell.text)
        item.setTextAlignment(LEFT if is_name else RIGHT)
        item.setToolTip(paragraphs(cell.tooltip))
        item.setForeground(palette.muted_text if is_head or cell.text == MISSING else palette.text)
        if cell.share is not None:
            item.setBackground(mixed(palette.accent, palette.panel, _STRONGEST * cell.share))
        return item


class ExpertsPage(Page):
    """The weights of the chosen horizon, a column a quantity; then the loss of each expert alone."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.shares: ExpertShares | None = None
        """The current weights, for the next `show_found`; None while no trainer is running."""
        self._weights_title, self._losses_title = Label(wraps=True), Label(wraps=True)
        self.weights = HeatTable(theme, translate("Panels", "Weights of the experts"))
        self.losses = HeatTable(theme, translate("Panels", "Loss of each expert alone"))
        inside = QWidget()
        parts = (self._weights_title, self.weights, self._losses_title, self.losses)
        stacked(inside, *parts, None, margins=(0, 0, 6, 2), spacing=2)
        mute(self._weights_title, self._losses_title)
        stacked(self, DownScrolling(inside, translate("Panels", "Experts in numbers")), margins=NO_MARGINS)

    def show_found(self, found: RunAccuracy) -> None:
        self._show_weights(found.chosen.request.horizon)
        experts = found.chosen.experts
        known = translate("Panels", "Loss of each expert alone, n = {0}; skill against “no change”")
        unknown = translate("Panels", "Loss of each expert alone.")
        n = found.chosen.n
        set_text(self._losses_title, known.format(format_count(n)) if experts else f"{unknown} {not_yet(n)}")
        skill = translate("Panels", "skill, %")
        heads = (quantity_name("close"), skill, quantity_name("range"), skill)
        self.losses.show_rows(heads if experts else (), [(expert_name(each.name), _losses(each)) for each in experts])

    def _show_weights(self, horizon: int) -> None:
        shares = self.shares
        if shares is None or horizon > len(shares.shares):
            set_text(self._weights_title, translate("Panels", "The weights are known while the trainer is running."))
            self.weights.show_rows((), ())
            return
        title = translate("Panels", "Weights in the current forecast, {0}, %").format(ahead(horizon))
        set_text(self._weights_title, title)
        of_horizon = shares.shares[horizon - 1]
        rows = []
        for place, expert in enumerate(shares.experts):
            cells = [
                _weight(of_quantity[place], expert, quantity)
                for quantity, of_quantity in zip(shares.quantities, of_horizon, strict=True)
            ]
            rows.append((expert_name(expert), cells))
        self.weights.show_rows([short_quantity_name(each) for each in shares.quantities], rows)


def _weight(share: float, expert: str, quantity: str) -> Cell:
    name, noun = expert_name(expert), quantity_name(quantity)
    if share == 0.0:
        return Cell(MISSING, tooltip=translate("Panels", "{0} does not forecast the {1}.").format(name, noun))
    text = "<1" if share < 0.01 else f"{100.0 * share:.0f}"
    tooltip = translate("Panels", "{0} has a weight of {1} in the {2} shown.")
    return Cell(text, round(share, 2), tooltip.format(name, format_percent(share, 1), noun))


def _losses(losses: ExpertLoss) -> tuple[Cell, ...]:
    close = translate(
        "Panels", "Mean pinball loss of “{0}” over the seven quantiles, of the close's logarithmic return."
    )
    height = translate("Panels", "Mean pinball loss of “{0}” over the seven quantiles, of the logarithm of the range.")
    close_skill = translate("Panels", "1 − its loss / the loss of “no change”, of the close.")
    range_skill = translate("Panels", "1 − its loss / the loss of “no change”, of the range.")
    name = expert_name(losses.name)
    return (
        Cell(_loss(losses.close), tooltip=close.format(name)),
        Cell(points(losses.close_skill), tooltip=close_skill),
        Cell(_loss(losses.range), tooltip=height.format(name)),
        Cell(points(losses.range_skill), tooltip=range_skill),
    )


def _loss(value: float | None) -> str:
    return MISSING if value is None else format_significant(value, 3)
