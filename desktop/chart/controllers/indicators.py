"""The indicators on the chart, as listed in the settings and edited in their dialog."""

from __future__ import annotations

from collections import Counter

from PySide6.QtCore import QObject, QTimer

from core.indicators.shown import ShownIndicator, colour_numbers, without
from core.settings.tree import Settings
from desktop.actions import ActionId
from desktop.chart.items.indicator import IndicatorLayer, pane_of
from desktop.chart.panes.frame import PRICE_PANE
from desktop.chart.tools.tool import Area, ChartPoint
from desktop.chart.widget import ChartWidget
from desktop.dialogs.indicators import IndicatorsDialog
from desktop.dialogs.messages import open_dialog
from desktop.state.shell import Shell

_HEIGHTS_SETTLE_MS = 500
_REACH_PX = 6
"""How close to a line a pointer counts as on it."""


class ChartIndicators(QObject):
    """The settings own the list; layers are added and removed to match."""

    def __init__(self, shell: Shell, chart: ChartWidget) -> None:
        super().__init__(shell.window)
        self._shell, self._chart = shell, chart
        self.shown: tuple[ShownIndicator, ...] = ()
        """The indicators shown, with their looks."""
        self.layers: list[IndicatorLayer] = []
        """Their layers."""
        self._settling = QTimer(self, singleShot=True, interval=_HEIGHTS_SETTLE_MS)
        self._settling.timeout.connect(self._store_heights)
        chart.heights.chosen = shell.settings.current.chart.pane_heights
        chart.panes_resized.connect(self._settling.start)
        shell.settings.changed.connect(self._show)
        shell.actions.wire({ActionId.INDICATORS: self.open})
        self._show(shell.settings.current)

    def open(self) -> IndicatorsDialog:
        """Open the list to add, change and remove; the chart follows immediately."""
        dialog = IndicatorsDialog(self.shown, self._chart.style_shown.palette, self._shell.window)
        dialog.changed.connect(self._change)
        return open_dialog(dialog)

    def set_up(self, indicator: IndicatorLayer) -> None:
        """Open the list at this indicator."""
        if indicator in self.layers:
            self.open().list.setCurrentRow(self.layers.index(indicator))

    def add(self, kind: str) -> None:
        """Put one of this kind on the chart, and open the list at it."""
        self.open().add(kind)

    def remove(self, indicator: IndicatorLayer) -> None:
        if indicator in self.layers:
            self._change(without(self.shown, self.layers.index(indicator)))

    def indicator_at(self, at: ChartPoint) -> IndicatorLayer | None:
        """The indicator whose pane this is, or the nearest one whose line runs here over the candles."""
        if at.area is Area.CORNER or at.area is Area.TIME_AXIS:
            return None
        if at.pane.name != PRICE_PANE:
            return next((layer for layer in self.layers if layer.pane == at.pane.name), None)
        if at.area is not Area.PLOT:
            return None
        near = [(layer.distance(at.frame, at.pixel, self._chart.model), layer) for layer in self.layers]
        reach = at.frame.scaled(_REACH_PX)
        return min((each for each in near if each[0] <= reach), key=lambda each: each[0], default=(0.0, None))[1]

    def _change(self, wanted: tuple[ShownIndicator, ...]) -> None:
        self._shell.settings.change_chart(indicators=tuple(shown.to_json() for shown in wanted))

    def _show(self, settings: Settings) -> None:
        wanted = tuple(ShownIndicator.from_json(each) for each in settings.chart.indicators)
        if wanted == self.shown:
            return
        self.shown = wanted
        former, self.layers = list(self.layers), []
        for layer in former:
            self._chart.remove_layer(layer)
        seen: Counter[str] = Counter()
        for number, shown in zip(colour_numbers(wanted), wanted, strict=True):
            kind = shown.spec.kind
            self.layers.append(_placed(shown, number, seen[kind], former))
            seen[kind] += 1
        for layer in self.layers:
            self._chart.add_layer(layer)

    def _store_heights(self) -> None:
        self._shell.settings.change_chart(pane_heights=dict(self._chart.heights.chosen))


def _placed(shown: ShownIndicator, number: int, ordinal: int, former: list[IndicatorLayer]) -> IndicatorLayer:
    """The layer of this indicator: the one in `former` if it has the same pane, because its values are computed
    already. If the first of a kind is removed, the second inherits its pane and that pane's height."""
    pane = pane_of(shown.spec, ordinal)
    kept = next((layer for layer in former if layer.spec == shown.spec and layer.pane == pane), None)
    if kept is None:
        return IndicatorLayer(shown.spec, number, ordinal, shown.look)
    former.remove(kept)
    kept.number, kept.look = number, shown.look
    return kept
