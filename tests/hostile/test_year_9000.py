"""A computer whose clock is set to the year 9000: everything works, and times are shown as they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from core.clock import ManualClock, SystemClock
from desktop.commands.headless import run_headless
from tests.desktop import scenario
from tests.desktop.conftest import MakeBench, fill
from tests.desktop.whole_window import context

pytestmark = pytest.mark.hostile

YEAR_9000_MS = 221_845_392_000_000


@pytest.fixture
def clock() -> ManualClock:
    """The window's."""
    return ManualClock(YEAR_9000_MS)


def test_the_window_shows_a_run(make_bench: MakeBench) -> None:
    bench = make_bench(scenario.checkpoints())
    fill(bench)
    for dock in bench.window.docks.values():
        dock.show()
    bench.window._refresher._refresh()
    assert not bench.window.grab().isNull()


def test_a_market_is_learned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SystemClock, "now_ms", lambda clock: YEAR_9000_MS)
    made = replace(context(tmp_path, speed=0.0), candles=20)
    summary = run_headless(made)
    assert summary["candles"] == 20 and summary["incidents"] == []
    assert run_headless(made)["candles"] >= 20, "a start on what was written then"
