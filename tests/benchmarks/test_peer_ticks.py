"""Our tick against finplot's, alternating on the same machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.benchmarks.chart.rig import MeasureError
from tests.benchmarks.peers import PeerEnvironment, paired_ticks


@pytest.mark.benchmark
def test_the_ratio_uses_the_quietest_rounds(qtbot: QtBot, tmp_path: Path) -> None:
    environment = PeerEnvironment(tmp_path)
    try:
        environment.prepare(print)
    except MeasureError as error:
        pytest.skip(str(error))
    found = paired_ticks(environment, 20, print)
    assert found["size"] == 10_000 and len(found["pairs"]) == 5
    ours, theirs = (min(pair[name] for pair in found["pairs"]) for name in ("ours_p50", "finplot_p50"))
    assert found["ratio"] == theirs / ours > 1.0
