from __future__ import annotations

import pytest
from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from desktop.actions import ActionId
from desktop.layouts.arrangements import WATCH
from desktop.window.main_window import MainWindow
from tests.desktop.conftest import MakeBench


@pytest.fixture
def window(make_bench: MakeBench) -> MainWindow:
    return make_bench().window


def seen(window: MainWindow) -> dict[str, tuple[bool, int, int]]:
    return {each.objectName(): (each.isVisible(), each.width(), each.height()) for each in window.docks.values()}


def test_a_page_has_the_window_alone_and_gives_the_docks_back_as_they_were(window: MainWindow) -> None:
    window.arrange(WATCH)
    QCoreApplication.processEvents()  # which gives the docks their sizes
    before, page = seen(window), QWidget()
    window.pages.show_alone(page)
    assert page.isVisible() and not any(is_visible for is_visible, _, _ in seen(window).values())
    window.pages.show_alone(page)
    window.pages.show_first()
    QCoreApplication.processEvents()
    assert window.chart.isVisible() and not page.isVisible()
    assert seen(window) == before


def test_the_docks_are_painted_after_the_chart(window: MainWindow, qtbot: QtBot) -> None:
    window.arrange(WATCH)
    window.pages.show_alone(QWidget())
    window.pages.show_first()
    docks = [each for each in window.docks.values() if each.isVisible()]
    assert docks and not any(each.updatesEnabled() for each in docks) and window.chart.updatesEnabled()
    qtbot.waitUntil(lambda: all(each.updatesEnabled() for each in docks))


def test_a_floating_dock_stays(window: MainWindow) -> None:
    dock = window.docks[ActionId.SHOW_MARKETS]
    dock.setFloating(True)
    window.pages.show_alone(QWidget())
    assert dock.isVisible()


def test_docks_that_have_new_places_keep_them(window: MainWindow) -> None:
    window.pages.show_alone(QWidget())
    window.arrange(WATCH)
    window.pages.show_first()
    assert {each for each, dock in window.docks.items() if not dock.isHidden()} == WATCH.shown


def test_a_closed_window_remembers_the_docks_and_not_the_page(make_bench: MakeBench, window: MainWindow) -> None:
    window.pages.show_alone(QWidget())
    window.close()
    assert window.pages.currentIndex() == 0 and any(not dock.isHidden() for dock in window.docks.values())
