"""What the pages of the Accuracy dock share, and the two that are tables of figures."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QGridLayout,
    QHeaderView,
    QLabel,
    QScrollArea,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from core.accuracy.findings import HorizonAccuracy, HorizonSkill, QuantityAccuracy, RunAccuracy
from core.events import Estimate, ExpertShares
from desktop.formatting import MISSING, format_count
from desktop.icons import tabular
from desktop.panels.accuracy_words import COIN, measured, not_yet, points, proof, proof_in_full
from desktop.panels.base import colour_text, paragraphs, set_text
from desktop.theme import Palette, Theme


class Page(QWidget):
    """One tab. `show_found` is called with what was found last, and again when the palette is another."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme

    def show_found(self, found: RunAccuracy, shares: ExpertShares | None) -> None:
        """Put the numbers in place. shares: how forecasts are mixed now; None while no trainer stands."""

    def apply_palette(self, palette: Palette) -> None:
        """Take the palette's colours."""


def scrolling(inside: QWidget) -> QScrollArea:
    """`inside`, as wide as there is room, scrolled where it is higher."""
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setFrameShape(QScrollArea.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setWidget(inside)
    area.viewport().setAutoFillBackground(False)
    inside.setAutoFillBackground(False)
    return area


_MEANINGS = {
    "Skill": "The share of the loss of “no change” that what is shown spares. 0 is as good as “no change”, 100 would "
    "be to know the future. Loss: the pinball loss of seven quantiles, so the middle and the width both count.",
    "Against the best": "The same against the best single baseline. Which one that is, is known in hindsight only: "
    "nobody could have picked it beforehand.",
    "Best baseline": "The single baseline that lost least over these candles.",
    "Without the model": "The skill of a second combination that never sees the model.",
    "The model adds": "What the model adds to the skill of what is shown. While the interval includes 0, the model has "
    "not been shown to help.",
    "Direction": "How often the close came on the side of the last close that the forecast named. Flat candles are "
    "left out. Not proven while the interval includes 50 %, a coin.",
    "“Reverse last”": "How often the direction would have been right by always naming the opposite of the last one's."
    " Candles after a flat one are left out too.",
    "Majority": "How often the more frequent direction came: always naming it would have been right as often. Known in "
    "hindsight only.",
    "90 % band": "How often the close fell into the 90 % band; below it the worst and the best 500 candles in a row.",
}
_OF_QUANTITIES = ("Skill", "", "Against the best", "Best baseline", "Without the model", "The model adds", " ")
"""Rows with two columns: the close and the range. The nameless ones say what the row above proves."""
_OF_CLOSE = ("Direction", "“Reverse last”", "Majority", "90 % band")


class SkillPage(Page):
    """One horizon: skill, the best baseline, what the model adds, direction, coverage; each with interval and n."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        inside = QWidget()
        self._grid = QGridLayout(inside)
        self._grid.setContentsMargins(0, 2, 6, 2)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(1, 1)
        self._grid.setColumnStretch(2, 1)
        self._muted: list[QLabel] = []
        self.cells: dict[str, tuple[QLabel, QLabel]] = {}
        """By the row's name: what stands in its two columns."""
        for column, text in enumerate(("Close, %", "Range, %"), start=1):
            self._muted.append(self._put(QLabel(text), 0, column))
        row = self._build(_OF_QUANTITIES, 1)
        self._between = self._put(QLabel("Close, %"), row, 1)
        self._proofs = self._put(QLabel(""), row, 2)
        self._muted += [self._between, self._proofs]
        row = self._build(_OF_CLOSE, row + 1)
        self._extremes = QLabel()
        self._extremes.setFont(tabular(self.font()))
        self._muted.append(self._extremes)
        self._grid.addWidget(self._extremes, row, 1, 1, 2, Qt.AlignmentFlag.AlignRight)
        self._grid.setRowStretch(row + 1, 1)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(scrolling(inside))

    def show_found(self, found: RunAccuracy, shares: ExpertShares | None) -> None:
        chosen = found.chosen
        for column, of in enumerate((chosen.close, chosen.range)):
            self._show_quantity(column, of)
        self._show_direction(chosen)
        self._show_coverage(chosen)

    def apply_palette(self, palette: Palette) -> None:
        for label in self._muted:
            colour_text(label, palette.muted_text)

    def _build(self, names: Sequence[str], row: int) -> int:
        for name in names:
            title = QLabel(name.strip())
            title.setToolTip(paragraphs(_MEANINGS.get(name, "")))
            self._grid.addWidget(title, row, 0)
            cells = QLabel(), QLabel()
            for column, cell in enumerate(cells, start=1):
                cell.setFont(tabular(self.font(), scale=1.0 if name.strip() else 0.92))
                cell.setAccessibleName(name.strip())
                self._put(cell, row, column)
            if name in ("", " ", "Best baseline"):
                self._muted += [title, *cells]
            self.cells[name] = cells
            row += 1
        return row

    def _put(self, label: QLabel, row: int, column: int) -> QLabel:
        self._grid.addWidget(label, row, column, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return label

    def _show_quantity(self, column: int, of: QuantityAccuracy) -> None:
        name = ("The skill of the close", "The skill of the range")[column]
        self._set("Skill", column, measured(of.skill), proof_in_full(of.skill, name))
        self._set("", column, _verdict(of.skill, "better than “no change”", "worse than “no change”"))
        self._set(
            "Against the best", column, measured(of.skill_vs_best), proof_in_full(of.skill_vs_best, "Being better")
        )
        self._set("Best baseline", column, of.best_baseline or MISSING)
        self._set("Without the model", column, points(of.skill_without_model))
        self._set("The model adds", column, measured(of.model_gain, 3), proof_in_full(of.model_gain, "That it helps"))
        self._set(" ", column, _verdict(of.model_gain, "the model helps", "the model harms"))

    def _show_direction(self, chosen: HorizonAccuracy) -> None:
        for name, of in zip(_OF_CLOSE, (chosen.direction, chosen.reverse_last, chosen.majority), strict=False):
            self._set(name, 0, measured(of, 1, signed=False), _MEANINGS[name])
            self._set(name, 1, f"n = {format_count(of.n)}")
        words = proof(chosen.direction, "better than a coin", "worse than a coin", COIN)
        self._set("Direction", 1, f"{words}, n = {format_count(chosen.direction.n)}")

    def _show_coverage(self, chosen: HorizonAccuracy) -> None:
        of = chosen.coverage_90
        self._set("90 % band", 0, measured(of, 1, signed=False), _MEANINGS["90 % band"])
        self._set("90 % band", 1, f"n = {format_count(of.n)}")
        worst, best = (points(each, 1, signed=False) for each in (chosen.worst_500, chosen.best_500))
        known = f"worst 500 in a row {worst}, best {best}"
        few = f"worst and best 500 in a row: not yet, {format_count(of.n)} of 500 candles"
        set_text(self._extremes, few if chosen.worst_500 is None else known)

    def _set(self, name: str, column: int, text: str, tooltip: str = "") -> None:
        cell = self.cells[name][column]
        set_text(cell, text)
        if tooltip:
            cell.setToolTip(paragraphs(f"{_MEANINGS.get(name, '')}\n{tooltip}".strip()))


def _verdict(estimate: Estimate, above: str, below: str) -> str:
    return "not yet" if estimate.value is None else proof(estimate, above, below)


class HorizonsPage(Page):
    """A row for each horizon. A click, or Up and Down, chooses the one that the other pages show."""

    chosen = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.table = QTableWidget(0, 4, self)
        self.table.setHorizontalHeaderLabels(["Ahead", "Close skill, %", "Range skill, %", "n"])
        self.table.verticalHeader().hide()
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setShowGrid(False)
        self.table.setFont(tabular(self.font()))
        self.table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        header = self.table.horizontalHeader()
        header.setHighlightSections(False)
        header.setMinimumSectionSize(30)
        for column in range(4):
            is_wide = column in (1, 2)
            mode = QHeaderView.ResizeMode.Stretch if is_wide else QHeaderView.ResizeMode.ResizeToContents
            header.setSectionResizeMode(column, mode)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.table)
        self.table.currentCellChanged.connect(self._on_current)
        self._is_filling = False

    def show_found(self, found: RunAccuracy, shares: ExpertShares | None) -> None:
        self._is_filling = True
        self.table.setRowCount(len(found.horizons))
        for row, of in enumerate(found.horizons):
            self._fill(row, of)
        horizons = [of.horizon for of in found.horizons]
        if found.chosen.request.horizon in horizons:
            self.table.selectRow(horizons.index(found.chosen.request.horizon))
        self._is_filling = False

    def _fill(self, row: int, of: HorizonSkill) -> None:
        texts = (str(of.horizon), measured(of.close), measured(of.range), format_count(of.n))
        sentences = [
            proof_in_full(of.close, "The skill of the close"),
            f"The model adds {measured(of.model_gain_close, 3)} to it. "
            f"{proof_in_full(of.model_gain_close, 'That it helps')}",
            proof_in_full(of.range, "The skill of the range"),
            f"The model adds {measured(of.model_gain_range, 3)} to it. "
            f"{proof_in_full(of.model_gain_range, 'That it helps')}",
        ]
        tooltip = paragraphs(not_yet(of.n) if of.close.value is None else "\n".join(sentences))
        for column, text in enumerate(texts):
            item = self.table.item(row, column)
            if item is None:
                item = QTableWidgetItem()
                item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                self.table.setItem(row, column, item)
            if item.text() != text:
                item.setText(text)
            item.setToolTip(tooltip)

    def _on_current(self, row: int, _column: int, _row_before: int, _column_before: int) -> None:
        item = self.table.item(row, 0)
        if item is not None and not self._is_filling:
            self.chosen.emit(int(item.text()))
