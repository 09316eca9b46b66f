"""Shows the content of each file to be imported and how it was read, from the report of a dry run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QPushButton, QScrollArea, QStyle, QVBoxLayout, QWidget

from core.domain.candle import FILE_VENUE
from core.market.history.forms.form import Stamp
from core.market.history.forms.recognise import FORMS
from core.market.history.report import candle_text
from desktop.jobs.job_commands import in_fields, no_exchange_title, stamp_titles
from desktop.ui.formatting import format_candles, format_count
from desktop.ui.plain_text import Label
from desktop.ui.translation import translate

_FORM = re.compile(r"--form ([\w-]+) \(")
_BOTH_STAMPS = f"--stamp {Stamp.START} or --stamp {Stamp.END}"
_RESERVED_LINES = 11
"""Enough for most files, so that the dialog keeps its size when they have been read."""
_LONGEST_EXAMPLE = 90


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, by a click, to the question of a refusal: the field, and its value."""

    title: str
    field: str
    value: str


@dataclass(frozen=True, slots=True)
class Preview:
    """files: the reports on readable files. refusals: the command's sentence for each other file. is_reading: whether
    the rows of the chosen files are still unknown."""

    files: Sequence[Mapping[str, Any]] = ()
    refusals: Sequence[str] = ()
    is_reading: bool = False

    @property
    def is_unreadable(self) -> bool:
        return bool(self.refusals) and not self.files

    @property
    def unnamed(self) -> str:
        """The options to name for the first file whose market is unknown."""
        return next((" ".join(each["unnamed"].values()) for each in self.files if each.get("unnamed")), "")

    def answers(self) -> list[Answer]:
        """An answer for each known form or stamp that a refusal offers, and for each missing part of a market."""
        found = [Answer(FORMS[name].title, "form", name) for text in self.refusals for name in _FORM.findall(text)]
        if any(_BOTH_STAMPS in text for text in self.refusals):
            found += [Answer(title, "stamp", stamp) for stamp, title in stamp_titles().items()]
        if any("--form" in text and "Leave out" in text for text in self.refusals):
            found.append(Answer(translate("Jobs", "As recognised"), "form", ""))
        unnamed = [each for each in self.files if each.get("unnamed")]
        of_none = f"--venue {FILE_VENUE}"
        if any("venue" in each["unnamed"] for each in unnamed) or any(of_none in text for text in self.refusals):
            found.append(Answer(no_exchange_title(), "venue", no_exchange_title()))
        names = {each["suggestion"] for each in unnamed if "symbol" in each["unnamed"] and each["suggestion"]}
        found += [Answer(translate("Jobs", "Symbol {0}").format(name), "symbol", name) for name in sorted(names)]
        return list(dict.fromkeys(found))


