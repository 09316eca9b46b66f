"""What the pages of the Accuracy dock share, and the two that are tables of figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHeaderView, QTableView, QWidget

from core.domain.events import ExpertShares
from core.evaluation.findings import HorizonAccuracy, HorizonSkill, QuantityAccuracy, RunAccuracy
from core.forecast.confidence import FEWEST_FOR_A_PROOF
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
from desktop.ui.plain_text import Label, paragraphs
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

    def show_found(self, found: RunAccuracy, shares: ExpertShares | None) -> None:
        """Put the numbers in place. shares: current weights of the experts; None while no trainer is running."""


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
"""In the order of `HorizonAccuracy.also_drawn`."""
_SKILL_OF_CLOSE = QT_TRANSLATE_NOOP("Panels", "The skill of the close")
_SKILL_OF_RANGE = QT_TRANSLATE_NOOP("Panels", "The skill of the range")
_THAT_IT_HELPS = QT_TRANSLATE_NOOP("Panels", "That it helps")
"""What `proof_in_full` speaks of."""


class SkillPage(Page):
    """One horizon: skill, the best baseline, what the model adds; below it direction and coverage of the close."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.cells: dict[str, tuple[tuple[Label, ...], tuple[Label, ...]]] = {}
        """By the row's name: the lines of its close and of its range."""
        self.of_close: dict[str, tuple[Label, Label, Label]] = {}
        """By the row's name: value, interval, n."""
        self.also_drawn: dict[str, tuple[Label, Label, Label]] = {}
        """The same of what else ghosts show."""
        self.direction_proof, self._extremes = Label(), Label()
        inside = QWidget()
        parts = (self._build_quantities(), self._build_close(), self._build_drawn())
        stacked(inside, *parts, None, margins=(0, 2, 6, 2), spacing=6)
        stacked(self, DownScrolling(inside, translate("Panels", "Skill in numbers")), margins=NO_MARGINS)

    def show_found(self, found: RunAccuracy, shares: ExpertShares | None) -> None:
        chosen = found.chosen
        for column, of in enumerate((chosen.close, chosen.range)):
            self._show_quantity(column, of)
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
        """With the heads of its columns of numbers."""
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
        label.setToolTip(paragraphs(translate("Panels", MEANINGS[name])))
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

    def _show_quantity(self, column: int, of: QuantityAccuracy) -> None:
        name = translate("Panels", (_SKILL_OF_CLOSE, _SKILL_OF_RANGE)[column])
        above, below = translate("Panels", "above 0"), translate("Panels", "below 0")
        edge = proof(of.skill, above, below, translate("Panels", "no edge proven"))
        self._put(
            "Against “no change”",
            column,
            (points(value_of(of.skill)), span(of.skill), edge),
            proof_in_full(of.skill, name),
        )
        name_of_best = expert_name(of.best_baseline) if of.best_baseline else MISSING
        best = points(value_of(of.skill_vs_best)), span(of.skill_vs_best), name_of_best
        sentence = proof_in_full(of.skill_vs_best, translate("Panels", "Being better"))
        self._put("Against the best", column, best, sentence)
        without = None if value_of(of.skill) is None else of.skill_without_model
        self._put("Without the model", column, (points(without),), "")
        helps, harms = translate("Panels", "the model helps"), translate("Panels", "the model harms")
        gain = proof(of.model_gain, helps, harms, translate("Panels", "no gain proven"))
        lines = points(value_of(of.model_gain), 3), span(of.model_gain, 3), gain
        self._put("The model adds", column, lines, proof_in_full(of.model_gain, translate("Panels", _THAT_IT_HELPS)))

    def _put(self, name: str, column: int, texts: Sequence[str], sentence: str) -> None:
        _put(self.cells[name][column], texts, f"{translate('Panels', MEANINGS[name])}\n{sentence}".strip())

    def _show_close(self, chosen: HorizonAccuracy) -> None:
        found = (chosen.direction, chosen.reverse_last, chosen.majority, chosen.coverage_90)
        for name, of in zip(_OF_CLOSE, found, strict=True):
            texts = points(value_of(of), 1, signed=False), span(of, 1), format_count(of.n)
            if value_of(of) is not None:
                meaning = translate("Panels", MEANINGS[name])
            else:  # one that has a value, but no interval, is a sequence: that takes more candles
                meaning = not_yet(of.n) if of.value is None else not_yet(of.n, FEWEST_FOR_A_PROOF)
            _put(self.of_close[name], texts, meaning)
        better, worse = translate("Panels", "better than a coin flip"), translate("Panels", "worse than a coin flip")
        neither = translate("Panels", "not proven better than a coin flip")
        set_text(self.direction_proof, proof(chosen.direction, better, worse, neither, COIN))
        set_text(self._extremes, _extremes(chosen))


def _put(labels: Sequence[Label], texts: Sequence[str], tooltip: str) -> None:
    for label, text in zip(labels, texts, strict=True):
        set_text(label, text)
        label.setToolTip(paragraphs(tooltip))


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
        """Whether all horizons have been read."""
        self.model = RowsModel(self._columns(), self, tooltip=_in_sentences, key=lambda of: of.horizon)
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

    def show_found(self, found: RunAccuracy, shares: ExpertShares | None) -> None:
        self._is_filling, self._is_whole = True, found.is_whole
        self.model.show(found.horizons)
        share_room(self.table, _WIDE)
        horizons = [of.horizon for of in found.horizons]
        if found.chosen.request.horizon in horizons:
            self.table.selectRow(horizons.index(found.chosen.request.horizon))
        self._is_filling = False

    def _columns(self) -> tuple[Column[HorizonSkill], ...]:
        return (
            Column(translate("Panels", "Ahead"), lambda of: str(of.horizon), side=RIGHT),
            Column(translate("Panels", "Close skill, %"), self._read(lambda of: measured(of.close, 1)), side=RIGHT),
            Column(translate("Panels", "Range skill, %"), self._read(lambda of: measured(of.range, 1)), side=RIGHT),
            Column("n", self._read(lambda of: format_count(of.n)), side=RIGHT),
        )

    def _read(self, text: Callable[[HorizonSkill], str]) -> Callable[[HorizonSkill], str]:
        """An ellipsis in place of a text while its horizon has not been read yet."""
        return lambda of: text(of) if self._is_whole or of.n > 0 else "…"

    def _on_current(self, index: QModelIndex) -> None:
        if index.isValid() and not self._is_filling:
            self.chosen.emit(self.model.rows[index.row()].horizon)


def _in_sentences(of: HorizonSkill) -> str:
    """What is known of one horizon, a line for each of its numbers."""
    if of.close.value is None:
        return not_yet(of.n)
    close = translate("Panels", "Close: {0} %.").format(measured(of.close))
    height = translate("Panels", "Range: {0} %.").format(measured(of.range))
    adds, helps = translate("Panels", "The model adds {0} to it."), translate("Panels", _THAT_IT_HELPS)
    adds_close, adds_range = (adds.format(measured(gain, 3)) for gain in (of.model_gain_close, of.model_gain_range))
    sentences = (
        f"{close} {proof_in_full(of.close, translate('Panels', _SKILL_OF_CLOSE))}",
        f"{adds_close} {proof_in_full(of.model_gain_close, helps)}",
        f"{height} {proof_in_full(of.range, translate('Panels', _SKILL_OF_RANGE))}",
        f"{adds_range} {proof_in_full(of.model_gain_range, helps)}",
    )
    return "\n".join(sentences)
