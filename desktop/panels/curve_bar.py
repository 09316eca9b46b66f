"""Choices above the curves of steps: how many of them, and a second run."""

from __future__ import annotations

from PySide6.QtWidgets import QComboBox, QWidget

from core.domain.plain_text import plain
from core.market.shown_names import shown_market
from core.storage.runs import Run
from desktop.state.run_curves import RunCurves
from desktop.state.step_history import STEPS_KEPT
from desktop.ui.accessible import name_box
from desktop.ui.formatting import format_count, format_time
from desktop.ui.inputs import set_choices
from desktop.ui.panel_base import mute, set_text
from desktop.ui.plain_text import ElidedLabel, set_tooltip
from desktop.ui.stacks import NO_MARGINS, beside
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

SECOND_RUN = QT_TRANSLATE_NOOP("Panels", "second run")
_NARROWEST_CHARACTERS = 6


class CurveBar(QWidget):
    """The choices are shared by all bars of the same `RunCurves`."""

    def __init__(self, curves: RunCurves, zoom: str) -> None:
        """zoom: how the plot below is zoomed, for the tooltip."""
        super().__init__()
        self._curves = curves
        self.span, self.other, self._note = QComboBox(), QComboBox(), ElidedLabel()
        name_box(self.span, translate("Panels", "Steps of the curves"))
        name_box(self.other, translate("Panels", "Second run on the curves"))
        newest = translate("Panels", "Newest {0} steps").format(format_count(STEPS_KEPT))
        for text, is_whole in ((newest, False), (translate("Panels", "Whole run"), True)):
            self.span.addItem(text, is_whole)
        for box in (self.span, self.other):
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(_NARROWEST_CHARACTERS)
        set_tooltip(self.span, zoom)
        set_tooltip(
            self.other, translate("Panels", "A second run of this data folder, laid over the curves by its steps.")
        )
        mute(self._note)
        beside(self, self.span, self.other, self._note, stretched=(self.span, self.other), margins=NO_MARGINS)
        self.span.activated.connect(self._on_span)
        self.other.activated.connect(self._on_other)

    def show_choices(self, own_id: str | None) -> None:
        """own_id: the run that the curves are of, which is not offered."""
        others = (run for run in self._curves.found.runs if run.run_id != own_id)
        none = {translate("Panels", "No second run"): None}
        set_choices(self.other, none | {run_title(run): run.run_id for run in others})
        self.span.setCurrentIndex(self.span.findData(self._curves.is_whole))
        self.other.setCurrentIndex(max(self.other.findData(self._curves.other), 0))
        self.other.setEnabled(self.other.count() > 1)
        reading = translate("Panels", "Reading…") if self._curves.is_reading else ""
        set_text(self._note, self._curves.trouble or reading)
        self._note.setVisible(bool(self._note.text()))

    def _on_span(self, _index: int) -> None:
        self._curves.choose_span(is_whole=bool(self.span.currentData()))

    def _on_other(self, _index: int) -> None:
        self._curves.choose_other(self.other.currentData())


def run_title(run: Run) -> str:
    """``BTC/USDT 1m (binance), 1 Dec 2020 14:05:30``"""
    created = format_time(run.created_at_ms, seconds=True)
    return plain(translate("Panels", "{0}, {1}").format(shown_market(run.market), created))
