"""The interface of one kind of placeable object; `placed` handles what all kinds share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QMenu

from core.domain.drawings import Anchor
from desktop.actions import ActionId
from desktop.chart.controllers.placed_store import PlacedStore
from desktop.chart.items.placed import Grip, PlacedLayer, Thing
from desktop.chart.tools.tool import ChartPoint
from desktop.chart.widget import ChartWidget
from desktop.state.shell import Shell
from desktop.ui.icons import icon

if TYPE_CHECKING:
    from desktop.chart.controllers.placed import ChartPlaced


class Placeable(Generic[Thing]):
    """Called by `ChartPlaced`, which handles mouse and keys. `kinds` maps actions to the kinds that they place."""

    thing_type: type[Thing]
    kinds: Mapping[ActionId, Any]
    placement: ChartPlaced
    is_level = False
    """Whether it moves only vertically."""
    is_stored = True
    """False: an object is shown until the next press, and cannot be selected."""

    def __init__(self, shell: Shell, chart: ChartWidget, store: PlacedStore, layer: PlacedLayer[Thing]) -> None:
        self._shell, self._chart, self._model, self._store = shell, chart, chart.model, store
        self.layer = layer

    @property
    def things(self) -> tuple[Thing, ...]:
        """The stored objects."""
        return self._store.all(self.thing_type)

    def selection_order(self) -> list[Thing]:
        return list(self.things)

    def bring_into_view(self, thing: Thing) -> bool:
        """Scroll there if no part of it is visible and the readout does not show its position. Whether it did."""
        return False

    def may_begin(self) -> bool:
        return True

    def begun(self, kind: Any) -> None:
        """Placing has started."""

    def starts_on_press(self, at: ChartPoint) -> bool:
        """Whether a press by itself starts placing an object of its first kind."""
        return False

    def ends(self, kind: Any) -> int:
        """Number of points of an object."""
        return 1

    def hint(self, kind: Any) -> str:
        """Readout text while an object is being placed."""
        raise NotImplementedError

    def made(self, kind: Any, anchors: tuple[Anchor, ...]) -> Thing:
        raise NotImplementedError

    def ask(self, thing: Thing, on_done: Callable[[Thing], object]) -> QDialog | None:
        """Ask for details before it is stored; None if there are none."""
        return None

    def before_storing(self, thing: Thing) -> Thing:
        """Adapts an object to its new place before it is stored."""
        return thing

    def restored(self, thing: Thing) -> Thing:
        """Adapts an object that is restored after removal."""
        return thing

    def grip_at(self, at: ChartPoint) -> Grip[Thing] | None:
        return None

    def dragged(self, grip: Grip[Thing], at: ChartPoint, grabbed: Anchor) -> Thing:
        """The object after a drag by a grip that was grabbed at `grabbed`."""
        raise NotImplementedError

    def stepped(self, thing: Thing, key: Qt.Key, modifiers: Qt.KeyboardModifier) -> Thing | None:
        """The object after a key press; None if the key does not move it."""
        raise NotImplementedError

    def stretched(self, key: Qt.Key, modifiers: Qt.KeyboardModifier) -> bool:
        """Whether a key moves the end of the object being placed."""
        return False

    def edit(self, thing: Thing) -> object:
        raise NotImplementedError

    def add_to_menu(self, menu: QMenu, thing: Thing) -> None:
        raise NotImplementedError

    def offer(self, menu: QMenu, icon_name: str, text: str, slot: Callable[[], object]) -> None:
        menu.addAction(icon(icon_name, self._chart.style_shown.palette.text), text, slot)
