"""A compared market: candles stored meanwhile appear with the next candle."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from core.domain.candle import Candle, Interval, Market
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.folder import DataFolder
from desktop.app.composition import Application
from desktop.app.context import Context
from tests.desktop.whole_window import CATCH_UP, CandleGate, context, run_window, until

HOUR_MS = 3_600_000
OTHER = Market("binance", "ETH/USDT", Interval(HOUR_MS))


def store(folder: DataFolder, *closes: float, first_ms: int = 0) -> None:
    candles = [Candle(first_ms + place * HOUR_MS, *[close] * 4, 1.0) for place, close in enumerate(closes)]
    with closing(open_database(folder.database)) as db:
        CandleStore(db).save(OTHER, candles)


def compared(application: Application) -> list[float]:
    shown = application.charting.comparison.layer.shown
    return [] if shown is None or shown.series is None else shown.series.close.tolist()


@pytest.mark.usefixtures("idle_trainer")
def test_candles_stored_meanwhile_appear_with_the_next_candle(
    qapp: QApplication, tmp_path: Path, gate: CandleGate
) -> None:
    begun = context(tmp_path)
    chart = replace(begun.settings.chart, compare=str(OTHER), scale="percent")
    there: Context = replace(begun, settings=replace(begun.settings, chart=chart))
    store(there.folder, 1.0, 2.0)

    async def story(application: Application) -> None:
        await until(lambda: application.chart.model.count >= CATCH_UP, "the replay")
        await until(lambda: compared(application) == [1.0, 2.0], "the other market")
        store(there.folder, 3.0, 4.0, first_ms=2 * HOUR_MS)
        gate.release(1)
        await until(lambda: compared(application) == [1.0, 2.0, 3.0, 4.0], "the candles stored since")

    run_window(qapp, there, story)
