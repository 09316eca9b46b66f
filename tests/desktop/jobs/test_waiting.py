"""A job that takes as much of the machine as training can wait for its end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from core.domain.events import TrainerState
from core.storage.folder import DataFolder
from desktop.jobs.job_commands import Order
from desktop.jobs.manager import JobManager
from desktop.state.database import WindowDatabase
from desktop.state.job_list import Job, JobState
from tests.desktop import scenario
from tests.desktop.conftest import Bench, MakeBench

ORDER = Order("Evaluate on walk.csv", ("evaluate", "walk.csv"), lambda _summary: "Done.", waits=True)


@pytest.fixture
def bench(make_bench: MakeBench) -> Bench:
    made = make_bench(scenario.checkpoints())
    made.state.apply(scenario.status(TrainerState.TRAINING))
    return made


@pytest.fixture
def manager(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JobManager]:
    folder = DataFolder(tmp_path / "data")
    folder.ensure()
    database = WindowDatabase(folder)
    database.open()
    monkeypatch.setattr("desktop.jobs.child.own_program", lambda: ["true"])
    panel = bench.window.panels.jobs
    made = JobManager(bench.shell, bench.state, bench.source, panel, bench.market_choice, database, folder)
    yield made
    made.let_close()
    made.kill()
    asyncio.run(made.close())
    database.close()


def newest(bench: Bench) -> Job:
    return bench.state.jobs.jobs()[0]


@pytest.mark.parametrize("state", [TrainerState.PAUSED, TrainerState.STOPPED])
def test_it_starts_when_training_is_paused_or_over(
    qtbot: QtBot, bench: Bench, manager: JobManager, state: TrainerState
) -> None:
    manager.begin(ORDER)
    assert newest(bench).doing.startswith("Waits until training") and not newest(bench).state.is_over
    bench.state.apply(scenario.status(TrainerState.TRAINING))
    assert newest(bench).doing.startswith("Waits")
    bench.state.apply(scenario.status(state))
    qtbot.waitUntil(lambda: newest(bench).state.is_over)
    assert len(bench.state.jobs.jobs()) == 1, "it is listed once"


def test_it_does_not_wait_for_a_trainer_that_is_paused_already(bench: Bench, manager: JobManager) -> None:
    bench.state.apply(scenario.status(TrainerState.PAUSED))
    manager.begin(ORDER)
    assert not newest(bench).doing.startswith("Waits")


def test_it_can_be_cancelled_while_it_waits(bench: Bench, manager: JobManager) -> None:
    job_id = manager.begin(ORDER)
    assert job_id is not None and manager.can_cancel(job_id)
    manager.cancel(job_id)
    assert newest(bench).state is JobState.CANCELLED
    bench.state.apply(scenario.status(TrainerState.PAUSED))
    assert newest(bench).state is JobState.CANCELLED and len(bench.state.jobs.jobs()) == 1


@pytest.mark.parametrize(("state", "is_offered"), [(TrainerState.TRAINING, True), (TrainerState.PAUSED, False)])
def test_the_dialog_offers_it_while_training_runs(
    qtbot: QtBot, bench: Bench, manager: JobManager, state: TrainerState, is_offered: bool
) -> None:
    bench.state.apply(scenario.status(state))
    dialog = manager.ask_pretraining()
    offered = [text for box in dialog.findChildren(QComboBox) for text in map(box.itemText, range(box.count()))]
    assert any("slow each other" in text for text in offered) is is_offered
    dialog.reject()
