"""The wheel over an input that was not clicked changes nothing, and scrolls the page around it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QDate, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QDateTimeEdit, QScrollArea, QSpinBox, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from desktop.ui.inputs import LogSpinBox, SeekSlider, WholeSpinBox
from desktop.ui.theme import Theme


def combo() -> QComboBox:
    box = QComboBox()
    box.addItems(["one", "two", "three"])
    box.setCurrentIndex(1)
    return box


def editable() -> QComboBox:
    box = combo()
    box.setEditable(True)
    return box


def number(box: QWidget) -> QWidget:
    box.setValue(2)  # type: ignore[attr-defined]
    return box


def slider() -> QWidget:
    made = SeekSlider()
    made.setRange(0, 9)
    return number(made)


FIELDS: dict[str, Callable[[], QWidget]] = {
    "rate": lambda: number(LogSpinBox(1e-3, 10.0)),
    "whole": lambda: number(WholeSpinBox(0, 9)),
    "spin": lambda: number(QSpinBox()),
    "date": lambda: QDateTimeEdit(QDate(2020, 5, 15)),
    "combo": combo,
    "editable": editable,
    "slider": slider,
}


@pytest.fixture(params=list(FIELDS))
def page(request: pytest.FixtureRequest, qtbot: QtBot, qapp: QApplication) -> Iterator[tuple[QScrollArea, QWidget]]:
    """A page that scrolls, with a field in it, in the program's style."""
    Theme("dark").apply_to(qapp)
    area, inside, field, other = QScrollArea(), QWidget(), FIELDS[request.param](), QWidget()
    other.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    layout = QVBoxLayout(inside)
    for part in (field, other):
        layout.addWidget(part)
    inside.setMinimumSize(200, 900)
    area.setWidget(inside)
    area.resize(240, 200)
    qtbot.addWidget(area)
    with qtbot.waitActive(area):
        area.show()
        area.activateWindow()
    other.setFocus()
    area.ensureWidgetVisible(field)
    yield area, field


def state_of(field: QWidget) -> object:
    for name in ("currentText", "text", "value"):
        if hasattr(field, name):
            return getattr(field, name)()
    raise AssertionError(field)


def turn(field: QWidget) -> None:
    """As the desktop sends it: to the window, which finds the widget under the pointer."""
    window = field.window()
    place = field.mapTo(window, field.rect().center())
    QTest.wheelEvent(window.windowHandle(), place, QPoint(0, -120))


def test_it_changes_nothing_before_a_click_and_scrolls_the_page(page: tuple[QScrollArea, QWidget]) -> None:
    area, field = page
    before, place = state_of(field), area.verticalScrollBar().value()
    turn(field)
    assert state_of(field) == before and not field.hasFocus()
    assert area.verticalScrollBar().value() > place


def test_it_changes_a_field_that_was_clicked(page: tuple[QScrollArea, QWidget]) -> None:
    _area, field = page
    field.setFocus(Qt.FocusReason.MouseFocusReason)
    before = state_of(field)
    turn(field)
    assert field.hasFocus() and state_of(field) != before
