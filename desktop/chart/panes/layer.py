"""The base of everything over the candles or in a pane below them: indicators, past forecasts, lines, markers; and
the thread for what is too slow to compute in a frame."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from PySide6.QtCore import QObject, QPoint, QRect, QTimer, Slot
from PySide6.QtGui import QPainter

from desktop.chart.data.model import ChartModel
from desktop.chart.painting.text import Box, Fonts, Row, Span
from desktop.chart.panes.frame import PRICE_PANE, Frame, Pane
from desktop.chart.panes.item import ChartItem
from desktop.chart.style import Style

GROUND_Z, BEHIND_Z, OVER_CANDLES_Z, LIVE_Z = -70.0, -60.0, -30.0, 40.0
"""Paint heights: the plot's background; behind grid and candles; over the closed candles, cached with them; over all
candles and ghosts, drawn with each paint."""
_LOOK_EVERY_MS = 4


class View(NamedTuple):
    """The closed candles in view, first..stop - 1, and how many of them are drawn as one."""

    first: int
    stop: int
    group: int


@dataclass(frozen=True, slots=True)
class PaneScale:
    """The scale of a separate pane. fixed: the range, if it is not fitted to the view; levels: values that get a line
    and a label instead of round ones; decimals: of its labels; step: the smallest difference between its values, 0 if
    their size implies it."""

    fixed: tuple[float, float] | None = None
    levels: tuple[float, ...] = ()
    decimals: int = 2
    step: float = 0.0


@dataclass(frozen=True)
class PlotLabel:
    """Text over the prices, laid out with the other labels, so that a paint between two frames shows no other text.
    `area` are the device pixels that it covers, `shows` is its key besides the view."""

    area: QRect
    shows: object
    paint: Callable[[QPainter], None] = field(compare=False)


class Layer(ChartItem):
    """An item that readout, scales and labels query too. It reads frame and model, and changes neither. By default it
    lies over the closed candles, needs no scale, and draws and shows nothing; subclasses override what they need."""

    pane: str = PRICE_PANE
    """The pane's name: layers with one name share a pane."""
    z = OVER_CANDLES_Z
    is_cached = True
    shares_row = False
    """Whether its readout rows are joined with the rows of its kind."""
    is_shown_whole = False
    """Whether the scale fits its full extent, as it fits the candles, however small they become."""

    @property
    def pane_scale(self) -> PaneScale:
        """The scale of a separate pane, read from its first layer after `extent` for the same frame."""
        return PaneScale()

    def items(self) -> tuple[ChartItem, ...]:
        """The layer's items: itself, and others at another height."""
        return (self,)

    def key(self, model: ChartModel) -> Hashable:
        """The inputs of `draw` besides frame and candles; while they are unchanged, the cached picture is valid."""
        return None

    def extent(self, view: View, model: ChartModel) -> tuple[float, float] | None:
        """Lowest and highest value in view for the scale; None: no requirement. A separate pane without any requirement
        has no scale."""
        return None

    def draw(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        return

    def rows(self, frame: Frame, model: ChartModel, index: int | None) -> Sequence[Row]:
        """Readout rows of the candle at `index`; None: the newest."""
        return ()

    def sample_rows(self, model: ChartModel) -> Sequence[Row]:
        """Rows of the maximum width, to reserve room for a layer over the candles that always has rows. Their colours
        are ignored."""
        return ()

    def title_lines(self, model: ChartModel, style: Style, fonts: Fonts, width: int) -> int:
        """Lines to reserve, at this width in device pixels, for its text in a separate pane."""
        return 1

    def axis_tags(self, frame: Frame, model: ChartModel, taken: Sequence[Box]) -> Sequence[Box]:
        """Labels on the price axis, each with its price, in paint order; they avoid those that are `taken`."""
        return ()

    def plot_labels(self, frame: Frame, model: ChartModel, taken: Sequence[QRect]) -> Sequence[PlotLabel]:
        """Text over the prices that avoids the `taken` areas (the readout), in device pixels. In paint order, over what
        all layers paint. Clipped to the price pane."""
        return ()

    def tooltip(self, frame: Frame, model: ChartModel, cursor: QPoint) -> Box | None:
        """The layer's text about the place under a cursor in device pixels, shown before the candles' tooltip; None:
        nothing."""
        return None

    @property
    def is_under_mouse(self) -> bool:
        """Whether the mouse is on one of its objects: it must be visible, so the candle's tooltip is suppressed."""
        return False

    def is_waiting(self, model: ChartModel) -> bool:
        """Whether a computation that is too slow for a frame is missing: until then it draws nothing rather than wrong
        values."""
        return False

    def begin(self, model: ChartModel) -> Callable[[], None] | None:
        """The missing computation, to run in another thread; None if it is running already."""
        return None

    def at_rest(self) -> AbstractContextManager[None]:
        """Context without selection and hover state."""
        return nullcontext()


class OpenPane(Layer):
    """A separate pane for items from outside the chart: its scale fits their own bounds."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.pane = name

    def extent(self, view: View, model: ChartModel) -> tuple[float, float] | None:
        items = [] if self.box is None else self.box.addedItems
        found = [edges for item in items if (edges := _bounds(item, view)) is not None]
        return (min(low for low, _ in found), max(high for _, high in found)) if found else None

    def rows(self, frame: Frame, model: ChartModel, index: int | None) -> Sequence[Row]:
        return ((Span(self.pane, frame.palette.muted_text),),)


def _bounds(item: Any, view: View) -> tuple[float, float] | None:
    """Bounds of a pyqtgraph item among the visible candles."""
    if not hasattr(item, "dataBounds"):
        return None
    low, high = item.dataBounds(1, orthoRange=(view.first - 0.5, view.stop + 0.5))
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return None
    return float(low), float(high)


class LayerSet(list[Layer]):
    """The layers of a chart in paint order; a separate pane exists as long as a layer is in it."""

    are_tooltips_suppressed = False
    """Whether tooltips are suppressed, because a menu is open."""

    @property
    def has_background(self) -> bool:
        """Whether a layer may lie behind the grid, which then needs more contrast."""
        return any(layer.z <= BEHIND_Z for layer in self)

    def of_pane(self, name: str) -> list[Layer]:
        return [layer for layer in self if layer.pane == name]

    def pane_names(self) -> tuple[str, ...]:
        """The panes below the prices, from top to bottom."""
        return tuple(dict.fromkeys(layer.pane for layer in self if layer.pane != PRICE_PANE))

    @contextmanager
    def at_rest(self) -> Iterator[None]:
        """Context without any selection and hover state, for a picture."""
        with ExitStack() as stack:
            for layer in self:
                stack.enter_context(layer.at_rest())
            yield

    def axis_tags(self, frame: Frame, model: ChartModel, taken: Sequence[Box]) -> list[Box]:
        """Labels of all layers on the price axis, each avoiding the previous ones."""
        tags: list[Box] = []
        for layer in self:
            tags += layer.axis_tags(frame, model, (*taken, *tags))
        return tags

    def plot_labels(self, frame: Frame, model: ChartModel, taken: Sequence[QRect]) -> list[PlotLabel]:
        return [label for layer in self for label in layer.plot_labels(frame, model, taken)]

    def tooltip(self, frame: Frame, model: ChartModel, cursor: QPoint) -> Box | None:
        """The topmost layer's tooltip."""
        found = (layer.tooltip(frame, model, cursor) for layer in reversed(self))
        return next((box for box in found if box is not None), None)

    @property
    def are_under_mouse(self) -> bool:
        """Whether the mouse is on an object of any layer."""
        return any(layer.is_under_mouse for layer in self)

    def waiting(self, model: ChartModel) -> Layer | None:
        return next((layer for layer in self if layer.is_waiting(model)), None)

    def readout_rows(self, frame: Frame, model: ChartModel, index: int | None) -> list[Row]:
        """Readout rows of the layers over the candles for the candle at `index`; indicators share a row."""
        return _joined([(layer, layer.rows(frame, model, index)) for layer in self.of_pane(PRICE_PANE)])

    def readout_samples(self, model: ChartModel) -> list[Row]:
        """The permanent rows at their maximum width: room above the candles is reserved for them."""
        return _joined([(layer, layer.sample_rows(model)) for layer in self.of_pane(PRICE_PANE)])

    def key(self, model: ChartModel) -> tuple[Hashable, ...]:
        """Cache key of all layers' pictures."""
        return tuple((id(layer), layer.key(model)) for layer in self)


def _joined(rows_of: Sequence[tuple[Layer, Sequence[Row]]]) -> list[Row]:
    """All rows in order; layers that share a row are joined into the first, with a dot between."""
    rows: list[Row] = []
    shared: int | None = None
    for layer, own in rows_of:
        for row in own:
            if not layer.shares_row:
                rows.append(row)
            elif shared is None:
                shared = len(rows)
                rows.append(row)
            else:
                rows[shared] += (Span("  ·", row[0].colour, glue=True), *row)
    return rows


class IdleWork(QObject):
    """Runs layers' computations that are too slow for a frame in another thread, one at a time until no layer waits.
    TA-Lib and NumPy do not block the window's thread."""

    def __init__(self, layers: LayerSet, model: ChartModel, on_made: Callable[[], None], parent: QObject) -> None:
        """on_made: called when a layer's computations are complete."""
        super().__init__(parent)
        self._layers, self._model, self._on_made = layers, model, on_made
        self._making: Future[None] | None = None
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._turn)

    @property
    def is_busy(self) -> bool:
        """Whether a computation is running, or a layer waits for one."""
        return self._making is not None or self._layers.waiting(self._model) is not None

    def look(self) -> None:
        """Start if a layer waits for a computation."""
        if not self._timer.isActive() and self.is_busy:
            self._timer.start(_LOOK_EVERY_MS)

    @Slot()
    def _turn(self) -> None:
        if self._making is None:
            layer = self._layers.waiting(self._model)
            make = None if layer is None else layer.begin(self._model)
            if make is not None:
                thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="indicator")
                self._making = thread.submit(make)
                thread.shutdown(wait=False)  # the thread ends with its work; none stays idle
        elif self._making.done():
            made, self._making = self._making, None
            made.result()  # re-raises the thread's exception
            self._on_made()
        self.look()
