"""A candle closes: it joins the series, another begins, a new forecast comes, and the view follows."""

from __future__ import annotations

from desktop.commands.bench_chart import scenario
from desktop.commands.bench_chart.rig import IN_VIEW, MeasureError, Rig


class Appends:
    """From `CandleSeries.add` to the paint."""

    name = "append_ms"

    def prepare(self, rig: Rig) -> None:
        rig.show_newest()

    def sample_ms(self, rig: Rig, turn: int) -> float:
        closed = scenario.following(rig.series[-1], rig.series[-IN_VIEW])

        def close() -> None:
            rig.series.add(closed)
            rig.chart.refresh()
            rig.chart.set_forming(rig.ticks[0])
            rig.chart.set_forecast(forecast)

        forecast = rig.prepare_candle(closed)
        taken_ms = rig.timed_ms(close)
        if rig.chart.frame.stop != len(rig.series):
            raise MeasureError("The view did not follow the candle that closed; no figure is given.")
        return taken_ms
