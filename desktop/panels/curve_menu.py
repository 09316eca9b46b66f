"""The button above the curves of steps: how many of them, and a second run."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QToolButton

from core.domain.plain_text import plain
from core.market.shown_names import shown_market
from core.storage.runs import Run
from desktop.state.run_curves import RunCurves
from desktop.state.run_state import RunState
from desktop.state.step_history import STEPS_KEPT
from desktop.ui.formatting import format_count, format_time
from desktop.ui.plain_text import set_tooltip
from desktop.ui.step_plot import StepPlot
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

SECOND_RUN = QT_TRANSLATE_NOOP("Panels", "second run")


class CurveMenu(QToolButton):
    """The choices are shared by all menus of the same `RunCurves`; the zoom is the plot's."""

    def __init__(self, state: RunState, curves: RunCurves, plot: StepPlot, zoom: str) -> None:
        """zoom: how the plot is zoomed, for the tooltip."""
        super().__init__(popupMode=QToolButton.ToolButtonPopupMode.InstantPopup, autoRaise=True)
        self._state, self._curves, self._plot = state, curves, plot
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName(translate("Panels", "Steps and second run of the curves"))
        set_tooltip(self, zoom)
        menu = QMenu(self)
        menu.aboutToShow.connect(self._fill)
        self.setMenu(menu)
        curves.changed.connect(self._show_choice)
        self._show_choice()

    def _fill(self) -> None:
        menu, spans, others = self.menu(), QActionGroup(self.menu()), QActionGroup(self.menu())
        menu.clear()
        for is_whole in (False, True):
            _add_choice(spans, _span_text(is_whole), is_whole, self._curves.is_whole)
        menu.addActions(spans.actions())
        menu.addSeparator()
        reset = menu.addAction(translate("Panels", "Reset zoom"), self._plot.reset_view)
        reset.setEnabled(self._plot.is_zoomed)
        second = menu.addMenu(translate("Panels", "Second run"))
        _add_choice(others, translate("Panels", "None"), None, self._curves.other)
        for run in self._curves.found.runs:
            if run.run_id != self._state.head_id:
                _add_choice(others, run_title(run), run.run_id, self._curves.other)
        second.addActions(others.actions())
        second.setEnabled(len(others.actions()) > 1)
        spans.triggered.connect(self._on_span)
        others.triggered.connect(self._on_other)

    def _show_choice(self) -> None:
        reading = translate("Panels", "Reading…") if self._curves.is_reading else ""
        trouble = translate("Panels", "Not readable") if self._curves.trouble else ""
        self.setText(trouble or reading or _span_text(self._curves.is_whole))

    def _on_span(self, action: QAction) -> None:
        self._curves.choose_span(is_whole=action.data())

    def _on_other(self, action: QAction) -> None:
        self._curves.choose_other(action.data())


def run_title(run: Run) -> str:
    """``BTC/USDT 1m (binance), 1 Dec 2020 14:05:30``"""
    created = format_time(run.created_at_ms, seconds=True)
    return plain(translate("Panels", "{0}, {1}").format(shown_market(run.market), created))


def _span_text(is_whole: bool) -> str:
    newest = translate("Panels", "Newest {0}").format(format_count(STEPS_KEPT))
    return translate("Panels", "Whole run") if is_whole else newest


def _add_choice(group: QActionGroup, text: str, data: object, current: object) -> None:
    action = QAction(text.replace("&", "&&"), group, checkable=True, checked=data == current)
    action.setData(data)
