from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from core.events import Estimate, OnlineGain
from desktop.panels.accuracy import AccuracyPanel
from desktop.panels.online_gain import in_words
from desktop.state import RunState
from desktop.theme import Theme
from tests.desktop import scenario
from tests.desktop.conftest import shown_panel


def gain(value: float | None, low: float | None, high: float | None, n: int, age: int = 2_312) -> OnlineGain:
    return scenario.online_gain(gain=Estimate(value, low, high, n), age=age)


@pytest.mark.parametrize(
    ("online", "words"),
    [
        (
            gain(0.0082, 0.0021, 0.0143, 4_000),
            "+0.8 % (0.2 to 1.4) better than the model of 2,000 candles ago, n = 4,000",
        ),
        (
            gain(-0.0082, -0.0143, -0.0021, 4_000),
            "−0.8 % (−1.4 to −0.2), worse than the model of 2,000 candles ago, n = 4,000",
        ),
        (
            gain(0.0012, -0.0021, 0.0043, 900),
            "+0.1 % (−0.2 to 0.4) against the model of 2,000 candles ago: not proven, n = 900",
        ),
        (gain(0.05, 0.04, 0.06, 120), "+5.0 % (4.0 to 6.0), not proven: n = 120 of the 300 that a proof needs"),
        (gain(None, None, None, 0, age=1_200), "not yet, 1,200 of 2,000 candles"),
        (gain(None, None, None, 12), "not yet, 12 of 30 candles beside its twin"),
    ],
)
def test_it_says_what_was_found_and_whether_that_proves_anything(online: OnlineGain, words: str) -> None:
    assert in_words(online) == f"Online training: {words}"


numbers = st.floats(-0.5, 0.5)


@given(numbers, numbers, numbers, st.integers(30, 5_000))
def test_better_is_only_said_where_the_whole_interval_says_so(a: float, b: float, c: float, n: int) -> None:
    low, value, high = sorted((a, b, c))
    said = in_words(gain(value, low, high, n))
    assert ("better than" in said) == (low > 0.0 and n >= 300)
    assert ("worse than" in said) == (high < 0.0 and n >= 300)
    assert ("not proven" in said) == (n < 300 or low <= 0.0 <= high)
    assert "nan" not in said and not math.isnan(value)


@pytest.fixture
def panel(qtbot: QtBot, state: RunState, theme: Theme) -> AccuracyPanel:
    panel = AccuracyPanel(state, theme)
    shown_panel(qtbot, panel)
    return panel


def line(panel: AccuracyPanel) -> str:
    found = [label.text() for label in panel.findChildren(QLabel) if label.text().startswith("Online training")]
    return "".join(text for text, label in zip(found, [panel._online], strict=False) if label.isVisible())


def test_the_panel_shows_it_and_hides_it_where_no_twin_is_kept(panel: AccuracyPanel, state: RunState) -> None:
    state.apply(scenario.status())
    panel.refresh()
    assert "+0.8 % (0.2 to 1.4)" in line(panel)
    tooltip = panel._online.toolTip()
    assert "Close alone: +0.1 % (−0.1 to 0.3)" in tooltip and "2,312 candles ago" in tooltip
    state.apply(scenario.status(online=None))
    panel.refresh()
    assert line(panel) == ""


def test_a_run_that_has_scored_nothing_says_nothing_of_it(panel: AccuracyPanel, state: RunState) -> None:
    state.apply(scenario.fresh_status())
    panel.refresh()
    assert line(panel) == ""
