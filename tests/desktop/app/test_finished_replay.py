"""The whole program after a replayed file has ended and all of it was learned."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from desktop.actions import ActionId
from desktop.app.composition import Application
from tests.desktop.whole_window import SAMPLE, context, run_window, until

CANDLES = 45


@pytest.mark.slow
def test_training_finishes_with_the_replay_also_after_a_restart(qapp: QApplication, tmp_path: Path) -> None:
    path = tmp_path / "short.csv"
    path.write_text("".join(SAMPLE.read_text().splitlines(keepends=True)[: CANDLES + 1]))

    async def story(application: Application) -> None:
        await until(lambda: application.window.status.trainer.text() == "Training finished", "the end")
        forecast, actions = application.state.forecast, application.window.shell.actions
        assert application.series is not None and len(application.series) == CANDLES
        assert forecast is None or forecast.origin_open_time_ms == application.series[-1].open_time_ms, "all is learned"
        await until(lambda: not actions[ActionId.PAUSE].isEnabled(), "that nothing is left to pause")
        assert actions[ActionId.STOP].isEnabled() and not actions[ActionId.STEP_ONCE].isEnabled()

    for _start in range(2):
        run_window(qapp, context(tmp_path / "data", file=str(path)), story)
