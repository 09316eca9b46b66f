"""A closed window is released with all that it was made of."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent

from core.domain.clock import ManualClock
from tests.desktop import scenario
from tests.desktop.conftest import MakeBench, compose, fill


def test_a_deleted_window_and_its_state_are_collected(qapp: object, tmp_path: Path) -> None:
    """A lambda that is connected to the state and refers to the window would keep both: the collector does not see a
    reference that Qt holds."""
    bench = compose(tmp_path, ManualClock(scenario.NOW_MS))
    bench.window.show()
    fill(bench)
    parts = [weakref.ref(part) for part in (bench.window, bench.chart, bench.state, bench.source)]
    bench.window.close()
    bench.window.deleteLater()
    QCoreApplication.sendPostedEvents(bench.window, QEvent.Type.DeferredDelete.value)
    del bench
    gc.collect()
    assert [type(part()).__name__ for part in parts if part() is not None] == []


def test_qt_alone_deletes_docks(make_bench: MakeBench) -> None:
    """One that PySide takes for Python's is deleted twice if it holds the last reference to its window."""
    window = make_bench().window
    window.reset_layout()
    parts = list(window.docks.values())  # `findChildren` would correct what PySide takes for Python's
    assert [each.objectName() or type(each).__name__ for each in parts if shiboken6.ownedByPython(each)] == []
