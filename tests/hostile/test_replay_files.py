"""Replay files in the window: read on a thread, with progress and cancellation; a refused one does not end the feed."""

from __future__ import annotations

import dataclasses
import gzip
import threading
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication

from core.domain.events import JobProgress
from core.market.feeds import auto
from core.market.history.candle_file import CandleFile, read_candle_file
from core.market.history.candle_table import Watch
from core.market.history.table_file import CHUNK_ROWS
from desktop.app.composition import Application
from desktop.services.run_controller import READING_JOB
from tests.desktop.conftest import gate as gate
from tests.desktop.conftest import idle_trainer as idle_trainer
from tests.desktop.whole_window import CandleGate, context, run_window, step_of, until
from tests.support.candles import START_MS

pytestmark = [pytest.mark.hostile, pytest.mark.slow]


def choose(application: Application, path: Path) -> None:
    """As the market dialog does."""
    window = application.window
    market = dataclasses.replace(window.shell.settings.current.market, feed="replay", file=str(path))
    window.shell.settings.change(dataclasses.replace(window.shell.settings.current, market=market))
    application.market_choice.chosen.emit(market)


def many_rows(path: Path, rows: int) -> Path:
    times = START_MS + 60_000 * np.arange(rows)
    prices = (100.0 + np.random.default_rng(1).normal(size=rows).cumsum() * 0.01).round(6)
    lines = "\n".join(
        f"{time},{price},{price + 1},{price - 1},{price},1"
        for time, price in zip(times.tolist(), prices.tolist(), strict=True)
    )
    path.write_text("time,open,high,low,close,volume\n" + lines)
    return path


REFUSED = {
    "no table": (b"Dear diary,\nnothing happened.\n", ".csv"),
    "a bomb of blank lines": (gzip.compress(b"time,open,high,low,close,volume\n" + b"\n" * 3_000_000, 1), ".csv.gz"),
    "nothing": (b"", ".csv"),
}


def test_a_refused_file_is_reported_until_the_next_market_is_opened(
    qapp: QApplication, tmp_path: Path, gate: CandleGate
) -> None:
    """The running market was stopped first, and the sentence stood on other markets' charts half an hour later."""

    async def story(application: Application) -> None:
        window, runs, state = application.window, application.runs, application.state
        await until(lambda: step_of(application) > 3, "training")
        run, market, title = state.run_id, window.shell.settings.current.market, window.windowTitle()
        sentences: list[str] = []
        runs.refused.connect(sentences.append)
        for number, (content, ending) in enumerate(REFUSED.values(), 1):
            refused = tmp_path / f"refused {number}{ending}"
            refused.write_bytes(content)
            choose(application, refused)
            await until(lambda number=number: len(sentences) == number, "the refusal")  # type: ignore[misc]
            assert refused.name in sentences[-1]
            assert window.shell.settings.current.market == market and window.windowTitle() == title
            assert sentences[-1] in window.banner.text.text() and window.banner.isVisible()
        reached, drawn = step_of(application), application.chart.model.count
        gate.release(3)
        await until(lambda: step_of(application) >= reached + 3, "the market to continue")
        await until(lambda: application.chart.model.count >= drawn + 3, "the chart to continue")
        assert state.run_id == run and application.trainer.is_running
        choose(application, many_rows(tmp_path / "good.csv", 200))
        await until(lambda: state.run_id not in (None, run) and step_of(application) > 3, "the next market")
        assert not window.banner.isVisible() and len(sentences) == len(REFUSED)
        assert "good" in window.windowTitle() and application.chart._stage.background.sentence.startswith("Waiting")

    run_window(qapp, context(tmp_path / "data"), story)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """In several parts when it is read."""
    return many_rows(tmp_path_factory.mktemp("large") / "large.csv", 3 * CHUNK_ROWS)


def test_a_large_file_is_read_on_another_thread_with_progress_and_can_be_cancelled(
    qapp: QApplication, tmp_path: Path, gate: CandleGate, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []

    def read(path: Path, watch: Watch) -> CandleFile:
        threads.append(threading.current_thread())
        return read_candle_file(path, watch)

    monkeypatch.setattr(auto, "read_candle_file", read)

    async def story(application: Application) -> None:
        runs, state = application.runs, application.state
        await until(lambda: step_of(application) > 3, "training")
        run, market = state.run_id, application.settings.current.market
        reports: list[JobProgress] = []
        sentences: list[str] = []
        runs.reading.connect(reports.append)
        runs.refused.connect(sentences.append)
        runs.reading.connect(lambda report: application.jobs.cancel(READING_JOB))
        choose(application, large)
        await until(lambda: bool(sentences), "the end of reading")
        assert "large.csv was cancelled" in sentences[0]
        assert next(report.done for report in reports if not report.is_over) < 50 and reports[-1].is_over
        assert state.run_id == run and application.trainer.is_running and application.settings.current.market == market
        assert threading.main_thread() not in threads

    run_window(qapp, context(tmp_path / "data"), story)


def test_choosing_another_market_stops_the_reading_of_a_file(
    qapp: QApplication, tmp_path: Path, gate: CandleGate, idle_trainer: None, large: Path
) -> None:
    async def story(application: Application) -> None:
        window, runs = application.window, application.runs
        await until(lambda: application.trainer.is_running, "a market")
        sentences: list[str] = []
        opened: list[str] = []
        runs.refused.connect(sentences.append)
        application.watched.opened.connect(lambda market: opened.append(market.venue))
        choose(application, large)
        market = dataclasses.replace(window.shell.settings.current.market, feed="simulate", file=None)
        window.shell.settings.change(dataclasses.replace(window.shell.settings.current, market=market))
        application.market_choice.chosen.emit(market)
        await until(lambda: opened == ["simulated"], "the market that was chosen last")
        assert not sentences

    run_window(qapp, context(tmp_path / "data"), story)
