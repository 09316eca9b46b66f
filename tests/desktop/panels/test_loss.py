from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pyqtgraph as pg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QEvent, QPoint, QPointF
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QMenu
from pytestqt.qtbot import QtBot

from core.domain.candle import Interval, Market
from core.domain.diagnosis import Disease
from core.domain.events import EventBatch, MarketStatus, MemberRun, TrainerState, Trend
from core.storage.runs import Run
from desktop.panels.curve_menu import run_title
from desktop.panels.loss import LossPanel
from desktop.state.run_curves import FoundCurves, RunCurves
from desktop.state.run_state import RunState
from desktop.ui.panel_base import Refresher
from desktop.ui.plots import mean_curve, smoothed_mean, thinned
from desktop.ui.theme import Theme
from tests.desktop import scenario
from tests.desktop.conftest import shown_panel
from tests.desktop.panels.step_columns import columns_of

values_with_holes = st.lists(st.one_of(st.floats(-100, 100), st.just(math.nan)), max_size=80)


@given(values_with_holes, st.integers(1, 30))
def test_the_smoothed_mean_is_the_mean_of_the_window(values: list[float], window: int) -> None:
    smooth = smoothed_mean(np.array(values, dtype=np.float64), window)
    for index in range(len(values)):
        measured = [value for value in values[max(0, index + 1 - window) : index + 1] if not math.isnan(value)]
        if measured:
            assert smooth[index] == pytest.approx(sum(measured) / len(measured), abs=1e-9)
        else:
            assert math.isnan(smooth[index])


@given(st.lists(st.one_of(st.floats(-1e3, 1e3), st.just(math.nan)), max_size=400), st.integers(4, 80))
def test_thinning_keeps_the_peaks_and_never_shows_nan(values: list[float], most: int) -> None:
    x, y = np.arange(len(values), dtype=np.float64), np.array(values, dtype=np.float64)
    thin_x, thin_y = thinned(x, y, most)
    measured = y[np.isfinite(y)]
    assert thin_x.size == thin_y.size <= max(most, 4)
    assert np.isfinite(thin_y).all()
    assert (np.diff(thin_x) > 0).all()
    if measured.size:
        assert thin_y.min() == measured.min() and thin_y.max() == measured.max()


