"""The Accuracy dock's other tabs over a real run, driven with the mouse and the keyboard."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QScrollBar, QStyle, QStyleOptionComboBox
from pytestqt.qtbot import QtBot

from core.domain.events import ForecastMode, ForecastScored, TrainerStatus
from core.domain.quantities import QUANTITY_NAMES
from core.evaluation.assess import assess, skill_at
from core.evaluation.findings import AFTER_GAP, OVERALL, HorizonAccuracy, Request, RunAccuracy, TouchAccuracy
from core.evaluation.judged_scores import JudgedScores
from core.evaluation.touches import assess_touches, read_touches
from core.forecast.paths import FEWEST_TEMPLATES
from core.settings.tree import ModelSettings, Settings
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.runs import RunStore
from core.training.commands import SetPaused
from core.training.online.touched import joined
from desktop.panels.accuracy.bands import BandsPage
from desktop.panels.accuracy.details import PAGES, AccuracyDetails
from desktop.panels.accuracy.experts import ExpertsPage
from desktop.panels.accuracy.pages import HorizonsPage, SkillPage
from desktop.panels.accuracy.panel import AccuracyPanel
from desktop.panels.accuracy.plots import ErrorsPage
from desktop.services.record_watch import AccuracyWatch
from desktop.state.run_state import RunState
from desktop.state.settings_store import SettingsStore
from desktop.ui.panel_base import Refresher
from desktop.ui.plain_text import with_usual_spaces
from desktop.ui.theme import Mode, Theme
from tests.core.evaluation.rigs import every, filled, origins, touches
from tests.core.evaluation.rigs import scored as made_up
from tests.core.training import rigs
from tests.desktop import scenario
from tests.desktop.conftest import shown_panel
from tests.desktop.window.pictures import cut_texts, keep_picture
from tests.support.candles import MARKET, random_walk
from tests.support.synthetic_run import SyntheticRun, correct_newest

HORIZONS = 3
CANDLES = 510
JUDGED = CANDLES - 1
SETTINGS = replace(rigs.SMALL, checkpoints=replace(rigs.SMALL.checkpoints, every_steps=1000))


@dataclass
class Scored:
    """A stored run."""

    root: Path
    run_id: str
    status: TrainerStatus


def scored(root: Path, candles: int) -> Scored:
    """Without learning, which takes a third of the time and is shown on no tab."""
    session = rigs.service(root, SETTINGS)
    session.handle(SetPaused(True))
    rigs.feed(session, random_walk(candles, seed=8))
    status = session.status()
    session.close()
    return Scored(root, status.run_id, status)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Scored:
    """A synthetic record, with the status of a short session."""
    root = tmp_path_factory.mktemp("run")
    written = SyntheticRun(root / "synthetic", HORIZONS)
    written.write(random_walk(CANDLES, seed=8))
    written.close()
    status = replace(scored(root / "session", 40).status, run_id=written.run_id)
    return Scored(root / "synthetic", written.run_id, status)


@dataclass
class Dock:
    panel: AccuracyPanel
    state: RunState
    watch: AccuracyWatch
    details: AccuracyDetails
    settings: SettingsStore

    def page(self, name: str) -> object:
        return self.details.page(name)


def settings_store() -> SettingsStore:
    return SettingsStore(Settings(model=ModelSettings(horizons=HORIZONS)))


@contextmanager
def watched(run: Scored, state: RunState, theme: Theme, qtbot: QtBot, size: tuple[int, int]) -> Iterator[Dock]:
    panel = AccuracyPanel(state, theme)
    shown_panel(qtbot, panel, *size)
    refresher = Refresher(panel, interval_ms=5)
    refresher.add(panel)
    store = settings_store()
    watch = AccuracyWatch(state, DataFolder(run.root).database, store)
    panel.wanted.connect(watch.want)
    scenario.watch(state, run.run_id, run.status.markets[0].member.market)
    state.apply(run.status)
    try:
        yield Dock(panel, state, watch, panel.details, store)
    finally:
        refresher.stop()
        watch.close()


@pytest.fixture
def dock(run: Scored, state: RunState, theme: Theme, qtbot: QtBot) -> Iterator[Dock]:
    with watched(run, state, theme, qtbot, (400, 300)) as dock:
        yield dock


def open_tab(qtbot: QtBot, dock: Dock, name: str) -> None:
    """With the mouse; then wait until its values are loaded."""
    tabs = dock.panel.tabs
    qtbot.waitUntil(tabs.isVisible)
    index = [tabs.tabText(place) for place in range(tabs.count())].index(name)
    qtbot.mouseClick(tabs, Qt.MouseButton.LeftButton, pos=tabs.tabRect(index).center())
    qtbot.waitUntil(lambda: is_known(dock.state))
    qtbot.waitUntil(lambda: not dock.panel.is_stale)


def is_known(state: RunState) -> bool:
    return state.accuracy is not None and all(row.n for row in state.accuracy.horizons)


def chosen(dock: Dock) -> HorizonAccuracy:
    assert dock.state.accuracy is not None
    return dock.state.accuracy.chosen


def test_nothing_is_read_while_only_the_first_tab_is_visible(dock: Dock, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not dock.panel.is_stale)
    QApplication.processEvents()
    assert dock.state.accuracy is None and not dock.watch._reader.isRunning()


def test_the_skill_has_interval_and_n_and_marks_unproven_values(dock: Dock, qtbot: QtBot) -> None:
    open_tab(qtbot, dock, "Skill")
    page = dock.page("Skill")
    assert isinstance(page, SkillPage)
    close = chosen(dock).close
    assert close.skill.value is not None and close.model_gain.low is None, "a proof takes more candles"
    value, interval, proof = page.cells["Against “no change”"][0]
    assert value.text() == "–" and interval.text() == "–", "no number without its interval"
    assert proof.text() == "no proof: n < 750"
    assert f"n = {JUDGED}, a proof needs 750" in with_usual_spaces(value.toolTip())
    assert page.cells["Against the best"][0][2].text() == close.best_baseline
    gain = page.cells["The model adds"]
    for column in range(2):
        assert gain[column][2].text() == "no proof: n < 750"
    assert [label.text() for label in page.of_close["Direction"]][2] == str(chosen(dock).direction.n)
    shown = {name: labels[0].text() != "–" for name, labels in page.of_close.items()}
    assert shown == {"Direction": False, "“Reverse last”": False, "Majority": False, "90 % band": True}
    assert f"Not yet: {chosen(dock).direction.n} of 750" in with_usual_spaces(page.of_close["Direction"][0].toolTip())
    assert page.direction_proof.text() == "no proof: n < 750"
    assert f"n = {JUDGED}" in shown_texts(dock)


def test_every_other_quantity_shows_its_skill_below(dock: Dock, qtbot: QtBot) -> None:
    open_tab(qtbot, dock, "Skill")
    page = dock.page("Skill")
    assert isinstance(page, SkillPage)
    for (name, labels), of in zip(page.also_drawn.items(), chosen(dock).also_drawn, strict=True):
        value, interval, n = (label.text() for label in labels)
        assert name.lower() == QUANTITY_NAMES[of.quantity] and of.skill.value is not None
        assert value == "–" and n == str(JUDGED) and interval == "–", "no number without its interval"
        assert name.lower() in labels[0].toolTip()


def test_scores_older_than_a_field_say_so(theme: Theme, qtbot: QtBot) -> None:
    rows = made_up(900)
    old = {name: np.full(900, np.nan) for name in ("body_loss", "upper_wick_loss", "lower_wick_loss", "volume_loss")}
    found = assess(every(filled(replace(rows, columns=rows.columns | old))), origins(900), Request())
    page = SkillPage(theme)
    qtbot.addWidget(page)
    page.resize(368, 640)
    page.show()
    page.show_found(RunAccuracy("made up", 0, 900, True, (OVERALL,), (), found))
    QApplication.processEvents()
    keep_picture(page, "accuracy-not-stored")
    for labels in page.also_drawn.values():
        assert [label.text() for label in labels] == ["not stored", "–", "–"]
        assert "Not stored with these scores" in " ".join(labels[0].toolTip().split())
    assert page.cells["Against “no change”"][0][0].text() == "+10.00"
    assert cut_texts(page) == []


def shown_texts(dock: Dock) -> list[str]:
    return [label.text() for label in dock.details.findChildren(QLabel) if label.isVisible()]


def test_a_click_selects_a_horizon_for_all_pages_and_keys_move_it(dock: Dock, qtbot: QtBot) -> None:
    open_tab(qtbot, dock, "Ahead")
    page = dock.page("Ahead")
    assert isinstance(page, HorizonsPage) and page.model.rowCount() == HORIZONS
    assert [page.model.index(row, 3).data() for row in range(HORIZONS)] == [
        str(JUDGED - ahead) for ahead in range(HORIZONS)
    ]
    place = page.table.visualRect(page.table.model().index(1, 1)).center()
    qtbot.mouseClick(page.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert dock.details.request == Request(2)
    qtbot.waitUntil(lambda: chosen(dock).request.horizon == 2)
    qtbot.keyClick(page.table, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: chosen(dock).request.horizon == 3)
    assert dock.details.horizon.currentText() == "3 candles ahead"
    open_tab(qtbot, dock, "Skill")
    assert f"n = {JUDGED - 2}" in shown_texts(dock)


def choose(qtbot: QtBot, box: QComboBox, text: str) -> None:
    """With the keyboard."""
    box.setFocus()
    qtbot.keyClick(box, Qt.Key.Key_Home)
    for _ in range(box.count()):
        if box.currentText() == text:
            return
        qtbot.keyClick(box, Qt.Key.Key_Down)
    raise AssertionError(f"there is no {text} to choose")


def test_the_weights_of_the_chosen_horizon_add_up_and_each_expert_has_its_loss(dock: Dock, qtbot: QtBot) -> None:
    open_tab(qtbot, dock, "Experts")
    page = dock.page("Experts")
    assert isinstance(page, ExpertsPage)
    assert [name for name, _ in page.weights.rows] == list(dock.state.market_status.shares.experts)  # type: ignore[union-attr]
    for column in range(6):
        shares = [cells[column].share for _, cells in page.weights.rows if cells[column].share is not None]
        assert sum(shares) == pytest.approx(1.0, abs=0.05)
    names = [name for name, _ in page.losses.rows]
    assert {"combination", "without the model", "model", "reference", "HAR", "reverse last"} <= set(names)
    reference = dict(page.losses.rows)["reference"]
    assert reference[1].text == "0.00" and reference[0].text != "–"
    assert dict(page.losses.rows)["reverse last"][2].text == "–"
    assert "model has" in page.weights.item(1, 1).toolTip() and page.weights.item(1, 0).toolTip() == ""
    assert [page.weights.item(1, column).text() for column in (0, 1)] == ["model", page.weights.rows[0][1][0].text]
    weights = page.weights  # it never scrolls by itself, once Qt has laid it out
    qtbot.waitUntil(lambda: weights.viewport().height() >= weights.verticalHeader().length())


def test_coverage_and_reliability_are_drawn_with_enough_scores(dock: Dock, qtbot: QtBot) -> None:
    open_tab(qtbot, dock, "Bands")
    page = dock.page("Bands")
    assert isinstance(page, BandsPage)
    _x, shares = page.covered.getData()
    assert len(shares) == JUDGED - 500 + 1 and shares.min() == pytest.approx(chosen(dock).worst_500)
    assert f"n = {JUDGED}" in page.coverage.title.text() and "worst" in page.coverage.title.text()
    levels, observed = page.reliability.observed.getData()
    assert len(levels) == 7 and (observed[1:] >= observed[:-1]).all()
    qtbot.waitUntil(lambda: "0 of 30" in page.touched.missing.text())  # no candles are stored with this run


def bands_page(qtbot: QtBot, theme: Theme, touched: TouchAccuracy | None, group: str = OVERALL) -> BandsPage:
    judged = assess(every(filled(made_up(900))), origins(900), Request(8, group))
    page = BandsPage(theme)
    shown_panel(qtbot, page, 360, 640)
    page.show_found(RunAccuracy("made up", 0, 900, True, (OVERALL,), (), judged, touched=touched))
    QApplication.processEvents()
    return page


@pytest.mark.parametrize("mode", ["dark", "light"])
def test_each_tenth_of_the_chances_has_its_point_and_its_number_of_cases(qtbot: QtBot, mode: Mode) -> None:
    found = assess_touches(touches(900), 8)
    page = bands_page(qtbot, Theme(mode), found)
    keep_picture(page, f"accuracy-touched-{mode}")
    said, came = page.touched.observed.getData()
    assert said.tolist() == [tenth.chance for tenth in found.reliability]
    assert came.tolist() == [tenth.observed.value for tenth in found.reliability]
    title = with_usual_spaces(page.touched.title.text())
    assert "within 8 candles, newest 900 forecasts" in title and "of all candles" not in title
    assert f"Brier score {found.brier:.4f}, of a Brownian path 0.2500" in title
    (ticks,) = page.touched.plot.getAxis("top")._tickLevels
    assert [text for _place, text in ticks] == [str(tenth.cases) for tenth in found.reliability]
    assert cut_texts(page) == []


def test_a_tenth_with_few_cases_has_no_point(qtbot: QtBot, theme: Theme) -> None:
    cases = touches(900)
    few = replace(cases, chance=np.where(cases.chance > 0.2, 0.21, cases.chance))
    few.chance[:33, 5] = 0.99
    page = bands_page(qtbot, theme, assess_touches(few, 8), "volatile")
    assert len(page.touched.observed.getData()[0]) == 3
    (ticks,) = page.touched.plot.getAxis("top")._tickLevels
    assert [text for _place, text in ticks][3:] == ["0"] * 6 + ["33"] and ticks[2][1].endswith("K")
    assert "900 forecasts of all candles" in with_usual_spaces(page.touched.title.text()), "not of the group"


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (None, "Being computed"),
        (assess_touches(touches(29), 8), "29 of 30 candles"),
        (assess_touches(touches(40), 8), "no tenth has 200 cases"),
    ],
    ids=["not yet", "few forecasts", "few cases"],
)
def test_without_chances_there_is_a_sentence(qtbot: QtBot, theme: Theme, found: TouchAccuracy | None, why: str) -> None:
    page = bands_page(qtbot, theme, found)
    assert why in with_usual_spaces(page.touched.missing.text()) and not page.touched.plot.isVisible()


def test_the_chances_of_a_run_are_read_while_bands_is_open(
    run: Scored, tmp_path: Path, state: RunState, theme: Theme, qtbot: QtBot
) -> None:
    candles = random_walk(FEWEST_TEMPLATES + 100, seed=4)
    written = SyntheticRun(tmp_path, HORIZONS)
    written.write(candles)
    written.close()
    with open_database(DataFolder(tmp_path).database) as db:
        CandleStore(db).save(MARKET, candles)
        expected = joined(list(read_touches(db, RunStore(db).get(written.run_id), 0)))
    own = Scored(tmp_path, written.run_id, replace(run.status, run_id=written.run_id))
    with watched(own, state, theme, qtbot, (400, 300)) as dock:
        open_tab(qtbot, dock, "Skill")
        assert state.accuracy is not None and state.accuracy.touched is None, "its tab is not open"
        open_tab(qtbot, dock, "Bands")
        qtbot.waitUntil(lambda: state.accuracy is not None and state.accuracy.touched is not None)
        assert state.accuracy.touched == assess_touches(expected[1], 1)
        choose(qtbot, dock.details.horizon, "3 candles ahead")
        qtbot.waitUntil(lambda: chosen(dock).request.horizon == 3)
        assert state.accuracy.touched == assess_touches(expected[3], 3)


@pytest.mark.parametrize("mode", ["dark", pytest.param("light", marks=pytest.mark.slow)])
def test_nothing_is_cut_at_the_dock_s_usual_width(run: Scored, state: RunState, qtbot: QtBot, mode: Mode) -> None:
    """Higher than usual: the rest would be scrolled."""
    with watched(run, state, Theme(mode), qtbot, (388, 640)) as dock:
        for name in PAGES:
            open_tab(qtbot, dock, name)
            QApplication.sendPostedEvents()
            keep_picture(dock.panel, f"accuracy-{name.lower()}-{mode}")
            assert cut_texts(dock.panel) == []
            bars = dock.panel.findChildren(QScrollBar)
            assert not [bar for bar in bars if bar.isVisible() and bar.orientation() == Qt.Orientation.Horizontal]


def room_for_text(box: QComboBox) -> int:
    options = QStyleOptionComboBox()
    box.initStyleOption(options)
    place = QStyle.SubControl.SC_ComboBoxEditField
    return box.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, options, place, box).width()


def test_the_longest_texts_are_not_cut(theme: Theme, qtbot: QtBot) -> None:
    """More than one candle ahead, few candles after gaps, and unproven intervals beside 0."""
    those = JudgedScores(filled(made_up(900)), np.arange(900) % 23 == 0)
    request = Request(8, AFTER_GAP)
    found = RunAccuracy(
        run_id="made up",
        left_out=0,
        most=900,
        is_whole=True,
        groups=(OVERALL, "volatile", AFTER_GAP),
        horizons=tuple(skill_at(those, horizon) for horizon in range(1, 9)),
        chosen=assess(those, origins(900), request),
    )
    details = AccuracyDetails(theme)
    qtbot.addWidget(details)
    details.resize(368, 640)
    details.open_page("Skill")
    details.show()
    details.show_found(found, None, None)
    for box, wanted in ((details.horizon, request.horizon), (details.group, request.group)):
        box.setCurrentIndex(box.findData(wanted))
        QApplication.sendPostedEvents()
        assert room_for_text(box) >= box.fontMetrics().horizontalAdvance(box.currentText())
    assert details.request == request and details.group.currentText() == "After a gap"
    skill = details.page("Skill")
    assert isinstance(skill, SkillPage)
    assert "no proof" in skill.cells["Against “no change”"][0][2].text()
    assert cut_texts(details) == []


def test_too_few_candles_say_so_on_every_page(tmp_path: Path, state: RunState, theme: Theme, qtbot: QtBot) -> None:
    with watched(scored(tmp_path, 12), state, theme, qtbot, (400, 300)) as dock:
        open_tab(qtbot, dock, "Skill")
        skill, bands, errors = (dock.page(name) for name in ("Skill", "Bands", "Errors"))
        assert isinstance(skill, SkillPage) and isinstance(bands, BandsPage) and isinstance(errors, ErrorsPage)
        assert [line.text() for line in skill.cells["Against “no change”"][0]] == ["–", "–", "not yet"]
        assert "11 of 30 candles needed" in with_usual_spaces(skill.cells["Against “no change”"][0][0].toolTip())
        open_tab(qtbot, dock, "Bands")
        assert not bands.coverage.plot.isVisible() and "11 of 500" in bands.coverage.missing.text()
        assert "11 of 30" in bands.reliability.missing.text()
        open_tab(qtbot, dock, "Errors")
        assert "11 of 100" in errors.errors.missing.text()
        open_tab(qtbot, dock, "Experts")
        assert any("11 of 30 candles" in text for text in shown_texts(dock))


def test_regimes_can_be_selected_only_if_the_scores_have_them(dock: Dock, qtbot: QtBot) -> None:
    open_tab(qtbot, dock, "Skill")
    found = dock.state.accuracy
    assert found is not None
    asked: list[Request] = []
    dock.panel.wanted.disconnect(dock.watch.want)
    dock.panel.wanted.connect(asked.append)
    dock.state.set_accuracy(replace(found, groups=(OVERALL,)))
    qtbot.waitUntil(lambda: not dock.panel.is_stale)
    assert not dock.details.group.isVisible()
    dock.state.set_accuracy(replace(found, groups=(OVERALL, "calm", "volatile")))
    qtbot.waitUntil(dock.details.group.isVisible)
    choose(qtbot, dock.details.group, "Volatile")
    assert asked[-1] == Request(1, "volatile")


def test_a_run_without_scores_has_no_tabs_and_an_empty_message(dock: Dock, qtbot: QtBot) -> None:
    open_tab(qtbot, dock, "Experts")
    scenario.watch(dock.state, "another run")
    qtbot.waitUntil(lambda: not dock.panel.tabs.isVisible())
    assert not dock.details.isVisible() and dock.state.accuracy is None
    texts = [label.text() for label in dock.panel.findChildren(QLabel) if label.isVisible()]
    assert len(texts) == 1 and "No forecasts scored yet" in texts[0]


def test_a_selected_regime_is_evaluated_separately_on_all_pages(dock: Dock, qtbot: QtBot) -> None:
    open_tab(qtbot, dock, "Ahead")
    qtbot.waitUntil(dock.details.group.isVisible)
    choose(qtbot, dock.details.group, "Calm")
    qtbot.waitUntil(lambda: chosen(dock).request.group == "calm")
    qtbot.waitUntil(lambda: not dock.panel.is_stale)
    page = dock.page("Ahead")
    assert isinstance(page, HorizonsPage)
    n = chosen(dock).n
    assert 0 < n < JUDGED and page.model.index(0, 3).data() == str(n) and f"n = {n}" in shown_texts(dock)


def test_lost_details_say_why(dock: Dock, qtbot: QtBot) -> None:
    open_tab(qtbot, dock, "Skill")
    dock.panel.wanted.disconnect(dock.watch.want)
    dock.state.set_accuracy_trouble("The database is locked by another program. Close that program, then try again.")
    qtbot.waitUntil(lambda: any("locked by another program" in text for text in shown_texts(dock)))
    assert not dock.details.horizon.isVisible()


def test_a_missing_run_is_reported_and_the_thread_continues(
    run: Scored, tmp_path: Path, state: RunState, qtbot: QtBot
) -> None:
    open_database(DataFolder(run.root).database, readonly=True).close()
    watch = AccuracyWatch(state, tmp_path / "none.sqlite3", settings_store())
    scenario.watch(state, "no such run")
    with qtbot.waitSignal(state.accuracy_changed):
        watch.want(Request())
    assert state.accuracy is None and "no database" in str(state.accuracy_trouble)
    watch.close()


def test_new_scores_and_corrections_are_read(tmp_path: Path, state: RunState, qtbot: QtBot) -> None:
    root = tmp_path
    session = rigs.service(root, SETTINGS)
    session.handle(SetPaused(True))
    candles = random_walk(60, seed=1)
    rigs.feed(session, candles[:40])
    watch = AccuracyWatch(state, DataFolder(root).database, settings_store())
    watch._pause.setInterval(0)
    scenario.watch(state, session.status().run_id, rigs.MARKET)
    watch.want(Request())
    qtbot.waitUntil(lambda: is_known(state))
    assert state.accuracy is not None and state.accuracy.chosen.n == 39

    def until(is_read: Callable[[], bool]) -> None:
        """The panel asks as often as it is looked at."""
        qtbot.waitUntil(lambda: watch.want(Request()) or is_read())

    for event in rigs.feed(session, candles[40:]):
        state.apply(event)
    until(lambda: _n(state.accuracy) == 59)
    before = state.accuracy.chosen.close.loss
    session.close()
    _correct_newest(root, state.run_id or "")
    state.scored.emit(replace(a_score(state), version=2))
    until(lambda: _loss(state.accuracy) != before)
    assert _loss(state.accuracy) == pytest.approx((before or 0.0) + 1.0 / 59)
    watch.close()


def _n(found: RunAccuracy | None) -> int:
    return 0 if found is None else found.chosen.n


def _loss(found: RunAccuracy | None) -> float | None:
    return None if found is None else found.chosen.close.loss


def _correct_newest(root: Path, run_id: str) -> None:
    db = open_database(DataFolder(root).database)
    correct_newest(db, run_id)
    db.close()


def a_score(state: RunState) -> ForecastScored:
    ghost = scenario.forecast(random_walk(3)).ghosts[0]
    numbers = (1.0, 1.0, 1.0, 1.0, True, True, None)
    return ForecastScored(state.run_id or "", 0, 60_000, 1, ForecastMode.REPLAY, False, ghost, *numbers)  # type: ignore[arg-type]


@pytest.mark.parametrize(("left_out", "said"), [(0, ""), (1_000, "1,000")])
def test_the_panel_says_that_some_candles_are_left_out(qtbot: QtBot, theme: Theme, left_out: int, said: str) -> None:
    judged = assess(every(filled(made_up(900))), origins(900), Request())
    details = AccuracyDetails(theme)
    shown_panel(qtbot, details, 400, 640)
    details.open_page("Skill")
    details.show_found(RunAccuracy("made up", left_out, 900, True, (OVERALL,), (), judged), None, None)
    own = [label for label in details.findChildren(QLabel) if label.parent() is details and label.isVisible()]
    below = [label.text() for label in own if label.geometry().top() > details.horizon.geometry().bottom()]
    assert bool(below) is bool(said) and all(said in text for text in below)
