"""Hands the mouse to the tool that takes it."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt

from desktop.chart.tools.tool import Area, ChartPoint, Tool


class Pointer:
    """Where the mouse is, and who has it."""

    def __init__(self) -> None:
        self._tools: list[Tool] = []
        self._holder: Tool | None = None
        self.position: QPointF | None = None
        """In logical pixels; None while it is elsewhere."""

    @property
    def is_held(self) -> bool:
        """Whether a tool has the mouse."""
        return self._holder is not None

    def add(self, tool: Tool, *, first: bool = True) -> None:
        """Ask this tool before those that are there, or after them."""
        self._tools.insert(0 if first else len(self._tools), tool)

    def press(self, at: ChartPoint) -> bool:
        """Whether any tool takes the mouse. One that had it lets go first."""
        self.cancel()
        self._holder = next((tool for tool in self._tools if tool.press(at)), None)
        return self.is_held

    def move(self, at: ChartPoint) -> bool:
        """Whether a tool has it, and so may have changed the view."""
        self.position = at.position
        if self._holder is None:
            return False
        self._holder.move(at)
        return True

    def release(self, at: ChartPoint) -> bool:
        """Whether a tool had it."""
        holder, self._holder = self._holder, None
        if holder is None:
            return False
        holder.release(at)
        return True

    def double_click(self, at: ChartPoint) -> bool:
        """Whether any tool makes something of it."""
        return any(tool.double_click(at) for tool in self._tools)

    def cancel(self) -> None:
        """Whoever has the mouse lets go."""
        holder, self._holder = self._holder, None
        if holder is not None:
            holder.cancel()

    def shape_at(self, at: ChartPoint) -> Qt.CursorShape:
        """The mouse's shape at a place."""
        for tool in self._tools:
            shape = tool.shape_at(at)
            if shape is not None:
                return shape
        return Qt.CursorShape.CrossCursor if at.area is Area.PLOT else Qt.CursorShape.ArrowCursor
