"""A candle corrected by the exchange, from its new version to the window's chart and scores, over real sockets."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from core.domain.events import ForecastScored
from desktop.app.composition import Application
from tests.desktop.whole_window import run_window, until
from tests.support.loopback_exchange import FaultyVenue, loopback_thread
from tests.venue.rig import correct
from tests.venue.windows import context, wall_exchange

pytestmark = [pytest.mark.venue, pytest.mark.slow]


def test_the_window_draws_a_corrected_candle_and_its_new_score(qapp: QApplication, tmp_path: Path) -> None:
    venue = FaultyVenue(wall_exchange())
    with loopback_thread(venue) as control:

        async def story(application: Application) -> None:
            scored: list[ForecastScored] = []
            application.state.scored.connect(scored.append)
            await until(lambda: sum(event.horizon == 1 for event in scored) >= 35, "live candles to be scored")
            target_ms = max(event.target_open_time_ms for event in scored)
            control(lambda: correct(venue.exchange, target_ms))
            again = [(1, 2), (2, 2), (3, 2)]

            def is_scored_again() -> bool:
                return [(event.horizon, event.version) for event in scored if event.version > 1] == again

            await until(is_scored_again, "the new version of the scores", 60.0)
            series = application.series
            assert series is not None
            index = series.index_at(target_ms)
            assert index is not None and series[index] == venue.exchange.truth(target_ms)

        run_window(qapp, context(tmp_path / "data", venue.urls), story, 120.0)