class Contents(QScrollArea):
    """A heading and a grid of names and texts for each file; then the faults, with a button for each answer."""

    answered = Signal(str, str)
    """The field and the value of the answer that was clicked."""

    def __init__(self) -> None:
        super().__init__(widgetResizable=True)
        self.setAccessibleName(translate("Jobs", "Contents"))
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._most = 0
        self._labels: list[Label] = []
        self.answers: list[QPushButton] = []
        """A button for each answer on offer."""
        self.show_preview(Preview())
        self._fit()

    def text(self) -> str:
        return "\n".join(label.text() for label in self._labels)

    def show_preview(self, preview: Preview) -> None:
        """Show this preview instead. `limit_height` then makes room for it."""
        self._labels, self.answers = [], []
        page = QWidget()
        self._column = column = QVBoxLayout(page)
        for place, found in enumerate(preview.files):
            if place:
                column.addSpacing(column.spacing())
            column.addWidget(self._label(_heading(found), is_bold=True))
            column.addLayout(self._grid(_rows(found)))
        for sentence in preview.refusals:
            column.addWidget(self._label(in_fields(sentence)))
        for answer in preview.answers():
            button = QPushButton(answer.title)
            button.clicked.connect(lambda _on=False, chosen=answer: self.answered.emit(chosen.field, chosen.value))
            column.addWidget(button, alignment=Qt.AlignmentFlag.AlignLeft)
            self.answers.append(button)
        if not self._labels:
            hint = translate("Jobs", "How the files are read is shown here.")
            column.addWidget(self._label(translate("Jobs", "Reading…") if preview.is_reading else hint))
        column.addStretch(1)
        self.setWidget(page)

    def limit_height(self, most: int) -> None:
        """No higher than this; what does not fit is scrolled."""
        self._most = most
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        frame, bar = 2 * self.frameWidth(), self.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent, None, self)
        # Beside a scroll bar lines may wrap, and Qt keeps a bar while the page that is narrower for it needs one.
        needed = self._column.totalHeightForWidth(self.width() - frame - bar) + frame
        reserved = _RESERVED_LINES * self.fontMetrics().lineSpacing()
        height = max(needed, reserved)
        self.setFixedHeight(min(height, self._most) if self._most else height)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if needed > self.height() else Qt.FocusPolicy.NoFocus)

    def _grid(self, rows: Sequence[tuple[str, str, bool]]) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(1, 1)
        for row, (title, text, is_assumed) in enumerate(rows):
            name, value = self._label(title), self._label(text, is_bold=is_assumed)
            name.setForegroundRole(name.palette().ColorRole.PlaceholderText)
            name.setAlignment(Qt.AlignmentFlag.AlignTop)
            name.setWordWrap(False)
            value.setAccessibleName(f"{title}: {text}")
            grid.addWidget(name, row, 0)
            grid.addWidget(value, row, 1)
        return grid

    def _label(self, text: str, *, is_bold: bool = False) -> Label:
        label = Label(text, wraps=True, alignment=Qt.AlignmentFlag.AlignTop)
        if is_bold:
            font = label.font()
            font.setBold(True)
            label.setFont(font)
        self._labels.append(label)
        return label


def _heading(found: Mapping[str, Any]) -> str:
    rows, candles = format_count(int(found["rows"])), format_candles(int(found["candles"]))
    text = translate("Jobs", "{0}: {1} rows, {2} of {3}").format(found["file"], rows, candles, found["interval"])
    parts = [text]
    if found.get("new") is not None:
        new = translate("Jobs", "{0} new").format(format_count(int(found["new"])))
        parts.append(new if found["new"] else translate("Jobs", "all stored already"))
    if found["holes"]:
        parts.append(translate("Jobs", "{0} missing").format(format_candles(int(found["missing"]))))
    return "; ".join(parts)


def _rows(found: Mapping[str, Any]) -> list[tuple[str, str, bool]]:
    """Title, text and whether it is assumed; without items that are missing in the report."""
    left_out = "\n".join(_left_out(each) for each in found.get("left_out", ()))
    repeated = ""
    if found.get("repeated"):
        repeated = translate("Jobs", "{0} rows, {1} with other numbers: the last stays").format(
            format_count(int(found["repeated"])), format_count(int(found["contradicting"]))
        )
    first, last = (candle_text(found[name]) if name in found else "" for name in ("first", "last"))
    market = ""
    if not found.get("unnamed") and found["venue"] and found["symbol"]:  # an answer is in the next report
        exchange = no_exchange_title() if found["venue"] == FILE_VENUE else found["venue"]
        market = translate("Jobs", "{0} ({1})").format(found["symbol"], exchange)
    rows = (
        (translate("Jobs", "Market"), market, False),
        (translate("Jobs", "Form"), in_fields(found.get("form_read_as", "")), False),
        (translate("Jobs", "Time zone"), in_fields(found.get("zone", "")), bool(found.get("is_zone_assumed"))),
        (translate("Jobs", "Times mark"), in_fields(found.get("stamp", "")), False),
        (translate("Jobs", "Volume"), in_fields(found.get("volume", "")), False),
        (translate("Jobs", "Numbers"), in_fields(found.get("numbers", "")), False),
        (translate("Jobs", "First candle"), first, False),
        (translate("Jobs", "Last candle"), last, False),
        (translate("Jobs", "Left out"), left_out, False),
        (translate("Jobs", "Repeated"), repeated, False),
    )
    return [row for row in rows if row[1]]


def _left_out(each: Mapping[str, Any]) -> str:
    counted = translate("Jobs", "{0} ({1})").format(format_count(int(each["count"])), each["reason"])
    if not each["example"]:
        return counted
    return translate("Jobs", "{0}, such as {1}").format(counted, each["example"][:_LONGEST_EXAMPLE])
