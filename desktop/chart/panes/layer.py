"""What can be laid over the candles or into a pane below them: indicators, past forecasts, lines, markers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QPainter

from desktop.chart.data.model import ChartModel
from desktop.chart.painting.fonts import Fonts
from desktop.chart.painting.text import Box, Row, Span
from desktop.chart.panes.frame import Frame
from desktop.chart.panes.pane import PRICE_PANE, Pane
from desktop.chart.style import Style


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


class Layer(Protocol):
    """Reads the frame and the model, and changes neither. Called by the chart alone, on the window's thread."""

    @property
    def pane(self) -> str:
        """`PRICE_PANE`, or a name of its own: layers of one name share a pane."""

    @property
    def pane_scale(self) -> PaneScale:
        """Asked of the first layer of a pane of its own, after its `extent` of the same frame."""

    def key(self, model: ChartModel) -> Hashable:
        """What `paint` depends on beside frame and candles: while it stays, the picture is kept."""

    def extent(self, frame_first: int, frame_stop: int, model: ChartModel) -> tuple[float, float] | None:
        """Lowest and highest value in view that the scale has to show; None: it asks for nothing. A pane of its own of
        which no layer asks for anything has no scale."""

    def paint(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        """Paint what only a new view or a closed candle changes, over the candles. Clipped to the pane."""

    def paint_live(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        """Paint what a tick changes, from the newest closed candle's centre to the forming one's right edge."""

    def rows(self, frame: Frame, model: ChartModel, index: int | None) -> Sequence[Row]:
        """What the readout says of the candle at `index`; None: the newest."""


class PriceLayer:
    """A layer over the prices that asks for no scale, keeps nothing, paints and says nothing, until a subclass does."""

    pane = PRICE_PANE
    pane_scale = PaneScale()

    def key(self, model: ChartModel) -> Hashable:
        return None

    def extent(self, frame_first: int, frame_stop: int, model: ChartModel) -> tuple[float, float] | None:
        return None

    def paint(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        return

    def paint_live(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        return

    def rows(self, frame: Frame, model: ChartModel, index: int | None) -> Sequence[Row]:
        return ()


@runtime_checkable
class AxisTagger(Protocol):
    """A layer that marks prices on the price axis."""

    def axis_tags(self, frame: Frame, model: ChartModel, taken: Sequence[Box]) -> Sequence[Box]:
        """Labels on the axis, each with its price, in the order in which they are painted; beside those that are
        `taken`."""


@dataclass(frozen=True)
class PlotLabel:
    """Words over the prices, laid out with the other labels: a paint between two frames must not say more than those.
    `area` are the device pixels that they touch, `shows` is what they depend on beside the view."""

    area: QRect
    shows: object
    paint: Callable[[QPainter], None] = field(compare=False)


@runtime_checkable
class Underlay(Protocol):
    """A layer that paints behind the candles, and behind the grid."""

    @property
    def pane(self) -> str:
        """As that of `Layer`."""

    def paint_behind(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        """Paint what only a new view or a closed candle changes. Clipped to the pane."""


@runtime_checkable
class Labeller(Protocol):
    """A layer with words over the prices that keep out of the way of what is `taken`: the readout, in device pixels."""

    def plot_labels(self, frame: Frame, model: ChartModel, taken: Sequence[QRect]) -> Sequence[PlotLabel]:
        """In the order in which they are painted, over what all layers paint live. Clipped to the prices' pane."""


@runtime_checkable
class Explainer(Protocol):
    """A layer that says something of what is under the cursor, before the candles do."""

    def tooltip(self, frame: Frame, model: ChartModel, cursor: QPoint) -> Box | None:
        """The box for a cursor in device pixels; None where there is nothing of it."""


@runtime_checkable
class Deferred(Protocol):
    """A layer that may need longer than a frame. It paints nothing rather than what is not right yet."""

    def is_waiting(self, model: ChartModel) -> bool:
        """Whether something is missing that takes too long for a frame."""

    def begin(self, model: ChartModel) -> Callable[[], None] | None:
        """What makes all that is missing, in another thread; None where that is under way already."""


@runtime_checkable
class Reader(Protocol):
    """A layer over the candles that always says something in the readout."""

    @property
    def shares_row(self) -> bool:
        """Whether what it says goes on in the row of others of its kind."""

    def sample_rows(self, model: ChartModel) -> Sequence[Row]:
        """Rows as wide as it may need. Their colours mean nothing."""


@runtime_checkable
class Companion(Protocol):
    """A layer that is drawn beside the candles as one of their kind."""

    @property
    def is_shown_whole(self) -> bool:
        """Whether its extent fits into view as that of the candles does, however small these become."""


@runtime_checkable
class Titled(Protocol):
    """A layer in a pane of its own, whose words may need more than a line there."""

    def title_lines(self, model: ChartModel, style: Style, fonts: Fonts, width: int) -> int:
        """How many lines of so many device pixels to leave for them."""


@runtime_checkable
class Handled(Protocol):
    """A layer that shows what mouse and keys have hold of."""

    def at_rest(self) -> AbstractContextManager[None]:
        """Show nothing of that meanwhile."""


class LayerSet:
    """The layers of a chart, in the order in which they are painted."""

    def __init__(self) -> None:
        self._layers: list[Layer] = []
        self._sort()

    def __iter__(self) -> Iterator[Layer]:
        return iter(self._layers)

    def __len__(self) -> int:
        return len(self._layers)

    def add(self, layer: Layer) -> None:
        """On top of those that are there; a pane of its own below the others."""
        self._layers.append(layer)
        self._sort()

    def remove(self, layer: Layer) -> None:
        """Take a layer away, with its pane if no other is in it. Nothing where it is not there."""
        if layer in self._layers:
            self._layers.remove(layer)
            self._sort()

    def _sort(self) -> None:
        """By what they can do: asking a layer for that takes longer than what many of them then say."""
        self.underlays = [layer for layer in self._layers if isinstance(layer, Underlay)]
        self._taggers = [layer for layer in self._layers if isinstance(layer, AxisTagger)]
        self._labellers = [layer for layer in self._layers if isinstance(layer, Labeller)]
        self._explainers = [layer for layer in self._layers if isinstance(layer, Explainer)]
        self._companions = [layer for layer in self._layers if isinstance(layer, Companion) and layer.is_shown_whole]
        self._deferred = [layer for layer in self._layers if isinstance(layer, Deferred)]

    def of_pane(self, name: str) -> list[Layer]:
        return [layer for layer in self._layers if layer.pane == name]

    def are_shown_whole(self, name: str) -> tuple[list[Layer], list[Layer]]:
        """Of a pane, those whose extent is shown whole, and those that may widen the view a little."""
        whole: list[Layer] = [layer for layer in self._companions if layer.pane == name]
        return whole, [layer for layer in self.of_pane(name) if layer not in whole]

    def pane_names(self) -> tuple[str, ...]:
        """The panes below the prices, from top to bottom."""
        return tuple(dict.fromkeys(layer.pane for layer in self._layers if layer.pane != PRICE_PANE))

    @contextmanager
    def at_rest(self) -> Iterator[None]:
        """As if nobody had hold of anything, for a picture."""
        with ExitStack() as stack:
            for layer in self._layers:
                if isinstance(layer, Handled):
                    stack.enter_context(layer.at_rest())
            yield

    def axis_tags(self, frame: Frame, model: ChartModel, taken: Sequence[Box]) -> list[Box]:
        """What layers mark on the price axis, each beside what those before it mark."""
        tags: list[Box] = []
        for layer in self._taggers:
            tags += layer.axis_tags(frame, model, (*taken, *tags))
        return tags

    def plot_labels(self, frame: Frame, model: ChartModel, taken: Sequence[QRect]) -> list[PlotLabel]:
        """The words of layers over the plot."""
        return [label for layer in self._labellers for label in layer.plot_labels(frame, model, taken)]

    def tooltip(self, frame: Frame, model: ChartModel, cursor: QPoint) -> Box | None:
        """What the topmost layer that knows something says."""
        found = (layer.tooltip(frame, model, cursor) for layer in reversed(self._explainers))
        return next((box for box in found if box is not None), None)

    def waiting(self, model: ChartModel) -> Deferred | None:
        """The first layer that has something to make."""
        return next((layer for layer in self._deferred if layer.is_waiting(model)), None)

    def readout_rows(self, frame: Frame, model: ChartModel, index: int | None) -> list[Row]:
        """What the layers over the candles say of the candle at `index`; indicators share a row."""
        return _joined([(layer, layer.rows(frame, model, index)) for layer in self.of_pane(PRICE_PANE)])

    def readout_samples(self, model: ChartModel) -> list[Row]:
        """The rows that are always there, as wide as they get: room is left for them above the candles."""
        layers = (layer for layer in self.of_pane(PRICE_PANE) if isinstance(layer, Reader))
        return _joined([(layer, layer.sample_rows(model)) for layer in layers])

    def key(self, model: ChartModel) -> tuple[Hashable, ...]:
        """What all their kept pictures depend on."""
        return tuple((id(layer), layer.key(model)) for layer in self._layers)


def _joined(said: Sequence[tuple[object, Sequence[Row]]]) -> list[Row]:
    """All rows in order; those of layers that share one stand in the first of them, with a dot between."""
    rows: list[Row] = []
    shared: int | None = None
    for layer, own in said:
        for row in own:
            if not (isinstance(layer, Reader) and layer.shares_row):
                rows.append(row)
            elif shared is None:
                shared = len(rows)
                rows.append(row)
            else:
                rows[shared] += (Span("  ·", row[0].colour, glue=True), *row)
    return rows
