"""The table of the accuracy panel: a row for each measure, in as many lines as its numbers need at the width it has."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import accumulate

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QStyle, QWidget

from core.domain.events import AccuracySummary, Estimate, ForecastGroup
from core.forecast.sample_sizes import FEWEST_FOR_A_PROOF, FEWEST_FOR_AN_ESTIMATE
from desktop.panels.accuracy.words import not_yet, span, value_of
from desktop.ui.formatting import MISSING, format_count, format_percent
from desktop.ui.icons import tabular
from desktop.ui.interface_size import scale_text
from desktop.ui.interval_bar import IntervalBar
from desktop.ui.panel_base import mute, set_text
from desktop.ui.plain_text import Label, set_tooltip
from desktop.ui.theme import Theme
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_SHARES_REACH, _SKILLS_REACH = 0.1, 0.25


class Kind(Enum):
    """The reference of a measure."""

    TO_BEAT = auto()
    PROMISE = auto()
    SKILL = auto()


@dataclass(frozen=True, slots=True)
class Term:
    """One row: its name and meaning, in English."""

    name: str
    meaning: str
    kind: Kind = Kind.TO_BEAT

    @property
    def reach(self) -> float:
        """How far the row's bar reaches to each side. Fixed, so that a bar moves only when its numbers do."""
        return _SKILLS_REACH if self.kind is Kind.SKILL else _SHARES_REACH

    @property
    def fewest(self) -> int:
        """Candles from which on it has an interval, and so a number."""
        return FEWEST_FOR_A_PROOF if self.kind is Kind.SKILL else FEWEST_FOR_AN_ESTIMATE

    @property
    def bar_meaning(self) -> str:
        if self.kind is Kind.SKILL:
            others = translate("Panels", "The other skill has the same scale.")
        else:
            others = translate("Panels", "Direction, candle accuracy and both bands have the same scale.")
        bar = translate(
            "Panels",
            "The bar shows the interval, from {0} points below to {0} points above the value compared with, which is "
            "the mark in the middle.",
        )
        return f"{bar.format(round(self.reach * 100))} {others}"


TERMS = (
    Term(
        "Direction",
        "How often the next candle closed on the forecast side of the last close.\nFlat candles are excluded. "
        "Against: 50 %, a coin flip. Rules as simple as “the reverse of the last candle” reach 54 % on some "
        "markets, so a little more than 50 % alone proves nothing.",
    ),
    Term(
        "Candle accuracy",
        "Overlap of the forecast candle and the real one, from low to high: the length that both cover, divided "
        "by the length that either covers. 100 % is the same candle.\nAgainst: the same for the reference, “no "
        "change, with the usual width of this market”.",
    ),
    Term(
        "50 % band",
        "Share of closes inside the inner band. Against: 50 %, the promise of the band.\nLess means that the "
        "band is too narrow, more that it is too wide.",
        Kind.PROMISE,
    ),
    Term(
        "90 % band",
        "Share of closes inside the outer band. Against: 90 %, the promise of the band.\nLess means that the "
        "band is too narrow, more that it is too wide.",
        Kind.PROMISE,
    ),
    Term(
        "Close skill",
        "How much smaller the loss of the forecast close is than that of the reference, “no change, with the "
        "usual width of this market”. 0 % is no better, below is worse.\nSkill = 1 − loss / loss of the "
        "reference.",
        Kind.SKILL,
    ),
    Term(
        "Range skill",
        "The same for the candle's range, from low to high. Volatility is far easier to forecast than direction, "
        "so this skill is usually the larger one; it is no edge.",
        Kind.SKILL,
    ),
)

INTERVAL_MEANING = QT_TRANSLATE_NOOP(
    "Panels",
    "If the same market could be watched again and again, 95 of 100 such intervals would contain the true value. "
    "While the interval contains the value compared with, nothing is proven. The intervals of the skills hold "
    "however often you look, over all of the run's own candles; the others hold for one look at the newest candles.",
)


def measured(accuracy: AccuracySummary) -> tuple[tuple[Estimate, float | None], ...]:
    """Each term's estimate and what it is measured against, in the order of `TERMS`."""
    return (
        (accuracy.direction, 0.5),
        (accuracy.candle_accuracy, accuracy.reference_candle_accuracy),
        (accuracy.coverage_50, 0.5),
        (accuracy.coverage_90, 0.9),
        (accuracy.skill_close, 0.0),
        (accuracy.skill_range, 0.0),
    )


