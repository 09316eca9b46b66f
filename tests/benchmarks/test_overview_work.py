"""The work of a wall of sixteen charts, beside that of a single one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import thread_time_ns

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from pytestqt.qtbot import QtBot

from core.domain.candle import Candle
from desktop.actions import ActionId
from desktop.overview.tile import Tile
from tests.benchmarks.chart.measures import TICKS
from tests.benchmarks.chart.rig import PaintCounter, Rig
from tests.desktop.conftest import lasting_bench
from tests.desktop.overview.stage import MARKETS, Wall, wall
from tests.support.counted import calls_of

TURNS = 20
ROUNDS = 9
SHOWN = MARKETS[:16]


class TileTicks:
    """Ticks of one market, each painted before the next comes."""

    def __init__(self, made: Wall) -> None:
        self._made = made
        self.tile: Tile = made.tiles[5]
        assert self.tile.row is not None and self.tile.row.forming is not None
        self._market, self._forming = self.tile.row.market, self.tile.row.forming

    def __call__(self, turn: int) -> None:
        at, close = self._forming, self._forming.close * (1.0 + 1e-5 * (turn % 9))
        candle = Candle(at.open_time_ms, at.open, max(at.high, close), min(at.low, close), close, at.volume + turn)
        self._made.markets.set_forming(self._market, candle)
        self._made.overview.flush()
        QCoreApplication.sendPostedEvents(self._made.bench.window, QEvent.Type.UpdateRequest.value)


@pytest.fixture
def shown(qtbot: QtBot, tmp_path: Path) -> Iterator[Wall]:
    """Sixteen charts of markets of one run in a window of 1600 x 900."""
    with lasting_bench(tmp_path, size=(1600, 900)) as bench, wall(bench, tmp_path / "data") as made:
        made.store(*SHOWN)
        made.begin_run(*SHOWN)
        bench.shell.settings.change_chart(overview_charts=16)
        bench.shell.actions[ActionId.OVERVIEW].trigger()
        made.settle()
        qtbot.waitUntil(lambda: not any(tile.history.is_loading for tile in made.tiles))
        made.settle()
        yield made


def test_a_tick_of_one_market_paints_its_tile_and_no_closed_candle(shown: Wall) -> None:
    tick, counter = TileTicks(shown), PaintCounter(shown.overview)
    tick(0)
    for tile in shown.tiles:
        if tile is not tick.tile:
            tile.chart.viewport().installEventFilter(counter)
    closed = [tile.chart.closed_paints for tile in shown.tiles]
    for turn in range(TURNS):
        tick(turn)
    assert counter.count == 0
    assert [tile.chart.closed_paints for tile in shown.tiles] == closed


def test_a_tick_of_one_of_sixteen_calls_little_more_than_one_of_a_single_chart(shown: Wall) -> None:
    tick, rig, ticks = TileTicks(shown), Rig(300), TICKS
    ticks.prepare(rig)
    for turn in range(TURNS):
        tick(turn), ticks.sample_ms(rig, turn)
    ours = calls_of(lambda: [tick(turn) for turn in range(TURNS)]).total()
    single = calls_of(lambda: [ticks.sample_ms(rig, turn) for turn in range(TURNS)]).total()
    rig.close()
    print(f"a tick of a tile makes {ours / single:.2f} times the calls of a single chart's")
    assert ours < 1.5 * single


@pytest.mark.benchmark
def test_a_tick_of_one_of_sixteen_costs_about_as_much_as_one_of_a_single_chart(shown: Wall) -> None:
    tick, rig, ticks = TileTicks(shown), Rig(300), TICKS
    ticks.prepare(rig)
    ratios = []
    for _ in range(ROUNDS):
        taken = []
        for work in (tick, lambda turn: ticks.sample_ms(rig, turn)):
            began_ns = thread_time_ns()
            for turn in range(5 * TURNS):
                work(turn)
            taken.append(thread_time_ns() - began_ns)
        ratios.append(taken[0] / taken[1])
    rig.close()
    print(f"a tick of a tile takes {median(ratios):.2f} times a single chart's")
    assert median(ratios) < 1.5
