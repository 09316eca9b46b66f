"""The chart's work, counted and never timed: a busy machine cannot fail these tests."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from core.indicators.registry import INDICATORS
from core.indicators.spec import IndicatorSpec
from desktop.chart.items.indicator import IndicatorLayer
from tests.benchmarks.chart.measures import APPENDS, CURSOR_MOVES, PANS, TICKS, Measure, all_in_view
from tests.benchmarks.chart.rig import Rig
from tests.support.counted import calls_of

FEW, MANY = 1_000, 20_000
TURNS = 8

Rigs = dict[int, Rig]


@pytest.fixture(scope="module")
def rigs(qapp: object) -> Iterator[Rigs]:
    made = {count: Rig(count) for count in (FEW, MANY)}
    yield made
    for rig in made.values():
        rig.close()


def work_of(measure: Measure, rig: Rig) -> Counter[str]:
    """The calls of some turns, after the same turns and others have filled the caches."""
    measure.prepare(rig)
    for turn in range(2 * TURNS):
        measure.sample_ms(rig, turn)
    return calls_of(lambda: [measure.sample_ms(rig, turn) for turn in range(TURNS, 2 * TURNS)])


@pytest.mark.parametrize("measure", [TICKS, CURSOR_MOVES, PANS], ids=lambda measure: measure.name)
def test_calls_do_not_grow_with_the_stored_candles(qtbot: QtBot, rigs: Rigs, measure: Measure) -> None:
    few, many = (work_of(measure, rigs[count]) for count in (FEW, MANY))
    assert sum(few.values()) > 100 * TURNS, "something was counted"
    assert few - many == many - few == Counter()


def test_a_closed_candle_costs_no_calls_per_stored_candle(qtbot: QtBot) -> None:
    counted = []
    for count in (FEW, MANY):
        rig = Rig(count)
        counted.append(sum(work_of(APPENDS, rig).values()))
        rig.close()
    assert counted[1] <= 1.05 * counted[0]


@pytest.mark.parametrize("measure", [TICKS, CURSOR_MOVES], ids=lambda measure: measure.name)
def test_neither_tick_nor_mouse_move_paints_a_closed_candle(qtbot: QtBot, rigs: Rigs, measure: Measure) -> None:
    for rig in rigs.values():
        measure.prepare(rig)
        before, paints = rig.chart.closed_paints, rig.paints
        for turn in range(50):
            measure.sample_ms(rig, turn)
        assert rig.chart.closed_paints == before
        assert rig.paints - paints == 50, "each was painted"


def test_a_pan_paints_closed_candles_once(qtbot: QtBot, rigs: Rigs) -> None:
    rig, measure = rigs[MANY], PANS
    measure.prepare(rig)
    before = rig.chart.closed_paints
    for turn in range(20):
        measure.sample_ms(rig, turn)
    assert rig.chart.closed_paints - before == 20


def test_tick_allocation_does_not_depend_on_history_length(qtbot: QtBot, rigs: Rigs) -> None:
    peaks = [_peak_bytes(rigs[count], TICKS) for count in (FEW, MANY)]
    assert peaks[1] < 1.5 * peaks[0]


def _peak_bytes(rig: Rig, measure: Measure) -> int:
    """The most memory that Python and NumPy hold at once during some turns."""
    measure.prepare(rig)
    for turn in range(TURNS):
        measure.sample_ms(rig, turn)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for turn in range(TURNS):
            measure.sample_ms(rig, turn)
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


@pytest.fixture(scope="module")
def everything(qapp: object) -> Iterator[Rigs]:
    made = {count: Rig(count, with_everything=True) for count in (FEW, MANY)}
    yield made
    for rig in made.values():
        rig.close()


@pytest.mark.parametrize("measure", [TICKS, CURSOR_MOVES], ids=lambda measure: measure.name)
def test_with_all_features_calls_do_not_grow_with_the_stored_candles(
    qtbot: QtBot, everything: Rigs, measure: Measure
) -> None:
    few, many = (sum(work_of(measure, everything[count]).values()) for count in (FEW, MANY))
    assert few > 100 * TURNS, "something was counted"
    assert many <= 1.05 * few


def test_with_all_features_a_tick_paints_no_closed_candle_in_any_view(qtbot: QtBot, everything: Rigs) -> None:
    measure = all_in_view(TICKS, "tick_all_ms")
    for rig in everything.values():
        measure.prepare(rig)
        painted = 0
        for turn in range(20):
            measure.sample_ms(rig, turn)
            painted += rig.closed_paints
        assert painted == 0


def test_panes_and_time_axis_share_one_tick_computation(qtbot: QtBot, everything: Rigs) -> None:
    rig = everything[MANY]
    counted = work_of(PANS, rig)
    assert len(rig.chart.frame.panes) > 3
    assert counted["time_marks"] == TURNS


@pytest.mark.slow
def test_a_closed_candle_allocates_no_array_of_all_candles(qtbot: QtBot) -> None:
    peaks = []
    for count in (12_500, 50_000):
        rig, measure = Rig(count), all_in_view(APPENDS, "append_all_ms")
        layers = [IndicatorLayer(IndicatorSpec.of(kind), number) for number, kind in enumerate(INDICATORS)]
        for layer in layers:
            rig.chart.add_layer(layer)
            make = layer.begin(rig.chart.model) if layer.is_waiting(rig.chart.model) else None
            if make is not None:
                make()
        peaks.append(_peak_bytes(rig, measure))
        rig.close()
    assert peaks[1] < 1.5 * peaks[0]
