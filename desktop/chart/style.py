"""The chart's appearance, as selected by the user."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo
from enum import StrEnum
from typing import Any

from PySide6.QtGui import QFont

from core.domain import time_zones
from core.settings.window import ChartSettings
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
    shows_grid: bool = True
    shows_volume: bool = True
    shows_bands: bool = True
    shows_chance: bool = False
    """The chance of a price: at the crosshair, on the price axis and on horizontal lines."""
    shows_paths: bool = False
    """Sample paths behind the ghosts, whose bodies follow the most central one."""
    shows_readout: bool = True
    """False if the numbers are written beside the chart: the candles get their room."""
    has_small_axes: bool = False
    """Short labels, and neither last price nor time zone: for a small chart that has its last price beside it."""


def chosen_style(chosen: ChartSettings, venue: str) -> dict[str, Any]:
    """The fields of `Style` that are settings, by name. venue: the market's exchange, for its time zone."""
    return {
        "time_zone": time_zones.find(chosen.time_zone, venue),
        "candles": CandleStyle(chosen.candles),
        "scale": ScaleKind(chosen.scale),
        "shows_grid": chosen.show_grid,
        "shows_volume": chosen.show_volume,
        "shows_bands": chosen.show_bands,
        "shows_chance": chosen.show_chance,
        "shows_paths": chosen.sample_paths,
    }