@pytest.mark.parametrize("count", [1_000, 30_000])
def test_of_many_values_peaks_and_means_stay(count: int) -> None:
    x, y = np.arange(count, dtype=np.float64), np.sin(np.arange(count) / 300)
    y[count // 2], y[count // 3] = 50.0, np.nan
    thin_x, thin_y = thinned(x, y, 200)
    assert thin_y.max() == 50.0 and abs(thin_x[thin_y.argmax()] - count // 2) <= count / 50
    assert thin_y.min() == np.nanmin(y) and len(thin_x) <= 200
    mean_x, mean = mean_curve(x, y, 100, 200)
    whole = smoothed_mean(y, 100)
    assert len(mean_x) <= 200 and mean == pytest.approx(whole[mean_x.astype(int)])


@pytest.fixture
def panel(qtbot: QtBot, state: RunState, theme: Theme) -> LossPanel:
    panel = LossPanel(state, theme, RunCurves(state, state))
    shown_panel(qtbot, panel)
    return panel


def words(panel: LossPanel) -> str:
    return " | ".join(label.text() for label in panel.findChildren(QLabel) if label.isVisible())


def test_it_says_that_there_is_nothing_yet(panel: LossPanel) -> None:
    panel.refresh()
    assert "No training steps yet" in words(panel)


def test_it_shows_the_numbers_of_now(panel: LossPanel, state: RunState) -> None:
    state.apply(EventBatch((*scenario.steps(200), scenario.status(learning_rate=1e-4))))
    panel.refresh()
    shown = words(panel)
    for text in ("0.3127", "0.3098", "improving", "12,340", "15.5 /s", "just now", "Learning rate 0.0001"):
        assert text in shown
    assert "No training steps yet" not in shown


def test_an_unknown_loss_is_a_dash_and_not_a_number(panel: LossPanel, state: RunState) -> None:
    state.apply(scenario.fresh_status())
    panel.refresh()
    assert "nan" not in words(panel).lower() and "None" not in words(panel)


def test_steps_that_were_all_skipped_draw_nothing(panel: LossPanel, state: RunState) -> None:
    for step in scenario.steps(5):
        state.apply(replace(step, loss=None, prequential_loss=None))
    panel.refresh()
    assert panel._mean.getData()[0] is None or len(panel._mean.getData()[0]) == 0


def test_the_age_of_the_last_step_grows_by_itself(panel: LossPanel, state: RunState) -> None:
    state.apply(EventBatch(tuple(scenario.steps(3))))
    panel.refresh()
    state.clock.advance_ms(65_000)  # type: ignore[attr-defined]
    panel.tick()
    assert "1 min ago" in words(panel)


def test_a_former_speed_is_not_shown_as_current(panel: LossPanel, state: RunState) -> None:
    now_ms = state.clock.now_ms()
    state.apply(EventBatch((*scenario.steps(3), scenario.status(last_step_at_ms=now_ms))))
    panel.refresh()
    assert "15.5 /s" in words(panel)
    state.clock.advance_ms(11_000)  # type: ignore[attr-defined]
    panel.tick()
    assert "15.5 /s" not in words(panel)
    panel.refresh()
    assert "15.5 /s" not in words(panel)


@pytest.mark.parametrize("trend", Trend)
def test_every_trend_has_its_word(panel: LossPanel, state: RunState, trend: Trend) -> None:
    status = scenario.status()
    state.apply(replace(status, loss=replace(status.loss, trend=trend)))
    panel.refresh()
    assert trend is Trend.UNKNOWN or trend.value in words(panel)


@pytest.mark.parametrize("trend", Trend)
def test_a_diverged_model_is_called_so_for_any_loss(panel: LossPanel, state: RunState, trend: Trend) -> None:
    """Beside “Diverged” in Gradients, a high loss that stays as it is was “flat” here."""
    status = scenario.status()
    state.apply(replace(status, loss=replace(status.loss, trend=trend)))
    state.apply(scenario.diagnosis(Disease.DIVERGED, change=None))
    panel.refresh()
    assert "diverged" in words(panel) and trend.value not in words(panel)
    state.apply(scenario.diagnosis(Disease.UNKNOWN, change=None))
    assert panel.is_stale
    panel.refresh()
    assert "diverged" not in words(panel)


def test_the_rate_is_the_newest_steps_or_one_set_after_it(panel: LossPanel, state: RunState) -> None:
    """Beside a box that says 0.00003 again the panel said 1 until the next candle, on a long interval for hours."""
    first, second, third = scenario.steps(3)
    state.apply(EventBatch((scenario.status(learning_rate=1.0), replace(first, learning_rate=1.0))))
    panel.refresh()
    assert "Learning rate 1 " in f"{words(panel)} "
    state.apply(scenario.status(learning_rate=3e-5))
    panel.refresh()
    assert "Learning rate 0.00003" in words(panel)
    state.apply(EventBatch((replace(second, learning_rate=1.5e-5), replace(third, learning_rate=1.5e-5))))
    panel.refresh()
    assert "Learning rate 0.000015" in words(panel), "after the schedule"


class CountingPanel(LossPanel):
    refreshes = 0

    def refresh(self) -> None:
        self.refreshes += 1
        super().refresh()


def test_many_steps_make_few_refreshes_and_the_last_is_shown(qtbot: QtBot, state: RunState, theme: Theme) -> None:
    panel = CountingPanel(state, theme, RunCurves(state, state))
    refresher = Refresher(panel, interval_ms=20)
    refresher.add(panel)
    shown_panel(qtbot, panel)
    qtbot.waitUntil(lambda: not refresher.has_stale_panels)
    before = panel.refreshes
    for step in scenario.steps(300):
        state.apply(step)
    state.apply(scenario.status())
    assert panel.refreshes == before
    qtbot.waitUntil(lambda: "12,340" in words(panel))
    assert panel.refreshes == before + 1
    refresher.stop()


def test_a_hidden_panel_does_no_work(qtbot: QtBot, state: RunState, theme: Theme) -> None:
    panel = CountingPanel(state, theme, RunCurves(state, state))
    refresher = Refresher(panel, interval_ms=10)
    refresher.add(panel)
    qtbot.addWidget(panel)
    with qtbot.waitSignal(refresher._timer.timeout):
        state.apply(scenario.status())
    assert panel.refreshes == 0
    panel.show()
    qtbot.waitUntil(lambda: panel.refreshes == 1)
    refresher.stop()


def edges_px(panel: LossPanel, plot: pg.PlotWidget) -> tuple[float, float]:
    """Where the first and the last step of a plot lie in the panel."""
    first, last = plot.getViewBox().viewRange()[0]
    return tuple(
        plot.mapTo(panel, plot.mapFromScene(plot.getViewBox().mapViewToScene(QPointF(x, 0.0)))).x()
        for x in (first, last)
    )


@pytest.mark.parametrize("loss", [0.3, 12_345.678])
def test_the_rate_lies_below_the_loss_of_the_same_step(
    panel: LossPanel, state: RunState, qtbot: QtBot, loss: float
) -> None:
    """Otherwise the cause would be drawn after the effect."""
    steps = [replace(step, loss=loss, prequential_loss=loss * 1.1) for step in scenario.steps(200)]
    state.apply(EventBatch((*steps,)))
    panel.refresh()
    panel.grab()  # the axis takes the room of its labels when it is drawn
    qtbot.waitUntil(lambda: edges_px(panel, panel._rate_plot) == edges_px(panel, panel.plot))
    assert panel._rate_plot.getViewBox().viewRange()[0] == panel.plot.getViewBox().viewRange()[0]


def labels(panel: LossPanel) -> list[str]:
    """Of the vertical axis, as drawn."""
    axis = panel.plot.getAxis("left")
    spacing, values = axis.tickValues(*panel.plot.viewRange()[1], axis.height())[0]
    return list(axis.tickStrings(values, 1.0, spacing))


def share_of_height(panel: LossPanel, first: int, last: int) -> float:
    """The share of the plot's height covered by the mean over these points."""
    heights = panel._mean.getData()[1][first:last]
    low, high = panel.plot.viewRange()[1]
    return float(np.ptp(heights)) / (high - low)


def test_losses_before_a_divergence_stay_readable(panel: LossPanel, state: RunState) -> None:
    steps = list(scenario.steps(800))
    fall = [replace(step, loss=10.0 - 0.0225 * number, prequential_loss=2.0) for number, step in enumerate(steps[:400])]
    wreck = [replace(step, loss=3_000.0, prequential_loss=4_000.0) for step in steps[400:500]]
    state.apply(EventBatch((*fall,)))
    panel.refresh()
    assert labels(panel)[-1] in ("8", "10") and share_of_height(panel, 30, 400) > 0.6
    state.apply(EventBatch((*wreck,)))
    panel.refresh()
    assert {"1", "10", "100", "1000"} <= set(labels(panel)), "a scale of powers of ten"
    assert share_of_height(panel, 30, 400) > 0.1
    state.apply(EventBatch(tuple(replace(step, loss=-0.2) for step in steps[500:])))
    panel.refresh()
    assert "0" in labels(panel), "a loss below zero has no place on it"


USUAL = [0.15 + 0.03 * math.sin(number) for number in range(400)]


@pytest.mark.parametrize(
    ("losses", "is_logarithmic"),
    [
        ([*USUAL, *(0.15 + 2.9 * math.exp(-number / 60) for number in range(400))], True),
        ([0.1 + 0.3 * math.exp(-number / 100) for number in range(800)], False),
        ([*USUAL[:300], 20.0, *USUAL[301:]], False),
    ],
    ids=["diverged to twenty times the loss", "healthy", "single spike"],
)
def test_the_scale_is_logarithmic_only_after_a_divergence(
    panel: LossPanel, state: RunState, losses: list[float], is_logarithmic: bool
) -> None:
    steps = zip(scenario.steps(len(losses)), losses, strict=True)
    state.apply(EventBatch(tuple(replace(step, loss=loss, prequential_loss=0.2) for step, loss in steps)))
    panel.refresh()
    assert panel.plot.getAxis("left").is_logarithmic is is_logarithmic


def test_the_scale_does_not_flicker_at_the_limit(panel: LossPanel, state: RunState) -> None:
    was_logarithmic = []
    for count, top in enumerate((10.0, 14.0, 10.0, 13.0, 7.0, 5.0, 10.0)):
        steps = [replace(step, step=step.step + 1_000 * count) for step in scenario.steps(1_000)]
        losses = [1.0] * 500 + [top] * 500
        measured = zip(steps, losses, strict=True)
        state.apply(EventBatch(tuple(replace(step, loss=loss, prequential_loss=1.0) for step, loss in measured)))
        panel.refresh()
        was_logarithmic.append(panel.plot.getAxis("left").is_logarithmic)
    assert was_logarithmic == [False, True, True, True, True, False, False]


def test_a_single_step_is_drawn_as_a_visible_point(panel: LossPanel, state: RunState) -> None:
    """As of a file of two candles: a line of one point is none, and the two losses are the same to four decimals."""
    (step,) = scenario.steps(1)
    state.apply(replace(step, step=1, loss=0.3373563, prequential_loss=0.3373653))
    panel.refresh()
    for curve in (panel._raw, panel._mean, panel._prequential):
        x, y = curve.getData()
        assert x[1] > x[0] and y[0] == y[1], "what is drawn has a length"
    low, high = panel.plot.getViewBox().viewRange()[1]
    assert high - low > 0.03


def test_steps_are_counted_by_the_newer_of_status_and_step(panel: LossPanel, state: RunState) -> None:
    """The last candle of a file brings a step and no status after it."""
    state.apply(scenario.fresh_status())
    (step,) = scenario.steps(1)
    state.apply(replace(step, step=1))
    panel.refresh()
    assert panel._values["Steps"].text() == "1"
    state.apply(scenario.status(step=900, last_step_at_ms=step.at_ms + 1))
    panel.refresh()
    assert panel._values["Steps"].text() == "900"


def test_after_a_start_the_rate_is_that_of_the_newest_stored_step(panel: LossPanel, state: RunState) -> None:
    """The first status names the configured rate, which the schedule had halved."""
    state.add_steps(tuple(scenario.steps(800)))
    state.apply_stored(scenario.status(TrainerState.STOPPED, learning_rate=1e-4))
    panel.refresh()
    assert "Learning rate 0.00005" in words(panel)
    state.apply(scenario.status(TrainerState.TRAINING, learning_rate=2e-4))
    panel.refresh()
    assert "Learning rate 0.0002" in words(panel), "set since, and the next step may be hours away"


def test_the_curve_of_the_ghosts_is_named_after_them(panel: LossPanel, state: RunState) -> None:
    """It is not the model's: once that has diverged, the ghosts are made without it."""
    state.add_steps(tuple(scenario.steps(10)))
    panel.refresh()
    assert "training, mean of" in words(panel) and "ghosts, mean of" in words(panel)


def test_curves_of_a_model_of_several_markets_say_so(panel: LossPanel, state: RunState) -> None:
    markets = {f"run-{number}": Market("simulated", f"SIM-{number}", Interval.parse("1m")) for number in (1, 2, 3)}
    state.set_members("run-1", {"run-1": markets["run-1"]})
    state.add_steps(tuple(scenario.steps(10)))
    panel.refresh()
    assert "markets" not in words(panel)
    state.set_members("run-1", markets)
    panel.refresh()
    assert "all 3 markets" in words(panel)
    members = (MemberRun(run_id, market, run_id != "run-2") for run_id, market in markets.items())
    of_markets = (MarketStatus(member, None, scenario.accuracy(), None, None, None) for member in members)
    state.apply(replace(scenario.status(), run_id="run-1", markets=tuple(of_markets)))
    panel.refresh()
    assert "2 of 3 markets" in words(panel), "one is forecast only"


def test_how_long_the_last_step_took_is_not_said_of_another_run(panel: LossPanel, state: RunState) -> None:
    """Regression: the tooltip kept the former run's, beside a dash."""
    state.apply(scenario.ready())
    state.add_steps(scenario.steps(3))
    panel.refresh()
    value = panel._values["Last step"]
    assert "The last one took" in value.toolTip()
    state.begin(None)
    panel.refresh()
    assert value.text() == "–"
    assert "The last one took" not in value.toolTip() and "Time since" in value.toolTip()


def point_at(qtbot: QtBot, panel: LossPanel, step: float) -> None:
    """The axis takes the room of its labels when it is drawn, which moves the steps."""
    view, (low, high) = panel.plot.getViewBox(), panel.plot.view

    def is_there() -> bool:
        place = panel.plot.mapFromScene(view.mapViewToScene(QPointF(step, view.viewRange()[1][0])))
        QTest.mouseMove(panel.plot.viewport(), place - QPoint(0, 20))
        return panel.plot.pointer is not None and abs(panel.plot.pointer - step) < (high - low) / 200

    qtbot.waitUntil(is_there)


def test_pointing_at_a_step_shows_its_numbers_and_the_means_up_to_it(
    qtbot: QtBot, panel: LossPanel, state: RunState
) -> None:
    steps = [replace(step, loss=0.25 + 0.01 * (number % 2)) for number, step in enumerate(scenario.steps(60))]
    state.apply(EventBatch((*steps,)))
    panel.refresh()
    point_at(qtbot, panel, steps[40].step)
    lines = panel.plot.readout.text().splitlines()
    assert lines[0] == f"Step {steps[40].step:,}" and panel.plot.readout.isVisible()
    assert lines[1] == "Training  0.2500 (mean 0.2548)"
    assert lines[2].startswith(f"Ghosts  {steps[40].prequential_loss:.4f}") and "Learning rate  0.0001" in lines
    QApplication.sendEvent(panel.plot, QEvent(QEvent.Type.Leave))
    assert not panel.plot.readout.isVisible()


def choose(panel: LossPanel, *texts: str) -> None:
    menu: QMenu | None = panel.menu.menu()
    for text in texts:
        assert menu is not None
        menu.aboutToShow.emit()
        action = next(action for action in menu.actions() if action.text() == text)
        menu = action.menu()
    action.trigger()


def test_the_whole_run_and_a_second_one_are_drawn(qtbot: QtBot, panel: LossPanel, state: RunState) -> None:
    whole, other = list(scenario.steps(3_000, first=1)), list(scenario.steps(400, first=1, seed=9))
    state.apply(EventBatch(tuple(whole[-1_000:])))
    panel.refresh()
    assert panel.plot.view[0] > 1_950
    curves = panel._curves
    run = Run("other", scenario.MARKET, "", scenario.NOW_MS, 1, False, "{}", "CPU", 1, 1, True, True, "other", ())
    curves.set_found(FoundCurves((run,)))
    choose(panel, "Second run", run_title(run))
    assert panel.menu.text() == "Reading…"
    found = FoundCurves((run,), {state.head_id or "": columns_of(whole), "other": columns_of(other)})
    curves.set_found(found)
    panel.refresh()
    assert panel.plot.view == pytest.approx((1, 3_000), abs=40)
    x, y = panel._mean.getData()
    assert x[0] == 1 and x[-1] == 3_000 and len(x) <= max(2 * panel.plot.width(), 100)
    losses = [each.loss for each in whole if each.loss is not None]
    assert np.mean(y) == pytest.approx(np.mean(losses), rel=0.02)
    assert panel._laid_over.getData()[0][-1] == 400 and "second run" in words(panel)
    assert panel.menu.text() == "Whole run"
    point_at(qtbot, panel, 200)
    first, *_others, last = panel.plot.readout.text().splitlines()
    step = int(first.removeprefix("Step "))
    assert abs(step - 200) < 20 and last == f"second run  {other[step - 1].loss:.4f}"
    curves.set_found(FoundCurves((run,), {**found.steps, state.head_id or "": columns_of(whole[:200])}))
    state.steps.clear()
    panel.refresh()
    point_at(qtbot, panel, 300)
    assert panel.plot.readout.text() == f"Step 300\nsecond run  {other[299].loss:.4f}", "the run has no such step"
    choose(panel, "Second run", "None")
    choose(panel, "Newest 1,000")
    panel.refresh()
    assert panel._laid_over.getData()[0] is None or not len(panel._laid_over.getData()[0])


def test_zooming_in_draws_each_step_and_fits_the_scale_to_them(panel: LossPanel, state: RunState) -> None:
    steps = [replace(step, loss=2.0 - 0.001 * number) for number, step in enumerate(scenario.steps(1_000))]
    state.apply(EventBatch(tuple(replace(step, prequential_loss=None) for step in steps)))
    panel.refresh()
    first, last = float(steps[300].step), float(steps[399].step)
    panel.plot.setXRange(first, last, padding=0.0)
    panel.plot._on_manual(None)
    x, _y = panel._raw.getData()
    assert {float(step.step) for step in steps[300:400]} <= set(x.tolist())
    low, high = panel.plot.getViewBox().viewRange()[1]
    assert high - low < 0.2 and low < 2.0 - 0.399 and high > 2.0 - 0.3
    assert panel._rate_plot.getViewBox().viewRange()[0] == pytest.approx([first, last])
    panel.refresh()
    assert panel.plot.view == pytest.approx((first, last)), "new steps do not move it"
    choose(panel, "Reset zoom")
    assert panel.plot.view == pytest.approx((steps[0].step, steps[-1].step), abs=20)


@pytest.mark.parametrize("spike", [20.0, 1e6])
def test_a_single_spike_does_not_rule_the_scale(panel: LossPanel, state: RunState, spike: float) -> None:
    steps = list(scenario.steps(1_000))
    steps[700] = replace(steps[700], loss=spike, prequential_loss=spike)
    state.apply(EventBatch((*steps,)))
    panel.refresh()
    assert not panel.plot.getAxis("left").is_logarithmic
    assert panel.plot.getViewBox().viewRange()[1][1] < 1.5


def test_a_divergence_that_has_just_begun_is_in_view(panel: LossPanel, state: RunState) -> None:
    steps = list(scenario.steps(1_000))
    state.apply(EventBatch(tuple(replace(step, loss=40.0) if step in steps[-4:] else step for step in steps)))
    panel.refresh()
    axis, (_low, high) = panel.plot.getAxis("left"), panel.plot.getViewBox().viewRange()[1]
    assert axis.is_logarithmic and high > math.log10(40.0)
