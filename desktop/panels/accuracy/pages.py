"""The base of the Accuracy dock's pages, and its two tables of figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHeaderView, QTableView, QWidget

from core.evaluation.findings import HorizonAccuracy, HorizonSkill, QuantityAccuracy, RunAccuracy
from core.forecast.sample_sizes import FEWEST_FOR_A_PROOF
from desktop.panels.accuracy.words import (
    COIN,
    expert_name,
    measured,
    not_yet,
    points,
    proof,
    proof_in_full,
    span,
    value_of,
)
from desktop.ui.formatting import MISSING, format_count
from desktop.ui.icons import tabular
from desktop.ui.interface_size import scale_text, space_rows
from desktop.ui.panel_base import mute, set_text
from desktop.ui.plain_text import Label, set_tooltip
from desktop.ui.scrolling import DownScrolling
from desktop.ui.stacks import NO_MARGINS, stacked
from desktop.ui.tables import RIGHT, Column, RowsModel, share_room, style_table
from desktop.ui.theme import Theme
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate


class Page(QWidget):
    """One tab. `show_found` is called with the newest result, and again when the palette changes."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.theme = theme

    def show_found(self, found: RunAccuracy) -> None:
        raise NotImplementedError


MEANINGS = {
    "Against “no change”": (
        "Skill: how much smaller the loss of the combination is than that of “no change”. 0 is as good as “no "
        "change”; 100 would be knowing the future. Loss: the pinball loss of seven quantiles, so the middle and the "
        "width both count."
    ),
    "Against the best": (
        "The same against the best single baseline, named below. Which one is best is known only in hindsight: it "
        "could not have been picked beforehand."
    ),
    "Without the model": "Skill of a second combination that never sees the model.",
    "The model adds": (
        "What the model adds to the skill of the combination. While the interval includes 0, the model has not been "
        "shown to help."
    ),
    "Direction": (
        "How often the close was on the forecast side of the last close. Flat candles are excluded. Not proven while "
        "the interval includes 50 %, a coin flip."
    ),
    "“Reverse last”": (
        "How often always forecasting the opposite of the last direction would have been right. Candles after a flat "
        "one are excluded too."
    ),
    "Majority": (
        "How often the more frequent direction occurred: always forecasting it would have been right as often. Known "
        "only in hindsight."
    ),
    "90 % band": "How often the close fell into the 90 % band; below, the worst and the best 500 candles in a row.",
    "Body": "Skill of the body: from the open to the close of the candle.",
    "Upper wick": "Skill of the upper wick: from the body to the high.",
    "Lower wick": "Skill of the lower wick: from the body to the low.",
    "Volume": "Skill of the volume.",
}
_OF_QUANTITIES = {"Against “no change”": 3, "Against the best": 3, "Without the model": 1, "The model adds": 3}
"""Rows with a column for the close and one for the range, and how many lines each has: the value, its interval, what
that proves."""
_OF_CLOSE = ("Direction", "“Reverse last”", "Majority", "90 % band")
_ALSO_DRAWN = ("Body", "Upper wick", "Lower wick", "Volume")
"""Names in the order of `HorizonAccuracy.also_drawn`."""
_SKILL_OF_CLOSE = QT_TRANSLATE_NOOP("Panels", "The skill of the close")
_SKILL_OF_RANGE = QT_TRANSLATE_NOOP("Panels", "The skill of the range")
_GAIN_CLAIM = QT_TRANSLATE_NOOP("Panels", "That it helps")
"""The claim that `proof_in_full` judges."""


