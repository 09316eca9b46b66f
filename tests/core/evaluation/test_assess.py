from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.domain.quantities import Quantity
from core.evaluation.assess import MOST_POINTS, assess, skill_at
from core.evaluation.findings import Request
from core.evaluation.judged_scores import JudgedScores
from core.forecast.confidence import gain_sequence, skill_sequence
from core.forecast.experts import EXPERTS, FORECASTS, LOSS_ROWS, REFERENCE, ExpertList
from tests.core.evaluation.rigs import MINUTE_MS, every, filled, origins, scored

ALSO_STORED = ("body_loss", "upper_wick_loss", "lower_wick_loss", "volume_loss")


def test_chart_points_are_bounded_and_end_at_the_newest_candle() -> None:
    n = 20_000
    columns = filled(scored(n))
    found = assess(every(columns), origins(n), Request())
    curves = (
        found.coverage_curve,
        found.error_curve,
        found.no_change_curve,
        found.loss_reduction_close,
        found.loss_reduction_range,
    )
    assert all(0 < len(curve) <= MOST_POINTS for curve in curves)
    assert all(curve.target_open_time_ms[-1] == MINUTE_MS * n for curve in curves)
    assert found.loss_reduction_close.values[-1] == pytest.approx(0.1, abs=1e-6)
    assert found.close.skill.value == pytest.approx(0.1, abs=1e-6)
    assert found.worst_500 is not None and found.best_500 is not None and found.worst_500 < 0.9 < found.best_500


def test_the_table_agrees_with_skill_and_gain_of_the_same_losses() -> None:
    rows = scored(800, seed=3)
    columns = filled(rows)
    counts = np.arange(800) >= 200
    losses = columns["losses"][counts].astype(np.float64)
    reference = losses[:, LOSS_ROWS.index(EXPERTS[REFERENCE]), Quantity.RANGE]
    row = skill_at(JudgedScores(columns, counts), 1)
    assert row.n == 600
    assert row.range == skill_sequence(rows.columns["range_loss"][200:], reference)
    assert row.model_gain_range == gain_sequence(
        rows.columns["range_loss"][200:], losses[:, 0, Quantity.RANGE], reference
    )


def test_every_other_drawn_quantity_has_a_skill_from_its_scores() -> None:
    """The first 200 are of a record from before these losses were stored."""
    rows = scored(1000, seed=4)
    old = {name: np.where(np.arange(1000) < 200, np.nan, rows.columns[name]) for name in ALSO_STORED}
    older = replace(rows, columns=rows.columns | old)
    found = assess(every(filled(older)), origins(1000), Request())
    assert [of.quantity for of in found.also_drawn] == [
        Quantity.BODY,
        Quantity.UPPER_WICK,
        Quantity.LOWER_WICK,
        Quantity.VOLUME,
    ]
    for of in found.also_drawn:
        assert of.is_stored and of.skill.n == 800 and found.close.skill.n == 1000
        assert of.skill.value == pytest.approx(0.1, abs=1e-6) and of.skill.low is not None


def test_an_older_record_without_them_is_evaluated_on_the_rest() -> None:
    rows = scored(1000, seed=4)
    old = {name: np.full(1000, np.nan) for name in ALSO_STORED}
    older = replace(rows, columns=rows.columns | old)
    found = assess(every(filled(older)), origins(1000), Request())
    assert all(not of.is_stored and of.skill.n == 0 and of.skill.value is None for of in found.also_drawn)
    assert found.close.skill.value == pytest.approx(0.1, abs=1e-6)
    nothing = assess(every(filled()), origins(1), Request())
    assert all(of.is_stored for of in nothing.also_drawn), "nothing is missing where nothing is scored"


def test_a_silent_expert_has_no_loss() -> None:
    found = assess(every(filled(scored(100))), origins(100), Request())
    by_name = {each.name: each for each in found.experts}
    for expert, name in enumerate(EXPERTS):
        if name in by_name:
            assert (by_name[name].close is not None) == FORECASTS[expert, Quantity.CLOSE]
            assert (by_name[name].range is not None) == FORECASTS[expert, Quantity.RANGE]
        else:
            assert not FORECASTS[expert, Quantity.CLOSE] and not FORECASTS[expert, Quantity.RANGE]
    assert by_name["reference"].close_skill == 0.0


def test_longer_horizons_judge_the_direction_up_to_the_target() -> None:
    """Computed candle by candle: from the last close that the forecast knew to the target's."""
    n, horizon = 400, 3
    rows, known = scored(n, seed=8), origins(n)
    known.closes[50:60] = known.closes[49]  # flat candles name no direction
    found = assess(every(filled(rows)), known, Request(horizon))
    right, turned, up = [], [], []
    for place, hit in zip(range(1, n + 1), rows.columns["direction_hit"].tolist(), strict=True):
        if hit < 0:
            continue
        right.append(hit == 1)
        if place <= horizon:
            continue
        seen, last, came = (known.closes[place - back] for back in (horizon + 1, horizon, 0))
        up.append(came > last)
        if last != seen:
            turned.append(came != last and (came > last) != (last > seen))
    assert (found.direction.value, found.direction.n) == (np.mean(right), len(right))
    assert (found.reverse_last.value, found.reverse_last.n) == (np.mean(turned), len(turned))
    more = max(sum(up), len(up) - sum(up))
    assert found.majority.n == len(up) and found.majority.value == pytest.approx(more / len(up), abs=0.03)


@pytest.mark.parametrize("counts", [(700, 1, 900, 2500), (900, 600, 1400, 200), (1, 1030, 1, 2000, 1)])
def test_columns_keep_the_newest_in_order_for_any_block_size(counts: tuple[int, ...]) -> None:
    firsts = 1 + np.cumsum([0, *counts])
    parts = [scored(count, seed=count, first=int(first)) for count, first in zip(counts, firsts, strict=False)]
    columns = filled(*parts, capacity=1000)
    assert len(columns) >= 1000
    newest = np.concatenate([part.columns["target_open_time_ms"] for part in parts])[-1000:]
    np.testing.assert_array_equal(columns["target_open_time_ms"][-1000:], newest)
    losses = np.concatenate([part.columns["loss"] for part in parts])
    np.testing.assert_array_equal(columns["loss"][-1000:], losses[-1000:])
    packed = b"".join(packed for part in parts for packed in part.losses)
    np.testing.assert_array_equal(
        columns["losses"][-1000:].ravel(), np.frombuffer(packed, "<f4")[-columns["losses"][-1000:].size :]
    )
    assert columns.read_until_ms == newest[-1]


def test_scores_of_other_experts_do_not_count() -> None:
    rows = scored(50)
    foreign = tuple(b"" if place % 2 else packed for place, packed in enumerate(rows.losses))
    columns = filled(replace(rows, losses=foreign))
    assert len(columns) == 25 and columns.read_until_ms == rows.columns["target_open_time_ms"][-1]


def test_challengers_are_among_the_experts_and_are_no_baseline() -> None:
    experts = ExpertList(("gru", "own"))
    rows = scored(400, seed=5, experts=experts)
    columns = filled(rows, experts=experts)
    found = assess(every(columns), origins(400), Request())
    by_name = {each.name: each for each in found.experts}
    for name in experts.challengers:
        own = columns["losses"][:, experts.loss_rows.index(name)].astype(np.float64)
        assert by_name[name].close == pytest.approx(own[:, Quantity.CLOSE].mean())
        assert by_name[name].range == pytest.approx(own[:, Quantity.RANGE].mean())
    assert found.close.best_baseline in EXPERTS
    assert not len(filled(rows)), "of another list of experts"
