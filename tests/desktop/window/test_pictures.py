"""The whole window: nothing is cut, in both themes and at two sizes.

With GHOSTCANDLE_PICTURES set to a folder, each picture is written there as a PNG, to be looked at.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QApplication, QDialog
from pytestqt.qtbot import QtBot

from core.domain.candle import Candle
from core.domain.diagnosis import Disease
from core.domain.events import ForecastMade, JobProgress, Severity, TrainerFailed
from core.forecast.history import History
from core.forecast.regime import RegimeWatch
from desktop.actions import ActionId
from desktop.chart.items.regimes import RegimeLayer
from desktop.panels.accuracy.panel import AccuracyPanel
from desktop.ui.theme import Mode
from tests.core.forecast.alone import ALONE
from tests.desktop import scenario
from tests.desktop.conftest import MakeBench, fill
from tests.desktop.window.pictures import (
    cut_texts,
    in_both_themes,
    keep_picture,
    make_dressed,
    settle,
)


@in_both_themes
def test_a_run_in_full_swing_has_nothing_cut(
    make_bench: MakeBench, qtbot: QtBot, mode: Mode, size: tuple[int, int]
) -> None:
    bench = make_dressed(make_bench, mode, size)
    fill(bench)
    settle(qtbot, bench)
    assert not bench.window.panels.checkpoints.table.horizontalScrollBar().isVisible()
    bench.window.panels.checkpoints.select("checkpoint-12310")
    keep_picture(bench.window, f"window-{mode}-{size[0]}x{size[1]}")
    assert bench.window.width() == size[0] and bench.window.height() == size[1]
    assert cut_texts(bench.window) == []


Crash = tuple[list[Candle], list[ForecastMade]]


@pytest.fixture(scope="module")
def crash() -> Crash:
    """A market that ends in a crash, and the trainer's forecasts for each of its candles."""
    candles = scenario.market()
    last = candles[-1]
    candles[-1] = replace(last, low=last.open * 0.985, close=last.open * 0.987, high=max(last.high, last.open))
    history = History.alone(scenario.MINUTE, 2_000, 8)
    watch, usual, forecasts = RegimeWatch(history.panel), scenario.forecast(candles), []
    for candle in candles:
        history.append(candle)
        watch.observe(ALONE)
        forecasts.append(replace(usual, origin_open_time_ms=candle.open_time_ms, conditions=watch.now(0)))
    return candles, forecasts


@in_both_themes
def test_regimes_in_a_crash_have_nothing_cut(
    make_bench: MakeBench, qtbot: QtBot, crash: Crash, mode: Mode, size: tuple[int, int]
) -> None:
    bench = make_dressed(make_bench, mode, size)
    candles, forecasts = crash
    fill(bench, candles)
    for made in forecasts:
        bench.chart.model.regimes.add(made)
    bench.chart.set_forecast(forecasts[-1])
    bench.chart.add_layer(RegimeLayer())
    bench.chart.zoom(0.6)
    settle(qtbot, bench)
    keep_picture(bench.window, f"regimes-{mode}-{size[0]}x{size[1]}")
    assert cut_texts(bench.window) == []


def test_a_live_run_that_has_just_caught_up_has_nothing_cut(make_bench: MakeBench, qtbot: QtBot) -> None:
    bench = make_dressed(make_bench, "dark", (1280, 720))
    fill(bench)
    bench.state.apply(scenario.just_caught_up())
    settle(qtbot, bench)
    accuracy = bench.window.docks[ActionId.SHOW_ACCURACY].widget()
    assert isinstance(accuracy, AccuracyPanel)
    for shows_apart in (False, True):
        accuracy.apart.setChecked(shows_apart)
        settle(qtbot, bench)
        keep_picture(bench.window, f"caught-up-{'apart' if shows_apart else 'own'}")
        assert cut_texts(bench.window) == []


def test_the_gradients_have_nothing_cut(make_bench: MakeBench, qtbot: QtBot) -> None:
    bench = make_dressed(make_bench, "light", (1280, 720))
    fill(bench)
    layers = ("blocks.0.attention.project_in", "head")
    bench.state.apply(scenario.diagnosis(Disease.VANISHING, change=scenario.NEW_RUN, layers=layers))
    dock = bench.window.docks[ActionId.SHOW_GRADIENTS]
    dock.setFloating(True)
    for width in (260, 420, 900):
        dock.resize(width, 1_000)
        settle(qtbot, bench)
        keep_picture(dock, f"gradients-{width}")
        assert dock.width() == width
        assert cut_texts(dock) == []


def test_trouble_has_nothing_cut(make_bench: MakeBench, qtbot: QtBot) -> None:
    bench = make_dressed(make_bench, "light", (1280, 720))
    fill(bench)
    bench.window.banner.notify(
        "Binance did not answer in 5 s, so the sample is replayed: EUR/USD, 1 hour, 2017.", Severity.WARNING
    )
    bench.state.apply(TrainerFailed("The trainer died three times in ten minutes, so it was not started again."))
    bench.state.apply(JobProgress("verify", "Verifying checkpoints", 3, 7, 12.0))
    bench.window.show_incidents()
    settle(qtbot, bench)
    keep_picture(bench.window, "trouble-light-1280x720")
    assert cut_texts(bench.window) == []


def test_a_first_start_has_nothing_cut(make_bench: MakeBench, qtbot: QtBot) -> None:
    bench = make_dressed(make_bench, "dark", (1280, 720))
    bench.library.infos.clear()
    bench.state.apply(scenario.fresh_status())
    settle(qtbot, bench)
    keep_picture(bench.window, "empty-dark-1280x720")
    assert cut_texts(bench.window) == []


def test_dialogs_have_nothing_cut(make_bench: MakeBench, qtbot: QtBot) -> None:
    bench = make_dressed(make_bench, "dark", (1280, 720))
    preferences = bench.window.open_preferences()
    dialogs: list[tuple[str, QDialog]] = [("market", bench.window.open_market()), ("preferences", preferences)]
    for action_id in (ActionId.ABOUT, ActionId.SHORTCUTS):
        before = set(bench.window.findChildren(QDialog))
        bench.shell.actions[action_id].trigger()
        dialogs += [(action_id.key, dialog) for dialog in bench.window.findChildren(QDialog) if dialog not in before]
    assert len(dialogs) == 4
    for name, dialog in dialogs:
        pages = range(preferences.tabs.count()) if dialog is preferences else range(1)
        for page in pages:
            if dialog is preferences:
                preferences.tabs.setCurrentIndex(page)
            QApplication.sendPostedEvents()
            keep_picture(dialog, f"dialog-{name}{page or ''}")
            assert cut_texts(dialog) == []
        dialog.reject()
