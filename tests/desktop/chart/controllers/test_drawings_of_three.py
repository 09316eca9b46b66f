"""Channels and positions: drawings with a third anchor, which follows from two places."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt

from core.domain.drawings import DrawingKind, reward_to_risk
from tests.desktop.chart.controllers.test_drawings import CONTROL, draw, drawings, handles, place, the_drawing
from tests.desktop.chart.controllers.tools import ToolBench

POSITIONS = [DrawingKind.LONG_POSITION, DrawingKind.SHORT_POSITION]


@pytest.mark.parametrize("kind", POSITIONS)
@pytest.mark.parametrize("end", [0.75, 0.45])
def test_the_second_place_is_the_target_or_the_stop(bench: ToolBench, kind: DrawingKind, end: float) -> None:
    there = place(bench, 15, end)
    drawing = draw(bench, kind, place(bench, 40, 0.6), there)
    entry, target, stop = drawing.anchors
    is_long = kind is DrawingKind.LONG_POSITION
    assert (target.price > entry.price > stop.price) is is_long
    placed = target if (end > 0.6) is is_long else stop
    assert placed.price == pytest.approx(bench.price_at(there), abs=0.01)
    assert reward_to_risk(drawing) == pytest.approx(2.0, rel=0.05)
    assert all(anchor.price == round(anchor.price, 2) for anchor in drawing.anchors), "in the market's decimals"


@pytest.mark.parametrize("kind", [*POSITIONS, DrawingKind.CHANNEL])
@pytest.mark.parametrize("handle", [0, 1, 2])
def test_a_drag_of_a_handle_changes_it_and_can_be_undone(bench: ToolBench, kind: DrawingKind, handle: int) -> None:
    drawing = draw(bench, kind, place(bench, 40, 0.6), place(bench, 15, 0.8))
    at = handles(bench, drawing)[handle]
    bench.drag(at, at + QPoint(0, 12))
    changed = the_drawing(bench)
    assert changed.number == drawing.number
    assert changed.anchors[handle].price < drawing.anchors[handle].price
    bench.key(Qt.Key.Key_Z, CONTROL)
    assert the_drawing(bench) == drawing


@pytest.mark.parametrize("kind", [*POSITIONS, DrawingKind.CHANNEL])
def test_del_removes_it_and_undo_restores_it(bench: ToolBench, kind: DrawingKind) -> None:
    drawing = draw(bench, kind, place(bench, 40, 0.6), place(bench, 15, 0.7))
    bench.key(Qt.Key.Key_Delete)
    assert drawings(bench) == ()
    bench.key(Qt.Key.Key_Z, CONTROL)
    assert the_drawing(bench) == drawing
