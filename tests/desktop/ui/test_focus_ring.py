from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from desktop.ui.accessible import FocusRing
from desktop.ui.theme import Theme


@pytest.fixture
def ring(qapp: QApplication, theme: Theme) -> Iterator[FocusRing]:
    made = FocusRing(qapp, theme)
    yield made
    made.deleteLater()
    QApplication.sendPostedEvents(None, int(QEvent.Type.DeferredDelete.value))


class Form(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.third = QLineEdit(), QPushButton("Second"), QPushButton("Third")
        layout = QVBoxLayout(self)
        for each in (self.first, self.second, self.third):
            layout.addWidget(each)

    def rings(self) -> list[QWidget]:
        return [each for each in self.findChildren(QWidget) if type(each).__name__ == "_Ring" and each.isVisible()]


@pytest.fixture
def form(qtbot: QtBot) -> Form:
    made = Form()
    qtbot.addWidget(made)
    made.show()
    made.activateWindow()
    made.first.setFocus()
    qtbot.waitUntil(made.first.hasFocus)
    return made


@pytest.mark.usefixtures("ring")
def test_it_follows_tab_and_disappears_on_a_click(qtbot: QtBot, form: Form) -> None:
    assert form.rings() == []
    for wanted in (form.second, form.third):
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        (shown,) = form.rings()
        assert shown.geometry() == wanted.geometry()
    place = form.first.mapTo(form, form.first.rect().center())
    QTest.mouseClick(form.windowHandle(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
    qtbot.waitUntil(form.first.hasFocus)
    assert form.rings() == []
    QTest.keyClick(form.first, Qt.Key.Key_Tab)
    assert len(form.rings()) == 1


@pytest.mark.usefixtures("ring")
def test_it_moves_with_its_widget(qtbot: QtBot, form: Form) -> None:
    QTest.keyClick(form.first, Qt.Key.Key_Tab)
    form.resize(form.width() + 80, form.height() + 60)
    qtbot.waitUntil(lambda: form.rings()[0].geometry() == form.second.geometry())


@pytest.mark.usefixtures("ring")
def test_its_widget_may_be_deleted(qtbot: QtBot, form: Form) -> None:
    QTest.keyClick(form.first, Qt.Key.Key_Tab)
    form.second.deleteLater()
    QApplication.sendPostedEvents(None, int(QEvent.Type.DeferredDelete.value))
    form.resize(form.width() + 20, form.height())
    assert all(shown.geometry() != form.first.geometry() for shown in form.rings())
    form.first.setFocus()
    QTest.keyClick(form.first, Qt.Key.Key_Tab)
    assert [shown.geometry() for shown in form.rings()] == [form.third.geometry()]


@pytest.mark.usefixtures("ring")
def test_its_window_may_be_deleted(qtbot: QtBot, form: Form) -> None:
    other = Form()
    other.show()
    other.activateWindow()
    other.first.setFocus()
    qtbot.waitUntil(other.first.hasFocus)
    QTest.keyClick(other.first, Qt.Key.Key_Tab)
    assert other.rings()
    other.deleteLater()
    QApplication.sendPostedEvents(None, int(QEvent.Type.DeferredDelete.value))
    form.activateWindow()
    form.first.setFocus()
    qtbot.waitUntil(form.first.hasFocus)
    QTest.keyClick(form.first, Qt.Key.Key_Tab)
    assert len(form.rings()) == 1
