"""The volume profile is toggled by its action and stored in the settings."""

from __future__ import annotations

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from desktop.actions import ActionId
from desktop.chart.controllers.appearance import ChartAppearance
from tests.desktop.chart.paint_helpers import picture
from tests.desktop.conftest import Bench, MakeBench, fill


@pytest.fixture
def bench(make_chart_bench: MakeBench) -> Bench:
    made = make_chart_bench()
    fill(made)
    ChartAppearance(made.shell, made.chart)
    made.chart.flush()
    return made


def readout_of(bench: Bench) -> str:
    return " ".join(span.text for row in bench.chart.overlay.readout.rows for span in row)


def test_the_action_toggles_and_stores_it(bench: Bench, qtbot: QtBot) -> None:
    action = bench.shell.actions[ActionId.VOLUME_PROFILE]
    before = picture(bench.chart)
    for is_shown in (True, False):
        action.trigger()
        bench.chart.flush()
        assert bench.shell.settings.current.chart.volume_profile is is_shown is action.isChecked()
        assert ("Volume profile" in readout_of(bench)) is is_shown
        assert (picture(bench.chart) != before).any() is np.bool_(is_shown)
