"""The real browser over a real table, from the typed filter to the painted rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, thread_time
from typing import Any

import numpy as np
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtWidgets import QApplication

from core.domain.candle import Interval, Market
from core.domain.checkpoint_info import CheckpointInfo
from core.domain.clock import Clock
from core.domain.events import CheckpointsChanged, TrainerReady
from core.storage.folder import DataFolder
from core.storage.record_writer import TrainingRecord
from core.storage.runs import RunStore
from desktop.checkpoints.columns import PLACE
from desktop.checkpoints.panel import CheckpointsPanel
from desktop.state.checkpoint_source import CheckpointSource
from desktop.state.database import WindowDatabase
from desktop.state.run_state import RunState
from desktop.ui.theme import Theme

FILTERS = (
    "adds > 1 and step > 500",
    "not (pinned or best) and coverage >= 88",
    "note like '%12%' or tags like '%kept%'",
    "periodic 1200",
)
SORTED_BY = ("adds", "loss", "gradients", "parent", "note")
_REPEATS = 5


def measure_browser(
    folder: Path, rows: int, qt: QApplication, clock: Clock, say: Callable[[str], None]
) -> dict[str, Any]:
    """Milliseconds of each filter and each sort, worst and median, painting included; of reading a page, at worst."""
    data = DataFolder(folder)
    data.ensure()
    database = WindowDatabase(data)
    database.open()
    try:
        say(f"Storing {rows:,} checkpoints…")
        newest = _store(database, rows, clock)
        with _shown(database, newest, clock) as (panel, source):
            pages = _read_all(source, panel, rows)
            say("Filtering and sorting…")
            filters = {text: _filtered(panel, qt, text) for text in FILTERS}
            panel.filter.clear()
            sorts = {name: _sorted(panel, qt, name) for name in SORTED_BY}
            all_selected = _timed(panel.table.selectAll, qt, panel.table.clearSelection)
        return {"rows": rows, "page_ms": pages, "filter_ms": filters, "sort_ms": sorts, "select_all_ms": all_selected}
    finally:
        database.close()


def _store(database: WindowDatabase, rows: int, clock: Clock) -> CheckpointInfo:
    market = Market("binance", "BTC/USDT", Interval.parse("1m"))
    runs = RunStore(database.db)
    run = runs.create(
        market,
        "bench",
        created_at_ms=clock.now_ms(),
        seed=1,
        is_seeded=True,
        settings_json="{}",
        device="CPU",
        parameters=1,
    )
    record = TrainingRecord(database.db, run.run_id, runs.acquire_fence(run.run_id))
    generator = np.random.default_rng(7)
    numbers = generator.normal(0.0, 0.02, (rows, 2)).tolist()
    with record.write():
        for number, (skill, loss) in enumerate(numbers):
            info = _checkpoint(run.run_id, number, skill, abs(loss), clock.now_ms() - 60_000 * (rows - number))
            record.add_checkpoint(info)
    database.db.conn.executemany(
        "INSERT INTO checkpoint_marks (checkpoint_id, note, tags) VALUES (?, ?, ?)",
        [(f"{run.run_id}-{number}", f"note {number}", "kept") for number in range(0, rows, 20)],
    )
    return info


def _checkpoint(run_id: str, number: int, skill: float, loss: float, at_ms: int) -> CheckpointInfo:
    return CheckpointInfo(
        checkpoint_id=f"{run_id}-{number}",
        run_id=run_id,
        step=10 * number,
        candle_open_time_ms=at_ms,
        created_at_ms=at_ms,
        reason="periodic",
        skill=None if number % 10 == 0 else skill,
        skill_low=None,
        skill_high=None,
        scored=number,
        model_gain=skill,
        gain_low=skill - 0.01,
        gain_high=skill + 0.01,
        loss=loss,
        file=f"models/{number}.safetensors",
        size_bytes=1_400_000,
        sha256=f"{number:064x}",
        parent_id=f"{run_id}-{number - 1}",
        coverage=0.9 + skill,
        health=("healthy", "always clipping")[number % 2],
        device="CPU, 2 threads",
    )


@contextmanager
def _shown(
    database: WindowDatabase, newest: CheckpointInfo, clock: Clock
) -> Iterator[tuple[CheckpointsPanel, CheckpointSource]]:
    state, theme = RunState(clock), Theme("dark")
    ready = TrainerReady(newest.run_id, "CPU", newest.step, None, 1, ())
    state.apply(ready)
    state.apply(CheckpointsChanged(newest.run_id, newest))
    source = CheckpointSource(database, state, state)
    panel = CheckpointsPanel(source, theme)
    panel.resize(1280, 400)
    panel.show()
    try:
        yield panel, source
    finally:
        panel.close()
        panel.deleteLater()
        state.deleteLater()
        theme.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def _read_all(source: CheckpointSource, panel: CheckpointsPanel, rows: int) -> dict[str, float]:
    """How long each page keeps the window from painting."""
    pages = []
    while len(source.catalog) < rows:
        pages.append(_once(source.read_older))
    panel.refresh()
    return _figures(pages)


def _filtered(panel: CheckpointsPanel, qt: QApplication, text: str) -> dict[str, float]:
    def once() -> None:
        panel.filter.setText(text)
        panel.table.viewport().repaint()

    return _timed(once, qt, panel.filter.clear)


def _sorted(panel: CheckpointsPanel, qt: QApplication, name: str) -> dict[str, float]:
    header = panel.table.horizontalHeader()

    def once() -> None:
        is_descending = header.sortIndicatorOrder() is Qt.SortOrder.DescendingOrder
        order = Qt.SortOrder.AscendingOrder if is_descending else Qt.SortOrder.DescendingOrder
        header.setSortIndicator(PLACE[name], order)
        panel.table.viewport().repaint()

    return _timed(once, qt)


def _timed(
    work: Callable[[], object], qt: QApplication, between: Callable[[], object] | None = None
) -> dict[str, float]:
    times = []
    for _ in range(_REPEATS):
        times.append(_once(work))
        if between is not None:
            between()
        qt.sendPostedEvents()
    return _figures(times)


def _once(work: Callable[[], object]) -> tuple[float, float]:
    """Milliseconds that went by, and that this thread worked."""
    started, worked = perf_counter(), thread_time()
    work()
    return 1000.0 * (perf_counter() - started), 1000.0 * (thread_time() - worked)


def _figures(times: list[tuple[float, float]]) -> dict[str, float]:
    wall, cpu = np.array(times or [(0.0, 0.0)]).T
    return {"median": float(np.median(wall)), "worst": float(wall.max()), "cpu": float(np.median(cpu))}
