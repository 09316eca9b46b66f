"""Puts the views, axes and items of a chart into its scene, and keeps them where the newest frame has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRect, QRectF
from PySide6.QtWidgets import QGraphicsScene

from desktop.chart.items.axis import ChartAxis, TimeAxis, ValueAxis
from desktop.chart.items.empty import EmptyItem
from desktop.chart.items.item import ChartItem, Shown
from desktop.chart.items.kept import (
    BordersItem,
    ClosedCandlesItem,
    GapsItem,
    GridItem,
    Ground,
    KeptItem,
    LayerItem,
    UnderlayItem,
)
from desktop.chart.items.live import (
    CrosshairItem,
    ForecastItem,
    FormingCandleItem,
    LastPriceItem,
    LiveLayerItem,
    PlotLabelsItem,
    WordsItem,
)
from desktop.chart.panes.box import PaneBox
from desktop.chart.panes.frame import Frame
from desktop.chart.panes.layer import Layer, LayerSet, Underlay
from desktop.chart.panes.pane import PRICE_PANE, Pane


@dataclass(frozen=True)
class _View:
    """A pane with its axis, and the items that are there whatever the layers."""

    box: PaneBox
    axis: ValueAxis
    items: tuple[ChartItem, ...]


class Stage:
    """Owns everything in the scene."""

    def __init__(self, scene: QGraphicsScene, shown: Shown, layers: LayerSet) -> None:
        self._scene, self._shown, self._layers = scene, shown, layers
        self._views: dict[str, _View] = {}
        self._of_layers: dict[Layer, tuple[ChartItem, ...]] = {}
        self._placed_key: object = None
        box = self._add_view(PRICE_PANE).box
        self._forecast = ForecastItem(shown, box)
        candles = (GapsItem(shown, box), ClosedCandlesItem(shown, box), FormingCandleItem(shown, box))
        self._prices: tuple[ChartItem, ...] = (
            *candles,
            self._forecast,
            LastPriceItem(shown, box),
            PlotLabelsItem(shown, box),
        )
        _put(self._prices, box)
        self.ground = Ground(shown, self._kept)
        self._time_axis = TimeAxis(shown, box)
        self.empty = EmptyItem(shown)
        self._whole = (self.ground, BordersItem(shown), CrosshairItem(shown), WordsItem(shown))
        for item in (*self._whole, self.empty, self._time_axis):
            scene.addItem(item)
        # Few items, as large as the view: an index of where they were would be wrong after each resize.
        scene.setItemIndexMethod(QGraphicsScene.ItemIndexMethod.NoIndex)

    def box(self, pane_name: str = PRICE_PANE) -> PaneBox:
        """The view of a pane, to which any pyqtgraph item can be added. Raises KeyError where there is no such pane."""
        return self._views[pane_name].box

    def forget(self) -> None:
        """Another series, style or font: measure and paint everything anew."""
        self._placed_key = None
        self.ground.forget()
        self._forecast.forget()
        for axis in self._axes():
            axis.forget()

    def place(self, frame: Frame) -> None:
        """Bring views, axes and items to where this frame has them."""
        key = (frame.base_key(0), tuple(self._layers))
        if key == self._placed_key:  # as with nearly every tick
            return
        self._placed_key = key
        panes = {pane.name: pane for pane in (frame.price_pane, *frame.panes)}
        self._take_away([layer for layer in self._of_layers if layer not in self._layers])
        for name in [name for name in self._views if name not in panes]:
            self._remove_view(self._views.pop(name))
        for name, pane in panes.items():
            view = self._views.get(name) or self._add_view(name)
            view.box.place(frame, pane)
            view.axis.place(_beside(frame, pane))
        for layer in self._layers:
            if layer not in self._of_layers and layer.pane in panes:
                self._add_layer(layer)
        self._time_axis.place(_logical(frame.layout.time_axis, frame.ratio))

    def _add_view(self, name: str) -> _View:
        box = PaneBox(name)
        if PRICE_PANE in self._views:
            box.setXLink(self.box())
        items = (GridItem(self._shown, box, lambda: bool(self._layers.underlays)),)
        axis = ValueAxis(self._shown, box)
        self._views[name] = view = _View(box, axis, items)
        for part in (box, axis):
            self._scene.addItem(part)
        _put(items, box)
        return view

    def _remove_view(self, view: _View) -> None:
        view.axis.unlinkFromView()
        self._scene.removeItem(view.axis)
        view.box.setXLink(None)
        view.box.close()
        self._scene.removeItem(view.box)

    def _add_layer(self, layer: Layer) -> None:
        box = self.box(layer.pane)
        items: list[ChartItem] = [LayerItem(self._shown, layer, box), LiveLayerItem(self._shown, layer, box)]
        if isinstance(layer, Underlay):
            items.append(UnderlayItem(self._shown, layer, box))
        _put(items, box)
        self._of_layers[layer] = tuple(items)

    def _take_away(self, layers: Sequence[Layer]) -> None:
        for layer in layers:
            for item in self._of_layers.pop(layer):
                self._scene.removeItem(item)

    def _kept(self) -> list[KeptItem]:
        """All kept items, from back to front."""
        items = [*self._whole, *self._prices]
        items += [item for view in self._views.values() for item in view.items]
        items += [item for layer in self._layers for item in self._of_layers.get(layer, ())]
        return sorted((item for item in items if isinstance(item, KeptItem)), key=lambda item: item.zValue())

    def _axes(self) -> tuple[ChartAxis, ...]:
        return (self._time_axis, *(view.axis for view in self._views.values()))


def _put(items: Sequence[ChartItem], box: PaneBox) -> None:
    for item in items:
        z = item.zValue()
        box.addItem(item, ignoreBounds=True)
        item.setZValue(z)  # a view raises what would lie below itself


def _beside(frame: Frame, pane: Pane) -> QRectF:
    """The part of the value axis that is a pane's, in logical pixels."""
    return _logical(QRect(pane.right, pane.top, frame.layout.width - pane.right, pane.rect.height()), frame.ratio)


def _logical(area: QRect, ratio: float) -> QRectF:
    return QRectF(area.left() / ratio, area.top() / ratio, area.width() / ratio, max(area.height(), 1) / ratio)
