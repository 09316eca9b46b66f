from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from core.domain.clock import ManualClock
from core.domain.diagnosis import Disease
from core.domain.events import CheckpointsChanged, Estimate
from desktop.panels.accuracy.panel import AccuracyPanel
from desktop.panels.best_checkpoint import BestCheckpointPanel
from desktop.state.checkpoint_source import CheckpointSource
from desktop.state.run_state import RunState
from desktop.ui.theme import Theme
from tests.desktop import scenario
from tests.desktop.conftest import shown_panel


@pytest.fixture
def library() -> scenario.Library:
    return scenario.Library()


@pytest.fixture
def panel(qtbot: QtBot, state: RunState, theme: Theme, library: scenario.Library) -> BestCheckpointPanel:
    state.apply(scenario.ready())
    panel = BestCheckpointPanel(CheckpointSource(library, state, state), state, theme)
    shown_panel(qtbot, panel)
    return panel


def words(panel: BestCheckpointPanel) -> str:
    return " | ".join(label.text() for label in panel.findChildren(QLabel) if label.isVisible())


def test_it_says_that_there_is_none_yet(panel: BestCheckpointPanel) -> None:
    panel.refresh()
    assert "No best checkpoint yet" in words(panel)
    assert not panel.findChild(QPushButton).isVisible()


def test_a_saved_best_appears_and_its_age_ticks(
    panel: BestCheckpointPanel, state: RunState, library: scenario.Library, clock: ManualClock
) -> None:
    library.infos = scenario.checkpoints()
    state.apply(CheckpointsChanged(scenario.RUN, library.infos[0]))
    assert panel.is_stale
    panel.refresh()
    assert "Step 12,100" in words(panel) and "+1.1 % (−0.4 to 2.5)" in words(panel)
    assert "24 min ago" in words(panel)
    clock.advance_ms(3_600_000)
    panel.tick()
    assert "1 h ago" in words(panel)


def test_the_score_of_a_model_of_several_markets_says_that_it_is_of_all(
    panel: BestCheckpointPanel, state: RunState, library: scenario.Library
) -> None:
    library.infos = scenario.checkpoints()
    state.apply(CheckpointsChanged(scenario.RUN, library.infos[0]))
    state.apply(scenario.ready_of_three())
    panel.refresh()
    assert "Model alone, all 3 markets: +1.1 % (−0.4 to 2.5)" in words(panel)


def test_restore_names_the_checkpoint(
    qtbot: QtBot, panel: BestCheckpointPanel, state: RunState, library: scenario.Library
) -> None:
    library.infos = scenario.checkpoints()
    state.apply(CheckpointsChanged(scenario.RUN, library.infos[0]))
    panel.refresh()
    panel.layout().activate()  # as it is by the next frame: the button was hidden until now
    with qtbot.waitSignal(panel.restore_requested) as requested:
        qtbot.mouseClick(panel.findChild(QPushButton), Qt.MouseButton.LeftButton)
    assert requested.args == ["checkpoint-12100"]


def test_the_one_in_use_cannot_be_restored(
    panel: BestCheckpointPanel, state: RunState, library: scenario.Library
) -> None:
    library.infos = [scenario.checkpoint(12_340, is_best=True)]
    state.apply(CheckpointsChanged(scenario.RUN, library.infos[0]))
    panel.refresh()
    assert not panel.findChild(QPushButton).isEnabled()
    state.apply(scenario.status(step=12_347))
    panel.tick()
    assert panel.findChild(QPushButton).isEnabled(), "seven steps may have wrecked it"


@pytest.mark.parametrize("gain", [None, 0.0012])
def test_it_names_the_metric_of_the_score(
    panel: BestCheckpointPanel, state: RunState, library: scenario.Library, gain: float | None
) -> None:
    """Beside “the model adds nothing yet”, a bare score would contradict it."""
    library.infos = [scenario.checkpoint(12_100, is_best=True, reason="best", model_gain=gain)]
    state.apply(CheckpointsChanged(scenario.RUN, library.infos[0]))
    panel.refresh()
    assert "Model alone: +1.1 %" in words(panel) and "against “no change”" in words(panel)
    assert ("+0.1 %, not proven yet" in words(panel)) is (gain is not None)
    shown = panel._score.y(), panel._unproven.y(), panel._of.y()
    assert "of many scores proves no edge" in words(panel) and shown == tuple(sorted(shown)), "right below the number"
    assert not panel._score.font().bold()


