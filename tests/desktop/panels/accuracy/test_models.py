"""Models and baselines: the ghosts with the figures of the verdict, then rows by rank, at other horizons by skill;
numbers only where they are whole, ticks that draw ghosts or say why not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.domain.events import Estimate, ExpertShares
from core.evaluation.findings import AFTER_GAP, Request, RunAccuracy
from core.evaluation.leaderboard import Leaderboard, Ranking
from core.storage.evidence_blocks import COMBINATION
from core.storage.folder import DataFolder
from desktop.panels.accuracy.models import ModelsPage
from desktop.panels.accuracy.models_table import BY_IMPORTANCE, WITHOUT_MODEL, Column
from desktop.panels.accuracy.panel import AccuracyPanel
from desktop.panels.accuracy.words import measured
from desktop.services.record_watch import LeaderboardWatch
from desktop.state.leaderboard import FoundLeaderboard, LeaderboardRequest
from desktop.state.run_state import RunState
from desktop.ui.colour_choice import MOST_PREVIEWS
from desktop.ui.theme import Theme
from tests.desktop import scenario
from tests.desktop.conftest import shown_panel
from tests.desktop.panels.accuracy_helpers import found
from tests.support.candles import MARKET, random_walk
from tests.support.synthetic_run import SyntheticRun

CHECK = Qt.ItemDataRole.CheckStateRole


@pytest.fixture
def panel(qtbot: QtBot, state: RunState, theme: Theme) -> AccuracyPanel:
    """With its page of models, of a run with a forecast and a leaderboard."""
    panel = AccuracyPanel(state, theme)
    shown_panel(qtbot, panel, 1500, 400)
    state.apply(scenario.ready())
    state.apply(scenario.status())
    state.apply(scenario.forecast(scenario.market(60)))
    take(state, scenario.leaderboard())
    panel.tabs.setCurrentIndex(1)
    return panel


@pytest.fixture
def page(panel: AccuracyPanel) -> ModelsPage:
    return panel.details.models


def take(state: RunState, board: Leaderboard, request: LeaderboardRequest | None = None) -> None:
    state.leaderboard.set_found(FoundLeaderboard((state.run_id or "",), request or LeaderboardRequest(), board))


def cell(page: ModelsPage, name: str, column: Column) -> str:
    return str(index(page, name, column).data())


def index(page: ModelsPage, name: str, column: Column) -> object:
    rows = [entry.row.name for entry in page.model.rows]
    return page.model.index(rows.index(name), column)


def tick(page: ModelsPage, name: str, *, is_on: bool = True) -> bool:
    wanted = Qt.CheckState.Checked if is_on else Qt.CheckState.Unchecked
    return page.model.setData(index(page, name, Column.GHOSTS), wanted, CHECK)  # type: ignore[arg-type]


def shown_columns(page: ModelsPage) -> tuple[Column, ...]:
    return tuple(column for column in Column if not page.table.isColumnHidden(column))


def rows(page: ModelsPage) -> list[str]:
    return [entry.row.name for entry in page.model.rows]


def test_rows_say_who_leads_who_may_be_as_good_and_who_is_worse(page: ModelsPage) -> None:
    assert shown_columns(page) == tuple(column for column in Column if column is not Column.WEIGHT)
    assert rows(page)[:3] == [COMBINATION, "HAR", "model"]
    assert cell(page, "HAR", Column.BEHIND) == "leader" and cell(page, "HAR", Column.RANK) == "1"
    assert cell(page, "model", Column.BEHIND) == "indistinguishable"
    assert cell(page, "GARCH", Column.BEHIND) == "4.44 (3.94 to 4.94)" and cell(page, "GARCH", Column.RANK) == "5"
    assert cell(page, "HAR", Column.CLOSE) == "+3.9 (2.4 to 5.3)"
    assert cell(page, "reverse last", Column.RANGE) == cell(page, "HAR", Column.DIRECTION) == "–"
    assert cell(page, "model", Column.COST) == "29.5" and cell(page, "HAR", Column.COST) == "–"
    assert cell(page, "gru", Column.ANSWERED) == "100.0" and cell(page, "HAR", Column.ANSWERED) == "–"
    assert cell(page, "my_model", Column.ANSWERED) == "97.1", "rounded down: 100 means all"
    head = str(page.model.headerData(Column.RANK, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole))
    assert "proven better" in head


def judged(request: Request) -> RunAccuracy:
    """Of a made-up run over 1,700 candles."""
    made = found(1_700)
    return replace(made, chosen=replace(made.chosen, request=request))


def test_the_row_of_the_ghosts_has_the_figures_of_the_verdict(page: ModelsPage, state: RunState) -> None:
    """Regression: “+2.6 (1.1 to 4.2)” beside “+2.67 (−0.17 to 5.51)”, of the same ghosts."""
    assert cell(page, COMBINATION, Column.CLOSE) == "+1.1 (−0.4 to 2.6)" == measured(scenario.accuracy().skill_close, 1)
    assert cell(page, COMBINATION, Column.RANGE) == measured(scenario.accuracy().skill_range, 1)
    assert cell(page, COMBINATION, Column.N) == "1,000"
    own, at_1 = page.model.rows[0].row, judged(Request())
    page.show_found(at_1, Request())
    again = page.model.rows[0].row
    assert (again.close, again.range, again.rank) == (own.close, own.range, own.rank)
    assert (again.direction, again.coverage_90) == (own.direction, own.coverage_90), "as on the page to share"
    assert own.coverage_90 is not None and own.coverage_90.low is not None
    assert rows(page)[1] == WITHOUT_MODEL and "not drawn" in page.model.rows[1].why_not


def test_all_markets_as_one_have_their_own_figures(page: ModelsPage, state: RunState) -> None:
    take(state, scenario.leaderboard(), LeaderboardRequest(of_all_markets=True))
    page.show_found(None, Request())
    assert rows(page)[:2] == ["HAR", COMBINATION] and cell(page, COMBINATION, Column.CLOSE) == "+3.6 (2.1 to 5.0)"


@pytest.mark.parametrize("chosen", [Request(2), Request(1, "calm"), Request(2, AFTER_GAP)])
def test_at_another_choice_each_has_its_skill_and_the_ghosts_their_interval(page: ModelsPage, chosen: Request) -> None:
    made = judged(chosen)
    page.show_found(made, chosen)
    skills = {each.name: each.close_skill for each in made.chosen.experts}
    assert rows(page)[:2] == [COMBINATION, WITHOUT_MODEL] and len(rows(page)) == len(skills)
    assert cell(page, COMBINATION, Column.CLOSE) == measured(made.chosen.close.skill, 1)
    others = [skills[name] for name in rows(page)[2:]]
    assert others == sorted(others, key=lambda skill: -(-9.0 if skill is None else skill)), "the best come first"
    model = page.model.rows[rows(page).index("model")].row.close
    assert model is not None and (model.value, model.low) == (skills["model"], None)
    assert not {Column.RANK, Column.BEHIND, Column.COST} & set(shown_columns(page)), "empty columns"
    assert not page.ranking.isVisible() and not page.scope.isVisible()
    gains = measured(made.chosen.close.model_gain, 1), measured(made.chosen.range.model_gain, 1)
    assert page.adds.isVisible() and all(gain in page.adds.text() for gain in gains)


def test_a_choice_that_is_not_answered_yet_leaves_the_rows(page: ModelsPage) -> None:
    before = rows(page)
    page.show_found(judged(Request()), Request(2))
    assert rows(page) == before
    page.show_found(None, Request(2))
    assert rows(page) == [], "they are of another market"


def test_weights_are_those_of_the_chosen_horizon(panel: AccuracyPanel, page: ModelsPage, state: RunState) -> None:
    by_horizon = tuple(((0.0, share, 1.0 - share),) for share in (0.004, 0.2))
    shares = ExpertShares(("GARCH", "model", "HAR"), ("close",), by_horizon)
    state.apply(scenario.status(shares=shares))
    panel.refresh()
    weights = {name: cell(page, name, Column.WEIGHT) for name in ("model", "HAR", "GARCH", COMBINATION)}
    assert weights == {"model": "<1", "HAR": "100", "GARCH": "–", COMBINATION: "–"}
    page.show_found(judged(Request(2)), Request(2))
    assert cell(page, "model", Column.WEIGHT) == "20" and Column.WEIGHT in shown_columns(page)


def test_a_market_without_movement_says_that_there_was_nothing_to_forecast(page: ModelsPage) -> None:
    made = judged(Request(2))
    flat = Estimate(None, None, None, 1_700)
    still = replace(made.chosen, close=replace(made.chosen.close, skill=flat))
    page.show_found(replace(made, chosen=still), Request(2))
    assert cell(page, COMBINATION, Column.CLOSE) == "nothing to forecast"


def test_without_challengers_there_is_no_column_of_answers(
    panel: AccuracyPanel, page: ModelsPage, state: RunState
) -> None:
    board = scenario.leaderboard()
    take(state, replace(board, rows=tuple(row for row in board.rows if row.answered is None)))
    panel.refresh()
    assert Column.ANSWERED not in shown_columns(page)


def test_before_intervals_it_says_that_it_is_too_early(panel: AccuracyPanel, page: ModelsPage, state: RunState) -> None:
    def early(row: object) -> object:
        def bare(estimate: object) -> object:
            return None if estimate is None else replace(estimate, low=None, high=None)  # type: ignore[type-var]

        names = ("close", "range", "coverage_90", "direction", "behind_leader")
        return replace(row, rank=1, n=200, **{name: bare(getattr(row, name)) for name in names})  # type: ignore[type-var]

    board = scenario.leaderboard()
    take(state, replace(board, rows=tuple(map(early, board.rows))))  # type: ignore[arg-type]
    panel.refresh()
    assert cell(page, "model", Column.BEHIND) == "too early to compare" and cell(page, "HAR", Column.CLOSE) == "+3.9"
    faint = index(page, "HAR", Column.CLOSE).data(Qt.ItemDataRole.ForegroundRole)  # type: ignore[attr-defined]
    assert faint == panel.theme.palette.muted_text


def test_rows_stay_where_they_are_while_the_mouse_is_over_them(
    panel: AccuracyPanel, page: ModelsPage, state: RunState
) -> None:
    names, board = [entry.row.name for entry in page.model.rows], scenario.leaderboard()
    viewport = page.table.viewport()
    viewport.setAttribute(Qt.WidgetAttribute.WA_UnderMouse)
    newest = replace(board.rows[0], name="newest")
    take(state, replace(board, rows=(newest, *reversed(board.rows))))
    panel.refresh()
    assert rows(page) == [*names, "newest"]
    viewport.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, on=False)
    QApplication.sendEvent(page, QEvent(QEvent.Type.Leave))
    panel.refresh_if_seen()
    assert rows(page) == [COMBINATION, "newest", *reversed(names[1:])]


def test_a_tick_asks_for_ghosts_in_a_colour_of_its_row(page: ModelsPage, qtbot: QtBot) -> None:
    asked: list[tuple[str, ...]] = []
    page.ghosts_requested.connect(asked.append)
    assert tick(page, "HAR") and tick(page, "reference") and asked == [("HAR",), ("HAR", "reference")]
    colours = [entry.colour for entry in page.model.rows if entry.is_ticked and entry.row.name != COMBINATION]
    assert sorted(str(colour) for colour in colours) == ["0", "1"]
    page.table.selectRow(1)
    page.table.setFocus()
    qtbot.keyClick(page.table, Qt.Key.Key_Space)
    assert asked[-1] == ("reference",) and len(asked) == 3
    box = page.table.visualRect(index(page, "model", Column.GHOSTS))  # type: ignore[arg-type]
    qtbot.mouseClick(page.table.viewport(), Qt.MouseButton.LeftButton, pos=box.center())
    assert asked.pop() == ("reference", "model")
    page.clear_ticks()
    page.clear_ticks()
    assert asked[3:] == [()]


def test_a_tick_that_is_disabled_says_why(page: ModelsPage, state: RunState) -> None:
    reasons = {entry.row.name: entry.why_not for entry in page.model.rows}
    assert "ghosts on the chart" in reasons[COMBINATION] and reasons["model"] == reasons["HAR"] == ""
    assert "next candle" in reasons["GARCH"] and not tick(page, "GARCH")
    place = index(page, "GARCH", Column.GHOSTS)
    described = place.data(Qt.ItemDataRole.AccessibleDescriptionRole)  # type: ignore[attr-defined]
    assert described == reasons["GARCH"] in str(place.data(Qt.ItemDataRole.ToolTipRole))  # type: ignore[attr-defined]
    scenario.watch(state, "another")
    assert "no forecast" in page._why_not("model")
    page._ticked = ("reference", "HAR", "GARCH", "repeat last")
    assert len(page._ticked) == MOST_PREVIEWS and str(MOST_PREVIEWS) in page._why_not("model")


def test_ticks_of_forecasters_that_this_run_lacks_take_no_place(page: ModelsPage) -> None:
    page.show_ticks(("mine", "yours", "HAR", "theirs"))
    assert [entry.colour for entry in page.model.rows if entry.row.name == "HAR"] == [2]
    asked: list[tuple[str, ...]] = []
    page.ghosts_requested.connect(asked.append)
    assert tick(page, "model") and asked == [("HAR", "model")]
    page.show_ticks(("mine", "HAR"))
    assert tick(page, "model") and asked[-1] == ("mine", "HAR", "model")


def test_before_the_first_scores_ghosts_can_be_ticked(panel: AccuracyPanel, page: ModelsPage, state: RunState) -> None:
    state.leaderboard.clear()
    panel.refresh()
    made = state.forecast
    assert made is not None and made.experts is not None
    assert rows(page) == [COMBINATION, *made.experts.names]
    assert cell(page, "HAR", Column.CLOSE) == cell(page, "HAR", Column.RANK) == "–"
    assert page.table.isVisible()
    assert tick(page, "HAR")


def test_before_the_first_scores_challengers_are_first(panel: AccuracyPanel, page: ModelsPage, state: RunState) -> None:
    made = state.forecast
    assert made is not None and made.experts is not None
    state.leaderboard.clear()
    state.apply(replace(made, experts=replace(made.experts, names=("model", "reference", "mine"))))
    panel.refresh()
    assert rows(page) == [COMBINATION, "mine", "model", "reference"]


def test_columns_that_have_no_room_go_in_the_order_of_their_importance(
    panel: AccuracyPanel, page: ModelsPage, qapp: QApplication
) -> None:
    before = len(Column)
    by_importance = [column for column in BY_IMPORTANCE if column is not Column.WEIGHT]  # nobody has one
    for width in range(1000, 150, -50):
        panel.resize(width, 300)
        qapp.processEvents()
        shown = shown_columns(page)
        assert len(shown) <= before and set(shown) == set(by_importance[: len(shown)])
        before = len(shown)
    assert before <= 3


def test_another_ranking_or_all_markets_are_asked_for(panel: AccuracyPanel, page: ModelsPage, state: RunState) -> None:
    wanted: list[LeaderboardRequest] = []
    page.ranking_requested.connect(wanted.append)
    assert not page.scope.isVisible()
    state.apply(scenario.ready_of_three())
    take(state, scenario.leaderboard())
    panel.refresh()
    assert page.scope.isVisible() and "3" in page.scope.itemText(1)
    page.scope.setCurrentIndex(1)
    page.ranking.setCurrentIndex(page.ranking.findData("close"))
    panel.refresh_if_seen()
    assert wanted[-1] == LeaderboardRequest(Ranking.CLOSE, True)


def test_why_there_is_no_ranking_is_in_its_place(panel: AccuracyPanel, page: ModelsPage, state: RunState) -> None:
    state.leaderboard.set_trouble("The database is locked.")
    panel.refresh()
    assert panel.details._waiting.text() == "The database is locked." and not page.table.isVisible()
    take(state, Leaderboard(Ranking.BOTH, ()))
    panel.refresh()
    assert page.table.isVisible() and rows(page)[0] == COMBINATION
    few = replace(judged(Request(2)), chosen=replace(found(12).chosen, request=Request(2)))
    panel.details.horizon.addItem("2 candles ahead", 2)
    panel.details.horizon.setCurrentIndex(1)
    state.set_accuracy(replace(few, run_id=state.run_id or ""))
    panel.refresh()
    assert "12 of 30" in panel.details._waiting.text() and not page.table.isVisible()


def test_blocks_are_read_on_another_thread_while_the_dock_is_looked_at(
    qtbot: QtBot, state: RunState, theme: Theme, tmp_path: Path
) -> None:
    run = SyntheticRun(tmp_path)
    run.write(random_walk(130, seed=5))
    run.close()
    scenario.watch(state, run.run_id, MARKET)
    watch = LeaderboardWatch(state, DataFolder(tmp_path).database)
    page = ModelsPage(state, theme)
    page.ranking_requested.connect(watch.want)
    shown_panel(qtbot, page, 900, 200)
    with qtbot.waitSignal(state.leaderboard.changed, timeout=10_000):
        page.show_found(None, Request())
    page.show_found(None, Request())
    assert page.model.rows[-1].row.n == 100
    assert page.model.rows[0].row.since_ms == random_walk(2, seed=5)[1].open_time_ms
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
