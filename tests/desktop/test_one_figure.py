"""A figure of a run is the same wherever it is shown, with the same interval, to the last digit.

Ten random records are walked through every place. What each must show is computed here from the scores alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from core.domain.candle import Candle, Market
from core.domain.clock import ManualClock
from core.domain.events import Estimate, TrainerStatus
from core.domain.quantities import Quantity
from core.evaluation.details import evaluate_run, timeline_of
from core.evaluation.leaderboard import as_data, stored_leaderboard
from core.evaluation.paper import TRADE_COST
from core.evaluation.report.figures import NOTHING
from core.evaluation.report.page import page, shared_page
from core.evaluation.running import RunningAccuracy
from core.evaluation.sharing import read_shared
from core.evaluation.summary import stored_market, stored_status, summarise
from core.settings.tree import Settings, from_dict
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.evidence_blocks import COMBINATION
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.storage.runs import Run, RunStore
from core.training.online.evidence import RunEvidence
from core.training.online.trainer_spec import own_mode_of
from desktop.overview.heading import heading
from desktop.panels.accuracy.panel import AccuracyPanel
from desktop.panels.markets.model import Column
from desktop.panels.markets.panel import MarketsPanel
from desktop.state.run_state import RunState
from desktop.ui.plain_text import with_usual_spaces
from desktop.ui.theme import Theme
from desktop.window.status_bar import StatusPanel
from tests.core.evaluation.report.tree import Tree
from tests.core.evaluation.rigs import read_all
from tests.desktop.conftest import shown_panel
from tests.support import commands
from tests.support.candles import MARKET, MINUTE, random_walk
from tests.support.synthetic_run import SyntheticRun, stored_run

HORIZONS = 2
SETTINGS = json.dumps({"model": {"horizons": HORIZONS}, "online": {"twin_age": 20}})
SEEDS = range(10)
STILL, SHORT, CHALLENGED, TOGETHER, HEADLESS, THINNED = range(6)
"""Records that are not merely random: a market without movement; less than 750 candles; challengers; several markets,
one of them still; of a real session, with its text; the detail of old scores deleted."""
_NUMBER = r"[+−-]?[\d,]+(?:\.\d+)?"
_FIGURE = re.compile(rf"({_NUMBER}) ?%? ?\(({_NUMBER}) to ({_NUMBER})\)")
_FOREVER = 2**63 - 1


@dataclass
class Record:
    """A data folder with the runs of one model; `text` is what `headless` printed, if it made them."""

    root: Path
    expected: dict[str, Figures]
    """What must be shown of each run, by its id."""
    text: str = ""

    @property
    def where(self) -> tuple[str, str]:
        return "--data-dir", str(self.root)

    def read(self, command: str) -> str:
        """What it prints in a terminal where no line is broken."""
        done = commands.invoke(command, *self.where, COLUMNS="300")
        assert done.returncode == 0, done.stderr
        return done.stdout


def record_of(root: Path, seed: int) -> Record:
    commands.configure(root)
    if seed == HEADLESS:
        played = ("headless", "--feed", "simulate", "--candles", "160", "--speed", "0")
        done = commands.invoke(*played, "--data-dir", str(root), COLUMNS="300")
        assert done.returncode == 0, done.stderr
        return Record(root, expected_of(root), done.stdout)
    write(root, seed)
    expected = expected_of(root)
    if seed == THINNED:
        with closing(open_database(DataFolder(root).database)) as db, db.conn:
            db.conn.execute("DELETE FROM score_details WHERE id < 600")
    return Record(root, expected)


def write(root: Path, seed: int) -> None:
    print(f"seed {seed}")
    generator = np.random.default_rng(seed)
    fewest, most = {SHORT: (100, 700), THINNED: (1_350, 1_351)}.get(seed, (780, 950))
    count = int(generator.integers(fewest, most))
    markets = [MARKET, *(Market(MARKET.venue, name, MINUTE) for name in ("OTHER", "STILL"))]
    with closing(open_database(DataFolder(root).database)) as db:
        challengers = ("gru", "own") if seed == CHALLENGED else ()
        head = stored_run(db, markets[: 3 if seed == TOGETHER else 1], challengers, SETTINGS)
        members = RunStore(db).members(head.run_id)
        for place, run in enumerate(members):
            candles = walk(count, seed + place, is_still=seed == STILL or place == 2)
            CandleStore(db).save(run.market, candles)
            advantage = float(generator.uniform(-0.03, 0.06))
            written = SyntheticRun(root, HORIZONS, seed + place, run=run, advantage=advantage)
            written.write(candles)
            written.close()


def walk(count: int, seed: int, *, is_still: bool) -> list[Candle]:
    candles = random_walk(count, seed=seed)
    return [replace(each, open=1.0, high=1.0, low=1.0, close=1.0) for each in candles] if is_still else candles


@pytest.mark.parametrize("seed", SEEDS)
def test_every_place_shows_the_same_figures(tmp_path: Path, seed: int, qtbot: QtBot, theme: Theme) -> None:
    record = record_of(tmp_path, seed)
    with closing(open_database(DataFolder(record.root).database, readonly=True)) as db:
        runs = RunStore(db).members(RunStore(db).list()[0].head_id)
        opened = Opened(db, runs, [record.expected[run.run_id] for run in runs])
        check_metrics_as_json_and_as_text(record, opened)
        check_the_leaderboard_and_all_markets_as_one(record, opened)
        check_the_page_to_share_and_the_report_of_evaluate(opened)
        check_the_accuracy_by_candles_ahead(opened)
        check_the_window(opened, qtbot, theme)


@dataclass
class Opened:
    """The record's runs, the head first, and what must be shown of each."""

    db: Any
    runs: Iterable[Run]
    expected: list[Figures]

    @property
    def head(self) -> Run:
        return next(iter(self.runs))


