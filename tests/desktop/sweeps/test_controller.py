"""The Sweeps page in its window; the sweeps' child processes are played by scripts of a few lines."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from core.storage.folder import DataFolder
from core.sweeps.plan import read_plan
from core.sweeps.rows import CellRow
from core.sweeps.store import SweepStore
from desktop.actions import ActionId
from desktop.jobs.manager import JobManager
from desktop.state.database import WindowDatabase
from desktop.sweeps.controller import Sweeps
from desktop.sweeps.orders import PLAN_NAME, sweep_order
from tests.desktop import scenario
from tests.desktop.conftest import Bench, MakeBench
from tests.support.made_up_sweep import made_up_plan, store_sweep

UNTIL_ASKED = "import sys; sys.stdin.read(); "
Stub = Callable[[str], None]


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Stub:
    """Sets the Python code that runs instead of Ghostcandle."""

    def take(code: str) -> None:
        monkeypatch.setattr("desktop.jobs.child.own_program", lambda: [sys.executable, "-I", "-S", "-c", code])

    return take


@pytest.fixture
def folder(data_dir: Path) -> DataFolder:
    folder = DataFolder(data_dir)
    folder.ensure()
    return folder


@pytest.fixture
def bench(make_bench: MakeBench) -> Bench:
    return make_bench(scenario.checkpoints())


@pytest.fixture
def sweeps(bench: Bench, folder: DataFolder) -> Iterator[Sweeps]:
    database = WindowDatabase(folder)
    database.open()
    jobs = JobManager(
        bench.shell, bench.state, bench.source, bench.window.panels.jobs, bench.market_choice, database, folder
    )
    sweeps = Sweeps(bench.shell, bench.window.pages, bench.state, jobs, folder, bench.theme)
    yield sweeps
    jobs.let_close()
    jobs.kill()
    assert sweeps.finish()
    database.close()


def cell_of(folder: Path, number: int) -> CellRow:
    with SweepStore(folder, readonly=True) as store:
        return store.read_cells()[number - 1]


def test_the_page_has_the_window_alone_until_it_is_left(bench: Bench, sweeps: Sweeps) -> None:
    shown = [dock for dock in bench.window.docks.values() if dock.isVisible()]
    action = bench.shell.actions[ActionId.SWEEPS]
    action.trigger()
    assert sweeps.page is not None and sweeps.page.isVisible() and action.isChecked()
    assert not any(dock.isVisible() for dock in shown)
    sweeps.page.actions_of_panel[ActionId.SWEEP_CLOSE].trigger()
    assert not sweeps.page.isVisible() and not action.isChecked()
    assert all(dock.isVisible() for dock in shown)


def test_a_planned_sweep_is_stored_started_and_shown(
    qtbot: QtBot, bench: Bench, sweeps: Sweeps, folder: DataFolder, stub: Stub
) -> None:
    stub(UNTIL_ASKED)
    place, plan = folder.sweeps / "mine", made_up_plan()
    sweeps.begin(sweep_order(place, "mine"), plan)
    assert read_plan(place / PLAN_NAME) == plan
    assert [job.title for job in bench.state.jobs.running()] == ["Sweep mine"]
    assert sweeps.page is not None and sweeps.page.folder == place
    assert not bench.window.docks[ActionId.SHOW_JOBS].isVisible(), "the page shows it"
    run = sweeps.page.actions_of_panel[ActionId.SWEEP_RUN]
    assert run.isEnabled() and "Stop" in run.toolTip()
    run.trigger()
    qtbot.waitUntil(lambda: not bench.state.jobs.running(), timeout=20_000)
    assert "Continue runs the others" in bench.state.jobs.jobs()[0].result


def test_a_sweep_that_was_stopped_continues(
    qtbot: QtBot, bench: Bench, sweeps: Sweeps, folder: DataFolder, stub: Stub
) -> None:
    summary = {"cells": 72, "done": 71, "failed": {"72": "It is too wide."}}
    stub(f"print({json.dumps(json.dumps(summary))})")
    store_sweep(folder.sweeps / "mine", made_up_plan(), open_cells=3)
    page = sweeps.show()
    qtbot.waitUntil(lambda: page.found is not None, timeout=20_000)
    run = page.actions_of_panel[ActionId.SWEEP_RUN]
    assert run.isEnabled() and "have not ended" in run.toolTip()
    run.trigger()
    qtbot.waitUntil(lambda: not bench.state.jobs.running(), timeout=20_000)
    result = bench.state.jobs.jobs()[0].result
    assert "71 of 72 cells done" in result and "It is too wide." in result


def test_a_cell_s_settings_are_used_and_undone(bench: Bench, sweeps: Sweeps, folder: DataFolder) -> None:
    store_sweep(folder.sweeps / "mine", made_up_plan())
    before = bench.shell.settings.current
    sweeps.use(cell_of(folder.sweeps / "mine", 72), "Not proven.")
    after = bench.shell.settings.current
    assert (after.model.width, after.training.learning_rate, after.model.challengers) == (96, 0.0004, ("gru",))
    banner = bench.shell.banner
    assert "width 96" in banner.text.text() and "Not proven." in banner.text.text()
    banner.action.click()
    assert bench.shell.settings.current == before


def test_settings_that_do_not_go_together_are_refused(bench: Bench, sweeps: Sweeps, folder: DataFolder) -> None:
    store_sweep(folder.sweeps / "mine", made_up_plan())
    settings = bench.shell.settings
    settings.change(replace(settings.current, model=replace(settings.current.model, width=63, heads=7)))
    before = settings.current
    sweeps.use(cell_of(folder.sweeps / "mine", 1), "")
    assert settings.current == before and "7 heads do not divide" in bench.shell.banner.text.text()


def test_a_plan_that_cannot_be_written_is_a_sentence(bench: Bench, sweeps: Sweeps, folder: DataFolder) -> None:
    folder.sweeps.write_text("a file in the folder's place")
    sweeps.begin(sweep_order(folder.sweeps / "mine", "mine"), made_up_plan())
    assert "could not be written" in bench.shell.banner.text.text() and not bench.state.jobs.running()
