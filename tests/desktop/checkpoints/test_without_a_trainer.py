"""Stored checkpoints are listed and found before a trainer runs, and where none will."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QApplication

from core.domain.events import TrainerFailed
from core.storage.browsing import BrowsedRows
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.runs import Run
from desktop.actions import ActionId
from desktop.app.composition import Application
from tests.desktop import scenario
from tests.desktop.conftest import MakeBench
from tests.desktop.whole_window import CandleGate, context, run_window, until


def listed(application: Application) -> set[str]:
    """The checkpoints in the browser's table."""
    model = application.window.panels.checkpoints.model
    return {model.info(row).checkpoint_id for row in range(model.rowCount())}


def found(application: Application, step: int) -> list[str]:
    """The results of Ctrl+K for a step."""
    dialog = application.finder.open()
    dialog.line.setText(f"checkpoint step {step}")
    names = [dialog.model.index(row, 0).data() for row in range(dialog.model.rowCount())]
    dialog.reject()
    return names


def kept(folder: Path) -> set[str]:
    """The checkpoints of its run."""
    with open_database(DataFolder(folder).database, readonly=True) as db:
        return {each.info.checkpoint_id for each in BrowsedRows(db).page(None, 100)}


def test_a_market_that_cannot_be_opened_leaves_the_last_run_in_the_browser(
    qapp: QApplication, tmp_path: Path, learned: Path
) -> None:
    async def story(application: Application) -> None:
        window, state = application.window, application.state
        window.show_dock(ActionId.SHOW_CHECKPOINTS)
        await until(lambda: listed(application) >= kept(learned), "the last run's checkpoints")
        assert state.run_id is None and state.trainer_state is None and len(kept(learned)) >= 3
        oldest = application.source.checkpoints()[-1]
        assert f"Step {oldest.step}" in found(application, oldest.step)
        assert window.panels.checkpoints.select(oldest.checkpoint_id)
        window.panels.checkpoints.actions_of_panel[ActionId.CHECKPOINT_RESTORE].trigger()
        await until(
            lambda: "needs a running trainer" in window.banner.text.text(),
            "why it is not restored",
        )
        application.source.set_note(oldest.checkpoint_id, "kept without a trainer")
        assert application.source.checkpoints()[-1].note == "kept without a trainer"

    run_window(qapp, context(learned, file=str(tmp_path / "nowhere.csv")), story)


def test_checkpoints_are_listed_while_the_trainer_starts_and_runs(
    qapp: QApplication, learned: Path, gate: CandleGate
) -> None:
    async def story(application: Application) -> None:
        application.window.show_dock(ActionId.SHOW_CHECKPOINTS)
        seen: list[set[str]] = []
        application.state.status_changed.connect(
            lambda: seen.append({each.checkpoint_id for each in application.source.checkpoints()})
        )
        await until(lambda: application.state.trainer is not None, "the trainer")
        assert seen[0] >= kept(learned), "while the trainer starts"
        assert all(each & kept(learned) for each in seen), "they never vanish meanwhile"

    run_window(qapp, context(learned), story)


def test_another_market_lists_none_of_them(
    qapp: QApplication, learned: Path, gate: CandleGate, idle_trainer: None
) -> None:
    async def story(application: Application) -> None:
        await until(lambda: application.state.is_starting, "the start")
        assert application.source.checkpoints() == () and kept(learned)

    run_window(qapp, context(learned, feed="simulate", file=None), story)


def test_a_trainer_that_fails_to_start_leaves_them_listed(make_bench: MakeBench) -> None:
    bench = make_bench(scenario.checkpoints())
    last = Run(
        scenario.RUN,
        scenario.MARKET,
        fingerprint="",
        created_at_ms=0,
        seed=1,
        is_seeded=False,
        settings_json="{}",
        device="CPU",
        parameters=1,
        fence=1,
        is_simulated=False,
        is_learned=True,
        head_id=scenario.RUN,
        challengers=(),
    )
    bench.state.begin(scenario.MARKET, last)
    bench.state.trainer_starts(has_run=True)
    panel = bench.window.panels.checkpoints
    panel.refresh()
    assert panel.model.rowCount() == len(scenario.checkpoints())
    bench.state.apply(TrainerFailed("The device is gone.", ""))
    panel.refresh()
    assert panel.model.rowCount() == len(scenario.checkpoints())
    best = bench.source.best()
    assert best is not None and best.run_id == scenario.RUN
