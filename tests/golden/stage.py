"""The setup of a scene: a shown chart with fixed font, clock, time zone and style."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QFont, QFontDatabase, QImage, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

import resources
from core.domain.clock import ManualClock
from desktop.chart.widget import ChartWidget
from desktop.ui.theme import Colours, Mode, Theme
from tests.desktop.chart.support import START_MS

FONTS = Path(resources.__file__).with_name("fonts")
FAMILY = "Golden Sans"
FONT_PX = 13


@dataclass(frozen=True)
class Stage:
    """The parts that a scene may change. The chart is shown and has its size; the clock moves only when a scene sets
    it."""

    chart: ChartWidget
    clock: ManualClock
    theme: Theme

    def settle(self) -> None:
        """Let the chart process its changes."""
        self.chart.flush()
        QApplication.processEvents()

    def point_at(self, index: float, price: float) -> None:
        """Put the mouse over a candle at a price."""
        self.settle()
        frame = self.chart.frame
        self.move_mouse(round(frame.x(index) / frame.ratio), round(frame.y(price) / frame.ratio))

    def move_mouse(self, x: int, y: int) -> None:
        """Put the mouse at a logical pixel. The event is sent directly: QTest does not move a mouse that is already
        there."""
        at, none = QPointF(x, y), Qt.MouseButton.NoButton
        kind, plain = QMouseEvent.Type.MouseMove, Qt.KeyboardModifier.NoModifier
        QApplication.sendEvent(
            self.chart.viewport(), QMouseEvent(kind, at, self.chart.mapToGlobal(at), none, none, plain)
        )
        self.settle()


@dataclass(frozen=True)
class Scene:
    """One picture. `build` puts the chart into the pictured state; `size` is in logical pixels."""

    name: str
    build: Callable[[Stage], object]
    mode: Mode = "dark"
    scales: tuple[float, ...] = (1.0,)
    colours: Colours = "green-red"
    is_swapped: bool = False
    size: tuple[int, int] = (640, 400)


def golden_font() -> QFont:
    """The shipped font. Without hinting and subpixels its glyphs do not depend on the machine's settings.

    Raises FileNotFoundError if a font file cannot be read.
    """
    for path in sorted(FONTS.glob("*.ttf")):
        if QFontDatabase.addApplicationFont(str(path)) < 0:
            raise FileNotFoundError(f"{path} could not be loaded as a font")
    font = QFont(FAMILY)
    font.setPixelSize(FONT_PX)
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    font.setStyleStrategy(QFont.StyleStrategy.PreferAntialias | QFont.StyleStrategy.NoSubpixelAntialias)
    return font


def shoot(scene: Scene, application: QApplication, font: QFont) -> QImage:
    """The scene's picture, in device pixels."""
    theme, clock = Theme(scene.mode), ManualClock(START_MS)
    theme.set_colours(scene.colours, is_swapped=scene.is_swapped)
    theme.apply_to(application)
    application.setFont(font)
    chart = ChartWidget(theme, clock)
    chart.setFont(font)
    chart.restyle(time_zone=UTC)
    chart.resize(*scene.size)
    chart.show()
    if not QTest.qWaitForWindowExposed(chart, 60_000):
        raise RuntimeError(f"the chart of the scene {scene.name} was not shown")
    stage = Stage(chart, clock, theme)
    scene.build(stage)
    stage.settle()
    picture = chart.grab().toImage().convertToFormat(QImage.Format.Format_RGB888)
    picture.setDevicePixelRatio(1.0)
    chart.close()
    chart.deleteLater()
    QApplication.processEvents()
    return picture
