"""All candles come into view at once, from half of them: other groups, another price range, everything drawn anew."""

from __future__ import annotations

from desktop.benchmark.rig import MeasureError, Rig

_FAR_OUT = 1e-12


class WholeView:
    """From the call of `zoom` to the paint. Nothing of the picture before can be kept."""

    name = "all_ms"

    def prepare(self, rig: Rig) -> None:
        rig.show_newest()

    def sample_ms(self, rig: Rig, turn: int) -> float:
        rig.chart.zoom(_FAR_OUT)
        rig.chart.zoom(2.0 + 0.01 * (turn % 7))
        rig.settle()
        taken_ms = rig.timed_ms(lambda: rig.chart.zoom(_FAR_OUT))
        frame = rig.chart.frame
        if (frame.first, frame.stop) != (0, rig.count):
            raise MeasureError(
                f"Only {frame.stop - frame.first} of {rig.count} candles came into view; no figure is given."
            )
        return taken_ms
