"""One line of the accuracy panel: whether online training has helped, measured against the frozen twin."""

from __future__ import annotations

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QWidget

from core.events import Estimate, OnlineGain
from core.forecast.score import FEWEST_FOR_AN_EDGE, FEWEST_FOR_AN_ESTIMATE
from desktop.formatting import format_count, format_number, format_percent
from desktop.panels.base import colour_text, paragraphs, set_text
from desktop.theme import Palette

_TITLE = "Online training"
_MEANING = (
    "Beside the model its frozen twin forecasts the same candles: the model as it was some {needed} candles ago, which "
    "learns nothing more. What the model spares of the twin's loss is what online training was worth since then: close "
    "and range in equal parts, one candle ahead, over at most the newest 4,000 candles that both forecast.\n"
    "Both alone, without the other experts that the ghosts are mixed of. Brackets hold the 95 % interval."
)


class OnlineGainLine(QLabel):
    """The line; hidden where no twin is kept."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWordWrap(True)
        self.setVisible(False)

    def show_gain(self, online: OnlineGain | None) -> None:
        """Say it in words."""
        self.setVisible(online is not None)
        if online is not None:
            set_text(self, in_words(online))
            self.setToolTip(paragraphs(_tooltip(online)))
            self._keep_its_height()

    def apply_palette(self, palette: Palette) -> None:
        """Take the palette's colours."""
        colour_text(self, palette.text)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._keep_its_height()

    def _keep_its_height(self) -> None:
        """A dock that is too low would else squeeze the rows above a line that has wrapped."""
        self.setMinimumHeight(max(0, self.heightForWidth(self.width())))


def in_words(online: OnlineGain) -> str:
    """The number with its interval, and what that proves."""
    gain, needed = online.gain, format_count(online.needed)
    if gain.value is None or gain.low is None or gain.high is None:
        if online.age < online.needed:
            return f"{_TITLE}: not yet, {format_count(online.age)} of {needed} candles"
        return f"{_TITLE}: not yet, {format_count(gain.n)} of {FEWEST_FOR_AN_ESTIMATE} candles beside its twin"
    found, n = f"{_TITLE}: {_measured(gain)}", f"n = {format_count(gain.n)}"
    if gain.n < FEWEST_FOR_AN_EDGE:
        return f"{found}, not proven: {n} of the {FEWEST_FOR_AN_EDGE} that a proof needs"
    if gain.low > 0.0:
        return f"{found} better than the model of {needed} candles ago, {n}"
    if gain.high < 0.0:
        return f"{found}, worse than the model of {needed} candles ago, {n}"
    return f"{found} against the model of {needed} candles ago: not proven, {n}"


def _tooltip(online: OnlineGain) -> str:
    parts = [_MEANING.format(needed=format_count(online.needed))]
    if online.close.value is not None and online.range.value is not None:
        parts.append(f"Close alone: {_measured(online.close)}. Range alone: {_measured(online.range)}.")
    if online.age >= online.needed:
        parts.append(f"The twin of now was frozen {format_count(online.age)} candles ago; a newer one follows soon.")
    return "\n".join(parts)


def _measured(estimate: Estimate) -> str:
    assert estimate.low is not None and estimate.high is not None
    low, high = format_number(100.0 * estimate.low, 1), format_number(100.0 * estimate.high, 1)
    return f"{format_percent(estimate.value, 1, signed=True)} ({low} to {high})"
