"""The learning rate of a model of several markets: the input shows the setting, which is for one, and beside it the one
in use."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from core.domain.candle import Market
from core.domain.events import MemberRun
from core.training.commands import SetLearningRate
from core.training.online.trainer_spec import for_markets
from tests.desktop import scenario
from tests.desktop.conftest import MakeBench

MARKETS = tuple(Market("binance", f"{name}/USDT", scenario.MINUTE) for name in "ABCD")


def test_a_rate_that_is_typed_is_used_now_and_after_a_restart(qtbot: QtBot, make_bench: MakeBench) -> None:
    bench = make_bench()
    members = tuple(MemberRun(f"run-{at}", market, True) for at, market in enumerate(MARKETS))
    bench.state.markets.set_universe(MARKETS)
    bench.state.apply(scenario.ready("run-0", *members))
    box, store = bench.window.inputs.learning_rate, bench.shell.settings
    box.selectAll()
    qtbot.keyClicks(box, "2e-4")
    with qtbot.waitSignal(bench.window.command_requested) as sent:
        qtbot.keyClick(box, Qt.Key.Key_Return)
    assert sent.args == [SetLearningRate(pytest.approx(4e-4))] and box.value() == pytest.approx(2e-4)
    assert store.current.training.learning_rate == pytest.approx(2e-4)
    assert for_markets(store.current, len(MARKETS)).training.learning_rate == pytest.approx(4e-4)
    with qtbot.waitSignal(bench.window.command_requested) as sent:
        store.change(replace(store.current, training=replace(store.current.training, learning_rate=3e-5)))
    assert sent.args == [SetLearningRate(pytest.approx(6e-5))], "as the preferences set it: for one market"
    assert box.value() == pytest.approx(3e-5)
    bench.state.apply(replace(scenario.status(learning_rate=6e-5), run_id="run-0"))
    assert box.value() == pytest.approx(3e-5), "a number that nobody set is none of the setting's"
    assert bench.window.inputs.rate_reason.text() == "now 0.00006, 4 markets share a step"


def test_a_rate_that_is_typed_while_the_trainer_starts_is_that_of_all_its_markets(
    qtbot: QtBot, make_bench: MakeBench
) -> None:
    bench = make_bench()
    bench.state.markets.set_universe(MARKETS)
    store = bench.shell.settings
    with qtbot.waitSignal(bench.window.command_requested) as sent:
        store.change(replace(store.current, training=replace(store.current.training, learning_rate=1e-4)))
    assert sent.args == [SetLearningRate(pytest.approx(2e-4))]
