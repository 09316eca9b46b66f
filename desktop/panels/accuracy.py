"""The accuracy panel: how good the forecasts have been, how sure that is, and what it is measured against."""

from __future__ import annotations

import math
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from core.events import AccuracySummary, Estimate
from desktop.formatting import MISSING, format_count, format_number, format_percent
from desktop.icons import icon, tabular
from desktop.panels.base import EmptyState, Panel, colour_text, set_text
from desktop.state import RunState
from desktop.theme import Palette, Theme

_LIVE = "live"
_INTERVAL_TOOLTIP = (
    "Were the same market to be watched again and again, intervals like this one would hold the true value 95 times "
    "in 100. While it holds what the value is measured against, nothing is proven."
)


@dataclass(frozen=True, slots=True)
class _Term:
    """One row: what it is called, what it means, and whether it is a signed gain."""

    name: str
    meaning: str
    is_skill: bool = False


_TERMS = (
    _Term(
        "Direction",
        "How often the next candle closed on the side of the last close that the forecast named.\n"
        "Candles that closed flat are left out. Against: 50 %, a coin. Rules as simple as “the reverse of the last "
        "candle” reach 54 % on some markets, so a little more than 50 % alone proves nothing.",
    ),
    _Term(
        "Candle accuracy",
        "How much the forecast candle and the real one overlap, from low to high: the length of what both cover, "
        "divided by the length of what either covers. 100 % is the same candle.\n"
        "Against: the same for the reference, “no change, with the usual width of this market”.",
    ),
    _Term(
        "50 % band",
        "How many closes fell inside the inner band. Against: 50 %, what the band promises.\n"
        "Less means that the band is too narrow, more that it is too wide.",
    ),
    _Term(
        "90 % band",
        "How many closes fell inside the outer band. Against: 90 %, what the band promises.\n"
        "Less means that the band is too narrow, more that it is too wide.",
    ),
    _Term(
        "Skill, close",
        "How much smaller the loss of the forecast closes is than that of the reference, “no change, with the usual "
        "width of this market”. 0 % is no better, below is worse.\nSkill = 1 − loss / loss of the reference.",
        is_skill=True,
    ),
    _Term(
        "Skill, range",
        "The same for the candle's height, from low to high.",
        is_skill=True,
    ),
)
_HEADERS = (("", ""), ("Now", ""), ("95 % interval", _INTERVAL_TOOLTIP), ("", ""), ("Against", ""), ("n", "Candles"))


