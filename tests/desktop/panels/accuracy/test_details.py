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

from core.domain.events import Estimate, ForecastMode, ForecastScored, TrainerStatus
from core.domain.quantities import QUANTITY_NAMES
from core.evaluation.assess import assess, skill_at
from core.evaluation.findings import (
    AFTER_GAP,
    OVERALL,
    HorizonAccuracy,
    InsideAccuracy,
    Request,
    RunAccuracy,
    TouchAccuracy,
)
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
from desktop.panels.accuracy.details import BANDS, MODELS, PAGES, AccuracyDetails
from desktop.panels.accuracy.models_table import Column
from desktop.panels.accuracy.panel import AccuracyPanel
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


def figures(page: BandsPage) -> dict[str, tuple[str, str, str]]:
    """Value, interval and n, by the row's name."""
    rows = page.table.rows
    return {row.name.text(): (row.value.text(), row._interval.text(), row._n.text()) for row in rows}


def test_figures_have_interval_and_n_or_say_when_they_come(dock: Dock, qtbot: QtBot) -> None:
    open_tab(qtbot, dock, BANDS)
    shown, judged = figures(dock.details.bands), chosen(dock)
    assert shown["90 % band"] == ("–", "from n = 750", str(JUDGED))
    assert shown["Direction"] == ("–", "from n = 750", str(judged.direction.n))
    for of in judged.also_drawn:
        assert shown[QUANTITY_NAMES[of.quantity].capitalize()] == ("–", "from n = 750", str(JUDGED))
    volume = dock.details.bands.table.rows[5]
    assert volume.name.text() == "Volume" and "Skill of the volume" in volume.value.toolTip()
    assert f"Not yet: {JUDGED} of 750" in with_usual_spaces(volume.value.toolTip())
    assert not dock.details.bands.direction.isVisible() and f"n = {JUDGED}" in shown_texts(dock)


def bands_of(qtbot: QtBot, theme: Theme, judged: HorizonAccuracy) -> BandsPage:
    page = BandsPage(theme)
    shown_panel(qtbot, page, 368, 640)
    page.show_found(RunAccuracy("made up", 0, 900, True, (OVERALL,), (), judged))
    QApplication.processEvents()
    return page


def test_scores_older_than_a_field_say_so(theme: Theme, qtbot: QtBot) -> None:
    rows = made_up(900)
    old = {name: np.full(900, np.nan) for name in ("body_loss", "upper_wick_loss", "lower_wick_loss", "volume_loss")}
    page = bands_of(
        qtbot, theme, assess(every(filled(replace(rows, columns=rows.columns | old))), origins(900), Request())
    )
    keep_picture(page, "accuracy-not-stored")
    shown = figures(page)
    assert all(shown[name] == ("–", "not stored", "–") for name in ("Body", "Upper wick", "Lower wick", "Volume"))
    assert "Not stored with these scores" in " ".join(page.table.rows[2].value.toolTip().split())
    assert cut_texts(page) == []


def test_a_market_without_volume_has_nothing_to_forecast_in_it(theme: Theme, qtbot: QtBot) -> None:
    """Not a skill of −∞, and not too early: there are enough candles."""
    judged = assess(every(filled(made_up(900))), origins(900), Request())
    *others, volume = judged.also_drawn
    without = replace(volume, skill=Estimate(None, None, None, 900))
    page = bands_of(qtbot, theme, replace(judged, also_drawn=(*others, without)))
    assert figures(page)["Volume"] == ("–", "nothing to forecast", "900")
    assert page.table.rows[5].bar.span is None


@pytest.mark.parametrize(
    ("direction", "reverse", "words"),
    [
        (Estimate(0.551, 0.52, 0.58, 900), Estimate(0.541, 0.51, 0.57, 900), "no proof of skill: “reverse last” alone"),
        (Estimate(0.551, 0.52, 0.58, 900), Estimate(0.5, 0.47, 0.53, 900), "better than a coin flip, and than"),
        (Estimate(0.51, 0.48, 0.54, 900), Estimate(0.541, 0.51, 0.57, 900), "not proven better than a coin flip"),
        (Estimate(0.45, 0.42, 0.48, 900), Estimate(0.541, 0.51, 0.57, 900), "worse than a coin flip"),
    ],
)
def test_a_direction_says_beside_it_what_it_proves(
    theme: Theme, qtbot: QtBot, direction: Estimate, reverse: Estimate, words: str
) -> None:
    """Regression: “55.1 % (52.0 to 58.1) against 50 %” looked proven, and only its tooltip said why it was not."""
    judged = assess(every(filled(made_up(900))), origins(900), Request())
    page = bands_of(qtbot, theme, replace(judged, direction=direction, reverse_last=reverse))
    assert page.direction.isVisible() and words in page.direction.text()
    assert page.table.rows[-1].name.text() == "Direction", "right above"


def shown_texts(dock: Dock) -> list[str]:
    return [label.text() for label in dock.details.findChildren(QLabel) if label.isVisible()]


