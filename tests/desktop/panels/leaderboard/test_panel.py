"""The leaderboard: rows by rank, numbers only where they are whole, ticks that draw ghosts or say why not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.evaluation.leaderboard import Leaderboard, Ranking
from core.storage.evidence_blocks import COMBINATION
from core.storage.folder import DataFolder
from desktop.panels.leaderboard.panel import LeaderboardPanel
from desktop.panels.leaderboard.table import BY_IMPORTANCE, Column
from desktop.services.record_watch import LeaderboardWatch
from desktop.state.leaderboard import FoundLeaderboard, LeaderboardRequest
from desktop.state.run_state import RunState
from desktop.ui.colour_choice import MOST_PREVIEWS
from desktop.ui.theme import Theme
from tests.desktop import scenario
from tests.desktop.conftest import shown_panel
from tests.support.candles import MARKET, random_walk
from tests.support.synthetic_run import SyntheticRun

CHECK = Qt.ItemDataRole.CheckStateRole


@pytest.fixture
def panel(qtbot: QtBot, state: RunState, theme: Theme) -> LeaderboardPanel:
    """Of a run with a forecast and a leaderboard."""
    panel = LeaderboardPanel(state, theme)
    shown_panel(qtbot, panel, 1400, 300)
    state.apply(scenario.ready())
    state.apply(scenario.status())
    state.apply(scenario.forecast(scenario.market(60)))
    take(state, scenario.leaderboard())
    panel.refresh()
    return panel


def take(state: RunState, board: Leaderboard, request: LeaderboardRequest | None = None) -> None:
    state.leaderboard.set_found(FoundLeaderboard((state.run_id or "",), request or LeaderboardRequest(), board))


def cell(panel: LeaderboardPanel, name: str, column: Column) -> str:
    return str(index(panel, name, column).data())


def index(panel: LeaderboardPanel, name: str, column: Column) -> object:
    rows = [entry.row.name for entry in panel.model.rows]
    return panel.model.index(rows.index(name), column)


def tick(panel: LeaderboardPanel, name: str, *, is_on: bool = True) -> bool:
    wanted = Qt.CheckState.Checked if is_on else Qt.CheckState.Unchecked
    return panel.model.setData(index(panel, name, Column.GHOSTS), wanted, CHECK)  # type: ignore[arg-type]


def shown_columns(panel: LeaderboardPanel) -> tuple[Column, ...]:
    return tuple(column for column in Column if not panel.table.isColumnHidden(column))


def test_rows_say_who_leads_who_may_be_as_good_and_who_is_worse(panel: LeaderboardPanel) -> None:
    assert shown_columns(panel) == tuple(Column), "all columns have room"
    assert [entry.row.name for entry in panel.model.rows][:3] == ["HAR", COMBINATION, "model"]
    assert cell(panel, "HAR", Column.BEHIND) == "leader" and cell(panel, "HAR", Column.RANK) == "1"
    assert cell(panel, "model", Column.BEHIND) == "indistinguishable"
    assert cell(panel, "GARCH", Column.BEHIND) == "4.44 (3.94 to 4.94)" and cell(panel, "GARCH", Column.RANK) == "5"
    assert cell(panel, "HAR", Column.CLOSE) == "+3.88 (2.43 to 5.33)"
    assert cell(panel, "reverse last", Column.RANGE) == cell(panel, "HAR", Column.DIRECTION) == "–"
    assert cell(panel, "model", Column.COST) == "29.5" and cell(panel, "HAR", Column.COST) == "–"
    assert cell(panel, "gru", Column.ANSWERED) == "100.0" and cell(panel, "HAR", Column.ANSWERED) == "–"
    assert cell(panel, "my_model", Column.ANSWERED) == "97.1", "rounded down: 100 means all"
    assert panel._headline.text() == "HAR leads, 3 others may be as good"
    head = str(panel.model.headerData(Column.RANK, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole))
    assert "proven better" in head


def test_without_challengers_there_is_no_column_of_answers(panel: LeaderboardPanel, state: RunState) -> None:
    board = scenario.leaderboard()
    take(state, replace(board, rows=tuple(row for row in board.rows if row.answered is None)))
    panel.refresh()
    assert shown_columns(panel) == tuple(column for column in Column if column is not Column.ANSWERED)


def test_before_intervals_it_says_that_it_is_too_early(panel: LeaderboardPanel, state: RunState) -> None:
    def early(row: object) -> object:
        def bare(estimate: object) -> object:
            return None if estimate is None else replace(estimate, low=None, high=None)  # type: ignore[type-var]

        names = ("close", "range", "coverage_90", "direction", "behind_leader")
        return replace(row, rank=1, n=200, **{name: bare(getattr(row, name)) for name in names})  # type: ignore[type-var]

    board = scenario.leaderboard()
    take(state, replace(board, rows=tuple(map(early, board.rows))))  # type: ignore[arg-type]
    panel.refresh()
    assert panel._headline.text() == "Too early to compare: n = 200"
    assert cell(panel, "model", Column.BEHIND) == "too early to compare" and cell(panel, "HAR", Column.CLOSE) == "+3.88"
    faint = index(panel, "HAR", Column.CLOSE).data(Qt.ItemDataRole.ForegroundRole)  # type: ignore[attr-defined]
    assert faint == panel.theme.palette.muted_text


def test_rows_stay_where_they_are_while_the_mouse_is_over_them(panel: LeaderboardPanel, state: RunState) -> None:
    names, board = [entry.row.name for entry in panel.model.rows], scenario.leaderboard()
    viewport = panel.table.viewport()
    viewport.setAttribute(Qt.WidgetAttribute.WA_UnderMouse)
    newest = replace(board.rows[0], name="newest")
    take(state, replace(board, rows=(newest, *reversed(board.rows))))
    panel.refresh()
    assert [entry.row.name for entry in panel.model.rows] == [*names, "newest"]
    viewport.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, on=False)
    QApplication.sendEvent(panel, QEvent(QEvent.Type.Leave))
    panel.refresh_if_seen()
    assert [entry.row.name for entry in panel.model.rows] == ["newest", *reversed(names)]


def test_a_tick_asks_for_ghosts_in_a_colour_of_its_row(panel: LeaderboardPanel, qtbot: QtBot) -> None:
    asked: list[tuple[str, ...]] = []
    panel.ghosts_requested.connect(asked.append)
    assert tick(panel, "HAR") and tick(panel, "reference") and asked == [("HAR",), ("HAR", "reference")]
    colours = [entry.colour for entry in panel.model.rows if entry.is_ticked and entry.row.name != COMBINATION]
    assert sorted(str(colour) for colour in colours) == ["0", "1"]
    panel.table.selectRow(0)
    panel.table.setFocus()
    qtbot.keyClick(panel.table, Qt.Key.Key_Space)
    assert asked[-1] == ("reference",) and len(asked) == 3
    box = panel.table.visualRect(index(panel, "model", Column.GHOSTS))  # type: ignore[arg-type]
    qtbot.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=box.center())
    assert asked.pop() == ("reference", "model")
    panel.clear_ticks()
    panel.clear_ticks()
    assert asked[3:] == [()]


def test_a_tick_that_is_disabled_says_why(panel: LeaderboardPanel, state: RunState) -> None:
    reasons = {entry.row.name: entry.why_not for entry in panel.model.rows}
    assert "ghosts on the chart" in reasons[COMBINATION] and reasons["model"] == reasons["HAR"] == ""
    assert "next candle" in reasons["GARCH"] and not tick(panel, "GARCH")
    place = index(panel, "GARCH", Column.GHOSTS)
    described = place.data(Qt.ItemDataRole.AccessibleDescriptionRole)  # type: ignore[attr-defined]
    assert described == reasons["GARCH"] in str(place.data(Qt.ItemDataRole.ToolTipRole))  # type: ignore[attr-defined]
    scenario.watch(state, "another")
    assert "no forecast" in panel._why_not("model")
    panel._ticked = ("reference", "HAR", "GARCH", "repeat last")
    assert len(panel._ticked) == MOST_PREVIEWS and str(MOST_PREVIEWS) in panel._why_not("model")


def test_ticks_of_forecasters_that_this_run_lacks_take_no_place(panel: LeaderboardPanel) -> None:
    panel.show_ticks(("mine", "yours", "HAR", "theirs"))
    assert [entry.colour for entry in panel.model.rows if entry.row.name == "HAR"] == [2]
    asked: list[tuple[str, ...]] = []
    panel.ghosts_requested.connect(asked.append)
    assert tick(panel, "model") and asked == [("HAR", "model")]
    panel.show_ticks(("mine", "HAR"))
    assert tick(panel, "model") and asked[-1] == ("mine", "HAR", "model")


def test_before_the_first_scores_ghosts_can_be_ticked(panel: LeaderboardPanel, state: RunState) -> None:
    state.leaderboard.clear()
    panel.refresh()
    made = state.forecast
    assert made is not None and made.experts is not None
    assert [entry.row.name for entry in panel.model.rows] == [COMBINATION, *made.experts.names]
    assert cell(panel, "HAR", Column.CLOSE) == cell(panel, "HAR", Column.RANK) == "–"
    assert panel.table.isVisible() and panel._headline.text() == "Reading the scores…"
    assert tick(panel, "HAR")


def test_before_the_first_scores_challengers_are_first(panel: LeaderboardPanel, state: RunState) -> None:
    made = state.forecast
    assert made is not None and made.experts is not None
    state.leaderboard.clear()
    state.apply(replace(made, experts=replace(made.experts, names=("model", "reference", "mine"))))
    panel.refresh()
    assert [entry.row.name for entry in panel.model.rows] == [COMBINATION, "mine", "model", "reference"]


def test_columns_that_have_no_room_go_in_the_order_of_their_importance(
    panel: LeaderboardPanel, qapp: QApplication
) -> None:
    before = len(Column)
    for width in range(1000, 150, -50):
        panel.resize(width, 300)
        qapp.processEvents()
        shown = shown_columns(panel)
        assert len(shown) <= before and set(shown) == set(BY_IMPORTANCE[: len(shown)])
        before = len(shown)
    assert before <= 3


def test_another_ranking_or_all_markets_are_asked_for(panel: LeaderboardPanel, state: RunState) -> None:
    wanted: list[LeaderboardRequest] = []
    panel.wanted.connect(wanted.append)
    assert not panel.scope.isVisible()
    state.apply(scenario.ready_of_three())
    take(state, scenario.leaderboard())
    panel.refresh()
    assert panel.scope.isVisible() and "3" in panel.scope.itemText(1)
    panel.scope.setCurrentIndex(1)
    panel.ranking.setCurrentIndex(panel.ranking.findData("close"))
    assert wanted[-1] == LeaderboardRequest(Ranking.CLOSE, True)


def test_without_rows_it_says_why(qtbot: QtBot, state: RunState, theme: Theme) -> None:
    panel = LeaderboardPanel(state, theme)
    shown_panel(qtbot, panel, 900, 200)
    panel.refresh()
    assert "after 50 scored candles" in panel._empty.text() and not panel.table.isVisible()
    state.apply(scenario.ready())
    state.apply(scenario.status())
    panel.refresh()
    assert "Reading" in panel._empty.text()
    state.leaderboard.set_trouble("The database is locked.")
    panel.refresh()
    assert "locked" in panel._empty.text()
    take(state, Leaderboard(Ranking.BOTH, ()))
    panel.refresh()
    assert "after 50 scored candles" in panel._empty.text()


def test_blocks_are_read_on_another_thread_while_the_dock_is_looked_at(
    qtbot: QtBot, state: RunState, theme: Theme, tmp_path: Path
) -> None:
    run = SyntheticRun(tmp_path)
    run.write(random_walk(130, seed=5))
    run.close()
    scenario.watch(state, run.run_id, MARKET)
    watch = LeaderboardWatch(state, DataFolder(tmp_path).database)
    panel = LeaderboardPanel(state, theme)
    panel.wanted.connect(watch.want)
    shown_panel(qtbot, panel, 900, 200)
    panel.refresh()
    with qtbot.waitSignal(state.leaderboard.changed, timeout=10_000):
        pass
    panel.refresh()
    assert {entry.row.n for entry in panel.model.rows} == {100, 129}
    assert panel.model.rows[0].row.since_ms == random_walk(2, seed=5)[1].open_time_ms
    stale = state.leaderboard.found
    assert stale is not None
    scenario.watch(state, "another", MARKET)
    state.leaderboard.set_found(stale)
    assert state.leaderboard.found is None, "it is of another market"
    watch.close()


def test_why_the_database_cannot_be_read_is_kept(qtbot: QtBot, state: RunState, tmp_path: Path) -> None:
    scenario.watch(state, "run")
    watch = LeaderboardWatch(state, tmp_path / "none.sqlite3")
    with qtbot.waitSignal(state.leaderboard.changed, timeout=10_000):
        watch.want(LeaderboardRequest())
    assert state.leaderboard.trouble
    watch.close()