class IntervalBar(QWidget):
    """An interval with its value, and a mark at what it is measured against, on a scale that rows may share."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._estimate: Estimate | None = None
        self._against: float | None = None
        self._low, self._high = 0.0, 1.0
        self._colour: QColor | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(60, 14)

    def minimumSizeHint(self) -> QSize:
        return QSize(28, 14)

    def show_estimate(
        self, estimate: Estimate | None, against: float | None, scale: tuple[float, float], colour: QColor | None
    ) -> None:
        """scale: what the left and right edge stand for. colour: of the interval, None for a neutral one."""
        self._estimate, self._against, self._colour = estimate, against, colour
        self._low, self._high = scale
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        palette = self._theme.palette
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        middle = self.height() / 2
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(palette.border)
        painter.drawRoundedRect(QRectF(0, middle - 1.5, self.width(), 3), 1.5, 1.5)
        estimate = self._estimate
        if estimate is not None and estimate.low is not None and estimate.high is not None:
            left, right = self._x(estimate.low), self._x(estimate.high)
            painter.setBrush(self._colour or palette.muted_text)
            painter.drawRoundedRect(QRectF(left, middle - 3, max(right - left, 2.0), 6), 2, 2)
        if self._against is not None:
            painter.setPen(QPen(palette.text, 1.0))
            x = round(self._x(self._against)) + 0.5
            painter.drawLine(x, middle - 6, x, middle + 6)  # type: ignore[call-overload]
        painter.end()

    def _x(self, value: float) -> float:
        share = (value - self._low) / (self._high - self._low)
        return min(max(share, 0.0), 1.0) * (self.width() - 1)


class _Row:
    """The cells of one term."""

    def __init__(self, term: _Term, theme: Theme, grid: QGridLayout, row: int, parent: QWidget) -> None:
        self.term = term
        self._theme = theme
        numbers = tabular(parent.font())
        self._cells = [QLabel(text) for text in (term.name, MISSING, MISSING, MISSING, MISSING)]
        self.name, self.value, self._interval, self._against, self._n = self._cells
        self.value.setFont(tabular(parent.font(), bold=True))
        self._bar = IntervalBar(theme)
        for label in (self._interval, self._against, self._n):
            label.setFont(numbers)
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for column, widget in enumerate((self.name, self.value, self._interval, self._bar, self._against, self._n)):
            is_text = column in (0, 3)
            grid.addWidget(widget, row, column, Qt.AlignmentFlag(0) if is_text else right)
            widget.setToolTip(term.meaning)

    def show(self, estimate: Estimate, against: float | None) -> None:
        is_skill = self.term.is_skill
        set_text(self.value, format_percent(estimate.value, 1, signed=is_skill))
        set_text(self._interval, _interval_text(estimate))
        set_text(self._against, _whole_percent(against))
        set_text(self._n, format_count(estimate.n))
        self._bar.show_estimate(estimate, against, _scale(estimate, against), self._colour(estimate, against))
        if estimate.value is None:
            words = f"Not enough candles yet to say ({format_count(estimate.n)} so far)."
        else:
            words = f"95 % interval: {_interval_text(estimate)} %. n = {format_count(estimate.n)}."
        tooltip = f"{self.term.meaning}\n{words}"
        for widget in (*self._cells, self._bar):
            widget.setToolTip(tooltip)

    def apply_palette(self, palette: Palette) -> None:
        for label in (self.name, self._interval, self._against, self._n):
            colour_text(label, palette.muted_text)
        colour_text(self.name, palette.text)

    def _colour(self, estimate: Estimate, against: float | None) -> QColor | None:
        """Coloured only where the whole interval lies on one side of a reference to beat."""
        is_promise = self.term.name.endswith("band")
        if against is None or estimate.low is None or estimate.high is None:
            return None
        palette = self._theme.palette
        if is_promise:
            return palette.warning if not estimate.low <= against <= estimate.high else palette.good
        if estimate.low > against:
            return palette.good
        return palette.bad if estimate.high < against else None


class AccuracyPanel(Panel):
    """The verdict, then a row for each measure: now, interval, what it is measured against, n."""

    def __init__(self, state: RunState, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._state = state
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 6, 8, 6)
        layout.setSpacing(4)
        self._verdict_icon = QLabel()
        self._verdict = QLabel()
        self._verdict.setWordWrap(True)
        self._verdict.setFont(tabular(self.font(), scale=1.15, bold=True))
        top = QHBoxLayout()
        top.setSpacing(6)
        top.addWidget(self._verdict_icon, 0, Qt.AlignmentFlag.AlignTop)
        top.addWidget(self._verdict, 1)
        layout.addLayout(top)
        self._reason = QLabel()
        self._reason.setWordWrap(True)
        layout.addWidget(self._reason)
        self._table = QWidget()
        layout.addWidget(self._table)
        self._headers: list[QLabel] = []
        self._rows = self._build_table()
        self._footer = QLabel()
        self._footer.setWordWrap(True)
        layout.addWidget(self._footer)
        layout.addStretch(1)
        self._empty = EmptyState(
            "No forecast has been scored yet.\nEach one is scored when its candle has closed.", self
        )
        self.apply_palette(theme.palette)
        state.status_changed.connect(self.mark_stale)
        state.run_changed.connect(self.mark_stale)

    def refresh(self) -> None:
        status = self._state.status
        accuracy = None if status is None else status.accuracy
        has_scores = accuracy is not None and accuracy.scored > 0
        self._empty.setVisible(not has_scores)
        for part in (self._verdict_icon, self._verdict, self._reason, self._table, self._footer):
            part.setVisible(has_scores)
        if accuracy is None or not has_scores:
            return
        self._show_verdict(accuracy)
        estimates = (
            (accuracy.direction, 0.5),
            (accuracy.candle_accuracy, accuracy.reference_candle_accuracy),
            (accuracy.coverage_50, 0.5),
            (accuracy.coverage_90, 0.9),
            (accuracy.skill_close, 0.0),
            (accuracy.skill_range, 0.0),
        )
        for row, (estimate, against) in zip(self._rows, estimates, strict=True):
            row.show(estimate, against)
        self._show_footer(accuracy, status.accuracy_apart if status is not None else None)

    def apply_palette(self, palette: Palette) -> None:
        for row in self._rows:
            row.apply_palette(palette)
        for label in (*self._headers, self._reason, self._footer, self._empty):
            colour_text(label, palette.muted_text)

    def _build_table(self) -> tuple[_Row, ...]:
        grid = QGridLayout(self._table)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(7)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(3, 1)
        for column, (text, tooltip) in enumerate(_HEADERS):
            header = QLabel(text)
            header.setFont(tabular(self.font(), scale=0.9))
            header.setToolTip(tooltip)
            self._headers.append(header)
            grid.addWidget(header, 0, column, Qt.AlignmentFlag.AlignRight)
        return tuple(_Row(term, self.theme, grid, index + 1, self) for index, term in enumerate(_TERMS))

    def _show_verdict(self, accuracy: AccuracySummary) -> None:
        palette = self.palette_now
        name, colour = ("check-circle-outline", palette.good)
        if not accuracy.has_proven_edge or accuracy.group != _LIVE:  # in a replay the future lies in the file
            name, colour = ("scale-balance", palette.text)
        self._verdict_icon.setPixmap(icon(name, colour).pixmap(18, 18))
        # The trainer's sentence is "verdict: reason."; the verdict is what is read from afar.
        headline, _colon, reason = accuracy.verdict.partition(": ")
        set_text(self._verdict, headline if accuracy.group == _LIVE else f"{headline} ({accuracy.group})")
        set_text(self._reason, reason[:1].upper() + reason[1:])
        colour_text(self._verdict, colour)
        self._verdict.setToolTip(
            "<p>“No change” is the reference: the last price, with the spread that prices had lately. An edge over it "
            "is called proven when the whole 95 % interval of the close's skill lay above 0 at two looks in a row, 50 "
            "candles apart, with at least 300 candles scored. Only live forecasts count as a proof.</p>"
            "<p>“No proven edge” is the normal answer on a liquid market.</p>"
        )

    def _show_footer(self, accuracy: AccuracySummary, apart: AccuracySummary | None) -> None:
        shown = accuracy.coverage_90.n
        words = f"Newest {format_count(shown)} of {format_count(accuracy.scored)} scored ({accuracy.group})"
        if accuracy.model_weight is not None:
            words += f" · model's share {format_percent(accuracy.model_weight, 0)}"
        set_text(self._footer, words)
        tooltip = (
            f"{format_count(accuracy.live_scored)} of the scored forecasts were live: committed before anyone could "
            "know how their candle would close.\nThe model's share is its weight in the forecast that is shown; the "
            "rest is the reference's."
        )
        if apart is not None and apart.scored > 0:
            skill = format_percent(apart.skill_close.value, 1, signed=True)
            tooltip += f"\nScored apart ({apart.group}): {format_count(apart.scored)}, skill of the close {skill}."
        self._footer.setToolTip(tooltip)


def _interval_text(estimate: Estimate) -> str:
    """In percent, without the sign of percent: the column has little room."""
    if estimate.low is None or estimate.high is None:
        return MISSING
    return f"{format_number(estimate.low * 100, 1)} to {format_number(estimate.high * 100, 1)}"


def _whole_percent(value: float | None) -> str:
    if value is None or not math.isfinite(value):
        return MISSING
    is_whole = abs(value * 100 - round(value * 100)) < 0.005
    return format_percent(value, 0 if is_whole else 1)


def _scale(estimate: Estimate, against: float | None) -> tuple[float, float]:
    """What it is measured against in the middle, and room for the interval: 5 points on each side, or 10, 20, 50."""
    if against is None or estimate.low is None or estimate.high is None:
        return 0.0, 1.0
    reach = max(abs(estimate.low - against), abs(estimate.high - against))
    edge = next((edge for edge in (0.05, 0.1, 0.2, 0.5) if reach <= edge), 1.0)
    return against - edge, against + edge
