"""Adds the views and items of a chart to its scene, and positions them for the newest frame; the cached picture below
all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QGraphicsScene, QStyleOptionGraphicsItem, QWidget

from desktop.chart.data.model import ChartModel
from desktop.chart.items.candles import ClosedCandlesItem, FormingCandleItem
from desktop.chart.items.forecast import ForecastItem
from desktop.chart.items.grid import BordersItem, GapsItem, GridItem
from desktop.chart.items.live import AxisLabelsItem, CrosshairItem, LastPriceItem, PlotLabelsItem, TextItem
from desktop.chart.painting.primitives import CachedPixels
from desktop.chart.panes.frame import PRICE_PANE, Frame, Pane
from desktop.chart.panes.item import ChartItem, PaneBox
from desktop.chart.panes.layer import LayerSet
from desktop.chart.panes.strips import PaneStrips
from desktop.chart.picture import Picture
from desktop.ui.plain_text import with_whole_figures

_MARGIN_PX = 24


class Stage:
    """Owns everything in the scene."""

    def __init__(self, scene: QGraphicsScene, picture: Picture, layers: LayerSet) -> None:
        self._scene, self._picture, self._layers = scene, picture, layers
        self._views: dict[str, PaneBox] = {}
        self._items: list[ChartItem] = []
        self._of_layers: list[ChartItem] = []
        self._placed_key: object = None
        self._frame: Frame | None = None
        self._add_view(PRICE_PANE)
        self.background = Background(self._cached_items, layers)
        candles = (GapsItem(), ClosedCandlesItem(), ForecastItem(), FormingCandleItem())
        labels = (LastPriceItem(), PlotLabelsItem(), CrosshairItem(), AxisLabelsItem(), TextItem())
        for item in (self.background, GridItem(layers), BordersItem(), *candles, *labels):
            self._put(item)
        # Few items, as large as the view: a spatial index would be wrong after each resize.
        scene.setItemIndexMethod(QGraphicsScene.ItemIndexMethod.NoIndex)

    def box(self, pane_name: str = PRICE_PANE) -> PaneBox:
        """The view of a pane, to which any pyqtgraph item can be added. Raises KeyError if there is no such pane."""
        box = self._views[pane_name]
        if not box.is_open:
            box.is_open = True
            if self._frame is not None:
                box.place(self._frame, self._frame.pane(pane_name))
        return box

    @property
    def has_foreign_items(self) -> bool:
        """Whether a view holds items from outside the chart."""
        return any(box.foreign_items for box in self._views.values())

    def place(self, frame: Frame) -> None:
        key = (frame, tuple(self._layers))
        if key == self._placed_key:  # the usual case for a tick
            return
        self._placed_key, self._frame = key, frame
        panes = {pane.name: pane for pane in (frame.price_pane, *frame.panes)}
        wanted = [item for layer in self._layers for item in layer.items()]
        self._remove_items(item for item in self._of_layers if item not in wanted)
        for name in [name for name in self._views if name not in panes]:
            self._remove_items(item for item in self._items if item.pane == name)
            box = self._views.pop(name)
            box.close()
            self._scene.removeItem(box)
        for name, pane in panes.items():
            if name not in self._views:
                self._add_view(name)
            self._views[name].place(frame, pane)
        for item in wanted:
            if item not in self._of_layers:
                self._put(item)
        self._of_layers = wanted

    def _add_view(self, name: str) -> None:
        self._views[name] = box = PaneBox()
        self._scene.addItem(box)

    def _put(self, item: ChartItem) -> None:
        item.surface = self._picture
        self._items.append(item)
        item.box = None if item.pane is None else self._views[item.pane]
        if item.is_cached:
            return
        if item.box is None:
            self._scene.addItem(item)
            return
        item.box.add_own(item)
        item.setZValue(item.z)  # a view raises items that would be below it

    def _remove_items(self, items: Iterable[ChartItem]) -> None:
        for item in tuple(items):
            self._items.remove(item)
            if not item.is_cached:
                self._scene.removeItem(item)

    def _cached_items(self) -> list[ChartItem]:
        """The cached items from back to front; layers of one height in the order they were added."""
        return sorted((item for item in self._items if item.is_cached), key=lambda item: item.z)


class Background(ChartItem):
    """The cached picture of closed candles, grid and indicators, or a text if there is no candle. Lies below all other
    items."""

    z = -1e6

    surface: Picture

    def __init__(self, cached_items: Callable[[], Iterable[ChartItem]], layers: LayerSet) -> None:
        """cached_items: from back to front."""
        super().__init__()
        self._cached_items, self._layers, self._strips = cached_items, layers, PaneStrips()
        self.pixels = CachedPixels()
        self.sentence = ""
        self.paints = 0
        """Number of paints of the closed candles; tests limit it."""
        self._former: Frame | None = None
        """The frame of the newest paint."""
        self._is_panned = False
        """Whether it was a step of a pan."""

    def boundingRect(self) -> QRectF:
        view = self.getViewWidget()
        return QRectF() if view is None else QRectF(view.rect())

    def set_text(self, sentence: str) -> None:
        self.sentence = sentence
        self.update()

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        style = self.surface.style
        if style is None or not self.surface.model.is_empty:
            super().paint(painter, option, widget)
            return
        area, palette = self.boundingRect(), style.palette
        painter.fillRect(area, palette.background)
        painter.setPen(palette.muted_text)
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        room = area.adjusted(_MARGIN_PX, _MARGIN_PX, -_MARGIN_PX, -_MARGIN_PX)
        painter.drawText(room, flags, with_whole_figures(self.sentence))

    def draw(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        if not self.surface.is_cached:
            painter.fillRect(self.area(frame), frame.palette.background)
            self._paint(painter, frame)
            return
        ground, was_panned = frame.palette.background, self._is_panned
        former, self._former = self._former, frame
        self._is_panned = former is not None and former.spacing == frame.spacing and former.right != frame.right
        if was_panned and self._is_panned:  # the next paint will probably have another view: nothing to cache for it
            painter.fillRect(self.area(frame), ground)
            self._paint(painter, frame)
            self.paints += 1
            return
        key, paint = self.surface.cached_key, partial(self._paint, frame=frame)
        self.paints += self.pixels.update(key, partial(self.area, frame), ground, paint)
        self.pixels.draw(painter, self.surface.wanted)

    def _paint(self, painter: QPainter, frame: Frame) -> None:
        on_strips = {pane.name for pane in frame.panes} if self.surface.is_cached else ()
        for item in self._cached_items():
            if item.pane in on_strips:
                continue
            painter.save()
            painter.setClipRect(item.area(frame), Qt.ClipOperation.IntersectClip)
            item.draw_in(painter, frame)
            painter.restore()
        if self.surface.is_cached:
            self._strips.draw(painter, frame, self.surface.model, self._layers)
