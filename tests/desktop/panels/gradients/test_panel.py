from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from core.domain.diagnosis import Disease, DivergenceRecovery, LayerStatistics, SettingChange
from core.domain.events import EventBatch, Incident, Severity, StepDone
from core.domain.incident_kinds import IncidentKind
from core.settings.tree import Settings
from desktop.panels.gradients.norm_plot import NormPlot
from desktop.panels.gradients.panel import GradientsPanel
from desktop.panels.gradients.parts import MEANINGS
from desktop.state.run_curves import RunCurves
from desktop.state.run_state import RunState
from desktop.ui.formatting import MISSING
from desktop.ui.number_grid import NumberGrid
from desktop.ui.theme import Theme, build_palette
from tests.desktop import scenario
from tests.desktop.conftest import shown_panel


@pytest.fixture
def panel(qtbot: QtBot, state: RunState, theme: Theme) -> GradientsPanel:
    panel = GradientsPanel(state, theme, Settings(), RunCurves(state, state))
    shown_panel(qtbot, panel, 420, 780)
    panel.refresh()
    return panel


def feed(state: RunState, panel: GradientsPanel, *steps: StepDone) -> None:
    state.apply(scenario.ready())
    state.apply(EventBatch(steps or tuple(scenario.steps(300))))
    panel.refresh()


def words(panel: GradientsPanel) -> str:
    labels = [label.text() for label in panel.findChildren(QLabel) if label.isVisible()]
    bars = [
        f"{bar.title} {bar.text} {bar.tooltip}"
        for bar in (*panel.measured.layers.bars.bars, *panel.measured.parts.bars.bars)
    ]
    return " | ".join((*labels, *bars))


def test_it_says_that_there_is_nothing_yet(panel: GradientsPanel) -> None:
    assert panel.findChild(NormPlot) is None, "it would take a sixth of the window's start"
    assert "No training steps yet" in words(panel)
    assert not panel.measured.norms.isVisible()


def test_the_numbers_are_those_of_the_newest_100_steps(state: RunState, panel: GradientsPanel) -> None:
    steps = list(scenario.steps(300))
    feed(state, panel, *steps)
    norms = [step.gradient_norm for step in steps[-100:] if step.gradient_norm is not None]
    clipped = sum(step.clipped for step in steps[-100:])
    shown = {name: label.text() for name, label in panel.measured.numbers.values.items()}
    assert shown["Clip rate"] == f"{clipped} %"
    assert shown["Median norm"] == f"{np.median(norms):.3f}"
    assert shown["95th percentile"] == f"{np.quantile(norms, 0.95):.2f}"
    assert shown["Update / parameter"] == "0.0013"
    assert shown["Learning rate"] == "0.0001"
    assert "No training steps yet" not in words(panel)


def test_after_a_restore_the_numbers_belong_to_the_restored_weights(state: RunState, panel: GradientsPanel) -> None:
    """Regression: the diverged model's numbers were beside "healthy"."""
    steps = list(scenario.steps(300))
    wreck, restored = [replace(step, gradient_norm=50.0, clipped=True) for step in steps[:250]], steps[250:]
    feed(state, panel, *wreck)
    state.apply(restored_at(wreck[-1].at_ms))
    panel.refresh()
    shown = {name: label.text() for name, label in panel.measured.numbers.values.items()}
    assert {shown[name] for name in ("Clip rate", "Median norm", "95th percentile", "Update / parameter")} == {MISSING}
    assert shown["Learning rate"] == "0.0001", "of the newest step"
    assert len(state.gradients) == 0
    state.apply(EventBatch((*restored,)))
    panel.refresh()
    norms = [step.gradient_norm for step in restored if step.gradient_norm is not None]
    shown = {name: label.text() for name, label in panel.measured.numbers.values.items()}
    assert shown["95th percentile"] == f"{np.quantile(norms, 0.95):.2f}"
    assert shown["Clip rate"] == f"{100 * np.mean([step.clipped for step in restored]):.0f} %"
    assert panel.measured.layers.bars.bars[-1].value == pytest.approx(
        np.median([step.gradients.layers[-1].norm for step in restored if step.gradients is not None])
    )


def test_a_restore_is_remembered_after_a_restart(state: RunState, panel: GradientsPanel) -> None:
    steps = list(scenario.steps(300))
    scenario.watch(state)
    state.add_steps(steps)
    state.add_incidents([restored_at(steps[279].at_ms)])
    panel.refresh()
    clipped = np.mean([step.clipped for step in steps[280:]])
    assert panel.measured.numbers.values["Clip rate"].text() == f"{100 * clipped:.0f} %"
    assert len(state.gradients) == 20


