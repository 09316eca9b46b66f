"""How the chart is to look: what a user chooses."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo
from enum import StrEnum

from PySide6.QtGui import QFont

from desktop.chart.axes.price_scale import ScaleKind
from desktop.ui.theme import Palette


class CandleStyle(StrEnum):
    """The shape in which candles are drawn. Ghosts are always candles."""

    CANDLES = "candles"
    HOLLOW = "hollow"
    """A rising body is an outline; the colour says whether the close rose against the one before."""
    BARS = "bars"
    LINE = "line"
    HEIKIN_ASHI = "heikin_ashi"


@dataclass(frozen=True)
class Style:
    """Compared by identity of palette and font: both are replaced as a whole."""

    palette: Palette
    font: QFont
    time_zone: tzinfo | None = None
    """None is the machine's."""
    candles: CandleStyle = CandleStyle.CANDLES
    scale: ScaleKind = ScaleKind.LINEAR
    shows_volume: bool = True
    shows_bands: bool = True
