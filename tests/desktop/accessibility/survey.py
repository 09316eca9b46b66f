"""One pass over the whole program: every dock and dialog, with all checks of the accessibility tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QTabWidget, QWidget

from core.settings.window import AppearanceSettings
from desktop.app.composition import Application
from desktop.ui.interface_size import set_font
from tests.desktop.accessibility import stage
from tests.desktop.accessibility.by_keys import complaints_of, gone_through, in_front, left_out
from tests.desktop.accessibility.controls import complaints, controls
from tests.desktop.accessibility.inks import faint_spans, faint_texts
from tests.desktop.whole_window import until

LOOKS = tuple(
    AppearanceSettings(theme=theme, colours=colours)
    for theme in ("dark", "light")
    for colours in ("green-red", "blue-orange")
)

_LARGEST_PERCENT = 300
"""The largest text size that can be set, relative to the default."""


@dataclass
class Survey:
    """Findings, each with its place."""

    names: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    inks: list[str] = field(default_factory=list)
    too_large: list[str] = field(default_factory=list)
    dialogs: set[type] = field(default_factory=set)
    titles: dict[str, str] = field(default_factory=dict)


def survey(qapp: QApplication, root: Path) -> Survey:
    found = Survey()

    async def story(application: Application) -> None:
        window = application.window
        await until(lambda: not window.has_stale_panels(), "panels that show the run")
        await _look(found, "window", window)
        found.keys += _at("window, backwards", left_out(window, gone_through(window, Qt.Key.Key_Backtab)))
        for name, dock in stage.show_docks(application):
            await _look(found, name, dock)
        for name, opener in stage.openers().items():
            with stage.opened(application, opener) as dialog:
                found.dialogs.add(type(dialog))
                found.titles[name] = dialog.windowTitle()
                found.too_large += _beyond_the_screen(f"{name} at 100 %", dialog)
                if not isinstance(dialog, QFileDialog):
                    await _look(found, name, dialog)
        for look in LOOKS:
            await _look_at_inks(found, application, look)
        found.too_large += too_large_at(qapp, application, _LARGEST_PERCENT)

    stage.play(qapp, root, story)
    return found


def too_large_at(qapp: QApplication, application: Application, percent: int) -> list[str]:
    """The dialogs that are larger than the screen with text of this size."""
    set_font(qapp, AppearanceSettings(interface_percent=percent))
    found: list[str] = []
    for name, opener in stage.openers().items():
        with stage.opened(application, opener) as dialog:
            found += _beyond_the_screen(f"{name} at {percent} %", dialog)
    return found


def _beyond_the_screen(name: str, dialog: QDialog) -> list[str]:
    QApplication.processEvents()
    screen = dialog.screen().availableGeometry().size()
    return [] if dialog.size().boundedTo(screen) == dialog.size() else [f"{name}: {dialog.size().toTuple()}"]


async def _look(found: Survey, name: str, root: QWidget) -> None:
    await in_front(root)
    for _page in _pages(root):
        found.names += _at(name, (each for widget in controls(root) for each in complaints(widget)))
    found.keys += _at(name, complaints_of(root))


async def _look_at_inks(found: Survey, application: Application, look: AppearanceSettings) -> None:
    window, where = application.window, f"{look.theme}, {look.colours}"
    window.shell.settings.change(replace(window.shell.settings.current, appearance=look))
    QApplication.processEvents()
    await _look_at_chart(found, application, where)
    if look.colours != LOOKS[0].colours:  # of candles: panels and dialogs look the same
        return
    for name, dock in stage.show_docks(application):
        await until(lambda: not window.has_stale_panels(), "all panels")
        for _page in _pages(dock):
            found.inks += _at(f"{where}, {name}", faint_texts(dock))
    found.inks += _at(f"{where}, window", faint_texts(window))
    for name in ("market", "preferences", "welcome", "compare", "clean up", "finder"):
        with stage.opened(application, stage.openers()[name]) as dialog:
            await in_front(dialog)
            found.inks += _at(f"{where}, {name}", faint_texts(dialog))


async def _look_at_chart(found: Survey, application: Application, where: str) -> None:
    """The mouse on a past candle, on the newest, and on a ghost."""
    chart, palette = application.chart, application.theme.palette
    count = chart.model.count
    for index in (count - 12, count - 1, count + 1):
        await until(lambda: bool(chart.model.ghosts()), "ghosts: there are none between a close and a forecast")
        candle = chart.model.candle(index)
        price = chart.model.ghosts()[0].ghost.close if candle is None else candle.close
        place = QPointF(chart.frame.x(index), chart.frame.y(price)) / chart.devicePixelRatio()
        none = Qt.MouseButton.NoButton
        move = QMouseEvent(
            QEvent.Type.MouseMove, place, chart.mapToGlobal(place), none, none, Qt.KeyboardModifier.NoModifier
        )
        QApplication.sendEvent(chart.viewport(), move)
        chart.flush()
        found.inks += _at(f"{where}, chart", faint_spans(chart.overlay, palette))


def _pages(root: QWidget) -> Iterator[int]:
    """Once as it is, then each page of its tabs."""
    yield 0
    for tabs in root.findChildren(QTabWidget):
        for page in range(tabs.count()):
            tabs.setCurrentIndex(page)
            QApplication.sendPostedEvents()
            yield page


def _at(where: str, found: Iterable[str]) -> list[str]:
    return [f"{where}: {each}" for each in dict.fromkeys(found)]
