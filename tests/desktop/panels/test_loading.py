"""While the last run loads, no panel says that there is nothing."""

from __future__ import annotations

from PySide6.QtWidgets import QDockWidget
from pytestqt.qtbot import QtBot

from desktop.actions import ActionId
from desktop.ui.panel_base import EmptyState
from tests.desktop import scenario
from tests.desktop.conftest import Bench, MakeBench


def sentences(bench: Bench, qtbot: QtBot) -> list[str]:
    """The empty messages of the run's panels, each brought to the front; jobs belong to no run."""
    said = []
    for dock in bench.window.findChildren(QDockWidget):
        if dock is bench.window.docks[ActionId.SHOW_JOBS]:
            continue
        dock.show()
        dock.raise_()
        qtbot.waitUntil(lambda: not bench.window.has_stale_panels())
        said += [each.text() for each in dock.findChildren(EmptyState) if each.isVisible()]
    return sorted(said)


def test_panels_show_loading_until_the_last_run_is_read(qtbot: QtBot, make_bench: MakeBench) -> None:
    bench = make_bench()
    nothing = sentences(bench, qtbot)
    assert len(nothing) == 5 and len(set(nothing)) == 5, "each in its own words"
    bench.state.trainer_starts(has_run=False)
    assert sentences(bench, qtbot) == nothing, "a first run has nothing to load"
    bench.state.trainer_starts(has_run=True)
    loading = sentences(bench, qtbot)
    assert len(loading) == 5 and len(set(loading)) == 1 and loading[0] not in nothing
    bench.state.apply(scenario.ready())
    assert sentences(bench, qtbot) == nothing
