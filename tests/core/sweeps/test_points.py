from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.sweeps.points import MODEL, Point, axis_names, grid_of, ordered_values, points_of, skill_of
from core.sweeps.rows import Part
from core.sweeps.store import SweepStore
from tests.support.made_up_sweep import made_up_plan, store_sweep


def point(number: int, width: int, rate: float, skill: float | None, model: str = "gru") -> Point:
    return Point(number, model, (("model.width", width), ("training.learning_rate", rate)), skill, 1.0)


def test_a_point_is_the_mean_of_its_cells_that_ended_well(tmp_path: Path) -> None:
    store_sweep(tmp_path, made_up_plan(), open_cells=3)
    with SweepStore(tmp_path, readonly=True) as store:
        cells = store.read_cells()
    last = points_of(cells, Part.SECOND)[-1]
    own = [cell for cell in cells if cell.configuration.number == last.number]
    done = [skill for cell in own if (skill := skill_of(cell, Part.SECOND)) is not None]
    assert len(own) == 4 and len(done) == 1
    assert last.skill == pytest.approx(done[0])
    assert last.skill != points_of(cells, Part.FIRST)[-1].skill


def test_a_configuration_without_an_ended_cell_has_no_skill(tmp_path: Path) -> None:
    store_sweep(tmp_path, made_up_plan(), open_cells=4)
    with SweepStore(tmp_path, readonly=True) as store:
        *_, last = points_of(store.read_cells(), Part.FIRST)
    assert last.skill is None and last.seconds is None


def test_axes_are_what_varies_and_numbers_ascend() -> None:
    points = [point(1, 64, 0.1, 0.0), point(2, 8, 0.1, 0.0), point(3, 16, 0.1, 0.0, "tcn")]
    assert axis_names(points) == ("model.width", MODEL)
    assert ordered_values(points, "model.width") == (8, 16, 64)
    assert ordered_values(points, MODEL) == ("gru", "tcn")


def test_a_grid_has_the_means_of_pairs() -> None:
    points = [point(1, 8, 0.1, 0.1), point(2, 8, 0.2, None), point(3, 16, 0.1, 0.3), point(4, 16, 0.1, 0.5, "tcn")]
    grid = grid_of(points, "model.width", "training.learning_rate")
    np.testing.assert_allclose(grid, [[0.1, np.nan], [0.4, np.nan]])
