"""Placing, selecting, dragging, moving and removing of objects on the chart by mouse and keys, for all kinds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QMenu

from core.domain.candle import Market
from core.domain.drawings import Anchor
from desktop.actions import ActionId
from desktop.chart.controllers.placed_kind import Placeable
from desktop.chart.controllers.placed_store import Key, PlacedStore, Storable, key_of
from desktop.chart.items.placed import Grip, Placed
from desktop.chart.tools.places import anchor_at, raw_anchor
from desktop.chart.tools.tool import DRAG_THRESHOLD_PX, ChartPoint, Tool, modifiers_of
from desktop.chart.widget import ChartWidget
from desktop.dialogs.drawings import DrawingDialog, LineTextDialog
from desktop.state.shell import Shell


class ChartPlaced(Tool):
    """Owns the object being placed and the selection: one object at a time. It comes before the tools that move the
    view."""

    def __init__(
        self, shell: Shell, chart: ChartWidget, store: PlacedStore, placeables: Sequence[Placeable[Any]]
    ) -> None:
        """placeables: from the topmost down."""
        self._shell, self._chart, self._store, self._placeables = shell, chart, store, placeables
        self._placing: tuple[Placeable[Any], Any] | None = None
        self.start: Anchor | None = None
        """First point of the object being placed, once known."""
        self.end: Anchor | None = None
        """Current end point of the object being placed."""
        self.passing: Any = None
        """A measurement, shown until the next press."""
        self._preview: Any = None
        """The object being placed, or waiting for the answer of its dialog."""
        self._dragged: Storable | None = None
        self._selected: Key | None = None
        self._hovered: Key | None = None
        self._mouse: QPointF | None = None
        self._grip: Grip[Any] | None = None
        self._grabbed = Anchor(0, 1.0)
        self._pressed_at = QPointF()
        self._is_dragging = self._is_first_press = False
        for placeable in reversed(placeables):
            placeable.placement = self
            chart.add_layer(placeable.layer)
        chart.add_tool(self)
        self._wire()
        self.show()

    @property
    def placing(self) -> Any:
        """The kind of the object being placed, or None."""
        return None if self._placing is None else self._placing[1]

    @property
    def selected(self) -> Storable | None:
        """The object with keyboard focus."""
        return self._store.get(self._selected)

    @property
    def at_mouse(self) -> Anchor | None:
        """The place under the mouse; None if it is not over the prices."""
        at = None if self._mouse is None else self._chart.point_at(self._mouse)
        return anchor_at(at, self._chart.model) if at is not None and at.is_on_prices else None

    def open(self, market: Market) -> None:
        for dialog in self._shell.window.findChildren(QDialog, options=Qt.FindChildOption.FindDirectChildrenOnly):
            if isinstance(dialog, LineTextDialog | DrawingDialog):
                dialog.reject()  # it belongs to the previous market
        self.stop()
        self.passing = self._selected = self._hovered = None
        self._store.open(market.venue, market.symbol)
        self.show()

    def begin(self, placeable: Placeable[Any], kind: Any) -> None:
        """Start placing: by a click, two clicks or a drag, or by Enter at the keyboard crosshair. Cancels anything else
        that waited for the mouse."""
        self.stop()
        self.passing = None
        if self._chart.model.newest is not None and self._store.is_open and placeable.may_begin():
            self._placing, self._selected = (placeable, kind), None
            placeable.begun(kind)
            self._chart.setFocus()  # for Enter and Escape, wherever its action was chosen
        self.show()

    def stop(self) -> None:
        self._placing = self.start = self.end = self._preview = None
        self.show()

    def put(self, anchor: Anchor) -> None:
        """Add the next point of the object being placed."""
        if self._placing is None:
            return
        placeable, kind = self._placing
        if placeable.ends(kind) == 1:
            self.set(placeable, kind, (anchor,))
        elif self.start is None:
            self.start = anchor
            self.stretch(anchor)
        elif anchor != self.start:
            self.set(placeable, kind, (self.start, anchor))

    def stretch(self, end: Anchor) -> None:
        """Show the object being placed with its end there."""
        if self._placing is None:
            return
        placeable, kind = self._placing
        if self.start is not None or placeable.ends(kind) == 1:
            self.end = end
            self._preview = placeable.made(kind, (end,) if self.start is None else (self.start, end))
            self.show()

    def set(self, placeable: Placeable[Any], kind: Any, anchors: tuple[Anchor, ...]) -> None:
        """Place an object; required text is asked for first."""
        self.stop()
        self._preview = made = placeable.made(kind, anchors)
        self.show()
        dialog = placeable.ask(made, lambda thing: self._add(placeable, thing))
        if dialog is None:
            self._add(placeable, made)
        else:
            dialog.rejected.connect(self._on_dialog_cancelled)

    def change(self, thing: Storable, *, merges: bool = False) -> None:
        """Store its current state. merges: see `PlacedStore.put`."""
        self._store.put(thing, merges=merges)
        self.show()

    def select(self, thing: Storable | None) -> None:
        self._selected = key_of(thing)
        self.show()

    def remove(self, thing: Storable) -> None:
        """Remove it; Ctrl+Z restores it."""
        self._store.remove(thing)
        self.show()

    def add_to_menu(self, menu: QMenu, at: ChartPoint) -> None:
        grip = self.grip_at(at)
        if grip is not None:
            self.select(grip.thing)
            self._placeable_of(grip.thing).add_to_menu(menu, grip.thing)

    def grip_at(self, at: ChartPoint) -> Grip[Any] | None:
        return next((grip for placeable in self._placeables if (grip := placeable.grip_at(at)) is not None), None)

    def press(self, at: ChartPoint) -> bool:
        self._pressed_at, self._is_dragging = at.position, False
        self._grip = self.passing = None
        begun = next((placeable for placeable in self._placeables if placeable.starts_on_press(at)), None)
        if self._placing is None and begun is not None:
            self.begin(begun, next(iter(begun.kinds.values())))
        if self._placing is not None:
            return self._press_placing(at, *self._placing)
        self._grip, self._grabbed = self.grip_at(at), raw_anchor(at, self._chart.model)
        self.select(None if self._grip is None else self._grip.thing)
        return self._grip is not None

    def move(self, at: ChartPoint) -> None:
        way, placeable = at.position - self._pressed_at, self._placeable_of(self._grip.thing) if self._grip else None
        travelled = abs(way.y()) if placeable is not None and placeable.is_level else way.manhattanLength()
        self._is_dragging = self._is_dragging or travelled >= DRAG_THRESHOLD_PX
        if not self._is_dragging:
            return
        if self._grip is None or placeable is None:
            self.stretch(anchor_at(at, self._chart.model))
        else:
            self._dragged = placeable.dragged(self._grip, at, self._grabbed)
            self.show()

    def release(self, at: ChartPoint) -> None:
        dragged, was_held = self._dragged, self._grip is not None
        self._dragged = self._grip = None
        if dragged is not None:
            if self._store.get(key_of(dragged)) is not None:  # it may have been removed during the drag
                self._store.put(self._placeable_of(dragged).before_storing(dragged))
            self.show()
        elif not was_held and (self._is_dragging or not self._is_first_press):
            self.put(anchor_at(at, self._chart.model))

    def cancel(self) -> None:
        was_held = self._grip is not None
        self._dragged = self._grip = None
        if was_held:
            self.show()
        else:
            self.stop()

    def double_click(self, at: ChartPoint) -> bool:
        if self._placing is not None:
            return True  # two clicks at one place make no line
        grip = self.grip_at(at)
        if grip is not None:
            self._placeable_of(grip.thing).edit(grip.thing)
        return grip is not None

    def shape_at(self, at: ChartPoint) -> Qt.CursorShape | None:
        if self._placing is not None:
            return Qt.CursorShape.CrossCursor if at.is_on_prices else None
        grip = self._grip or self.grip_at(at)
        return None if grip is None else grip.shape

    def hover(self, at: ChartPoint) -> None:
        self._mouse = at.position
        if self._placing is not None:
            self.stretch(anchor_at(at, self._chart.model))
        else:
            self._hover(self.grip_at(at))

    def leave(self) -> None:
        self._mouse = None
        self._hover(None)
        if self.start is None and self.end is not None:
            self.end = self._preview = None
            self.show()

    def crosshair_moved(self, to: Anchor) -> None:
        self.stretch(to)

    def key(self, event: QKeyEvent) -> bool:
        key, modifiers, thing = Qt.Key(event.key()), modifiers_of(event), self.selected
        is_enter = key in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if key == Qt.Key.Key_Escape:
            return self._on_escape()
        if self._placing is not None:
            place = self.end or self._chart.key_mark
            if is_enter and place is not None:
                self.put(place)
                return True
            return self._placing[0].stretched(key, modifiers)
        if thing is None or (is_enter and modifiers):
            return False
        if is_enter:
            self._placeable_of(thing).edit(thing)
            return True
        moved = self._placeable_of(thing).stepped(thing, key, modifiers)
        if moved is not None:
            self.change(moved, merges=True)
            self._placeable_of(moved).bring_into_view(moved)
        return moved is not None

    def show(self) -> None:
        """Update chart and actions."""
        self._selected = key_of(self.selected)
        for placeable in self._placeables:
            things = [
                self._dragged if self._dragged is not None and key_of(each) == key_of(self._dragged) else each
                for each in placeable.things
            ]
            if isinstance(self.passing, placeable.thing_type):
                things.append(self.passing)
            selected, hovered = (
                key[1] if key is not None and key[0] is placeable.thing_type else None
                for key in (self._selected, self._hovered)
            )
            is_placing = self._placing is not None and self._placing[0] is placeable
            hint = placeable.hint(self.placing) if is_placing else ""
            preview = self._preview if isinstance(self._preview, placeable.thing_type) else None
            placeable.layer.shown = Placed(tuple(things), selected, hovered, preview, hint)
        self._chart.layers_changed()
        self._show_active()
        for action_id, can in (
            (ActionId.EDIT_LINE, self._selected is not None),
            (ActionId.DELETE_LINE, self._selected is not None),
            (ActionId.NEXT_LINE, any(placeable.selection_order() for placeable in self._placeables)),
            (ActionId.UNDO_LINE, self._store.can_undo),
            (ActionId.REDO_LINE, self._store.can_redo),
        ):
            self._shell.actions[action_id].setEnabled(can)

    def _wire(self) -> None:
        actions = self._shell.actions
        for placeable in self._placeables:
            actions.wire(
                {action_id: partial(self._choose, placeable, kind) for action_id, kind in placeable.kinds.items()}
            )
        actions.wire(
            {
                ActionId.NEXT_LINE: self._select_next,
                ActionId.EDIT_LINE: partial(self._with_selected, lambda thing: self._placeable_of(thing).edit(thing)),
                ActionId.DELETE_LINE: partial(self._with_selected, self._remove_seen),
                ActionId.UNDO_LINE: partial(self._change_back, self._store.undo),
                ActionId.REDO_LINE: partial(self._change_back, self._store.redo),
            }
        )

    def _choose(self, placeable: Placeable[Any], kind: Any) -> None:
        """Start placing; a second time in a row ends it, as it unchecks the button."""
        if self._placing == (placeable, kind):
            self.stop()
        else:
            self.begin(placeable, kind)

    def _show_active(self) -> None:
        """Check the action of what is being placed."""
        for placeable in self._placeables:
            for action_id, kind in placeable.kinds.items():
                self._shell.actions[action_id].setChecked(self._placing == (placeable, kind))

    def _placeable_of(self, thing: object) -> Placeable[Any]:
        return next(placeable for placeable in self._placeables if isinstance(thing, placeable.thing_type))

    def _restored(self, thing: Storable) -> Storable:
        restored: Storable = self._placeable_of(thing).restored(thing)
        return restored

    def _add(self, placeable: Placeable[Any], thing: Any) -> None:
        if self._placing is None:  # something else may be in placement by now
            self._preview = None
        if placeable.is_stored:
            self.select(self._store.put(placeable.before_storing(thing)))
        else:
            self.passing = thing
            self.select(None)

    def _on_dialog_cancelled(self) -> None:
        """The dialog was cancelled. Something else may be in placement by now."""
        if self._placing is None:
            self.stop()

    def _press_placing(self, at: ChartPoint, placeable: Placeable[Any], kind: Any) -> bool:
        """A first point of several is placed on the press, the last one on the release: a dialog over the chart would
        swallow the release."""
        if not at.is_on_prices:
            return False
        self._is_first_press = self.start is None and placeable.ends(kind) > 1
        if self._is_first_press:
            self.put(anchor_at(at, self._chart.model))
        return True

    def _hover(self, grip: Grip[Any] | None) -> None:
        hovered = None if grip is None else key_of(grip.thing)
        if hovered != self._hovered:
            self._hovered = hovered
            self.show()

    def _with_selected(self, act: Callable[[Storable], object]) -> None:
        if self.selected is not None and self._is_on_screen:
            act(self.selected)

    def _change_back(self, change: Callable[[Callable[[Storable], Storable]], Storable | None]) -> None:
        if self._is_on_screen:
            self.select(change(self._restored))

    @property
    def _is_on_screen(self) -> bool:
        """False while another page has the window: what is not seen is not changed."""
        return bool(self._chart.isVisibleTo(self._shell.window))

    def _select_next(self) -> None:
        """Lines from the highest to the lowest, drawings in drawing order, and around."""
        everything = [each for placeable in reversed(self._placeables) for each in placeable.selection_order()]
        place = everything.index(self.selected) + 1 if self.selected in everything else 0
        if everything:
            thing = everything[place % len(everything)]
            self._chart.setFocus()  # the arrows move it
            self.select(thing)
            self._placeable_of(thing).bring_into_view(thing)

    def _remove_seen(self, thing: Storable) -> None:
        """A thing out of view is brought into view first: nothing invisible is removed."""
        if not self._placeable_of(thing).bring_into_view(thing):
            self.remove(thing)

    def _on_escape(self) -> bool:
        """End what is in progress, one thing at a time."""
        if self._placing is not None:
            self.stop()
        elif self.passing is not None:
            self.passing = None
            self.show()
        elif self._selected is not None:
            self.select(None)
        else:
            return False
        return True
