"""What can be laid over the candles or into a pane below them: indicators, past forecasts, lines, markers."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QPainter

from desktop.chart.data.model import ChartModel
from desktop.chart.painting.fonts import Fonts
from desktop.chart.painting.text import Box, Row, Span
from desktop.chart.panes.frame import Frame
from desktop.chart.panes.item import ChartItem
from desktop.chart.panes.pane import PRICE_PANE, Pane
from desktop.chart.style import Style

GROUND_Z, BEHIND_Z, OVER_CANDLES_Z, LIVE_Z = -70.0, -60.0, -30.0, 40.0
"""What fills the plot, behind all else; behind grid and candles; over the closed candles, kept with them; over all
candles and ghosts, drawn with each paint."""


@dataclass(frozen=True, slots=True)
class PaneScale:
    """How a pane of its own is scaled. fixed: the range, where it is not fitted to what is in view; levels: values
    that get a line and a label instead of round ones; decimals: of its labels; step: the smallest that its values can
    tell apart, 0 where that follows from their size."""

    fixed: tuple[float, float] | None = None
    levels: tuple[float, ...] = ()
    decimals: int = 2
    is_symmetric: bool = False
    """Zero stays in the middle."""
    step: float = 0.0


@dataclass(frozen=True)
class PlotLabel:
    """Words over the prices, laid out with the other labels: a paint between two frames must not say more than those.
    `area` are the device pixels that they touch, `shows` is what they depend on beside the view."""

    area: QRect
    shows: object
    paint: Callable[[QPainter], None] = field(compare=False)


class Layer(ChartItem):
    """An item that readout, scales and labels ask too. It reads frame and model, and changes neither. Of itself it lies
    over the closed candles, asks for no scale, draws and says nothing; a subclass does what it is for."""

    pane: str = PRICE_PANE
    """Or a name of its own: layers of one name share a pane."""
    z = OVER_CANDLES_Z
    is_kept = True
    shares_row = False
    """Whether what it says goes on in the row of others of its kind."""
    is_shown_whole = False
    """Whether its extent fits into view as that of the candles does, however small these become."""

    @property
    def pane_scale(self) -> PaneScale:
        """Asked of the first layer of a pane of its own, after its `extent` of the same frame."""
        return PaneScale()

    def items(self) -> tuple[ChartItem, ...]:
        """What it is drawn by: itself, and others that lie at another height."""
        return (self,)

    def key(self, model: ChartModel) -> Hashable:
        """What `draw` depends on beside frame and candles: while it stays, the kept picture is."""
        return None

    def extent(self, frame_first: int, frame_stop: int, model: ChartModel) -> tuple[float, float] | None:
        """Lowest and highest value in view that the scale has to show; None: it asks for nothing. A pane of its own of
        which no layer asks for anything has no scale."""
        return None

    def draw(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        return

    def rows(self, frame: Frame, model: ChartModel, index: int | None) -> Sequence[Row]:
        """What the readout says of the candle at `index`; None: the newest."""
        return ()

    def sample_rows(self, model: ChartModel) -> Sequence[Row]:
        """Of one over the candles that always says something, rows as wide as it may need: room is left for them. Their
        colours mean nothing."""
        return ()

    def title_lines(self, model: ChartModel, style: Style, fonts: Fonts, width: int) -> int:
        """How many lines of so many device pixels to leave for its words in a pane of its own."""
        return 1

    def axis_tags(self, frame: Frame, model: ChartModel, taken: Sequence[Box]) -> Sequence[Box]:
        """Labels on the price axis, each with its price, in the order in which they are painted; beside those that are
        `taken`."""
        return ()

    def plot_labels(self, frame: Frame, model: ChartModel, taken: Sequence[QRect]) -> Sequence[PlotLabel]:
        """Words over the prices that keep out of the way of what is `taken`, the readout, in device pixels. In the
        order in which they are painted, over what all layers paint. Clipped to the prices' pane."""
        return ()

    def tooltip(self, frame: Frame, model: ChartModel, cursor: QPoint) -> Box | None:
        """What it says of what is under a cursor in device pixels, before the candles do; None: nothing."""
        return None

    @property
    def is_in_hand(self) -> bool:
        """Whether the mouse is on something of it: what lies there must be seen, and no candle is asked about."""
        return False

    def is_waiting(self, model: ChartModel) -> bool:
        """Whether something is missing that takes too long for a frame: it draws nothing rather than what is not right
        yet."""
        return False

    def begin(self, model: ChartModel) -> Callable[[], None] | None:
        """What makes all that is missing, in another thread; None where that is under way already."""
        return None

    def at_rest(self) -> AbstractContextManager[None]:
        """Show nothing of what mouse and keys have hold of meanwhile."""
        return nullcontext()


