"""One line of the accuracy panel: whether online training has helped, measured against the frozen twin."""

from __future__ import annotations

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from core.events import Estimate, OnlineGain
from core.forecast.score import FEWEST_FOR_AN_EDGE, FEWEST_FOR_AN_ESTIMATE
from desktop.formatting import format_count, format_percent
from desktop.panels.accuracy_words import span
from desktop.panels.base import colour_text, set_text
from desktop.plain_text import Label, paragraphs
from desktop.theme import Palette
from desktop.translation import QT_TRANSLATE_NOOP, translate

_MEANING = QT_TRANSLATE_NOOP(
    "Panels",
    "Beside the model its frozen twin forecasts the same candles: the model as it was some {0} candles ago, which "
    "learns nothing more. What the model spares of the twin's loss is what online training was worth since then: close "
    "and range in equal parts, one candle ahead, over at most the newest 4,000 candles that both forecast.\n"
    "Both alone, without the other experts that the ghosts are mixed of. Brackets hold the 95 % interval.",
)


class OnlineGainLine(Label):
    """The line; hidden where no twin is kept."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
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
        return _not_yet(online)
    found, n = _measured(gain), format_count(gain.n)
    if gain.n < FEWEST_FOR_AN_EDGE:
        few = translate("Panels", "Online training: {0}, not proven: n = {1} of the {2} that a proof needs")
        return few.format(found, n, FEWEST_FOR_AN_EDGE)
    if gain.low > 0.0:
        text = translate("Panels", "Online training: {0} better than the model of {1} candles ago, n = {2}")
    elif gain.high < 0.0:
        text = translate("Panels", "Online training: {0}, worse than the model of {1} candles ago, n = {2}")
    else:
        text = translate("Panels", "Online training: {0} against the model of {1} candles ago: not proven, n = {2}")
    return text.format(found, needed, n)


def _not_yet(online: OnlineGain) -> str:
    if online.age < online.needed:
        text = translate("Panels", "Online training: not yet, {0} of {1} candles")
        return text.format(format_count(online.age), format_count(online.needed))
    text = translate("Panels", "Online training: not yet, {0} of {1} candles beside its twin")
    return text.format(format_count(online.gain.n), FEWEST_FOR_AN_ESTIMATE)


def _tooltip(online: OnlineGain) -> str:
    parts = [translate("Panels", _MEANING).format(format_count(online.needed))]
    if online.close.value is not None and online.range.value is not None:
        alone = translate("Panels", "Close alone: {0}. Range alone: {1}.")
        parts.append(alone.format(_measured(online.close), _measured(online.range)))
    if online.age >= online.needed:
        frozen = translate("Panels", "The twin of now was frozen {0} candles ago; a newer one follows soon.")
        parts.append(frozen.format(format_count(online.age)))
    return "\n".join(parts)


def _measured(estimate: Estimate) -> str:
    return f"{format_percent(estimate.value, 1, signed=True)} ({span(estimate, 1)})"
