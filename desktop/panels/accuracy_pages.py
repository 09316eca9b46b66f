"""What the pages of the Accuracy dock share, and the two that are tables of figures."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
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
from core.events import ExpertShares
from desktop.formatting import MISSING, format_count
from desktop.icons import tabular
from desktop.panels.accuracy_words import COIN, measured, not_yet, points, proof, proof_in_full, span
from desktop.panels.base import colour_text, paragraphs, set_text
from desktop.tables import dress_rows
from desktop.theme import Palette, Theme
from desktop.translation import translate


class Page(QWidget):
    """One tab. `show_found` is called with what was found last, and again when the palette is another."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme

    def show_found(self, found: RunAccuracy, shares: ExpertShares | None) -> None:
        """Put the numbers in place. shares: how forecasts are mixed now; None while no trainer stands."""

    def apply_palette(self, palette: Palette) -> None:
        """Take the palette's colours."""


def scrolling(inside: QWidget, name: str) -> QScrollArea:
    """`inside`, as wide as there is room, scrolled where it is higher. name: what a screen reader calls it."""
    area = QScrollArea()
    area.setAccessibleName(name)
    area.setWidgetResizable(True)
    area.setFrameShape(QScrollArea.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setWidget(inside)
    area.viewport().setAutoFillBackground(False)
    inside.setAutoFillBackground(False)
    return area


_MEANINGS = {
    "Against “no change”": "The skill: the share of the loss of “no change” that what is shown spares. 0 is as good "
    "as “no change”, 100 would be to know the future. Loss: the pinball loss of seven quantiles, so the middle and the "
    "width both count.",
    "Against the best": "The same against the best single baseline. Which one that is, is known in hindsight "
    "only: nobody could have picked it beforehand. Its name stands below.",
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
_OF_QUANTITIES = {"Against “no change”": 3, "Against the best": 3, "Without the model": 1, "The model adds": 3}
"""Rows with a column for the close and one for the range, and how many lines each has: the value, its interval, what
that proves."""
_OF_CLOSE = ("Direction", "“Reverse last”", "Majority", "90 % band")


class SkillPage(Page):
    """One horizon: skill, the best baseline, what the model adds; below it direction and coverage of the close."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._muted: list[QLabel] = []
        self.cells: dict[str, tuple[tuple[QLabel, ...], tuple[QLabel, ...]]] = {}
        """By the row's name: the lines of its close and of its range."""
        self.of_close: dict[str, tuple[QLabel, QLabel, QLabel]] = {}
        """By the row's name: value, interval, n."""
        self.direction_proof, self._extremes = QLabel(), QLabel()
        inside = QWidget()
        layout = QVBoxLayout(inside)
        layout.setContentsMargins(0, 2, 6, 2)
        layout.setSpacing(6)
        layout.addLayout(self._build_quantities())
        layout.addLayout(self._build_close())
        layout.addStretch(1)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(scrolling(inside, translate("Panels", "Skill in numbers")))

    def show_found(self, found: RunAccuracy, shares: ExpertShares | None) -> None:
        chosen = found.chosen
        for column, of in enumerate((chosen.close, chosen.range)):
            self._show_quantity(column, of)
        self._show_close(chosen)

    def apply_palette(self, palette: Palette) -> None:
        for label in self._muted:
            colour_text(label, palette.muted_text)

    def _build_quantities(self) -> QGridLayout:
        grid = _grid(1, 2)
        for column, text in enumerate(("Close, %", "Range, %"), start=1):
            grid.addWidget(self._small(text), 0, column, _RIGHT)
        row = 1
        for name, lines in _OF_QUANTITIES.items():
            grid.addWidget(self._named(name), row, 0)
            cells = tuple(tuple(self._line(name, line) for line in range(lines)) for _ in range(2))
            for column, labels in enumerate(cells, start=1):
                for line, label in enumerate(labels):
                    grid.addWidget(label, row + line, column, _RIGHT)
            self.cells[name] = (cells[0], cells[1])
            row += lines
        return grid

    def _build_close(self) -> QGridLayout:
        grid = _grid(1, 2, 3)
        for column, text in enumerate(("Close, %", "95 % interval", "n"), start=1):
            grid.addWidget(self._small(text), 0, column, _RIGHT)
        row = 1
        for name in _OF_CLOSE:
            grid.addWidget(self._named(name), row, 0)
            labels = self._line(name, 0), self._line(name, 1), self._line(name, 1)
            for column, label in enumerate(labels, start=1):
                grid.addWidget(label, row, column, _RIGHT)
            self.of_close[name] = labels
            row += 1
            below = {"Direction": self.direction_proof, "90 % band": self._extremes}.get(name)
            if below is not None:
                self._make_small(below)
                grid.addWidget(below, row, 1, 1, 3, _RIGHT)
                row += 1
        return grid

    def _named(self, name: str) -> QLabel:
        label = QLabel(name)
        label.setToolTip(paragraphs(_MEANINGS[name]))
        return label

    def _line(self, name: str, line: int) -> QLabel:
        """The value is bold, what stands below it small."""
        label = QLabel()
        label.setAccessibleName(name)
        if line:
            self._make_small(label)
        else:
            label.setFont(tabular(self.font(), bold=True))
        return label

    def _small(self, text: str) -> QLabel:
        label = QLabel(text)
        self._make_small(label)
        return label

    def _make_small(self, label: QLabel) -> None:
        label.setFont(tabular(self.font(), scale=0.92))
        self._muted.append(label)

    def _show_quantity(self, column: int, of: QuantityAccuracy) -> None:
        name = ("The skill of the close", "The skill of the range")[column]
        edge = proof(of.skill, "above 0", "below 0", "no edge proven")
        self._put(
            "Against “no change”", column, (points(of.skill.value), span(of.skill), edge), proof_in_full(of.skill, name)
        )
        best = points(of.skill_vs_best.value), span(of.skill_vs_best), of.best_baseline or MISSING
        self._put("Against the best", column, best, proof_in_full(of.skill_vs_best, "Being better"))
        self._put("Without the model", column, (points(of.skill_without_model),), "")
        gain = proof(of.model_gain, "the model helps", "the model harms", "no gain proven")
        lines = points(of.model_gain.value, 3), span(of.model_gain, 3), gain
        self._put("The model adds", column, lines, proof_in_full(of.model_gain, "That it helps"))

    def _put(self, name: str, column: int, texts: Sequence[str], sentence: str) -> None:
        for label, text in zip(self.cells[name][column], texts, strict=True):
            set_text(label, text)
            label.setToolTip(paragraphs(f"{_MEANINGS[name]}\n{sentence}".strip()))

    def _show_close(self, chosen: HorizonAccuracy) -> None:
        found = (chosen.direction, chosen.reverse_last, chosen.majority, chosen.coverage_90)
        for name, of in zip(_OF_CLOSE, found, strict=True):
            texts = points(of.value, 1, signed=False), span(of, 1), format_count(of.n)
            for label, text in zip(self.of_close[name], texts, strict=True):
                set_text(label, text)
                label.setToolTip(paragraphs(_MEANINGS[name] if of.value is not None else not_yet(of.n)))
        words = proof(
            chosen.direction, "better than a coin", "worse than a coin", "not proven better than a coin", COIN
        )
        set_text(self.direction_proof, words)
        worst, best = (points(each, 1, signed=False) for each in (chosen.worst_500, chosen.best_500))
        few = f"worst and best 500 in a row: not yet, {format_count(chosen.n)} of 500"
        known = f"500 in a row: worst {worst}, best {best}"
        set_text(self._extremes, few if chosen.worst_500 is None else known)


_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


def _grid(*stretched: int) -> QGridLayout:
    grid = QGridLayout()
    grid.setHorizontalSpacing(8)
    grid.setVerticalSpacing(1)
    for column in stretched:
        grid.setColumnStretch(column, 1)
    return grid


class HorizonsPage(Page):
    """A row for each horizon. A click, or Up and Down, chooses the one that the other pages show."""

    chosen = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.table = QTableWidget(0, 4, self)
        self.table.setHorizontalHeaderLabels(["Ahead", "Close skill, %", "Range skill, %", "n"])
        dress_rows(self.table, "Skill by candles ahead", several=False)
        self.table.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 5)
        self.table.verticalHeader().setMinimumSectionSize(self.fontMetrics().height() + 2)
        self.table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        header = self.table.horizontalHeader()
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
            self._fill(row, of, is_read=found.is_whole or of.n > 0)
        horizons = [of.horizon for of in found.horizons]
        if found.chosen.request.horizon in horizons:
            self.table.selectRow(horizons.index(found.chosen.request.horizon))
        self._is_filling = False

    def _fill(self, row: int, of: HorizonSkill, *, is_read: bool) -> None:
        texts = (str(of.horizon), measured(of.close, 1), measured(of.range, 1), format_count(of.n))
        if not is_read:
            texts = (str(of.horizon), "…", "…", "…")
        sentences = [
            f"Close: {measured(of.close)} %. {proof_in_full(of.close, 'The skill of the close')}",
            f"The model adds {measured(of.model_gain_close, 3)} to it. "
            f"{proof_in_full(of.model_gain_close, 'That it helps')}",
            f"Range: {measured(of.range)} %. {proof_in_full(of.range, 'The skill of the range')}",
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
