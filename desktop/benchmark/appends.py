"""A candle closes: it joins the series, another begins, a new forecast comes, and the view follows."""

from __future__ import annotations

from dataclasses import replace

from desktop.benchmark.rig import Rig


class Appends:
    """From `CandleSeries.add` to the paint."""

    name = "append_ms"

    def prepare(self, rig: Rig) -> None:
        rig.show_newest()

    def sample_ms(self, rig: Rig, turn: int) -> float:
        closed = replace(rig.ticks[-1], close=rig.ticks[-1 - turn % 50].close)

        def close() -> None:
            rig.series.add(closed)
            rig.chart.refresh()
            rig.chart.set_forming(rig.ticks[0])
            rig.chart.set_forecast(forecast)

        forecast = rig.prepare_candle(closed)
        return rig.timed_ms(close)