def restored_at(at_ms: int) -> Incident:
    return Incident(
        scenario.RUN, at_ms, Severity.INFO, IncidentKind.RESTORED, "The model was taken back.", "Done.", "Nothing."
    )


def test_the_loss_scale_is_shown_where_there_is_one(state: RunState, panel: GradientsPanel) -> None:
    feed(state, panel)
    assert not panel.measured.numbers.values["Loss scale"].isVisible()
    step = list(scenario.steps(301))[-1]
    assert step.gradients is not None
    state.apply(replace(step, gradients=replace(step.gradients, loss_scale=65_536.0)))
    panel.refresh()
    assert panel.measured.numbers.values["Loss scale"].isVisible()
    assert panel.measured.numbers.values["Loss scale"].text() == "65,536"


def test_each_layer_has_a_row_with_the_median_in_the_order_of_the_model(state: RunState, panel: GradientsPanel) -> None:
    steps = list(scenario.steps(300))
    feed(state, panel, *steps)
    bars = panel.measured.layers.bars.bars
    assert [bar.title for bar in bars][:3] == ["Embedding", "Positions", "Block 1 attention norm"]
    assert len(bars) == len(scenario.LAYERS)
    heads = [step.gradients.layers[-1] for step in steps[-100:] if step.gradients is not None]
    assert bars[-1].value == pytest.approx(np.median([head.norm for head in heads]))
    assert bars[-1].newest == heads[-1].norm
    for word in ("Mean: ", "Std: ", "Largest: "):
        assert word in bars[-1].tooltip


def test_the_switch_shows_another_measure(qtbot: QtBot, state: RunState, panel: GradientsPanel) -> None:
    feed(state, panel)
    by_norm = [bar.value for bar in panel.measured.layers.bars.bars]
    box = panel.measured.layers.measure
    box.setFocus()
    qtbot.keyClick(box, Qt.Key.Key_Down)
    assert box.currentText() == "Gradient / parameter"
    ratios = [bar.value for bar in panel.measured.layers.bars.bars]
    assert ratios == pytest.approx([value / 5 for value in by_norm if value is not None])
    qtbot.keyClick(box, Qt.Key.Key_Down)
    assert box.currentText() == "Update / parameter"
    assert [bar.value for bar in panel.measured.layers.bars.bars] != pytest.approx(ratios)


def test_the_layers_of_the_verdict_are_marked_until_it_changes(state: RunState, panel: GradientsPanel) -> None:
    feed(state, panel)
    state.apply(scenario.diagnosis(Disease.DEAD_LAYERS, layers=("blocks.1.widen", "head")))
    panel.refresh()
    assert [bar.title for bar in panel.measured.layers.bars.bars if bar.is_marked] == [
        "Block 2 feed-forward in",
        "Head",
    ]
    assert "Dead layers" in words(panel)
    state.apply(scenario.diagnosis(Disease.HEALTHY, change=None))
    panel.refresh()
    assert not any(bar.is_marked for bar in panel.measured.layers.bars.bars)


def test_the_parts_of_the_loss_have_names_and_shares(state: RunState, panel: GradientsPanel) -> None:
    feed(state, panel)
    bars = panel.measured.parts.bars.bars
    assert [bar.title for bar in bars] == ["Close", "Body", "Upper wick", "Lower wick", "Range", "Volume"]
    assert sum(bar.value for bar in bars if bar.value is not None) == pytest.approx(0.31)
    assert "% of the loss" in bars[0].tooltip


def with_gradients(step: StepDone, **changes: object) -> StepDone:
    assert step.gradients is not None
    return replace(step, gradients=replace(step.gradients, **changes))  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [math.nan, math.inf, None])
def test_non_finite_values_are_dashes(state: RunState, panel: GradientsPanel, value: float | None) -> None:
    layer = LayerStatistics(value, value, value, value, value, value)
    steps = [
        replace(
            with_gradients(
                step,
                layers=(layer,) * len(scenario.LAYERS),
                norm_after=value,
                update_ratio=value,
                loss_scale=value,
                loss_parts=(value,) * 6,
            ),
            gradient_norm=value,
            loss=None,
            skipped_because="The gradients were not finite.",
        )
        for step in scenario.steps(20)
    ]
    feed(state, panel, *steps)
    shown = words(panel).lower()
    assert all(word not in shown for word in ("nan", "inf", "none"))
    assert {bar.text for bar in panel.measured.layers.bars.bars} == {"–"}
    assert panel.measured.numbers.values["Median norm"].text() == "–"
    assert not panel.grab().isNull()


