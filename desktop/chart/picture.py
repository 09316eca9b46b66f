"""A chart's current picture: geometry, labels, and caches."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from PySide6.QtCore import QPoint, QPointF, QRect, QSize
from PySide6.QtGui import QRegion

from desktop.chart.axes.price_scale import ManualRange
from desktop.chart.axes.visible_candles import TimeScale
from desktop.chart.data.model import ChartModel
from desktop.chart.frame_builder import FrameBuilder
from desktop.chart.frame_clock import Dirty
from desktop.chart.labels.axis_labels import Label, TimeMark, time_marks, value_labels, value_marks
from desktop.chart.labels.last_price import forming_area
from desktop.chart.labels.overlay import Overlay, Patch, changed_region
from desktop.chart.panes.frame import Frame, Pane, PaneHeights
from desktop.chart.panes.item import Surface
from desktop.chart.panes.layer import LayerSet
from desktop.chart.style import Style

_Kept = TypeVar("_Kept")


class Picture(Surface):
    """Built on demand and cached until marked dirty. Items read it while they are painted."""

    def __init__(
        self, model: ChartModel, scale: TimeScale, held: ManualRange, layers: LayerSet, heights: PaneHeights
    ) -> None:
        super().__init__(model)
        self._layers = layers
        self._builder = FrameBuilder(model, scale, held, layers, heights)
        self.overlay: Overlay | None = None
        """The labels of the last layout."""
        self._before_tick: Overlay | None = None
        """The labels to reuse during an update for a tick only."""
        self._patches: tuple[Patch, ...] = ()
        self._live = QRect()
        self._ahead: tuple[object, ...] = ()
        self._kept: dict[str, tuple[object, Any]] = {}

    @property
    def style(self) -> Style | None:
        """The style of the newest frame; set even without candles."""
        return None if self._frame is None else self._frame.style

    @property
    def labels_key(self) -> object:
        """Cache key of grid and axis labels. The series itself, not its id(), which may be reused."""
        # Times ahead of the closed candles continue from the forming one.
        model = self.model
        return None if self._frame is None else (self._frame, model.series, model.version, model.time_at(model.count))

    def time_marks(self, frame: Frame) -> Sequence[TimeMark]:
        """Computed once for the grid and the axis below it."""
        return self._keep("times", self.labels_key, lambda: time_marks(frame, self.model))

    def value_marks(self, frame: Frame, pane: Pane) -> list[float]:
        """Computed once for the grid and the axis beside it, and for all views of the same values."""
        key = (pane, *_beside_values(frame))
        return self._keep(f"marks of {pane.name}", key, lambda: value_marks(frame, pane))

    def value_labels(self, frame: Frame, pane: Pane) -> list[Label]:
        """As `value_marks`."""
        key = (pane, frame.top_volume, *_beside_values(frame))
        return self._keep(f"labels of {pane.name}", key, lambda: value_labels(frame, pane))

    def _keep(self, name: str, key: object, make: Callable[[], _Kept]) -> _Kept:
        """What `make` made for the last key of this name."""
        found = self._kept.get(name)
        if found is None or found[0] != key:
            found = self._kept[name] = (key, make())
        return cast(_Kept, found[1])

    @property
    def cached_key(self) -> object:
        """Cache key of the closed candles' picture."""
        return (self.labels_key, self.model.holes, self._layers.key(self.model))

    @property
    def forecast_key(self) -> object:
        """Cache key of the ghosts' picture. The forecast itself, not its id(), which may be reused."""
        model = self.model
        return (
            self.labels_key,
            model.forecast,
            model.forecast_age,
            model.usual_age,
            model.other_interval,
            self._ahead_now(),
        )

    def _ahead_now(self) -> tuple[object, ...]:
        """State ahead of the closed candles: times continue from the forming candle, which also widens or narrows its
        ghost's frame and changes merged ghosts."""
        model, along_path = self.model, self.style is not None and self.style.shows_paths
        return (model.time_at(model.count), model.forming is not None, model.drawn_ghosts(along_path=along_path))

    def build_frame(self, size: QSize, ratio: float, style: Style) -> Frame:
        """The geometry, in device pixels."""
        if self._frame is None or self._frame.ratio != ratio:
            self._frame = self._builder.build(size, ratio, style)
            self.overlay = None
        return self._frame

    def lay_out(self, frame: Frame, cursor: QPointF | None, countdown: str | None) -> Overlay:
        if self.overlay is None:
            cursor_px = None if cursor is None else to_px(cursor, frame)
            self.overlay = Overlay.of(frame, self.model, self._layers, cursor_px, countdown, self._before_tick)
            self._patches = self.overlay.patches(frame)
            self._live = forming_area(frame, self.model, has_lines=len(self._layers) > 0)
        return self.overlay

    def forget(self) -> None:
        """Drop all caches, for another series, style or font."""
        self._builder.forget()
        self._kept.clear()
        self.dirty()

    def dirty(self) -> None:
        """Rebuild frame and labels on the next use."""
        self._frame = self.overlay = None

    def updated(self, dirty: Dirty, build: Callable[[], Frame], overlay: Callable[[], Overlay]) -> QRegion | None:
        """Bring everything up to date. Returns the logical pixels that changed; None: all of them."""
        former, patches, live = self._frame, self._patches, self._live
        ahead, self._ahead = self._ahead, self._ahead_now()
        before, self.overlay = self.overlay, None
        if dirty & ~Dirty.CURSOR:
            self._frame = None
        frame = build()
        is_same_view = former == frame
        has_moved = ahead != self._ahead
        self._before_tick = before if is_same_view and not has_moved and dirty == Dirty.TICK else None
        overlay()
        self._before_tick = None
        if not is_same_view or not patches or has_moved or dirty & (Dirty.VIEW | Dirty.DATA):
            return None
        ticked = (live, self._live) if dirty & Dirty.TICK else ()
        return changed_region(patches, self._patches, ticked, frame.ratio)

    @contextmanager
    def alone(self, frame: Frame, countdown: str | None) -> Iterator[None]:
        """Context without mouse and selection; nothing from it is cached."""
        kept = self.overlay
        with self._layers.at_rest():
            self.overlay = Overlay.of(frame, self.model, self._layers, None, countdown)
            self.wanted = QRegion(0, 0, frame.layout.width, frame.layout.height)
            try:
                yield
            finally:
                self.overlay = kept


def _beside_values(frame: Frame) -> tuple[object, ...]:
    """What marks and labels of a pane's values depend on besides the pane."""
    return frame.layout, frame.ratio, frame.decimals, frame.fonts, frame.style


def to_px(position: QPointF, frame: Frame) -> QPoint:
    """The device pixel under a logical position."""
    return QPoint(math.floor(position.x() * frame.ratio), math.floor(position.y() * frame.ratio))
