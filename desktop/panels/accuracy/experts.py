"""Weights of the experts, and the loss of each alone: two painted tables, one below the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QEvent, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QHelpEvent, QPainter, QPaintEvent, QStaticText
from PySide6.QtWidgets import QSizePolicy, QWidget

from core.domain.events import ExpertShares
from core.evaluation.findings import ExpertLoss, RunAccuracy
from desktop.panels.accuracy.pages import Page
from desktop.panels.accuracy.words import ahead, expert_name, not_yet, points, quantity_name, short_quantity_name
from desktop.ui.formatting import MISSING, format_count, format_percent, format_significant
from desktop.ui.icons import tabular
from desktop.ui.panel_base import mute, set_text
from desktop.ui.plain_text import Label, show_tooltip
from desktop.ui.scrolling import DownScrolling
from desktop.ui.stacks import NO_MARGINS, stacked
from desktop.ui.theme import Theme, mixed
from desktop.ui.translation import translate

_MOST_TEXTS = 500
_STRONGEST = 0.62
"""How much of the accent colour a weight of 100 % has: text on it must stay readable."""


@dataclass(frozen=True, slots=True)
class Cell:
    """share: 0 to 1, how strongly the cell is shaded; None for none. Two that look alike are equal."""

    text: str
    share: float | None = None
    tooltip: str = field(default="", compare=False)


class HeatTable(QWidget):
    """Names at the left, then cells of equal width. Painted, so that many cells cost little."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._heads: tuple[str, ...] = ()
        self.rows: tuple[tuple[str, tuple[Cell, ...]], ...] = ()
        self._names_width = 60
        self._texts: dict[str, QStaticText] = {}
        self.setFont(tabular(self.font()))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_rows(self, heads: Sequence[str], rows: Sequence[tuple[str, Sequence[Cell]]]) -> None:
        """Names of the columns, and rows of a name and its cells."""
        taken = tuple((name, tuple(cells)) for name, cells in rows)
        looks_other = (tuple(heads), taken) != (self._heads, self.rows)
        self._heads, self.rows = tuple(heads), taken
        if looks_other:
            metrics = QFontMetrics(self.font())
            self._names_width = max((metrics.horizontalAdvance(name) for name, _ in taken), default=60) + 6
            self.updateGeometry()
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(340, self._pitch * (len(self.rows) + 1))

    def minimumSizeHint(self) -> QSize:
        return QSize(200, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        palette = self._theme.palette
        painter = QPainter(self)
        painter.setFont(self.font())
        painter.setPen(palette.muted_text)
        for column, head in enumerate(self._heads):
            self._write(painter, self._place(0, column), head)
        for row, (name, cells) in enumerate(self.rows, start=1):
            painter.setPen(palette.text)
            painter.drawStaticText(0, row * self._pitch + 2, self._static(name))
            for column, cell in enumerate(cells):
                place = self._place(row, column)
                if cell.share is not None:
                    shade = mixed(palette.accent, palette.panel, _STRONGEST * cell.share)
                    painter.fillRect(place.adjusted(2, 1, 0, -1), shade)
                painter.setPen(palette.text if cell.text != MISSING else palette.muted_text)
                self._write(painter, place, cell.text)
        painter.end()

    def _write(self, painter: QPainter, place: QRect, text: str) -> None:
        """Right-aligned."""
        static = self._static(text)
        painter.drawStaticText(place.right() - 3 - round(static.size().width()), place.top() + 2, static)

    def _static(self, text: str) -> QStaticText:
        """Laid out once: that is most of what writing costs."""
        known = self._texts.get(text)
        if known is None:
            if len(self._texts) >= _MOST_TEXTS:
                self._texts.clear()
            known = QStaticText(text)
            known.setTextFormat(Qt.TextFormat.PlainText)
            known.prepare(font=self.font())
            self._texts[text] = known
        return known

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            show_tooltip(event.globalPos(), self.tooltip_at(event.pos().x(), event.pos().y()), self)
            return True
        return super().event(event)

    def tooltip_at(self, x: int, y: int) -> str:
        """What is said of the cell at this place; empty where there is none."""
        for row, (_name, cells) in enumerate(self.rows, start=1):
            for column, cell in enumerate(cells):
                if self._place(row, column).contains(x, y):
                    return cell.tooltip
        return ""

    @property
    def _pitch(self) -> int:
        return QFontMetrics(self.font()).height() + 4

    def _place(self, row: int, column: int) -> QRect:
        columns = max(len(self._heads), 1)
        left, room = self._names_width, self.width() - self._names_width
        first, last = (left + room * each // columns for each in (column, column + 1))
        return QRect(first, row * self._pitch, last - first, self._pitch)

    def in_words(self) -> str:
        """The rows from top to bottom, for those who do not see them."""
        return "; ".join(
            f"{name}: " + ", ".join(f"{head} {cell.text}" for head, cell in zip(self._heads, cells, strict=False))
            for name, cells in self.rows
        )


class ExpertsPage(Page):
    """The weights of the chosen horizon, a column a quantity; then the loss of each expert alone."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._weights_title, self._losses_title = Label(wraps=True), Label(wraps=True)
        self.weights, self.losses = HeatTable(theme), HeatTable(theme)
        inside = QWidget()
        parts = (self._weights_title, self.weights, self._losses_title, self.losses)
        stacked(inside, *parts, None, margins=(0, 0, 6, 2), spacing=2)
        mute(self._weights_title, self._losses_title)
        stacked(self, DownScrolling(inside, translate("Panels", "Experts in numbers")), margins=NO_MARGINS)

    def show_found(self, found: RunAccuracy, shares: ExpertShares | None) -> None:
        horizon = found.chosen.request.horizon
        self._show_weights(horizon, shares)
        experts = found.chosen.experts
        known = translate("Panels", "Loss of each expert alone, n = {0}; skill against “no change”")
        unknown = translate("Panels", "Loss of each expert alone.")
        n = found.chosen.n
        set_text(self._losses_title, known.format(format_count(n)) if experts else f"{unknown} {not_yet(n)}")
        skill = translate("Panels", "skill, %")
        heads = (quantity_name("close"), skill, quantity_name("range"), skill)
        self.losses.show_rows(heads if experts else (), [(expert_name(each.name), _losses(each)) for each in experts])

    def _show_weights(self, horizon: int, shares: ExpertShares | None) -> None:
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
    name, of = expert_name(expert), quantity_name(quantity)
    if share == 0.0:
        return Cell(MISSING, tooltip=translate("Panels", "{0} does not forecast the {1}.").format(name, of))
    text = "<1" if share < 0.01 else f"{100.0 * share:.0f}"
    tooltip = translate("Panels", "{0} has a weight of {1} in the {2} shown.").format(
        name, format_percent(share, 1), of
    )
    return Cell(text, round(share, 2), tooltip)


def _losses(of: ExpertLoss) -> tuple[Cell, ...]:
    close = translate(
        "Panels", "Mean pinball loss of “{0}” over the seven quantiles, of the close's logarithmic return."
    )
    height = translate("Panels", "Mean pinball loss of “{0}” over the seven quantiles, of the logarithm of the range.")
    close_skill = translate("Panels", "1 − its loss / the loss of “no change”, of the close.")
    range_skill = translate("Panels", "1 − its loss / the loss of “no change”, of the range.")
    name = expert_name(of.name)
    return (
        Cell(_loss(of.close), tooltip=close.format(name)),
        Cell(points(of.close_skill), tooltip=close_skill),
        Cell(_loss(of.range), tooltip=height.format(name)),
        Cell(points(of.range_skill), tooltip=range_skill),
    )


def _loss(value: float | None) -> str:
    return MISSING if value is None else format_significant(value, 3)
