"""The chart's texts in a made-up language: none stays English except names of markets and indicators."""

from __future__ import annotations

from datetime import UTC

import pytest
from pytestqt.qtbot import QtBot

from core.domain.clock import ManualClock
from core.indicators.registry import INDICATORS
from core.indicators.spec import IndicatorSpec
from desktop.chart.painting.text import Span
from desktop.chart.widget import ChartWidget
from desktop.ui.theme import Theme
from tests.desktop.chart.support import START_MS
from tests.desktop.made_up_language import MadeUpLanguage, untranslated
from tests.golden.scenes import SCENES
from tests.golden.stage import Scene, Stage

NAMES = (
    *("ghosts-catch-up", "crosshair-dark", "crosshair-over-ghost", "outcome-dark", "missing-candles", "held-prices"),
    *("studies-over-dark", "studies-panes", "hindsight-dark", "hindsight-far", "lines-dark", "lines-aside"),
    *("regimes-dark", "no-candles", "countdown"),
)
CHOSEN = [scene for scene in SCENES if scene.name in NAMES]


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts of everything that is created for painting."""
    said: list[str] = []
    make = Span.__init__

    def recorded(self: Span, text: str, *others: object, **named: object) -> None:
        said.append(text)
        make(self, text, *others, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Span, "__init__", recorded)
    return said


def test_the_scenes_are_those_that_are_named() -> None:
    assert sorted(scene.name for scene in CHOSEN) == sorted(NAMES)


@pytest.mark.parametrize("scene", CHOSEN, ids=[scene.name for scene in CHOSEN])
def test_no_word_on_the_chart_stays_english(
    scene: Scene, made_up_language: MadeUpLanguage, spans: list[str], qtbot: QtBot
) -> None:
    theme, clock = Theme(scene.mode), ManualClock(START_MS)
    chart = ChartWidget(theme, clock)
    qtbot.addWidget(chart)
    chart.restyle(time_zone=UTC)
    chart.resize(*scene.size)
    chart.show()
    stage = Stage(chart, clock, theme)
    scene.build(stage)
    stage.settle()
    chart.grab()
    assert spans or chart.model.is_empty
    names = frozenset((*chart.model.title.split(" · "), *(IndicatorSpec.of(kind).label for kind in INDICATORS)))
    found = {text for text in spans if untranslated(text, names)}
    assert not found
