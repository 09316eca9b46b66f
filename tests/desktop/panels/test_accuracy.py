from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from core.events import Estimate
from desktop.panels.accuracy import AccuracyPanel
from desktop.state import RunState
from desktop.theme import Theme
from tests.desktop import scenario
from tests.desktop.conftest import shown_panel


@pytest.fixture
def panel(qtbot: QtBot, state: RunState, theme: Theme) -> AccuracyPanel:
    panel = AccuracyPanel(state, theme)
    shown_panel(qtbot, panel)
    return panel


def words(panel: AccuracyPanel) -> list[str]:
    return [label.text() for label in panel.findChildren(QLabel) if label.isVisible() and label.text()]


def row(panel: AccuracyPanel, name: str) -> list[str]:
    texts = words(panel)
    start = texts.index(name)
    return texts[start : start + 5]


def test_it_says_that_nothing_is_scored_yet(panel: AccuracyPanel, state: RunState) -> None:
    state.apply(scenario.fresh_status())
    panel.refresh()
    assert len(words(panel)) == 1 and "No forecast has been scored yet" in words(panel)[0]


def test_the_verdict_comes_first_and_each_row_has_interval_reference_and_n(
    panel: AccuracyPanel, state: RunState
) -> None:
    state.apply(scenario.status())
    panel.refresh()
    assert words(panel)[0] == "No proven edge"
    assert row(panel, "Direction") == ["Direction", "52.3 %", "49.1 to 55.5", "50 %", "948"]
    assert row(panel, "Candle accuracy") == ["Candle accuracy", "43.7 %", "42.1 to 45.3", "41.9 %", "1,000"]
    assert row(panel, "90 % band") == ["90 % band", "89.3 %", "87.2 to 91.1", "90 %", "1,000"]
    assert row(panel, "Skill, close") == ["Skill, close", "+1.1 %", "−0.4 to 2.6", "0 %", "1,000"]


def test_too_few_candles_are_a_dash_with_their_count(panel: AccuracyPanel, state: RunState) -> None:
    few = Estimate(None, None, None, 7)
    state.apply(scenario.status(accuracy=scenario.accuracy(scored=7, direction=few, reference_candle_accuracy=None)))
    panel.refresh()
    assert row(panel, "Direction") == ["Direction", "–", "–", "50 %", "7"]
    assert row(panel, "Candle accuracy")[3] == "–"


def test_the_definition_of_each_term_is_in_its_tooltip(panel: AccuracyPanel, state: RunState) -> None:
    state.apply(scenario.status())
    panel.refresh()
    tooltips = {label.text(): label.toolTip() for label in panel.findChildren(QLabel)}
    assert "overlap" in tooltips["Candle accuracy"]
    assert "coin" in tooltips["Direction"]
    assert "1 − loss" in tooltips["Skill, close"]
    assert all(tooltips[name] for name in ("50 % band", "90 % band", "Skill, range"))


def test_scores_apart_are_told_apart(panel: AccuracyPanel, state: RunState) -> None:
    apart = scenario.accuracy(group="caught up", scored=900)
    state.apply(replace(scenario.status(), accuracy_apart=apart))
    panel.refresh()
    footer = next(label for label in panel.findChildren(QLabel) if label.text().startswith("Newest"))
    assert "(live)" in footer.text()
    assert "caught up" in footer.toolTip() and "900" in footer.toolTip()


def test_a_proof_is_coloured_and_the_lack_of_one_is_not(panel: AccuracyPanel, state: RunState, theme: Theme) -> None:
    state.apply(scenario.status())
    panel.refresh()
    plain = panel._verdict.palette().windowText().color()
    proof = scenario.accuracy(has_proven_edge=True, verdict="An edge over the reference: it holds.")
    state.apply(scenario.status(accuracy=proof))
    panel.refresh()
    assert plain == theme.palette.text
    assert panel._verdict.palette().windowText().color() == theme.palette.good