class OpenPane(Layer):
    """A pane of its own for items that are not the chart's: its scale fits what they say of themselves."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.pane = name

    def extent(self, frame_first: int, frame_stop: int, model: ChartModel) -> tuple[float, float] | None:
        items = [] if self.box is None else self.box.addedItems
        found = [edges for item in items if (edges := _bounds(item, frame_first, frame_stop)) is not None]
        return (min(low for low, _ in found), max(high for _, high in found)) if found else None

    def rows(self, frame: Frame, model: ChartModel, index: int | None) -> Sequence[Row]:
        return ((Span(self.pane, frame.palette.muted_text),),)


def _bounds(item: Any, first: int, stop: int) -> tuple[float, float] | None:
    """Of a pyqtgraph item, among the candles in view."""
    if not hasattr(item, "dataBounds"):
        return None
    low, high = item.dataBounds(1, orthoRange=(first - 0.5, stop + 0.5))
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return None
    return float(low), float(high)


class LayerSet:
    """The layers of a chart, in the order in which they are painted."""

    def __init__(self) -> None:
        self._layers: list[Layer] = []
        self.is_hushed = False
        """Whether no tooltip may be seen: a menu is open."""

    def __iter__(self) -> Iterator[Layer]:
        return iter(self._layers)

    def __len__(self) -> int:
        return len(self._layers)

    def add(self, layer: Layer) -> None:
        """On top of those that are there; a pane of its own below the others."""
        self._layers.append(layer)

    def remove(self, layer: Layer) -> None:
        """Take a layer away, with its pane if no other is in it. Nothing where it is not there."""
        if layer in self._layers:
            self._layers.remove(layer)

    @property
    def has_ground(self) -> bool:
        """Whether something may lie behind the grid, so that it has to stand out more."""
        return any(layer.z <= BEHIND_Z for layer in self._layers)

    def of_pane(self, name: str) -> list[Layer]:
        return [layer for layer in self._layers if layer.pane == name]

    def pane_names(self) -> tuple[str, ...]:
        """The panes below the prices, from top to bottom."""
        return tuple(dict.fromkeys(layer.pane for layer in self._layers if layer.pane != PRICE_PANE))

    @contextmanager
    def at_rest(self) -> Iterator[None]:
        """As if nobody had hold of anything, for a picture."""
        with ExitStack() as stack:
            for layer in self._layers:
                stack.enter_context(layer.at_rest())
            yield

    def axis_tags(self, frame: Frame, model: ChartModel, taken: Sequence[Box]) -> list[Box]:
        """What layers mark on the price axis, each beside what those before it mark."""
        tags: list[Box] = []
        for layer in self._layers:
            tags += layer.axis_tags(frame, model, (*taken, *tags))
        return tags

    def plot_labels(self, frame: Frame, model: ChartModel, taken: Sequence[QRect]) -> list[PlotLabel]:
        """The words of layers over the plot."""
        return [label for layer in self._layers for label in layer.plot_labels(frame, model, taken)]

    def tooltip(self, frame: Frame, model: ChartModel, cursor: QPoint) -> Box | None:
        """What the topmost layer that knows something says."""
        found = (layer.tooltip(frame, model, cursor) for layer in reversed(self._layers))
        return next((box for box in found if box is not None), None)

    @property
    def are_in_hand(self) -> bool:
        """Whether the mouse is on something of one of them."""
        return any(layer.is_in_hand for layer in self._layers)

    def waiting(self, model: ChartModel) -> Layer | None:
        """The first layer that has something to make."""
        return next((layer for layer in self._layers if layer.is_waiting(model)), None)

    def readout_rows(self, frame: Frame, model: ChartModel, index: int | None) -> list[Row]:
        """What the layers over the candles say of the candle at `index`; indicators share a row."""
        return _joined([(layer, layer.rows(frame, model, index)) for layer in self.of_pane(PRICE_PANE)])

    def readout_samples(self, model: ChartModel) -> list[Row]:
        """The rows that are always there, as wide as they get: room is left for them above the candles."""
        return _joined([(layer, layer.sample_rows(model)) for layer in self.of_pane(PRICE_PANE)])

    def key(self, model: ChartModel) -> tuple[Hashable, ...]:
        """What all their kept pictures depend on."""
        return tuple((id(layer), layer.key(model)) for layer in self._layers)


def _joined(said: Sequence[tuple[Layer, Sequence[Row]]]) -> list[Row]:
    """All rows in order; those of layers that share one stand in the first of them, with a dot between."""
    rows: list[Row] = []
    shared: int | None = None
    for layer, own in said:
        for row in own:
            if not layer.shares_row:
                rows.append(row)
            elif shared is None:
                shared = len(rows)
                rows.append(row)
            else:
                rows[shared] += (Span("  ·", row[0].colour, glue=True), *row)
    return rows
