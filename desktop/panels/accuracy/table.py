"""The table of single figures: a row for each measure, in as many lines as its numbers need at the width it has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import accumulate

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QStyle, QWidget

from core.domain.events import Estimate
from core.evaluation.findings import HorizonAccuracy
from core.forecast.sample_sizes import FEWEST_FOR_A_PROOF
from desktop.panels.accuracy.words import NOTHING, is_of_nothing, not_yet, points, span, value_of
from desktop.ui.formatting import MISSING, format_count, format_percent
from desktop.ui.icons import tabular
from desktop.ui.interface_size import scale_text
from desktop.ui.interval_bar import IntervalBar
from desktop.ui.panel_base import mute, set_text
from desktop.ui.plain_text import Label, set_tooltip
from desktop.ui.theme import Theme
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

COIN = 0.5
_SHARES_REACH, _SKILLS_REACH = 0.1, 0.25


class Kind(Enum):
    """The reference of a measure."""

    TO_BEAT = auto()
    PROMISE = auto()
    SKILL = auto()


@dataclass(frozen=True, slots=True)
class Term:
    """One row: its name and meaning, in English, and the value that it is compared with."""

    name: str
    meaning: str
    kind: Kind
    against: float

    @property
    def reach(self) -> float:
        """How far the row's bar reaches to each side. Fixed, so that a bar moves only when its numbers do."""
        return _SKILLS_REACH if self.kind is Kind.SKILL else _SHARES_REACH

    @property
    def fewest(self) -> int:
        """Candles from which on it has an interval, and so a number."""
        return FEWEST_FOR_A_PROOF

    @property
    def bar_meaning(self) -> str:
        bar = translate(
            "Panels",
            "The bar shows the interval, from {0} points below to {0} points above the value compared with, which is "
            "the mark in the middle.",
        )
        return bar.format(round(self.reach * 100))


TERMS = (
    Term(
        "50 % band",
        "Share of closes inside the inner band. Against: 50 %, the promise of the band.\nLess means that the "
        "band is too narrow, more that it is too wide.",
        Kind.PROMISE,
        0.5,
    ),
    Term(
        "90 % band",
        "Share of closes inside the outer band. Against: 90 %, the promise of the band.\nLess means that the "
        "band is too narrow, more that it is too wide.",
        Kind.PROMISE,
        0.9,
    ),
    Term("Body", "Skill of the body: from the open to the close of the candle.", Kind.SKILL, 0.0),
    Term("Upper wick", "Skill of the upper wick: from the body to the high.", Kind.SKILL, 0.0),
    Term("Lower wick", "Skill of the lower wick: from the body to the low.", Kind.SKILL, 0.0),
    Term("Volume", "Skill of the volume.", Kind.SKILL, 0.0),
    Term(
        "Direction",
        "How often the close was on the forecast side of the last close.\nFlat candles are excluded. Against: 50 %, a "
        "coin flip.",
        Kind.TO_BEAT,
        COIN,
    ),
)
INTERVAL_MEANING = QT_TRANSLATE_NOOP(
    "Panels",
    "If the same market could be watched again and again, 95 of 100 such intervals would contain the true value. "
    "While the interval contains the value compared with, nothing is proven. It holds however often you look.",
)


def figures(chosen: HorizonAccuracy) -> tuple[Estimate | None, ...]:
    """Each term's estimate, in the order of `TERMS`; None: not stored with these scores."""
    drawn = (each.skill if each.is_stored else None for each in chosen.also_drawn)
    return (chosen.coverage_50, chosen.coverage_90, *drawn, chosen.direction)


def direction_words(chosen: HorizonAccuracy) -> str:
    """What the direction proves, and why it proves no more than that."""
    found = chosen.direction
    if found.low is None or found.high is None:
        return ""
    if found.low <= COIN <= found.high:
        return translate("Panels", "not proven better than a coin flip")
    if found.high < COIN:
        return translate("Panels", "worse than a coin flip")
    simple = chosen.reverse_last
    if simple.value is not None and simple.value >= found.low:
        words = translate("Panels", "no proof of skill: “reverse last” alone has {0} %")
        return words.format(points(simple.value, 1, signed=False))
    return translate("Panels", "better than a coin flip, and than “reverse last”")


