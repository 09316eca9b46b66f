"""A tick: the current forming candle, with the newest 300 candles in view."""

from __future__ import annotations

from desktop.commands.bench_chart.rig import Rig


class Ticks:
    """From `set_forming` to the paint."""

    name = "tick_ms"

    def prepare(self, rig: Rig) -> None:
        rig.show_newest()

    def sample_ms(self, rig: Rig, turn: int) -> float:
        candle = rig.ticks[(turn + 1) % len(rig.ticks)]
        return rig.timed_ms(lambda: rig.chart.set_forming(candle))
