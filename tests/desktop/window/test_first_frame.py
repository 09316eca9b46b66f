"""The window's first frame: final positions, and no text over parts that are hidden later."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from desktop.actions import ActionId
from desktop.layouts.arrangements import TRAIN
from desktop.panels.loss import LossPanel
from desktop.ui.panel_base import EmptyState
from tests.desktop.conftest import Bench, MakeBench


def places(bench: Bench) -> dict[ActionId, QRect]:
    docks = bench.window.docks.items()
    return {action_id: dock.geometry() for action_id, dock in docks if not dock.visibleRegion().isEmpty()}


def under(words: EmptyState) -> list[QWidget]:
    """What can be seen where a panel's empty words are written; a plot's or a table's own ground is none of it."""
    host = words.parentWidget()
    ink = words.fontMetrics().boundingRect(words.rect(), words.alignment(), words.text())
    found = []
    for widget in host.findChildren(QWidget):
        place = QRect(widget.mapTo(host, widget.rect().topLeft()), widget.size())
        is_ground = widget is words or bool(widget.findChildren(QWidget)) or is_viewport(widget)
        if widget.isVisible() and not is_ground and place.intersects(ink):
            found.append(widget)
    return found


def is_viewport(widget: QWidget) -> bool:
    area = widget.parentWidget()
    return isinstance(area, QAbstractScrollArea) and area.viewport() is widget


@pytest.mark.parametrize("size", [(1280, 720), (1600, 900)])
def test_docks_have_their_final_places_before_the_first_event(
    qtbot: QtBot, make_bench: MakeBench, size: tuple[int, int]
) -> None:
    bench = make_bench(size=size, is_shown=False)
    bench.window.show()
    first = places(bench)
    assert first[ActionId.SHOW_MARKETS].width() > 0.29 * size[0]
    qtbot.waitUntil(lambda: not bench.window.has_stale_panels())
    QApplication.processEvents()
    assert places(bench) == first


def test_no_empty_message_covers_anything(make_bench: MakeBench) -> None:
    bench = make_bench(is_shown=False)
    bench.window.arrange(TRAIN)
    bench.window.show()
    shown = [words for words in bench.window.findChildren(EmptyState) if words.isVisible()]
    assert len(shown) >= 3, "loss, gradients, events"
    assert {words.text(): under(words) for words in shown if under(words)} == {}
    (loss,) = bench.window.findChildren(LossPanel)
    assert not any(loss.plot.getAxis(name).isVisible() for name in ("left", "bottom"))


def test_a_panel_that_is_brought_to_the_front_is_right_in_its_first_frame(make_bench: MakeBench) -> None:
    bench = make_bench()
    bench.window.show_dock(ActionId.SHOW_GRADIENTS)
    (words,) = bench.window.panels.gradients.findChildren(EmptyState)
    (numbers,) = (
        each for each in bench.window.panels.gradients.findChildren(QScrollArea) if each.parent() is words.parent()
    )
    assert words.isVisible() and not numbers.isVisible()