_GAP, _LINE_GAP = 7, 2
_HEADERS = (
    ("", ""),
    (QT_TRANSLATE_NOOP("Panels", "Value"), ""),
    (QT_TRANSLATE_NOOP("Panels", "95 % interval"), INTERVAL_MEANING),
    ("", ""),
    ("n", QT_TRANSLATE_NOOP("Panels", "Candles")),
)


_Place = tuple[int, int]


class Shape(Enum):
    """Places of the columns in the grid: line and column; None if one is left out. The first that fits is taken."""

    WHOLE = ((0, 0), (0, 1), (0, 2), (0, 3), (0, 4))
    WITHOUT_BAR = ((0, 0), (0, 1), (0, 2), None, (0, 3))
    TWO_LINES = ((0, 0), (0, 1), (1, 0), None, (1, 1))

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
        self._cells = [Label(text, parent) for text in (translate("Panels", term.name), *[MISSING] * 3)]
        self.name, self.value, self._interval, self._n = self._cells
        self.value.setFont(tabular(parent.font(), bold=True))
        self.bar = IntervalBar(theme, term.reach, parent)
        for label in (self._interval, self._n):
            label.setFont(numbers)
            mute(label)
        for widget in (*self._cells, self.bar):
            set_tooltip(widget, self._meaning)

    @property
    def parts(self) -> tuple[QWidget, ...]:
        """The cells in the order of the columns."""
        return self.name, self.value, self._interval, self.bar, self._n

    def show(self, estimate: Estimate | None) -> None:
        """None: it is not stored with these scores."""
        found = estimate or Estimate(None, None, None, 0)
        value, words = value_of(found), translate("Panels", "Not stored with these scores; newer ones have it.")
        interval = translate("Panels", "not stored")
        if estimate is not None:
            interval, words = self._interval_words(estimate)
        set_text(self.value, format_percent(value, 1, signed=self.term.kind is Kind.SKILL))
        set_text(self._interval, interval)
        set_text(self._n, MISSING if estimate is None else format_count(estimate.n))
        self.bar.show_estimate(found, self.term.against, self._colour(found))
        for widget in self._cells:
            set_tooltip(widget, f"{self._meaning}\n{words}")
        set_tooltip(self.bar, f"{words}\n{self.term.bar_meaning}")

    def _interval_words(self, estimate: Estimate) -> tuple[str, str]:
        """The interval, or why there is none: in short, and as a sentence."""
        if is_of_nothing(estimate):
            return translate("Panels", NOTHING), translate("Panels", "Nothing moved in these candles.")
        if value_of(estimate) is None:
            short = translate("Panels", "from n = {0}").format(self.term.fewest)
            return short, not_yet(estimate.n, self.term.fewest)
        words = translate("Panels", "95 % interval: {0} %. n = {1}.")
        interval = span(estimate, 1)
        return interval, words.format(interval, format_count(estimate.n))

    def _colour(self, estimate: Estimate) -> QColor | None:
        """That of a band that keeps its promise or does not."""
        if self.term.kind is not Kind.PROMISE or estimate.low is None or estimate.high is None:
            return None
        palette = self._theme.palette
        return palette.good if estimate.low <= self.term.against <= estimate.high else palette.warning


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

    def show_figures(self, chosen: HorizonAccuracy) -> None:
        for row, estimate in zip(self.rows, figures(chosen), strict=True):
            row.show(estimate)
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
        columns = [0] * shape.columns
        for parts in self._all_parts():
            for part, place in zip(parts, shape.places, strict=True):
                if place is not None:
                    columns[place[1]] = max(columns[place[1]], part.minimumSizeHint().width())
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
                    line, column = place
                    top = (row * shape.lines + line) * height
                    cell = QRect(lefts[column], top, columns[column], height - _LINE_GAP)
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
