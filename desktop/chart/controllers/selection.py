"""What is selected on the chart, a line or a drawing: the actions that are for either."""

from __future__ import annotations

from PySide6.QtCore import QObject

from desktop.actions import ActionId
from desktop.chart.controllers.drawings import ChartDrawings
from desktop.chart.controllers.lines import ChartLines
from desktop.window import MainWindow


class ChartSelection(QObject):
    """Sees that one thing is selected at most, and takes back whatever was changed last."""

    def __init__(self, window: MainWindow, lines: ChartLines, drawings: ChartDrawings) -> None:
        super().__init__(lines)
        self._actions, self._lines, self._drawings = window.actions_of_window, lines, drawings
        self._was_drawing_selected = False
        self._actions.wire(
            {
                ActionId.NEXT_LINE: self._select_next,
                ActionId.EDIT_LINE: self._edit,
                ActionId.DELETE_LINE: self._remove,
                ActionId.UNDO_LINE: self._undo,
                ActionId.REDO_LINE: self._redo,
            }
        )
        lines.changed.connect(self._show)
        drawings.changed.connect(self._show)
        self._show()

    def _select_next(self) -> None:
        """Lines from the highest to the lowest, drawings as they were drawn, and around."""
        lines = sorted(self._lines.book.lines, key=lambda line: -line.price)
        everything = [*lines, *self._drawings.book.all]
        selected = self._lines.selected or self._drawings.selected
        place = everything.index(selected) + 1 if selected in everything else 0
        if everything:
            chosen = (place % len(everything)) - len(lines)
            self._lines.select(lines[chosen] if chosen < 0 else None)
            self._drawings.select(self._drawings.book.all[chosen] if chosen >= 0 else None)

    def _edit(self) -> None:
        if self._lines.selected is not None:
            self._lines.edit(self._lines.selected)
        elif self._drawings.selected is not None:
            self._drawings.edit(self._drawings.selected)

    def _remove(self) -> None:
        if self._lines.selected is not None:
            self._lines.remove(self._lines.selected)
        elif self._drawings.selected is not None:
            self._drawings.remove(self._drawings.selected)

    def _undo(self) -> None:
        is_line = self._lines.book.newest_change > self._drawings.book.newest_change
        (self._lines if is_line else self._drawings).undo()

    def _redo(self) -> None:
        """What was undone last is of all that was undone the oldest change."""
        undone = self._undone()
        if undone:
            undone[min(undone)].redo()

    def _undone(self) -> dict[int, ChartLines | ChartDrawings]:
        """By their places among all changes; nothing is done again over a newer change."""
        newest = max(self._lines.book.newest_change, self._drawings.book.newest_change)
        tops = {each.book.next_undone: each for each in (self._lines, self._drawings)}
        return {order: each for order, each in tops.items() if order is not None and order > newest}

    def _show(self) -> None:
        """The newer selection stands; actions can be chosen where they do something."""
        is_line, is_drawing = self._lines.selected is not None, self._drawings.selected is not None
        was_drawing, self._was_drawing_selected = self._was_drawing_selected, is_drawing
        if is_line and is_drawing:
            (self._drawings if was_drawing else self._lines).select(None)
            return
        for action_id in (ActionId.EDIT_LINE, ActionId.DELETE_LINE):
            self._actions[action_id].setEnabled(is_line or is_drawing)
        self._actions[ActionId.NEXT_LINE].setEnabled(bool(self._lines.book.lines or self._drawings.book.all))
        newest = max(self._lines.book.newest_change, self._drawings.book.newest_change)
        self._actions[ActionId.UNDO_LINE].setEnabled(newest >= 0)
        self._actions[ActionId.REDO_LINE].setEnabled(bool(self._undone()))
