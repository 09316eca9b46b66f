"""The Sweeps page over 10,000 made-up cells: how long until it is open, and how long a filter takes, painting included.

python -m tests.benchmarks.sweeps_page
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from time import perf_counter, process_time, thread_time

from PySide6.QtCore import QEventLoop
from PySide6.QtWidgets import QApplication

from desktop.sweeps.page import SweepsPage
from desktop.ui.theme import Theme
from tests.support.made_up_sweep import made_up_plan, store_sweep

FILTERS = (
    "skill_second > 1 and width = 64",
    "model = 'gru' and not failed",
    "file like '%3%' or seed = 2",
    "market-1 gru 0.0002",
)
_REPEATS = 5


def measure(folder: Path) -> dict[str, object]:
    """Milliseconds: by the clock, and of the processor, which other programs do not lengthen as much."""
    qt = QApplication.instance() or QApplication([])
    assert isinstance(qt, QApplication)
    theme = Theme("dark")
    theme.apply_to(qt)
    cells = store_sweep(folder / "made-up", made_up_plan(rates=10, widths=10, files=10, seeds=5), failed=40)
    started, started_cpu, loop = perf_counter(), process_time(), QEventLoop()
    page = SweepsPage(folder, theme)
    page.watch.found.connect(loop.quit)
    page.resize(1600, 800)
    page.show()
    loop.exec()
    page.repaint()
    opened = {"wall_ms": _ms(perf_counter() - started), "cpu_ms": _ms(process_time() - started_cpu)}
    assert page.table.rows_model.rowCount() == len(cells)
    assert page.found is not None
    page.found.table.fill()
    filters = {text: _filtered(page, text) for text in FILTERS}
    assert page.finish()
    return {"cells": len(cells), "open": opened, "filter_ms": filters}


def _filtered(page: SweepsPage, text: str) -> float:
    """The median of the window's thread, with the rows painted."""
    found = []
    for _ in range(_REPEATS):
        page.filter.clear()
        page.table.viewport().repaint()
        started = thread_time()
        page.filter.setText(text)
        page.table.viewport().repaint()
        found.append(thread_time() - started)
    return _ms(sorted(found)[_REPEATS // 2])


def _ms(seconds: float) -> float:
    return round(1000.0 * seconds, 1)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(Path(folder)), indent=2))
