"""The page of a sweep: its figures are those of the table and of the verdict, and any text is safe in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.evaluation.report.figures import between, percent
from core.sweeps import report_charts
from core.sweeps.errors import SweepError
from core.sweeps.report import FILE_NAME, SweepFigures, page, read_figures, write_page
from core.sweeps.store import SweepStore
from core.sweeps.winner import judge_sweep
from tests.core.evaluation.report.tree import Tree, require_self_contained
from tests.core.sweeps.simulated import MARKETS, SEEDS, SETTINGS
from tests.core.sweeps.stored import FAULT, store_simulated
from tests.support.made_up_sweep import made_up_plan, store_sweep

pytest.importorskip("arch", reason="needs the library arch: pip install 'ghostcandle[sweeps]'")
BETTER, ADVANTAGE = 6, 0.5
LAST_CELL = SETTINGS * MARKETS * SEEDS
PLOTS = 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sweep") / "rate & <width>"
    store_simulated(folder, better=BETTER, advantage=ADVANTAGE, failed=LAST_CELL)
    return folder


@pytest.fixture(scope="module")
def figures(folder: Path) -> SweepFigures:
    return read_figures(folder)


def test_a_sweep_is_judged_from_its_folder(folder: Path) -> None:
    with SweepStore(folder, readonly=True) as store:
        verdict = judge_sweep(store)
    assert verdict.best == BETTER and verdict.is_better
    assert verdict.default == 1
    assert list(verdict.left_out) == [SETTINGS]


def test_the_page_needs_nothing_else_and_shows_any_text(figures: SweepFigures) -> None:
    tree = require_self_contained(page(figures))
    assert "rate & <width>" in tree.text
    assert FAULT in tree.text


def test_the_page_has_the_verdict_with_its_notes(figures: SweepFigures) -> None:
    text = Tree(page(figures)).text
    assert figures.verdict.notes
    for sentence in (figures.verdict.sentence, *figures.verdict.notes):
        assert sentence in text


def test_the_table_has_every_setting_with_its_figures(figures: SweepFigures) -> None:
    rows = {row[0]: row[1:] for row in figures.rows()}
    assert set(rows) == set(figures.labels().values())
    for standing in figures.verdict.standings:
        skill_first, skill_second, edge, in_set, _ = rows[figures.labels()[standing.configuration]]
        assert standing.skill_second.value is not None and standing.skill_first.value is not None
        assert skill_second == percent(standing.skill_second.value)
        assert skill_first == percent(standing.skill_first.value)
        assert in_set == ("yes" if standing.in_set else "no")
        if standing.configuration != figures.verdict.default:
            assert standing.edge.value is not None and standing.edge.ci95 is not None
            assert edge == f"{percent(standing.edge.value)} ({between(standing.edge.ci95)})"


def test_what_may_be_the_best_is_first(figures: SweepFigures) -> None:
    assert figures.rows()[0][0] == figures.labels()[BETTER]


def test_a_setting_that_is_not_compared_has_no_edge(figures: SweepFigures) -> None:
    row = next(row for row in figures.rows() if row[0] == figures.labels()[SETTINGS])
    assert row[3:5] == ("–", "–")


def test_a_failed_cell_has_its_sentence(figures: SweepFigures) -> None:
    assert [(row[0], row[-1]) for row in figures.failures()] == [(str(LAST_CELL), FAULT)]


def test_every_plot_is_drawn(figures: SweepFigures) -> None:
    text = page(figures)
    assert Tree(text).tags.count("svg") == PLOTS
    assert "skill on the first part" in text, "a picture on which one chooses"
    ((title, drawn),) = report_charts.heat_maps(figures.first)
    assert "model.width" in title and "training.learning_rate" in title
    assert len(drawn.findall("rect")) == SETTINGS
    edges = report_charts.edges(figures.verdict, figures.labels())
    assert edges is not None and len(edges.findall("circle")) == len(figures.verdict.standings) - 1
    lines = report_charts.parallel(figures.first, figures.verdict)
    assert lines is not None and len(lines.findall("polyline")) == SETTINGS
    dots = report_charts.skill_and_cost(figures.second, figures.verdict)
    assert dots is not None and len(dots.findall("circle")) == SETTINGS


def test_the_same_sweep_gives_the_same_bytes(folder: Path, figures: SweepFigures) -> None:
    assert page(read_figures(folder)) == page(figures)


def test_the_page_is_written_beside_the_table(folder: Path, figures: SweepFigures) -> None:
    path = write_page(folder, figures)
    assert path == folder / FILE_NAME
    assert path.read_text(encoding="utf-8") == page(figures)


@pytest.mark.parametrize("open_cells", [72, 8])
def test_a_sweep_that_is_running_has_a_page_without_a_winner(tmp_path: Path, open_cells: int) -> None:
    store_sweep(tmp_path / "sweep", made_up_plan(), open_cells=open_cells)
    found = read_figures(tmp_path / "sweep")
    tree = require_self_contained(page(found))
    assert found.verdict.best is None and found.verdict.sentence in tree.text
    assert "not ended yet" in tree.text


def test_a_folder_without_a_sweep_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(SweepError, match="no sweep"):
        read_figures(tmp_path)