def choose(qtbot: QtBot, box: QComboBox, text: str) -> None:
    """With the keyboard."""
    box.setFocus()
    qtbot.keyClick(box, Qt.Key.Key_Home)
    for _ in range(box.count()):
        if box.currentText() == text:
            return
        qtbot.keyClick(box, Qt.Key.Key_Down)
    raise AssertionError(f"there is no {text} to choose")


def test_another_horizon_shows_every_forecaster_there_on_both_pages(dock: Dock, qtbot: QtBot) -> None:
    open_tab(qtbot, dock, MODELS)
    choose(qtbot, dock.details.horizon, "3 candles ahead")
    qtbot.waitUntil(lambda: chosen(dock).request.horizon == 3)
    qtbot.waitUntil(lambda: not dock.panel.is_stale)
    model = dock.details.models.model
    assert {row.row.name for row in model.rows} >= {"combination", "without the model", "model", "reference", "HAR"}
    assert {row.row.n for row in model.rows} == {JUDGED - 2}
    names = [model.index(row, Column.NAME).data() for row in range(model.rowCount())]
    assert names[:2] == ["ghosts", "without the model"] and "no change" in names
    open_tab(qtbot, dock, BANDS)
    assert f"n = {JUDGED - 2}" in shown_texts(dock)


def test_coverage_and_reliability_are_drawn_with_enough_scores(dock: Dock, qtbot: QtBot) -> None:
    open_tab(qtbot, dock, BANDS)
    page = dock.details.bands.bands
    _x, shares = page.covered.getData()
    assert len(shares) == JUDGED - 500 + 1 and shares.min() == pytest.approx(chosen(dock).worst_500)
    assert f"n = {JUDGED}" in page.coverage.title.text() and "worst" in page.coverage.title.text()
    levels, observed = page.reliability.observed.getData()
    assert len(levels) == 7 and (observed[1:] >= observed[:-1]).all()
    qtbot.waitUntil(lambda: "0 of 30" in page.touched.missing.text())  # no candles are stored with this run


def touched_page(qtbot: QtBot, theme: Theme, touched: TouchAccuracy | None, group: str = OVERALL) -> BandsPage:
    judged = assess(every(filled(made_up(900))), origins(900), Request(8, group))
    page = BandsPage(theme)
    shown_panel(qtbot, page, 360, 900)
    page.show_found(RunAccuracy("made up", 0, 900, True, (OVERALL,), (), judged, touched=touched))
    QApplication.processEvents()
    return page


@pytest.mark.parametrize("mode", ["dark", "light"])
def test_each_tenth_of_the_chances_has_its_point_and_its_number_of_cases(qtbot: QtBot, mode: Mode) -> None:
    found = assess_touches(touches(900), 8)
    page = touched_page(qtbot, Theme(mode), found)
    keep_picture(page, f"accuracy-touched-{mode}")
    said, came = page.bands.touched.observed.getData()
    assert said.tolist() == [tenth.chance for tenth in found.reliability]
    assert came.tolist() == [tenth.observed.value for tenth in found.reliability]
    title = with_usual_spaces(page.bands.touched.title.text())
    assert "within 8 candles, newest 900 forecasts" in title and "of all candles" not in title
    assert f"Brier score {found.brier:.4f}, of a Brownian path 0.2500" in title
    (ticks,) = page.bands.touched.plot.getAxis("top")._tickLevels
    assert [text for _place, text in ticks] == [str(tenth.cases) for tenth in found.reliability]
    assert cut_texts(page) == []


def test_a_tenth_with_few_cases_has_no_point(qtbot: QtBot, theme: Theme) -> None:
    cases = touches(900)
    few = replace(cases, chance=np.where(cases.chance > 0.2, 0.21, cases.chance))
    few.chance[:33, 5] = 0.99
    page = touched_page(qtbot, theme, assess_touches(few, 8), "volatile")
    assert len(page.bands.touched.observed.getData()[0]) == 3
    (ticks,) = page.bands.touched.plot.getAxis("top")._tickLevels
    assert [text for _place, text in ticks][3:] == ["0"] * 6 + ["33"] and ticks[2][1].endswith("K")
    assert "900 forecasts of all candles" in with_usual_spaces(page.bands.touched.title.text()), "not of the group"


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
    page = touched_page(qtbot, theme, found)
    assert why in with_usual_spaces(page.bands.touched.missing.text()) and not page.bands.touched.plot.isVisible()


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
        open_tab(qtbot, dock, MODELS)
        assert state.accuracy is not None and state.accuracy.touched is None, "its tab is not open"
        open_tab(qtbot, dock, BANDS)
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
            keep_picture(dock.panel, f"accuracy-{name.split()[0].lower()}-{mode}")
            assert cut_texts(dock.panel) == []
            bars = dock.panel.findChildren(QScrollBar)
            assert not [bar for bar in bars if bar.isVisible() and bar.orientation() == Qt.Orientation.Horizontal]


def room_for_text(box: QComboBox) -> int:
    options = QStyleOptionComboBox()
    box.initStyleOption(options)
    place = QStyle.SubControl.SC_ComboBoxEditField
    return box.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, options, place, box).width()


