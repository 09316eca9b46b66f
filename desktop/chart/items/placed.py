"""What a user keeps on the chart, as a layer shows it: each thing, and which of them mouse and keys have hold of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar

from desktop.chart.data.model import ChartModel
from desktop.chart.painting.text import Row, Span
from desktop.chart.panes.frame import Frame
from desktop.chart.panes.layer import Layer


class Numbered(Protocol):
    """What can be kept."""

    @property
    def number(self) -> int | None: ...


Thing = TypeVar("Thing", bound=Numbered)


def row_of(frame: Frame, price: float) -> int | None:
    """The pixel row of a price; None where it lies outside the prices' pane."""
    pane = frame.price_pane
    row = pane.y(price)
    return row if pane.top <= row < pane.inner_bottom else None


@dataclass(frozen=True)
class Placed(Generic[Thing]):
    """What a layer draws; `selected` and `hovered` are numbers of things, `preview` is one that is being set."""

    things: tuple[Thing, ...] = ()
    selected: int | None = None
    hovered: int | None = None
    preview: Thing | None = None
    hint: str = ""
    """What the readout says meanwhile."""


@dataclass(frozen=True)
class Grip(Generic[Thing]):
    """What is under the mouse: a handle of a thing, by its number, or all of it."""

    thing: Thing
    handle: int | None = None


class PlacedLayer(Layer, Generic[Thing]):
    """Of one sort of thing."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: Placed[Thing] = Placed()

    def rows(self, frame: Frame, model: ChartModel, index: int | None) -> Sequence[Row]:
        return ((Span(self.shown.hint, frame.palette.accent),),) if self.shown.hint else ()

    @property
    def is_in_hand(self) -> bool:
        return self.shown.hovered is not None or self.shown.preview is not None

    @contextmanager
    def at_rest(self) -> Iterator[None]:
        shown = self.shown
        self.shown = replace(shown, selected=None, hovered=None, preview=None, hint="")
        try:
            yield
        finally:
            self.shown = shown

    def back_to_front(self) -> list[Thing]:
        """What is selected, or under the mouse, lies over the others, and what is being set over all."""
        shown = self.shown
        things = sorted(shown.things, key=lambda each: (self.is_selected(each), self.is_hovered(each)))
        return things if shown.preview is None else [*things, shown.preview]

    def is_selected(self, thing: Thing) -> bool:
        return thing.number is not None and thing.number == self.shown.selected

    def is_hovered(self, thing: Thing) -> bool:
        return thing.number is not None and thing.number == self.shown.hovered
