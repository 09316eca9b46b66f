"""The issue's walk in the real window, with a real trainer: a learning rate of 1, a banner, and one button back."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from core.domain.diagnosis import Disease
from core.domain.incident_kinds import IncidentKind
from desktop.actions import ActionId
from desktop.app.composition import Application
from tests.desktop.whole_window import CATCH_UP, CandleGate, context, run_window, step_of, until

pytestmark = pytest.mark.slow
HOSTS = ["thread", "process"]
RATE = 3e-5


def type_rate(application: Application, text: str) -> None:
    box = application.window.inputs.learning_rate
    box.setFocus()
    box.selectAll()
    QTest.keyClicks(box, text)
    QTest.keyClick(box, Qt.Key.Key_Return)


def is_kept(application: Application, checkpoint_id: str | None) -> bool:
    """By a clean-up with the strictest rules."""
    dialog = application.browser.ask_for_rules()
    for name in ("keep_newest", "keep_best", "keep_every_steps"):
        dialog.form.editor(name).put(0 if name == "keep_every_steps" else 2)
    rows = [[dialog.model.index(row, column).data() for column in (0, 1)] for row in range(dialog.model.rowCount())]
    assert any("offered as a recovery point" in fate for fate, _step in rows)
    dialog.reject()
    (step,) = (info.step for info in application.source.checkpoints() if info.checkpoint_id == checkpoint_id)
    fates = [fate for fate, shown in rows if shown == f"{step:,}"]
    return rows[0][0] == "would be deleted" and any(fate.startswith("kept") for fate in fates)


@pytest.mark.parametrize("host", HOSTS)
def test_a_rate_of_one_shows_a_banner_whose_button_restores_the_model(
    qapp: QApplication, tmp_path: Path, gate: CandleGate, host: str
) -> None:
    async def story(application: Application) -> None:
        window, state = application.window, application.state
        banner = window.banner
        await until(lambda: step_of(application) >= CATCH_UP - 2, "the catch-up")
        type_rate(application, "10")
        assert banner.text.text() == (
            "Learning rate: 10 is out of range. Enter a number from 0.000000000001 to 1. 0.00003 stays."
        )
        assert state.status is not None and state.status.learning_rate == RATE
        type_rate(application, "1")
        assert "out of range" not in banner.text.text() or not banner.isVisible()
        await until(lambda: state.status is not None and state.status.learning_rate == 1.0, "a rate of 1")
        changed_at = step_of(application)
        gate.release(50)
        await until(lambda: "The model has diverged" in banner.text.text() and banner.isVisible(), "the banner")
        assert step_of(application) <= changed_at + 50
        assert state.diagnosis is not None and state.diagnosis.disease is Disease.DIVERGED
        window.show_dock(ActionId.SHOW_GRADIENTS)
        await until(lambda: window.panels.gradients.card.headline.text() == "Diverged", "the verdict in Gradients")
        assert banner.action.text() == f"Go back to step {changed_at}"
        await until(lambda: step_of(application) >= changed_at + 50, "all candles")
        way = state.diagnosis.recovery
        assert way is not None and is_kept(application, way.checkpoint_id)

        QTest.mouseClick(banner.action, Qt.MouseButton.LeftButton)
        assert banner.text.text() == f"Going back to step {changed_at}…", "a busy trainer takes seconds"
        await until(lambda: any(each.kind == IncidentKind.RESTORED for each in state.incidents), "the restore")
        (restored,) = [each.what_happened for each in state.incidents if each.kind == IncidentKind.RESTORED]
        assert restored == (
            f"The checkpoint of step {changed_at} was restored on request. The learning rate was set back to 0.00003."
        )
        await until(lambda: "diverged" not in banner.text.text() or not banner.isVisible(), "the banner's end")
        assert state.status is not None and state.status.learning_rate == pytest.approx(RATE)
        assert window.inputs.learning_rate.value() == pytest.approx(RATE)
        assert window.shell.settings.current.training.learning_rate == pytest.approx(RATE)
        restored_at = step_of(application)
        gate.release(60)
        await until(lambda: step_of(application) >= restored_at + 60, "training again")
        assert state.diagnosis is not None and state.diagnosis.disease is not Disease.DIVERGED
        assert way.checkpoint_id in {info.checkpoint_id for info in application.source.checkpoints()}, (
            "and its copy beside it"
        )
        assert sum(each.kind == "loss spike" for each in state.incidents) <= 1, "an episode is one row"

    run_window(qapp, context(tmp_path, host), story)