@dataclass
class Figures:
    """close, range: skills. gain, learning: both equally, close, range."""

    close: Estimate
    range: Estimate
    gain: tuple[Estimate, Estimate, Estimate]
    learning: tuple[Estimate, Estimate, Estimate]

    @property
    def answers(self) -> tuple[Estimate, Estimate, Estimate]:
        return self.close, self.gain[0], self.learning[0]

    @property
    def all(self) -> tuple[Estimate, ...]:
        return self.close, self.range, *self.gain, *self.learning


def expected_of(root: Path) -> dict[str, Figures]:
    with closing(open_database(DataFolder(root).database, readonly=True)) as db:
        return {run.run_id: figures_of(RecordReader(db, run.run_id), run) for run in RunStore(db).list()}


def figures_of(reader: RecordReader, run: Run) -> Figures:
    """From all scores at once, without the stored blocks."""
    evidence = RunEvidence()
    evidence.extend(reader.scores(), own_mode_of(run.market), _FOREVER)
    online = evidence.online_gain(0, 0)
    return Figures(*evidence.skills()[1:], evidence.model_gains(), (online.gain, online.close, online.range))


def require(text: str, needed: Iterable[Estimate], also: Iterable[Estimate] = ()) -> None:
    """Each needed figure is in the text if it has an interval, and no other figure than these is."""
    needed, found = list(needed), _FIGURE.findall(text)
    allowed = [each for each in (*needed, *also) if each.low is not None]
    for shown in found:
        assert any(agrees(shown, each) for each in allowed), (shown, allowed)
    for each in needed:
        assert each.low is None or any(agrees(shown, each) for shown in found), (each, found)
        assert each.value is not None or each.n < 30 or NOTHING in text, (each, text)
    assert "inf" not in re.findall(r"[a-z]+", text) and not re.search(r"\d{12}\.", text)


def agrees(shown: tuple[str, ...], estimate: Estimate) -> bool:
    return all(
        value is not None and is_rounded(text, 100.0 * value)
        for text, value in zip(shown, (estimate.value, estimate.low, estimate.high), strict=True)
    )