_GAP, _LINE_GAP = 7, 2
_HEADERS = (
    ("", ""),
    (QT_TRANSLATE_NOOP("Panels", "Now"), ""),
    (QT_TRANSLATE_NOOP("Panels", "95 % interval"), INTERVAL_MEANING),
    ("", ""),
    (
        QT_TRANSLATE_NOOP("Panels", "Against"),
        QT_TRANSLATE_NOOP(
            "Panels", "What the value is compared with: a coin flip, “no change”, or the promise of a band."
        ),
    ),
    ("n", QT_TRANSLATE_NOOP("Panels", "Candles")),
)


_Place = tuple[int, int, int]


class Shape(Enum):
    """Places of the six columns in the grid: line, column, columns taken; None if one is left out. The first that
    fits is taken."""

    WHOLE = ((0, 0, 1), (0, 1, 1), (0, 2, 1), (0, 3, 1), (0, 4, 1), (0, 5, 1))
    WITHOUT_BAR = ((0, 0, 1), (0, 1, 1), (0, 2, 1), None, (0, 3, 1), (0, 4, 1))
    TWO_LINES = ((0, 0, 2), (0, 2, 1), (1, 0, 1), None, (1, 1, 1), (1, 2, 1))

    @property
    def places(self) -> tuple[_Place | None, ...]:
        places: tuple[_Place | None, ...] = self.value
        return places

    @property
    def lines(self) -> int:
        return 1 + max(place[0] for place in self.places if place is not None)

    @property
    def columns(self) -> int:
        return 1 + max(place[1] for place in self.places if place is not None)

    @property
    def stretched(self) -> int:
        """The grid's column that takes what room is left: the bar's, or the first."""
        bar = self.places[3]
        return 0 if bar is None else bar[1]


class Row:
    """The cells of one term."""

    def __init__(self, term: Term, theme: Theme, parent: QWidget) -> None:
        self.term, self._meaning = term, translate("Panels", term.meaning)
        self._theme = theme
        numbers = tabular(parent.font())
        self._cells = [Label(text, parent) for text in (translate("Panels", term.name), *[MISSING] * 4)]
        self.name, self.value, self._interval, self._against, self._n = self._cells
        self.value.setFont(tabular(parent.font(), bold=True))
        self.bar = IntervalBar(theme, term.reach, parent)
        for label in (self._interval, self._against, self._n):
            label.setFont(numbers)
            mute(label)
        for widget in (*self._cells, self.bar):
            set_tooltip(widget, self._meaning)

    @property
    def parts(self) -> tuple[QWidget, ...]:
        """The cells in the order of the columns."""
        return self.name, self.value, self._interval, self.bar, self._against, self._n

    def show(self, estimate: Estimate, against: float | None, *, is_live: bool, is_models_own: bool) -> None:
        value = value_of(estimate)
        set_text(self.value, format_percent(value, 1, signed=self.term.kind is Kind.SKILL))
        when_known = translate("Panels", "from n = {0}").format(self.term.fewest)
        set_text(self._interval, when_known if value is None else span(estimate, 1))
        set_text(self._against, _whole_percent(against))
        set_text(self._n, format_count(estimate.n))
        colour = self._colour(estimate, against, is_live=is_live, is_models_own=is_models_own)
        self.bar.show_estimate(estimate, against, colour)
        if value is None:
            words = not_yet(estimate.n, self.term.fewest)
        else:
            words = translate("Panels", "95 % interval: {0} %. n = {1}.")
            words = words.format(span(estimate, 1), format_count(estimate.n))
        for widget in self._cells:
            set_tooltip(widget, f"{self._meaning}\n{words}")
        set_tooltip(self.bar, f"{words}\n{self.term.bar_meaning}")

    def _colour(
        self, estimate: Estimate, against: float | None, *, is_live: bool, is_models_own: bool
    ) -> QColor | None:
        """The colour of a band that keeps its promise or does not, and of a skill that is proven live: green only if
        the model has a proven part in it. The other intervals hold for one look, so they prove nothing."""
        if against is None or estimate.low is None or estimate.high is None:
            return None
        palette = self._theme.palette
        if self.term.kind is Kind.PROMISE:
            return palette.warning if not estimate.low <= against <= estimate.high else palette.good
        if self.term.kind is not Kind.SKILL or not is_live:
            return None
        if estimate.low > against:
            return palette.good if is_models_own else palette.accent
        return palette.bad if estimate.high < against else None


