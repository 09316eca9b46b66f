"""The widget's font, scaled for the chart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from PySide6.QtGui import QFont, QFontInfo, QFontMetrics

_MOST_KEPT = 2_000


@dataclass(frozen=True)
class Fonts:
    """The widget's font in device pixels, so that text is drawn without scaling."""

    regular: QFont
    bold: QFont
    metrics: QFontMetrics
    bold_metrics: QFontMetrics
    _kept: dict[tuple[object, ...], int] = field(default_factory=dict, init=False, repr=False, compare=False)

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
        """The space between two spans of text."""
        return round(self.metrics.averageCharWidth() * 1.2)

    def width(self, text: str, *, bold: bool = False) -> int:
        """The width of a text, cached: measuring is expensive, and most texts were in the previous frame."""
        metrics = self.bold_metrics if bold else self.metrics
        return self.kept((text, bold), lambda: metrics.horizontalAdvance(text))

    def kept(self, key: tuple[object, ...], measure: Callable[[], int]) -> int:
        """A measurement with these fonts, cached by key: most are needed with every tick."""
        found = self._kept.get(key)
        if found is None:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            found = self._kept[key] = measure()
        return found