def is_rounded(text: str, value: float) -> bool:
    """Whether the value is shown to the last digit; an end of an interval has more digits rather than none."""
    plain = text.replace("−", "-").replace(",", "")
    return float(plain) == round(value, len(plain.partition(".")[2])) and len(plain.partition(".")[2]) >= 1


def same(found: dict[str, Any], expected: Estimate) -> None:
    """A figure in JSON."""
    assert found["n"] == expected.n
    assert (found["value"], found["ci95"]) == (pytest.approx(expected.value), pytest.approx(expected.ci95))


def check_metrics_as_json_and_as_text(record: Record, opened: Opened) -> None:
    found = commands.invoke_json("metrics", *record.where)
    for run, expected in zip(opened.runs, opened.expected, strict=True):
        skill = found.get(str(run.market), found)["skill"]
        same(skill["close"], expected.close)
        same(skill["range"], expected.range)
        same(skill["model_gain"], expected.gain[0])
        same(skill["online_gain"], expected.learning[0])
    text = record.read("metrics")
    of_all = pooled_figures(found)
    shown = [each for of in opened.expected for each in (*of.answers, of.range)]
    require(" ".join(text.split()), [*shown, *of_all])
    if record.text:
        lines = [line for line in text.splitlines() if line.startswith(("Ghosts", "Model", "Learning", "Skill"))]
        assert lines and set(lines) <= set(record.text.splitlines()), "headless ends with the same text"


def pooled_figures(found: dict[str, Any]) -> list[Estimate]:
    if "pooled" not in found:
        return []
    of = found["pooled"]["anytime"]
    values = [of[f"{name}_{key}"] for name in ("close", "range") for key in ("skill", "model_gain")]
    return [estimate_of(each | {"n": of["n"]}) for each in values]


def estimate_of(found: dict[str, Any]) -> Estimate:
    low, high = found["ci95"] or (None, None)
    return Estimate(found["value"], low, high, found["n"])


def check_the_leaderboard_and_all_markets_as_one(record: Record, opened: Opened) -> None:
    ids = [run.run_id for run in opened.runs]
    for run_id, expected in zip(ids, opened.expected, strict=True):
        board = as_data(stored_leaderboard(opened.db, [run for run in opened.runs if run.run_id == run_id]))
        (row,) = (row for row in board["rows"] if row["name"] == COMBINATION)
        same(row["close"], expected.close)
        same(row["range"], expected.range)
    boards = commands.invoke_json("leaderboard", *record.where)
    of_all = pooled_figures(commands.invoke_json("metrics", *record.where))
    for figure, key in zip(of_all[::2], ("close", "range"), strict=False):
        (row,) = (row for row in boards["pooled"]["rows"] if row["name"] == COMBINATION)
        same(row[key], figure)
    every = boards.values() if of_all else [boards]
    needed = [*(each for of in opened.expected for each in (of.close, of.range)), *of_all[::2]]
    require(record.read("leaderboard"), needed, [figure for board in every for figure in of_board(board)])


def of_board(board: dict[str, Any]) -> list[Estimate]:
    """All figures of a leaderboard but the combination's skills."""
    keys = ("close", "range", "coverage_90", "direction", "behind_leader")
    cells = [
        row[key]
        for row in board["rows"]
        for key in keys
        if row[key] is not None and not (row["name"] == COMBINATION and key in ("close", "range"))
    ]
    return [estimate_of(each) for each in cells]


def check_the_page_to_share_and_the_report_of_evaluate(opened: Opened) -> None:
    for run, expected in zip(opened.runs, opened.expected, strict=True):
        shared = read_shared(opened.db, run, TRADE_COST, ())
        seen = Tree(shared_page(shared).replace("</t", " </t")).text
        leading, _, others = seen.partition("What forecasts best")
        require(leading, expected.answers)
        board, _, _ = others.partition("Figures marked")
        require(board, (expected.close, expected.range), of_board(shared.summary["leaderboard"]))
        summary = {"file": "candles.csv"} | summarise(opened.db, run) | evaluate_run(opened.db, run, HORIZONS)
        report = Tree(page(summary, timeline_of(opened.db, run, HORIZONS))).text
        leading, _, others = report.partition("bp: basis points")
        require(leading, expected.answers)
        table = others.partition("Against the best")[0]
        require(table, (expected.close, expected.range, *expected.gain[1:], *expected.learning[1:]))
        check_bands_direction_and_body(summary["watched"], opened.db, run)
        for key, figure in (("close_skill", expected.close), ("range_model_gain", expected.gain[2])):
            same(summary["anytime"][key] | {"n": summary["anytime"]["n"]}, figure)


