"""One sort of what a user can place on the chart: what is its own. What is done with all alike does `placed`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QMenu

from core.domain.drawings import Anchor
from desktop.actions import ActionId
from desktop.chart.controllers.book import Book, Kept
from desktop.chart.items.placed import Grip, PlacedLayer, Thing
from desktop.chart.tools.tool import ChartPoint
from desktop.chart.widget import ChartWidget
from desktop.state.shell import Shell
from desktop.ui.icons import icon

if TYPE_CHECKING:
    from desktop.chart.controllers.placed import ChartPlaced


class Placeable(Generic[Thing]):
    """Asked by the one who has mouse and keys. `kinds` are what can be set of it, by the actions that begin it."""

    sort: type[Thing]
    kinds: Mapping[ActionId, Any]
    desk: ChartPlaced
    is_level = False
    """Whether it goes up and down alone."""

    def __init__(self, shell: Shell, chart: ChartWidget, book: Book, layer: PlacedLayer[Thing]) -> None:
        self._shell, self._chart, self._model, self._book = shell, chart, chart.model, book
        self.layer = layer

    @property
    def things(self) -> tuple[Thing, ...]:
        """Those that are there."""
        return self._book.all(self.sort)

    def in_turn(self) -> list[Thing]:
        """As the keys select one after the other."""
        return list(self.things)

    def is_seen(self, thing: Thing) -> bool:
        """Whether some part of it is in view, or the readout tells where it is."""
        return True

    def bring_into_view(self, thing: Thing) -> None:
        """Let it be seen, where it is not."""

    def may_begin(self) -> bool:
        """Whether there is room for one more."""
        return True

    def begun(self, kind: Any) -> None:
        """One is set from now on."""

    def is_begun_by(self, at: ChartPoint) -> bool:
        """Whether a press begins one of its first kind by itself."""
        return False

    def ends(self, kind: Any) -> int:
        """At how many places one is set."""
        return 1

    def hint(self, kind: Any) -> str:
        """What the readout says while one is set."""
        raise NotImplementedError

    def made(self, kind: Any, anchors: tuple[Anchor, ...]) -> Thing:
        raise NotImplementedError

    def ask(self, thing: Thing, on_done: Callable[[Thing], object]) -> QDialog | None:
        """Ask what has to be known before it is kept; None where that is nothing."""
        return None

    def keep(self, thing: Any) -> Kept | None:
        """Returns it as it was stored; None where it was not."""
        return self._book.put(thing)

    def settled(self, thing: Thing) -> Thing:
        """As it is kept where it has been put."""
        return thing

    def renewed(self, thing: Thing) -> Thing:
        """As it comes back once it had been taken away."""
        return thing

    def clear(self) -> bool:
        """Of what is shown until the next press alone; whether there was any."""
        return False

    def grip_at(self, at: ChartPoint) -> Grip[Thing] | None:
        return None

    def dragged(self, grip: Grip[Thing], at: ChartPoint, grabbed: Anchor) -> Thing:
        """As the mouse forms or moves it, which took hold of it at `grabbed`."""
        raise NotImplementedError

    def shape(self, grip: Grip[Thing]) -> Qt.CursorShape:
        """The mouse's shape over it."""
        raise NotImplementedError

    def stepped(self, thing: Thing, key: Qt.Key, modifiers: Qt.KeyboardModifier) -> Thing | None:
        """As a key moves it; None for a key that does not."""
        raise NotImplementedError

    def stretched(self, key: Qt.Key, modifiers: Qt.KeyboardModifier) -> bool:
        """Whether a key moves the end of what is being set."""
        return False

    def edit(self, thing: Thing) -> object:
        """Ask for all that can be changed of it."""
        raise NotImplementedError

    def add_to_menu(self, menu: QMenu, thing: Thing) -> None:
        """What can be done with it."""
        raise NotImplementedError

    def offer(self, menu: QMenu, icon_name: str, text: str, slot: Callable[[], object]) -> None:
        """One entry of a menu."""
        entry = menu.addAction(icon(icon_name, self._chart.style_shown.palette.text), text)
        entry.triggered.connect(lambda _checked=False: slot())