class SkillPage(Page):
    """One horizon: skill, the best baseline, what the model adds; below it direction and coverage of the close."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.cells: dict[str, tuple[tuple[Label, ...], tuple[Label, ...]]] = {}
        """The lines of close and range, by the row's name."""
        self.of_close: dict[str, tuple[Label, Label, Label]] = {}
        """Value, interval and n, by the row's name."""
        self.also_drawn: dict[str, tuple[Label, Label, Label]] = {}
        """Value, interval and n of the other quantities, by their names."""
        self.direction_proof, self._extremes = Label(), Label()
        inside = QWidget()
        parts = (self._build_quantities(), self._build_close(), self._build_drawn())
        stacked(inside, *parts, None, margins=(0, 2, 6, 2), spacing=6)
        stacked(self, DownScrolling(inside, translate("Panels", "Skill in numbers")), margins=NO_MARGINS)

    def show_found(self, found: RunAccuracy) -> None:
        chosen = found.chosen
        for column, quantity in enumerate((chosen.close, chosen.range)):
            self._show_quantity(column, quantity)
        self._show_close(chosen)
        for name, drawn in zip(_ALSO_DRAWN, chosen.also_drawn, strict=True):
            texts = points(value_of(drawn.skill)), span(drawn.skill), format_count(drawn.skill.n)
            sentence = proof_in_full(drawn.skill, translate("Panels", "The skill"))
            if not drawn.is_stored:
                texts = translate("Panels", "not stored"), MISSING, MISSING
                sentence = translate("Panels", "Not stored with these scores; newer ones have it.")
            _put(self.also_drawn[name], texts, f"{translate('Panels', MEANINGS[name])}\n{sentence}")

    def _build_quantities(self) -> QGridLayout:
        grid, row = self._grid(translate("Panels", "Close, %"), translate("Panels", "Range, %")), 1
        for name, lines in _OF_QUANTITIES.items():
            grid.addWidget(self._named(name), row, 0)
            cells = tuple(tuple(self._line(name, line) for line in range(lines)) for _ in range(2))
            for column, labels in enumerate(cells, start=1):
                for line, label in enumerate(labels):
                    grid.addWidget(label, row + line, column, RIGHT)
            self.cells[name] = (cells[0], cells[1])
            row += lines
        return grid

    def _build_close(self) -> QGridLayout:
        grid, row = self._grid(translate("Panels", "Close, %"), translate("Panels", "95 % interval"), "n"), 1
        for name in _OF_CLOSE:
            self.of_close[name] = self._measured_row(grid, row, name)
            row += 1
            below = {"Direction": self.direction_proof, "90 % band": self._extremes}.get(name)
            if below is not None:
                self._make_small(below)
                grid.addWidget(below, row, 1, 1, 3, RIGHT)
                row += 1
        return grid

    def _build_drawn(self) -> QGridLayout:
        grid = self._grid(translate("Panels", "Its skill, %"), translate("Panels", "95 % interval"), "n")
        grid.addWidget(self._small(translate("Panels", "Other values")), 0, 0)
        for row, name in enumerate(_ALSO_DRAWN, start=1):
            self.also_drawn[name] = self._measured_row(grid, row, name)
        return grid

    def _grid(self, *heads: str) -> QGridLayout:
        """A grid whose first row has the headings of the number columns."""
        grid = QGridLayout()
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(1)
        for column, text in enumerate(heads, start=1):
            grid.setColumnStretch(column, 1)
            grid.addWidget(self._small(text), 0, column, RIGHT)
        return grid

    def _measured_row(self, grid: QGridLayout, row: int, name: str) -> tuple[Label, Label, Label]:
        grid.addWidget(self._named(name), row, 0)
        labels = self._line(name, 0), self._line(name, 1), self._line(name, 1)
        for column, label in enumerate(labels, start=1):
            grid.addWidget(label, row, column, RIGHT)
        return labels

    def _named(self, name: str) -> Label:
        label = Label(translate("Panels", name))
        set_tooltip(label, translate("Panels", MEANINGS[name]))
        return label

    def _line(self, name: str, line: int) -> Label:
        """The value is bold, the text below it small."""
        label = Label()
        label.setAccessibleName(translate("Panels", name))
        if line:
            self._make_small(label)
        else:
            label.setFont(tabular(self.font(), bold=True))
        return label

    def _small(self, text: str) -> Label:
        label = Label(text)
        self._make_small(label)
        return label

    def _make_small(self, label: Label) -> None:
        scale_text(label, 0.92)
        mute(label)

    def _show_quantity(self, column: int, quantity: QuantityAccuracy) -> None:
        name = translate("Panels", (_SKILL_OF_CLOSE, _SKILL_OF_RANGE)[column])
        above, below = translate("Panels", "above 0"), translate("Panels", "below 0")
        edge = proof(quantity.skill, above, below, translate("Panels", "no edge proven"))
        skill = points(value_of(quantity.skill)), span(quantity.skill), edge
        self._put("Against “no change”", column, skill, proof_in_full(quantity.skill, name))
        name_of_best = expert_name(quantity.best_baseline) if quantity.best_baseline else MISSING
        best = points(value_of(quantity.skill_vs_best)), span(quantity.skill_vs_best), name_of_best
        sentence = proof_in_full(quantity.skill_vs_best, translate("Panels", "Being better"))
        self._put("Against the best", column, best, sentence)
        without = None if value_of(quantity.skill) is None else quantity.skill_without_model
        self._put("Without the model", column, (points(without),), "")
        helps, harms = translate("Panels", "the model helps"), translate("Panels", "the model harms")
        gain = proof(quantity.model_gain, helps, harms, translate("Panels", "no gain proven"))
        lines = points(value_of(quantity.model_gain), 3), span(quantity.model_gain, 3), gain
        self._put("The model adds", column, lines, proof_in_full(quantity.model_gain, translate("Panels", _GAIN_CLAIM)))

    def _put(self, name: str, column: int, texts: Sequence[str], sentence: str) -> None:
        _put(self.cells[name][column], texts, f"{translate('Panels', MEANINGS[name])}\n{sentence}".strip())

    def _show_close(self, chosen: HorizonAccuracy) -> None:
        found = (chosen.direction, chosen.reverse_last, chosen.majority, chosen.coverage_90)
        for name, estimate in zip(_OF_CLOSE, found, strict=True):
            texts = points(value_of(estimate), 1, signed=False), span(estimate, 1), format_count(estimate.n)
            if value_of(estimate) is not None:
                meaning = translate("Panels", MEANINGS[name])
            else:  # a value without an interval needs more candles
                meaning = not_yet(estimate.n) if estimate.value is None else not_yet(estimate.n, FEWEST_FOR_A_PROOF)
            _put(self.of_close[name], texts, meaning)
        better, worse = translate("Panels", "better than a coin flip"), translate("Panels", "worse than a coin flip")
        neither = translate("Panels", "not proven better than a coin flip")
        set_text(self.direction_proof, proof(chosen.direction, better, worse, neither, COIN))
        set_text(self._extremes, _extremes(chosen))