@pytest.mark.parametrize("interval", [(0.001, 0.005), (-0.005, -0.001), (-0.002, 0.008), (None, None)])
@pytest.mark.parametrize("gain", [0.0034, -0.0004])
def test_the_models_gain_never_contradicts_the_answer(
    panel: BestCheckpointPanel,
    state: RunState,
    library: scenario.Library,
    theme: Theme,
    interval: tuple[float | None, float | None],
    gain: float,
) -> None:
    """“Adds +0.3 %” stood beside “the model adds nothing yet”, and “the simple rules alone are
    better” beside “Model: too early to tell”."""
    library.infos = [scenario.checkpoint(12_340, is_best=gain > 0.0, skill=0.062, model_gain=gain)]
    estimate = Estimate(0.003, *interval, 1_000)
    state.apply(CheckpointsChanged(scenario.RUN, library.infos[0]))
    state.apply(scenario.status(accuracy=scenario.accuracy(model_gain=(estimate,) * 3)))
    answers = AccuracyPanel(state, theme)
    for each in (panel, answers):
        each.refresh()
    answer, said = answers._model.text(), words(panel)
    assert ("adds +0.3 %" in said) == (gain > 0.0 and "The model adds" in answer)
    assert ("alone are better" in said) == (gain < 0.0 and "does harm" in answer)
    assert ("not proven yet" in said) == ("adds" not in said and "alone are better" not in said)
    assert "adds nothing" not in answer


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"skill": 0.062, "model_gain": -0.0012}, "lowered the skill of the ghosts by 0.12 %, which is not proven yet"),
        (
            {"skill": 0.062, "model_gain": -0.000012},
            "lowered the skill of the ghosts by less than 0.01 %, which is not proven yet",
        ),
        ({"skill": -0.01, "skill_low": -0.054, "skill_high": 0.027}, "but it is not proven better than “no change”"),
        ({"skill": -0.01, "skill_low": None, "skill_high": None}, "but it is not proven better than “no change”"),
        ({"skill": -0.01, "skill_low": -0.02, "skill_high": -0.001}, "but “no change” is better"),
        ({"skill": 0.062, "health": Disease.DIVERGED}, "had diverged"),
    ],
)
def test_beside_a_score_it_says_why_that_is_no_best(
    panel: BestCheckpointPanel,
    state: RunState,
    library: scenario.Library,
    changes: dict[str, Any],
    said: str,
) -> None:
    """The table shows it: “not enough forecasts have been scored” would be untrue."""
    library.infos = [scenario.checkpoint(12_340, **{"skill": None, **changes}), scenario.checkpoint(12_100, skill=-0.5)]
    state.apply(CheckpointsChanged(scenario.RUN, library.infos[0]))
    panel.refresh()
    assert said in words(panel) and "12,340" in words(panel) and "enough forecasts" not in words(panel)
    assert "The highest score is" in words(panel) and not panel.findChild(QPushButton).isVisible()


def test_one_score_alone_is_not_the_highest(
    panel: BestCheckpointPanel, state: RunState, library: scenario.Library
) -> None:
    library.infos = [scenario.checkpoint(12_340, skill=None), scenario.checkpoint(12_100, skill=-0.01)]
    state.apply(CheckpointsChanged(scenario.RUN, library.infos[0]))
    panel.refresh()
    assert "The only score is" in words(panel) and "highest" not in words(panel)


def test_a_higher_score_that_was_left_out_is_named_with_its_reason(
    panel: BestCheckpointPanel, state: RunState, library: scenario.Library
) -> None:
    left_out = scenario.checkpoint(12_100, skill=0.078, skill_low=0.024, skill_high=0.124, model_gain=-0.0002)
    library.infos = [scenario.checkpoint(12_340, is_best=True, skill=0.012, model_gain=0.002), left_out]
    state.apply(CheckpointsChanged(scenario.RUN, library.infos[0]))
    panel.refresh()
    assert "The highest of many" not in words(panel) and "Step 12,340" in words(panel)
    assert (
        "Not the highest score: step 12,100 has +7.8 % (2.4 to 12.4), but the model lowered the skill of "
        "the ghosts by 0.02 %, which is not proven yet. Neither proves an edge." in words(panel)
    )
