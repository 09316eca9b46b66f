"""The widget's font as the chart draws with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from PySide6.QtGui import QFont, QFontInfo, QFontMetrics

_MOST_WIDTHS = 2_000


@dataclass(frozen=True)
class Fonts:
    """The widget's font in device pixels, so that text is drawn without scaling."""

    regular: QFont
    bold: QFont
    metrics: QFontMetrics
    bold_metrics: QFontMetrics
    _widths: dict[tuple[str, bool], int] = field(default_factory=dict, init=False, repr=False, compare=False)

    _counts: dict[tuple[str, str, int], int] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def of(cls, font: QFont, ratio: float) -> Fonts:
        """The fonts for a screen of `ratio` device pixels per logical one."""
        regular, bold = QFont(font), QFont(font)
        size = max(1, round(QFontInfo(font).pixelSize() * ratio))
        regular.setPixelSize(size)
        bold.setPixelSize(size)
        bold.setWeight(QFont.Weight.DemiBold)
        return cls(regular, bold, QFontMetrics(regular), QFontMetrics(bold))

    @cached_property
    def line(self) -> int:
        """The height of a line."""
        return self.metrics.height()

    @cached_property
    def gap(self) -> int:
        """The room between two spans of text."""
        return round(self.metrics.averageCharWidth() * 1.2)

    def width(self, text: str, *, bold: bool = False) -> int:
        """The width of a text. Measuring is dear, and most texts of a frame were in the one before."""
        key = (text, bold)
        found = self._widths.get(key)
        if found is None:
            if len(self._widths) >= _MOST_WIDTHS:
                self._widths.clear()
            found = self._widths[key] = (self.bold_metrics if bold else self.metrics).horizontalAdvance(text)
        return found

    def kept_count(self, key: tuple[str, str, int], count: Callable[[], int]) -> int:
        """How many lines something takes, counted once for each key: that is asked with every tick."""
        found = self._counts.get(key)
        if found is None:
            if len(self._counts) >= _MOST_WIDTHS:
                self._counts.clear()
            found = self._counts[key] = count()
        return found
