"""A mouse move over the plot: the crosshair and the readout follow it, and no closed candle is painted."""

from __future__ import annotations

from desktop.commands.bench_chart.rig import HEIGHT, WIDTH, Rig


class CursorMoves:
    """From the mouse event to the paint."""

    name = "cursor_ms"

    def prepare(self, rig: Rig) -> None:
        rig.show_newest()

    def sample_ms(self, rig: Rig, turn: int) -> float:
        """Over the plot in slants, a pixel row never twice in a row."""
        x, y = 40 + 37 * turn % (WIDTH - 200), 30 + 23 * turn % (HEIGHT - 90)
        return rig.timed_ms(lambda: rig.point_at(x, y))
