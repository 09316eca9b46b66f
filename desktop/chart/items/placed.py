"""Layers of objects that the user places on the chart, with their selection and hover state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar

from PySide6.QtCore import Qt

from desktop.chart.data.model import ChartModel
from desktop.chart.painting.text import Row, Span
from desktop.chart.panes.frame import Frame
from desktop.chart.panes.layer import Layer


class Numbered(Protocol):
    """An object that can be stored."""

    @property
    def number(self) -> int | None: ...


Thing = TypeVar("Thing", bound=Numbered)


def row_of(frame: Frame, price: float) -> int | None:
    """The pixel row of a price; None if it is outside the price pane."""
    pane = frame.price_pane
    row = pane.y(price)
    return row if pane.top <= row < pane.inner_bottom else None


@dataclass(frozen=True)
class Placed(Generic[Thing]):
    """The objects to draw; `selected` and `hovered` are object numbers, `preview` is the one being placed."""

    things: tuple[Thing, ...] = ()
    selected: int | None = None
    hovered: int | None = None
    preview: Thing | None = None
    hint: str = ""
    """Hint in the readout while one is being placed."""


@dataclass(frozen=True)
class Grip(Generic[Thing]):
    """The part under the mouse: a handle by its number, or the whole object; and the cursor over it."""

    thing: Thing
    shape: Qt.CursorShape
    handle: int | None = None


class PlacedLayer(Layer, Generic[Thing]):
    """A layer of one kind of object."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: Placed[Thing] = Placed()

    def rows(self, frame: Frame, model: ChartModel, index: int | None) -> Sequence[Row]:
        return ((Span(self.shown.hint, frame.palette.accent),),) if self.shown.hint else ()

    @property
    def is_under_mouse(self) -> bool:
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
        """Paint order: the selected or hovered object above the others, the preview on top."""
        shown = self.shown
        things = sorted(shown.things, key=lambda each: (self.is_selected(each), self.is_hovered(each)))
        return things if shown.preview is None else [*things, shown.preview]

    def is_selected(self, thing: Thing) -> bool:
        return thing.number is not None and thing.number == self.shown.selected

    def is_hovered(self, thing: Thing) -> bool:
        return thing.number is not None and thing.number == self.shown.hovered
