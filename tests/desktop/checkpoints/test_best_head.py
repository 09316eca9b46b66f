"""The head of the checkpoint browser: the best of the watched run, never with a figure that is not proven."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from core.domain.clock import ManualClock
from core.domain.diagnosis import Disease
from core.domain.events import CheckpointsChanged
from desktop.checkpoints.best_head import BestCheckpointHead
from desktop.checkpoints.columns import BEST, marks
from desktop.checkpoints.panel import CheckpointsPanel
from desktop.state.checkpoint_source import CheckpointSource
from desktop.state.run_state import RunState
from desktop.ui.theme import Theme
from tests.desktop import scenario
from tests.desktop.conftest import shown_panel

UNPROVEN = {"gain_low": -0.01, "gain_high": 0.03}
HARMFUL = {"model_gain": -0.02, "gain_low": -0.03, "gain_high": -0.01}


@pytest.fixture
def library() -> scenario.Library:
    return scenario.Library()


@pytest.fixture
def panel(qtbot: QtBot, state: RunState, theme: Theme, library: scenario.Library) -> CheckpointsPanel:
    state.apply(scenario.ready())
    panel = CheckpointsPanel(CheckpointSource(library, state, state), theme)
    shown_panel(qtbot, panel, 900, 320)
    return panel


def show(panel: CheckpointsPanel, state: RunState, library: scenario.Library, *infos: Any) -> BestCheckpointHead:
    library.infos = list(infos)
    state.apply(CheckpointsChanged(scenario.RUN, library.infos[0]))
    panel.refresh()
    return panel.best


def words(head: BestCheckpointHead) -> str:
    return " | ".join(label.text() for label in head.findChildren(QLabel) if label.isVisible())


def button(head: BestCheckpointHead) -> QPushButton:
    found = head.findChild(QPushButton)
    assert isinstance(found, QPushButton)
    return found


def test_without_checkpoints_there_is_no_head(panel: CheckpointsPanel) -> None:
    panel.refresh()
    assert not panel.best.isVisible()


def test_a_proven_best_is_shown_with_what_it_adds_and_its_age_ticks(
    panel: CheckpointsPanel, state: RunState, library: scenario.Library, clock: ManualClock
) -> None:
    head = show(panel, state, library, *scenario.checkpoints())
    assert "step 12,100 adds +1.1 % (0.6 to 1.7)" in words(head) and "24 min ago" in words(head)
    clock.advance_ms(3_600_000)
    panel.tick()
    assert "1 h ago" in words(head)
    state.apply(scenario.ready_of_three())
    panel.refresh()
    assert "mean of 3 markets" in words(head)


def test_an_unproven_best_has_no_figure(panel: CheckpointsPanel, state: RunState, library: scenario.Library) -> None:
    head = show(panel, state, library, scenario.checkpoint(12_100, **UNPROVEN))
    assert "step 12,100, not proven to add" in words(head) and "No checkpoint is proven to add" in words(head)
    assert "%" not in words(head) and button(head).isVisible()
    assert head._trophy.isHidden() and BEST not in marks(panel.model.info(0)), "a trophy is a proof"


@pytest.mark.parametrize(
    ("changes", "why"),
    [({"skill": None}, "100 candles"), ({"health": Disease.DIVERGED}, "diverged"), (HARMFUL, "proven to take away")],
)
def test_without_a_best_it_says_why(
    panel: CheckpointsPanel, state: RunState, library: scenario.Library, changes: dict[str, Any], why: str
) -> None:
    head = show(panel, state, library, scenario.checkpoint(12_340, **changes))
    assert "No best checkpoint yet" in words(head) and why in words(head)
    assert not button(head).isVisible()


def test_restore_names_the_checkpoint(
    qtbot: QtBot, panel: CheckpointsPanel, state: RunState, library: scenario.Library
) -> None:
    head = show(panel, state, library, *scenario.checkpoints())
    panel.layout().activate()  # as it is by the next frame: the button was hidden until now
    with qtbot.waitSignal(panel.restore_requested) as requested:
        qtbot.mouseClick(button(head), Qt.MouseButton.LeftButton)
    assert requested.args == ["checkpoint-12100"]


def test_the_one_in_use_cannot_be_restored(panel: CheckpointsPanel, state: RunState, library: scenario.Library) -> None:
    head = show(panel, state, library, scenario.checkpoint(12_340))
    assert not button(head).isEnabled()
    state.apply(scenario.status(step=12_347))
    panel.tick()
    assert button(head).isEnabled(), "seven steps may have wrecked it"


def test_a_low_browser_leaves_the_room_to_the_rows(
    qtbot: QtBot, panel: CheckpointsPanel, state: RunState, library: scenario.Library
) -> None:
    head = show(panel, state, library, *scenario.checkpoints())
    panel.resize(900, 130)
    qtbot.waitUntil(lambda: "ago" not in words(head))
    assert "12,100" in words(head) and "ago" in head.toolTip()
