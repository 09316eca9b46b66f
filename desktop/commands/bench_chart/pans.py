"""A step of a drag: the plot is held, and every mouse move shows other candles, with their own price range."""

from __future__ import annotations

from PySide6.QtCore import QEvent

from desktop.commands.bench_chart.rig import HEIGHT, Rig

_LEFT, _RIGHT, _STEP = 300, 1300, 9


class Pans:
    """From the mouse event to the paint. The hand goes to and fro over a thousand pixels."""

    name = "pan_ms"

    def prepare(self, rig: Rig) -> None:
        rig.show_newest()
        rig.point_at(_LEFT, HEIGHT / 2)
        rig.point_at(_LEFT, HEIGHT / 2, QEvent.Type.MouseButtonPress, held=True)
        rig.settle()

    def sample_ms(self, rig: Rig, turn: int) -> float:
        span = _RIGHT - _LEFT
        travelled = _STEP * (turn + 1) % (2 * span)
        x = _LEFT + (travelled if travelled <= span else 2 * span - travelled)
        return rig.timed_ms(lambda: rig.point_at(x, HEIGHT / 2, held=True))