def test_the_longest_texts_are_not_cut(state: RunState, theme: Theme, qtbot: QtBot) -> None:
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
    details = AccuracyDetails(state, theme)
    qtbot.addWidget(details)
    details.resize(368, 640)
    details.open_page(BANDS)
    details.show()
    details.show_found(found, None)
    for box, wanted in ((details.horizon, request.horizon), (details.group, request.group)):
        box.setCurrentIndex(box.findData(wanted))
        QApplication.sendPostedEvents()
        assert room_for_text(box) >= box.fontMetrics().horizontalAdvance(box.currentText())
    assert details.request == replace(request, wants_touches=True) and details.group.currentText() == "After a gap"
    assert cut_texts(details) == []


def test_too_few_candles_say_so_on_every_page(tmp_path: Path, state: RunState, theme: Theme, qtbot: QtBot) -> None:
    with watched(scored(tmp_path, 12), state, theme, qtbot, (400, 300)) as dock:
        open_tab(qtbot, dock, BANDS)
        page = dock.details.bands
        assert figures(page)["50 % band"] == ("–", "from n = 750", "11")
        assert not page.bands.coverage.plot.isVisible() and "11 of 500" in page.bands.coverage.missing.text()
        assert "11 of 30" in page.bands.reliability.missing.text() and "11 of 100" in page.errors.errors.missing.text()
        open_tab(qtbot, dock, MODELS)
        choose(qtbot, dock.details.horizon, "2 candles ahead")
        qtbot.waitUntil(lambda: any("10 of 30 candles" in text for text in shown_texts(dock)))


def test_regimes_can_be_selected_only_if_the_scores_have_them(dock: Dock, qtbot: QtBot) -> None:
    open_tab(qtbot, dock, MODELS)
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
    open_tab(qtbot, dock, BANDS)
    scenario.watch(dock.state, "another run")
    qtbot.waitUntil(lambda: not dock.panel.tabs.isVisible())
    assert not dock.details.isVisible() and dock.state.accuracy is None
    texts = [label.text() for label in dock.panel.findChildren(QLabel) if label.isVisible()]
    assert len(texts) == 1 and "No forecasts scored yet" in texts[0]


def test_a_selected_regime_is_evaluated_separately_on_all_pages(dock: Dock, qtbot: QtBot) -> None:
    open_tab(qtbot, dock, BANDS)
    qtbot.waitUntil(dock.details.group.isVisible)
    choose(qtbot, dock.details.group, "Calm")
    qtbot.waitUntil(lambda: chosen(dock).request.group == "calm")
    qtbot.waitUntil(lambda: not dock.panel.is_stale)
    n = chosen(dock).n
    assert 0 < n < JUDGED and figures(dock.details.bands)["90 % band"][2] == str(n) and f"n = {n}" in shown_texts(dock)
    open_tab(qtbot, dock, MODELS)
    assert {row.row.n for row in dock.details.models.model.rows} == {n}


def test_lost_details_say_why(dock: Dock, qtbot: QtBot) -> None:
    open_tab(qtbot, dock, BANDS)
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
def test_the_panel_says_that_some_candles_are_left_out(
    qtbot: QtBot, state: RunState, theme: Theme, left_out: int, said: str
) -> None:
    judged = assess(every(filled(made_up(900))), origins(900), Request())
    details = AccuracyDetails(state, theme)
    shown_panel(qtbot, details, 400, 640)
    details.open_page(BANDS)
    details.show_found(RunAccuracy("made up", left_out, 900, True, (OVERALL,), (), judged), None)
    own = [label for label in details.findChildren(QLabel) if label.parent() is details and label.isVisible()]
    below = [label.text() for label in own if label.geometry().top() > details.horizon.geometry().bottom()]
    assert bool(below) is bool(said) and all(said in text for text in below)


@pytest.mark.parametrize(
    ("bounds", "figure"),
    [((0.002, 0.012), "0.70 (0.20 to 1.20)"), ((-0.012, -0.002), "-0.70"), ((-0.1, 0.1), ""), ((None, None), "")],
)
def test_the_panel_says_what_the_inside_is_worth_only_if_that_is_proven(
    qtbot: QtBot, state: RunState, theme: Theme, bounds: tuple[float | None, float | None], figure: str
) -> None:
    value = 0.007 if bounds[0] is None or bounds[0] > -0.01 else -0.007
    inside = InsideAccuracy(1_200, 1_100, Estimate(value, *bounds, 1_199))
    details = AccuracyDetails(state, theme)
    shown_panel(qtbot, details, 400, 640)
    judged = assess(every(filled(made_up(900))), origins(900), Request())
    for known in (None, inside):
        details.show_found(RunAccuracy("made up", 0, 900, True, (OVERALL,), (), judged, inside=known), None)
        assert details._inside.isVisible() is (known is not None)
    text = details._inside.text().replace("\u2212", "-").replace("−", "-")
    assert "1,100 of 1,200" in text and figure in text
    assert any(digit in text.split("candles")[1] for digit in "0123456789") is bool(figure)