class AccuracyTable(QWidget):
    """Never narrower than its numbers: a row takes two lines if one is too long, and asks for room below that.

    It places its cells itself: a layout would report its height before the number of lines is known.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.headers = [self._header(text, tooltip) for text, tooltip in _HEADERS]
        self.rows = tuple(Row(term, theme, self) for term in TERMS)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        for parts in self._all_parts():
            for column, part in enumerate(parts):
                if isinstance(part, Label) and column:
                    part.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)

    @property
    def shape(self) -> Shape:
        return self._fitting(self.width())

    def show_summary(self, shown: AccuracySummary, *, is_models_own: bool) -> None:
        """is_models_own: whether the model has a proven part in them."""
        is_live = shown.group is ForecastGroup.LIVE
        for row, (estimate, against) in zip(self.rows, measured(shown), strict=True):
            row.show(estimate, against, is_live=is_live, is_models_own=is_models_own)
        self.updateGeometry()
        self._place()

    def minimumSizeHint(self) -> QSize:
        return QSize(_room(self._columns(Shape.TWO_LINES)), self._height(Shape.WHOLE))

    def sizeHint(self) -> QSize:
        return QSize(_room(self._columns(Shape.WHOLE)), self._height(Shape.WHOLE))

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._height(self._fitting(width))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def _all_parts(self) -> Iterator[Sequence[QWidget]]:
        yield self.headers
        for row in self.rows:
            yield row.parts

    def _fitting(self, width: int) -> Shape:
        return next((shape for shape in Shape if _room(self._columns(shape)) <= width), Shape.TWO_LINES)

    def _columns(self, shape: Shape) -> list[int]:
        """The least widths in which no text is cut."""
        columns, across = [0] * shape.columns, 0
        for parts in self._all_parts():
            for part, place in zip(parts, shape.places, strict=True):
                if place is None:
                    continue
                _line, column, taken = place
                room = part.minimumSizeHint().width()
                if taken == 1:
                    columns[column] = max(columns[column], room)
                else:
                    across = max(across, room)
        columns[0] += max(across - _room(columns[:2]), 0)
        return columns

    def _height(self, shape: Shape) -> int:
        return (1 + len(self.rows)) * shape.lines * self._line_height()

    def _line_height(self) -> int:
        """The height of a line: numbers and names have different fonts."""
        first = self.rows[0]
        return max(first.name.sizeHint().height(), first.value.sizeHint().height()) + _LINE_GAP

    def _place(self) -> None:
        shape, height = self.shape, self._line_height()
        columns = self._columns(shape)
        columns[shape.stretched] += max(self.width() - _room(columns), 0)
        lefts = list(accumulate(columns[:-1], lambda left, width: left + width + _GAP, initial=0))
        for row, parts in enumerate(self._all_parts()):
            for part, place in zip(parts, shape.places, strict=True):
                part.setVisible(place is not None)
                if place is not None:
                    line, column, taken = place
                    width = _room(columns[column : column + taken])
                    cell = QRect(lefts[column], (row * shape.lines + line) * height, width, height - _LINE_GAP)
                    part.setGeometry(QStyle.visualRect(self.layoutDirection(), self.rect(), cell))

    def _header(self, text: str, tooltip: str) -> Label:
        header = Label(_shown(text), self)
        scale_text(header, 0.9)
        mute(header)
        set_tooltip(header, _shown(tooltip))
        return header


def _room(columns: Sequence[int]) -> int:
    return sum(columns) + _GAP * (len(columns) - 1)


def _shown(text: str) -> str:
    """An empty text has no translation."""
    return translate("Panels", text) if text else ""


def _whole_percent(value: float | None) -> str:
    if value is None or not math.isfinite(value):
        return MISSING
    is_whole = abs(value * 100 - round(value * 100)) < 0.005
    return format_percent(value, 0 if is_whole else 1)
