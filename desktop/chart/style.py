"""The chart's appearance, as selected by the user."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo
from enum import StrEnum

from PySide6.QtGui import QFont

from desktop.chart.axes.price_scale import ScaleKind
from desktop.ui.theme import Palette


class CandleStyle(StrEnum):
    """The shape of candles. Ghosts are always candles."""

    CANDLES = "candles"
    HOLLOW = "hollow"
    """A rising body is an outline; the colour shows whether the close rose against the previous one."""
    BARS = "bars"
    LINE = "line"
    HEIKIN_ASHI = "heikin_ashi"


@dataclass(frozen=True)
class Style:
    """Palette and font are compared by identity: both are replaced as a whole."""

    palette: Palette
    font: QFont
    time_zone: tzinfo | None = None
    """None: the machine's."""
    candles: CandleStyle = CandleStyle.CANDLES
    scale: ScaleKind = ScaleKind.LINEAR
    shows_volume: bool = True
    shows_bands: bool = True
    shows_chance: bool = False
    """The chance of a price: at the crosshair, on the price axis and on horizontal lines."""
    shows_paths: bool = False
    """Sample paths behind the ghosts."""
    shows_readout: bool = True
    """False where the numbers are written beside the chart: the candles get their room."""