def test_steps_from_before_layers_were_measured_are_drawn_without_them(state: RunState, panel: GradientsPanel) -> None:
    feed(state, panel, *(replace(step, gradients=None) for step in scenario.steps(20)))
    assert "The layers appear with the next step." in words(panel)
    assert not panel.measured.parts.isVisible() and not panel.measured.layers.measure.isEnabled()
    assert panel.measured.norms.isVisible()


def test_layers_without_names_are_counted(state: RunState, panel: GradientsPanel) -> None:
    state.apply(EventBatch(tuple(scenario.steps(5))))
    panel.refresh()
    assert [bar.title for bar in panel.measured.layers.bars.bars][:2] == ["Layer 1", "Layer 2"]


def test_another_run_empties_it(state: RunState, panel: GradientsPanel) -> None:
    feed(state, panel)
    state.apply(scenario.diagnosis())
    panel.refresh()
    state.begin(None)
    panel.refresh()
    assert "No training steps yet" in words(panel) and "Always clipping" not in words(panel)


def test_in_a_wide_dock_the_layers_are_beside_the_curve(qtbot: QtBot, state: RunState, panel: GradientsPanel) -> None:
    feed(state, panel)
    norms, layers = panel.measured.norms, panel.measured.layers
    assert layers.y() > norms.y()
    panel.resize(760, 700)
    qtbot.waitUntil(lambda: layers.x() > norms.geometry().right() and layers.y() == norms.y())


def test_it_fits_a_narrow_dock(qtbot: QtBot, state: RunState, panel: GradientsPanel) -> None:
    feed(state, panel)
    state.apply(scenario.diagnosis())
    panel.refresh()
    assert panel.minimumSizeHint().width() <= 260
    panel.resize(260, 780)
    qtbot.waitUntil(lambda: panel._content.width() <= panel._scroll.viewport().width())


def test_it_takes_another_theme(state: RunState, panel: GradientsPanel, theme: Theme) -> None:
    feed(state, panel)
    before = panel.grab().toImage()
    theme.set_mode("light")
    panel.refresh()
    assert panel.grab().toImage() != before
    assert panel.measured.norms.plot.backgroundBrush().color() == build_palette(False, "green-red").background


def test_the_verdict_stays_in_view_when_its_button_disappears(
    qtbot: QtBot, qapp: QApplication, state: RunState, panel: GradientsPanel
) -> None:
    """The focus does not move to a widget below, to which the panel would scroll."""
    feed(state, panel)
    panel.resize(360, 200)
    panel.activateWindow()
    change = SettingChange("training", "learning_rate", 3e-5)
    ill = scenario.diagnosis(Disease.DIVERGED, change=change, recovery=DivergenceRecovery((change,), "run-300", 300))
    bar = panel.findChild(QScrollArea).verticalScrollBar()
    for well in (scenario.diagnosis(Disease.HEALTHY, change=None), scenario.diagnosis(Disease.UNKNOWN, change=None)):
        panel.card.show_diagnosis(ill)
        panel.card.apply_button.setFocus()
        qtbot.waitUntil(panel.card.apply_button.hasFocus)
        bar.setValue(0)
        panel.card.show_diagnosis(well)
        for _ in range(3):
            qapp.processEvents()
        assert not panel.card.apply_button.isVisible() and bar.maximum() > 0 == bar.value()
        assert not panel.measured.layers.measure.hasFocus()


def test_no_name_is_cut_where_its_number_gets_longer_or_the_text_larger(qtbot: QtBot, qapp: QApplication) -> None:
    host = QWidget()
    table = NumberGrid(MEANINGS, 3, figure=100)
    table.setParent(host)
    table.setGeometry(0, 0, table.room_for(2) + 4, 200)
    shown_panel(qtbot, host, 900, 300)
    for name in table.values:
        table.put(name, "9.0×10⁻⁵")
    settled(qapp)
    assert table.width() < table.room_for(2) and _cut_names(table) == []
    table.setGeometry(0, 0, table.room_for(2) + 4, 200)
    settled(qapp)
    font = table.font()
    font.setPointSizeF(font.pointSizeF() * 1.25)
    table.setFont(font)
    settled(qapp)
    assert table.width() < table.room_for(2) and _cut_names(table) == []


def settled(qapp: QApplication) -> None:
    for _ in range(6):
        qapp.processEvents()


def _cut_names(table: NumberGrid) -> list[str]:
    return [name for name, label in table.names.items() if label.width() < label.minimumSizeHint().width()]