def _put(labels: Sequence[Label], texts: Sequence[str], tooltip: str) -> None:
    for label, text in zip(labels, texts, strict=True):
        set_text(label, text)
        set_tooltip(label, tooltip)


def _extremes(chosen: HorizonAccuracy) -> str:
    if chosen.worst_500 is None:
        few = translate("Panels", "worst and best 500 in a row: not yet, {0} of 500")
        return few.format(format_count(chosen.n))
    worst, best = (points(each, 1, signed=False) for each in (chosen.worst_500, chosen.best_500))
    return translate("Panels", "500 in a row: worst {0}, best {1}").format(worst, best)


_WIDE = (1, 2)
"""The columns of the skills."""


class _HorizonsTable(QTableView):
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        share_room(self, _WIDE)


class HorizonsPage(Page):
    """A row for each horizon. A click, or Up and Down, chooses the one that the other pages show."""

    chosen = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._is_whole = False
        self.model = RowsModel(self._columns(), self, tooltip=_in_sentences, key=lambda row: row.horizon)
        self.table = _HorizonsTable()
        self.table.setModel(self.model)
        style_table(self.table, translate("Panels", "Skill by candles ahead"), several=False)
        self.table.verticalHeader().setMinimumSectionSize(1)  # the default is a larger one
        space_rows(self.table, 5)
        header = self.table.horizontalHeader()
        header.setMinimumSectionSize(30)
        for column in range(header.count()):
            is_wide = column in _WIDE
            mode = QHeaderView.ResizeMode.Fixed if is_wide else QHeaderView.ResizeMode.ResizeToContents
            header.setSectionResizeMode(column, mode)
        stacked(self, self.table, margins=NO_MARGINS)
        self.table.selectionModel().currentRowChanged.connect(self._on_current)
        self._is_filling = False

    def show_found(self, found: RunAccuracy) -> None:
        self._is_filling, self._is_whole = True, found.is_whole
        self.model.show(found.horizons)
        share_room(self.table, _WIDE)
        horizons = [row.horizon for row in found.horizons]
        if found.chosen.request.horizon in horizons:
            self.table.selectRow(horizons.index(found.chosen.request.horizon))
        self._is_filling = False

    def _columns(self) -> tuple[Column[HorizonSkill], ...]:
        return (
            Column(translate("Panels", "Ahead"), lambda row: str(row.horizon), side=RIGHT),
            Column(translate("Panels", "Close skill, %"), self._read(lambda row: measured(row.close, 1)), side=RIGHT),
            Column(translate("Panels", "Range skill, %"), self._read(lambda row: measured(row.range, 1)), side=RIGHT),
            Column("n", self._read(lambda row: format_count(row.n)), side=RIGHT),
        )

    def _read(self, text: Callable[[HorizonSkill], str]) -> Callable[[HorizonSkill], str]:
        """An ellipsis in place of a text while its horizon has not been read yet."""
        return lambda row: text(row) if self._is_whole or row.n > 0 else "…"

    def _on_current(self, index: QModelIndex) -> None:
        if index.isValid() and not self._is_filling:
            self.chosen.emit(self.model.rows[index.row()].horizon)


def _in_sentences(row: HorizonSkill) -> str:
    """The results of one horizon, a line for each of its numbers."""
    if row.close.value is None:
        return not_yet(row.n)
    close = translate("Panels", "Close: {0} %.").format(measured(row.close))
    height = translate("Panels", "Range: {0} %.").format(measured(row.range))
    adds, helps = translate("Panels", "The model adds {0} to it."), translate("Panels", _GAIN_CLAIM)
    adds_close, adds_range = (adds.format(measured(gain, 3)) for gain in (row.model_gain_close, row.model_gain_range))
    sentences = (
        f"{close} {proof_in_full(row.close, translate('Panels', _SKILL_OF_CLOSE))}",
        f"{adds_close} {proof_in_full(row.model_gain_close, helps)}",
        f"{height} {proof_in_full(row.range, translate('Panels', _SKILL_OF_RANGE))}",
        f"{adds_range} {proof_in_full(row.model_gain_range, helps)}",
    )
    return "\n".join(sentences)
