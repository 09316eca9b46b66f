"""Drawings on the chart: set, formed, moved, styled and removed by mouse, keys and menu."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QMenu

from core.clock import Clock
from core.events import Severity
from core.market.candle import Market
from core.market.drawings import MOST_DRAWINGS, WIDEST_PX, Anchor, Drawing, DrawingKind
from desktop.actions import ActionId
from desktop.chart.controllers.book import Book
from desktop.chart.items.drawing_shapes import Grip
from desktop.chart.items.drawings import DrawingsLayer, DrawingsShown
from desktop.chart.tools.drawing_tool import DrawingTool, anchor_at, moved_by
from desktop.chart.tools.price_steps import price_step
from desktop.chart.tools.tool import ChartPoint
from desktop.chart.widget import ChartWidget
from desktop.database import WindowDatabase
from desktop.dialogs.colour_box import COLOURS
from desktop.dialogs.drawing import DrawingDialog, open_drawing
from desktop.icons import icon
from desktop.panels.banner import Notice
from desktop.translation import translate
from desktop.window import MainWindow

_KINDS = {
    ActionId.DRAW_TREND_LINE: DrawingKind.TREND_LINE,
    ActionId.DRAW_RAY: DrawingKind.RAY,
    ActionId.DRAW_HORIZONTAL: DrawingKind.HORIZONTAL,
    ActionId.DRAW_RECTANGLE: DrawingKind.RECTANGLE,
    ActionId.DRAW_FIBONACCI: DrawingKind.FIBONACCI,
    ActionId.DRAW_TEXT: DrawingKind.TEXT,
}
DRAWING_ACTIONS = tuple(_KINDS)
_ARROWS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, 1),
    Qt.Key.Key_Down: (0, -1),
}
_STEPS_AT_ONCE = {Qt.KeyboardModifier.NoModifier: 1, Qt.KeyboardModifier.ShiftModifier: 10}


class ChartDrawings(QObject):
    """The owner of the watched symbol's drawings, and of what is selected among them."""

    changed = Signal()

    def __init__(
        self,
        window: MainWindow,
        chart: ChartWidget,
        database: WindowDatabase,
        clock: Clock,
        order: Iterator[int],
        is_elsewhere: Callable[[], bool],
    ) -> None:
        """is_elsewhere: whether the mouse is for something else just now. order: see `Book`."""
        super().__init__(chart)
        self._window, self._chart, self._clock, self._is_elsewhere = window, chart, clock, is_elsewhere
        self.book: Book[Drawing] = Book(
            lambda: database.drawings,
            lambda drawing: drawing.drawing_id,
            order,
            lambda sentence: window.notices.storage_trouble(sentence),
        )
        self._layer = DrawingsLayer()
        self._tool = DrawingTool(self, chart.model)
        self._placing: DrawingKind | None = None
        self._preview: Drawing | None = None
        self._dragged: Drawing | None = None
        self._selected: int | None = None
        self._hovered: int | None = None
        chart.add_layer(self._layer)
        chart.add_tool(self._tool)
        chart.show_events_to(self)
        window.actions_of_window.wire({action_id: partial(self.begin, kind) for action_id, kind in _KINDS.items()})
        self._show()

    @property
    def placing(self) -> DrawingKind | None:
        return self._placing

    @property
    def is_elsewhere(self) -> bool:
        return self._is_elsewhere()

    @property
    def selected(self) -> Drawing | None:
        """The drawing that the keys are for."""
        return self.book.get(self._selected)

    def show_market(self, market: Market) -> None:
        """Another market's drawings."""
        for dialog in self._window.findChildren(DrawingDialog):
            dialog.reject()  # what it asks for belongs to the former one
        self.end()
        self._selected, self._hovered = None, None
        self.book.open(market.venue, market.symbol)
        self._show()

    def begin(self, kind: DrawingKind) -> None:
        """The next clicks, or a drag, set one; by keys alone Enter at the keys' crosshair does."""
        if self._chart.model.newest is None or not self.book.is_open:
            return
        if len(self.book.all) >= MOST_DRAWINGS:
            full = translate("Chart", "There are {0} drawings on this market. Remove one before you draw another.")
            notice = Notice("drawings", Severity.WARNING, full.format(MOST_DRAWINGS), is_answer=True)
            self._window.banner.tell(notice)
            return
        self.end()
        self._placing, self._selected = kind, None
        self._show()

    def end(self) -> None:
        """Nothing is being set any more."""
        self._tool.forget_start()
        self._placing = self._preview = None
        self._show()

    def preview(self, anchors: tuple[Anchor, ...]) -> None:
        if self._placing is not None:
            self._preview = self._made(self._placing, anchors)
            self._show()

    def finish(self, anchors: tuple[Anchor, ...]) -> None:
        if self._placing is None:
            return
        drawing = self._made(self._placing, anchors)
        self._tool.forget_start()
        self._placing, self._preview = None, drawing
        self._show()
        if drawing.kind is DrawingKind.TEXT:
            self._ask(drawing, self._add).rejected.connect(self._end_preview)
        else:
            self._add(drawing)

    def grip_at(self, at: ChartPoint) -> Grip | None:
        return self._layer.grip_at(at.frame, self._chart.model, at.pixel) if at.is_on_prices else None

    def select(self, drawing: Drawing | None) -> None:
        selected = None if drawing is None else drawing.drawing_id
        if selected != self._selected:
            self._selected = selected
            self._show()

    def drag(self, drawing: Drawing) -> None:
        self._dragged = drawing
        self._show()

    def drop(self) -> None:
        dragged, self._dragged = self._dragged, None
        if dragged is not None and self.book.get(dragged.drawing_id) is not None:  # it may be gone from the hand
            self.book.put(dragged)
        self._show()

    def take_back(self) -> None:
        self._dragged = None
        self._show()

    def edit(self, drawing: Drawing) -> None:
        """Ask for its style, and for a text's words."""
        self._ask(drawing, lambda asked: self.restyle(drawing, asked.colour, asked.width_px, asked.text))

    def restyle(self, drawing: Drawing, colour: str, width_px: int, text: str = "") -> None:
        """Let it look otherwise; it may have been moved or removed since it was looked at."""
        now = self.book.get(drawing.drawing_id)
        if now is None:
            return
        changed = replace(now, colour=colour, width_px=width_px, text=text or now.text)
        if changed != now:
            self.book.put(changed)
        self._show()

    def remove(self, drawing: Drawing) -> None:
        """Take it away; Ctrl+Z brings it back."""
        if drawing.drawing_id is not None:
            self.book.remove(drawing.drawing_id)
        self._show()

    def undo(self) -> None:
        """Take the last change back."""
        self._show_changed(self.book.undo())

    def redo(self) -> None:
        """Do again what was taken back last."""
        self._show_changed(self.book.redo())

    def _show_changed(self, drawing: Drawing | None) -> None:
        self._selected = None if drawing is None else drawing.drawing_id
        self._show()

    def add_to_menu(self, menu: QMenu, at: ChartPoint) -> None:
        """What can be done with the drawing at a place."""
        grip = self.grip_at(at)
        if grip is None:
            return
        drawing, ink = grip.drawing, self._chart.style_shown.palette.text
        self.select(drawing)
        menu.addAction(icon("pencil-outline", ink), translate("Chart", "&Edit drawing…")).triggered.connect(
            lambda: self.edit(drawing)
        )
        colours = menu.addMenu(icon("palette-outline", ink), translate("Chart", "&Colour"))
        for name, colour in COLOURS:
            swatch = icon("circle", QColor(colour) if colour else self._chart.style_shown.palette.accent)
            entry = colours.addAction(swatch, translate("Dialogs", name))
            entry.triggered.connect(lambda _=False, colour=colour: self.restyle(drawing, colour, drawing.width_px))
        widths = menu.addMenu(icon("format-line-weight", ink), translate("Chart", "&Width"))
        for width_px in range(1, WIDEST_PX + 1):
            entry = widths.addAction(translate("Chart", "{0} px").format(width_px))
            entry.triggered.connect(lambda _=False, width=width_px: self.restyle(drawing, drawing.colour, width))
        menu.addAction(icon("delete-outline", ink), translate("Chart", "Remove &drawing")).triggered.connect(
            lambda: self.remove(drawing)
        )

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind == QEvent.Type.MouseMove and isinstance(event, QMouseEvent):
            self._on_mouse(event)
        elif kind == QEvent.Type.Leave:
            self._hover(None)
        elif kind == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            return self._on_key(event)
        elif kind == QEvent.Type.KeyRelease and self._placing is not None:
            at_keys = self._at_keys()
            if at_keys is not None:
                self._tool.stretch(at_keys)
        return False

    def _made(self, kind: DrawingKind, anchors: tuple[Anchor, ...]) -> Drawing:
        text = translate("Chart", "Text") if kind is DrawingKind.TEXT else ""
        return Drawing(kind, anchors, text, created_at_ms=self._clock.now_ms())

    def _add(self, drawing: Drawing) -> None:
        self._preview = None
        stored = self.book.put(drawing)
        self._selected = None if stored is None else stored.drawing_id
        self._show()

    def _ask(self, drawing: Drawing, on_done: Callable[[Drawing], object]) -> DrawingDialog:
        return open_drawing(self._window, drawing, self._chart.style_shown.palette.accent, on_done)

    def _end_preview(self) -> None:
        """The words of a text were not given. Another drawing may be being set by now."""
        if self._placing is None:
            self.end()

    def _on_mouse(self, event: QMouseEvent) -> None:
        if self._chart.model.is_empty or event.buttons():
            return
        at = self._chart.point_at(event.position(), event.modifiers())
        if self._placing is not None:
            self._tool.stretch(anchor_at(at, self._chart.model))
        else:
            self._hover(None if self.is_elsewhere else self.grip_at(at))

    def _hover(self, grip: Grip | None) -> None:
        hovered = None if grip is None else grip.drawing.drawing_id
        if hovered != self._hovered:
            self._hovered = hovered
            self._show()

    def _at_keys(self) -> Anchor | None:
        """The place of the keys' crosshair."""
        mark = self._chart.key_mark
        return None if mark is None else Anchor(mark.time_ms, mark.price)

    def _on_key(self, event: QKeyEvent) -> bool:
        key = Qt.Key(event.key())
        if key == Qt.Key.Key_Escape:
            return self._on_escape()
        is_enter, at_keys = key in (Qt.Key.Key_Return, Qt.Key.Key_Enter), self._at_keys()
        if self._placing is not None and is_enter and at_keys is not None:
            self._tool.put(at_keys)
            return True
        modifiers, drawing = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier, self.selected
        if drawing is None or self._tool.is_held or modifiers not in _STEPS_AT_ONCE:
            return False
        if is_enter:
            self.edit(drawing)
            return True
        if key not in _ARROWS:
            return False
        self._step(drawing, *(way * _STEPS_AT_ONCE[modifiers] for way in _ARROWS[key]))
        return True

    def _step(self, drawing: Drawing, candles: int, steps: int) -> None:
        model, shown, price = self._chart.model, self._chart.frame.prices, drawing.anchors[0].price
        step = steps * price_step(shown, price, 10.0 ** -model.decimals())
        rise = shown.share(max(price + step, 10.0 ** -model.decimals())) - shown.share(price) if steps else 0.0
        self.book.put(moved_by(drawing, model, shown, candles, rise), merges=True)
        self._show()

    def _on_escape(self) -> bool:
        """Ends what is under way; a drawing in the hand is let go by the chart itself."""
        if self._tool.is_held:
            return False
        if self._placing is not None:
            self.end()
            return True
        if self._selected is not None:
            self.select(None)
            return True
        return False

    def _show(self) -> None:
        """Let the chart agree with what is kept here."""
        if self._selected is not None and self.selected is None:
            self._selected = None
        dragged = self._dragged
        drawings = tuple(
            dragged if dragged is not None and dragged.drawing_id == each.drawing_id else each for each in self.book.all
        )
        self._layer.shown = DrawingsShown(drawings, self._selected, self._hovered, self._preview, self._hint())
        self._chart.layers_changed()
        self.changed.emit()

    def _hint(self) -> str:
        if self._placing is None:
            return ""
        if self._placing.anchors == 1:
            return translate("Chart", "Click to draw  ·  Ctrl snaps to a candle  ·  Esc ends")
        return translate("Chart", "Drag, or click twice, to draw  ·  Ctrl snaps to a candle  ·  Esc ends")