def check_bands_direction_and_body(shown: dict[str, Any], db: Any, run: Run) -> None:
    """The pages show those of the window's page of bands."""
    chosen = read_all(RunningAccuracy(db, run.run_id, HORIZONS)).chosen
    body = next(each.skill for each in chosen.also_drawn if each.quantity is Quantity.BODY)
    for found, expected in (
        (shown["direction"], chosen.direction),
        (shown["coverage_90"], chosen.coverage_90),
        (shown["body"]["skill"], body),
    ):
        same(found, expected)


def check_the_accuracy_by_candles_ahead(opened: Opened) -> None:
    for run, expected in zip(opened.runs, opened.expected, strict=True):
        found = read_all(RunningAccuracy(opened.db, run.run_id, HORIZONS))
        first, chosen = found.horizons[0], found.chosen
        for estimate, wanted in (
            (first.close, expected.close),
            (first.range, expected.range),
            (first.model_gain_close, expected.gain[1]),
            (first.model_gain_range, expected.gain[2]),
            (chosen.close.skill, expected.close),
            (chosen.range.model_gain, expected.gain[2]),
        ):
            same({"value": estimate.value, "ci95": estimate.ci95, "n": estimate.n}, wanted)


def check_the_window(opened: Opened, qtbot: QtBot, theme: Theme) -> None:
    for run, expected in zip(opened.runs, opened.expected, strict=True):
        state = watching(opened, run)
        accuracy, bar = AccuracyPanel(state, theme), StatusPanel(state, theme)
        markets = MarketsPanel(state, theme, ())
        for panel in (accuracy, bar, markets):
            shown_panel(qtbot, panel, 700, 500)
            panel.refresh()
        require(texts_of(accuracy), expected.answers, expected.all)
        require(texts_of(bar), expected.answers, expected.all)
        require_market(markets, run.market, expected)
        row = state.markets.row(run.market)
        line = heading(row, theme.palette)
        require(line.tooltip, expected.answers[:2], expected.all)
        worth = re.findall(rf"({_NUMBER}) %", line.worth)
        assert all(is_rounded(each, 100.0 * (expected.close.value or 0.0)) for each in worth)


def require_market(panel: MarketsPanel, market: Market, expected: Figures) -> None:
    place = panel.model.place_of(market)
    require(str(panel.model.index(place, 0).data(Qt.ItemDataRole.ToolTipRole)), (), expected.all)
    for column, estimate in ((Column.SKILL, expected.close), (Column.GAIN, expected.gain[0])):
        shown = re.findall(_NUMBER, str(panel.model.index(place, column).data()))
        assert len(shown) == (estimate.low is not None)
        assert all(is_rounded(each, 100.0 * (estimate.value or 0.0)) for each in shown)


def watching(opened: Opened, run: Run) -> RunState:
    """The window's state before the trainer has started: what is stored is shown."""
    settings: Settings = from_dict(json.loads(run.settings_json))[0]
    status: TrainerStatus = stored_status(opened.db, opened.head, settings)
    status = replace(status, markets=tuple(stored_market(opened.db, each, settings) for each in opened.runs))
    state = RunState(ManualClock(1_700_000_000_000))
    state.begin(run.market)
    state.markets.set_universe([each.market for each in opened.runs])
    state.set_members(run.head_id, {each.run_id: each.market for each in opened.runs})
    state.apply_stored(status)
    return state


def texts_of(widget: QWidget) -> str:
    labels = widget.findChildren(QLabel)
    return "\n".join(with_usual_spaces(text) for label in labels for text in (label.text(), label.toolTip()))
