"""The numbers of the step under the mouse, in a plot of a run's curves."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Slot

from desktop.panels.curve_menu import SECOND_RUN
from desktop.state.run_curves import RunCurves
from desktop.state.step_history import Steps
from desktop.ui.plots import SMOOTHING_STEPS
from desktop.ui.step_plot import StepPlot
from desktop.ui.translation import translate

Lines = Callable[[Steps, int, int], list[str]]
"""The lines of a step: from the steps, its index, and the number of steps in each mean."""


class CurveReadout(QObject):
    """Follows the mouse over the plot, whose child it is. Call `refresh` when the steps have changed."""

    def __init__(
        self, curves: RunCurves, plot: StepPlot, lines: Lines, second_column: str, second_text: Callable[[float], str]
    ) -> None:
        """second_column, second_text: what is shown of the second run, and how. The functions must hold no widget."""
        super().__init__(plot)
        self._curves, self._plot, self._lines = curves, plot, lines
        self._second_column, self._second_text = second_column, second_text
        self.window = SMOOTHING_STEPS
        """Steps in each mean of the plot."""
        plot.pointed_at.connect(self.refresh)

    @Slot()
    def refresh(self) -> None:
        steps, x = self._curves.shown, self._plot.pointer
        if x is None or not len(steps):
            self._plot.hide_readout()
            return
        step, index = self._curves.step_at(x)
        lines = [] if index is None else self._lines(steps, index, self.window)
        if (second := self._curves.other_at(step, self._second_column)) is not None:
            lines.append(f"{translate('Panels', SECOND_RUN)}  {self._second_text(second)}")
        self._plot.show_readout(step, lines)
