from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.diagnosis import GradientStatistics, LayerStatistics
from desktop.state.step_history import RecentGradients, StepHistory, means, medians
from tests.desktop import scenario


@given(st.lists(st.integers(1, 60), max_size=120), st.integers(2, 20))
def test_the_history_is_the_newest_steps_of_the_model_s_own_past(numbers: list[int], capacity: int) -> None:
    """Against a plain list: a step replaces all at or after it, and only the newest are kept."""
    history, expected = StepHistory(capacity), list[int]()
    template = next(scenario.steps(1))
    for number in numbers:
        history.add(replace(template, step=number))
        expected = ([each for each in expected if each < number] + [number])[-capacity:]
        assert history.column("step").tolist() == expected


def test_gradient_measurements_have_columns() -> None:
    history = StepHistory()
    for step in scenario.steps(20):
        history.add(step)
    clipped, before, after = (history.column(name) for name in ("clipped", "gradient_norm", "norm_after"))
    assert history.column("skipped").tolist() == [float(index == 10) for index in range(20)]
    assert 0.0 < clipped.sum() < 20.0
    assert (after[clipped > 0] == 1.0).all()
    kept = (clipped == 0) & np.isfinite(before)
    assert (after[kept] == before[kept]).all()
    assert np.isnan(history.column("loss_scale")).all()


def test_a_step_without_stored_gradients_has_none() -> None:
    history = StepHistory()
    history.add(replace(next(scenario.steps(1)), gradients=None))
    assert np.isnan(history.column("norm_after")).all() and np.isnan(history.column("update_ratio")).all()


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, None])
def test_non_finite_values_become_nan(value: float | None) -> None:
    step = next(scenario.steps(1))
    assert step.gradients is not None
    history = StepHistory()
    history.add(replace(step, gradient_norm=value, gradients=replace(step.gradients, norm_after=value)))
    assert math.isnan(history.column("gradient_norm")[0]) and math.isnan(history.column("norm_after")[0])


def test_the_reason_of_a_skipped_step_is_kept_as_long_as_the_step() -> None:
    history = StepHistory(capacity=3)
    template = replace(next(scenario.steps(1)), skipped_because=None)
    history.add(replace(template, step=1, skipped_because="The loss was not finite."))
    assert history.why_skipped(1) == "The loss was not finite."
    history.add(replace(template, step=1))
    assert history.why_skipped(1) is None
    history.add(replace(template, step=2, skipped_because="Again."))
    for number in (3, 4, 5):
        history.add(replace(template, step=number))
    assert history.why_skipped(2) is None and 2 not in history.column("step")


def test_the_layers_of_the_newest_steps_are_kept() -> None:
    recent = RecentGradients(capacity=4)
    steps = list(scenario.steps(6))
    for step in steps:
        recent.add(step)
    norms = recent.layers("norm")
    assert norms.shape == (4, len(scenario.LAYERS))
    assert steps[-1].gradients is not None
    assert norms[-1].tolist() == [layer.norm for layer in steps[-1].gradients.layers]
    assert np.isnan(norms[1]).all(), "a skipped step has no norms"
    assert recent.loss_parts()[-1].sum() == pytest.approx(0.31)


def test_a_restore_removes_later_steps_and_another_model_removes_all() -> None:
    recent = RecentGradients()
    steps = list(scenario.steps(6))
    for step in (*steps, steps[2]):
        recent.add(step)
    assert len(recent) == 3
    small = GradientStatistics((LayerStatistics(1.0, 0.0, 1.0, 1.0, 1.0, 1.0),), 1.0, 1.0, 1.0, ())
    recent.add(replace(steps[3], gradients=small))
    assert recent.layers("norm").tolist() == [[1.0]]
    assert recent.loss_parts().shape == (1, 0)


def test_no_steps_give_an_empty_table() -> None:
    recent = RecentGradients()
    assert medians(recent.layers("norm")).size == 0 and means(recent.loss_parts()).size == 0
    assert recent.newest is None


tables = st.integers(1, 6).flatmap(
    lambda width: st.lists(
        st.lists(st.one_of(st.floats(-1e6, 1e6), st.just(math.nan)), min_size=width, max_size=width),
        min_size=1,
        max_size=20,
    )
)


@given(tables)
def test_medians_and_means_cover_measured_values_only(rows: list[list[float]]) -> None:
    values = np.array(rows, dtype=np.float64)
    for column, median, mean in zip(values.T, medians(values), means(values), strict=True):
        if np.isfinite(column).any():
            assert median == pytest.approx(np.nanmedian(column))
            assert mean == pytest.approx(np.nanmean(column), abs=1e-6)
        else:
            assert math.isnan(median) and math.isnan(mean)
