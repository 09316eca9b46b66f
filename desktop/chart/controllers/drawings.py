"""Behaviour specific to drawings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QDialog, QMenu

from core.domain.clock import Clock
from core.domain.drawings import MOST_DRAWINGS, WIDEST_PX, Anchor, Drawing, DrawingKind, position_anchors
from core.domain.events import Severity
from desktop.actions import ActionId
from desktop.chart.controllers.placed_kind import Placeable
from desktop.chart.controllers.placed_store import PlacedStore
from desktop.chart.data.anchors import bounded, index_at
from desktop.chart.items.drawings import DrawingsLayer, reshaped, shape_of
from desktop.chart.items.placed import Grip
from desktop.chart.tools.places import ARROWS, TEN_AT_ONCE, anchor_at, in_steps, moved_by, price_step, tick_of
from desktop.chart.tools.tool import ChartPoint
from desktop.chart.widget import ChartWidget
from desktop.dialogs.drawings import DrawingDialog
from desktop.dialogs.messages import open_dialog
from desktop.state.shell import Shell
from desktop.ui.banner import Notice
from desktop.ui.colour_choice import COLOURS
from desktop.ui.icons import icon
from desktop.ui.translation import translate

DRAWING_KINDS = {
    ActionId.DRAW_TREND_LINE: DrawingKind.TREND_LINE,
    ActionId.DRAW_RAY: DrawingKind.RAY,
    ActionId.DRAW_HORIZONTAL: DrawingKind.HORIZONTAL,
    ActionId.DRAW_VERTICAL: DrawingKind.VERTICAL,
    ActionId.DRAW_CHANNEL: DrawingKind.CHANNEL,
    ActionId.DRAW_RECTANGLE: DrawingKind.RECTANGLE,
    ActionId.DRAW_FIBONACCI: DrawingKind.FIBONACCI,
    ActionId.DRAW_LONG: DrawingKind.LONG_POSITION,
    ActionId.DRAW_SHORT: DrawingKind.SHORT_POSITION,
    ActionId.DRAW_TEXT: DrawingKind.TEXT,
}
_CHANNEL_SHARE = 0.12
"""Of the prices' height: between the lines of a new channel, until its third handle is dragged."""


class ChartDrawings(Placeable[Drawing]):
    """Drawings are placed by their ends, shaped by their handles and dragged by the rest."""

    layer: DrawingsLayer
    thing_type = Drawing
    kinds = DRAWING_KINDS

    def __init__(self, shell: Shell, chart: ChartWidget, store: PlacedStore, clock: Clock) -> None:
        super().__init__(shell, chart, store, DrawingsLayer())
        self._clock = clock

    def restyle(self, drawing: Drawing, colour: str, width_px: int, text: str = "") -> None:
        """Change its style; it may have been moved or removed since it was read."""
        now = self._store.now(drawing)
        if now is not None:
            changed = replace(now, colour=colour, width_px=width_px, text=text or now.text)
            if changed != now:
                self.placement.change(changed)

    def bring_into_view(self, thing: Drawing) -> bool:
        frame = self._chart.fresh_frame()  # the view may have moved since the last frame
        area = shape_of(frame, self._model, thing).area
        is_hidden = area is None or not area.intersects(frame.price_pane.rect)
        if is_hidden:
            self._chart.bring_into_view(thing.anchors, has_time=thing.kind is not DrawingKind.HORIZONTAL)
        return is_hidden

    def may_begin(self) -> bool:
        if len(self.things) < MOST_DRAWINGS:
            return True
        full = translate("Chart", "There are {0} drawings on this market. Remove one before you draw another.")
        self._shell.banner.show_notice(Notice("drawings", Severity.WARNING, full.format(MOST_DRAWINGS), is_answer=True))
        return False

    def ends(self, kind: DrawingKind) -> int:
        return kind.clicks

    def hint(self, kind: DrawingKind) -> str:
        if kind.anchors == 1:
            return translate("Chart", "Click to draw  ·  Ctrl snaps to a candle  ·  Esc cancels")
        if kind.is_position:
            return translate("Chart", "Click the entry, then the target or the stop  ·  Esc cancels")
        return translate("Chart", "Drag, or click twice, to draw  ·  Ctrl snaps to a candle  ·  Esc cancels")

    def made(self, kind: DrawingKind, anchors: tuple[Anchor, ...]) -> Drawing:
        text = translate("Chart", "Text") if kind is DrawingKind.TEXT else ""
        return Drawing(kind, self._all_anchors(kind, anchors), text, created_at_ms=self._clock.now_ms())

    def ask(self, thing: Drawing, on_done: Callable[[Drawing], object]) -> QDialog | None:
        return self._ask(thing, on_done) if thing.kind is DrawingKind.TEXT else None

    def grip_at(self, at: ChartPoint) -> Grip[Drawing] | None:
        return self.layer.grip_at(at.frame, self._model, at.pixel) if at.is_on_prices else None

    def dragged(self, grip: Grip[Drawing], at: ChartPoint, grabbed: Anchor) -> Drawing:
        if grip.handle is not None:
            return reshaped(grip.thing, grip.handle, anchor_at(at, self._model))
        shown = at.frame.prices
        rise = shown.share(at.frame.price_pane.value_at(at.pixel.y())) - shown.share(grabbed.price)
        candles = round(at.index) - index_at(self._model, grabbed.time_ms)
        return moved_by(grip.thing, self._model, shown, candles, rise)

    def stepped(self, thing: Drawing, key: Qt.Key, modifiers: Qt.KeyboardModifier) -> Drawing | None:
        if key not in ARROWS or modifiers not in TEN_AT_ONCE:
            return None
        candles, steps = (way * TEN_AT_ONCE[modifiers] for way in ARROWS[key])
        shown, price, tick = self._chart.frame.prices, thing.anchors[0].price, tick_of(self._model)
        step = steps * price_step(shown, price, tick)
        rise = shown.share(max(price + step, tick)) - shown.share(price) if steps else 0.0
        return moved_by(thing, self._model, shown, candles, rise)

    def edit(self, thing: Drawing) -> QDialog:
        """Open the dialog for its style and a text's content."""
        return self._ask(thing, lambda asked: self.restyle(thing, asked.colour, asked.width_px, asked.text))

    def add_to_menu(self, menu: QMenu, thing: Drawing) -> None:
        palette = self._chart.style_shown.palette
        self.offer(menu, "pencil-outline", translate("Chart", "&Edit drawing…"), lambda: self.edit(thing))
        colours = menu.addMenu(icon("palette-outline", palette.text), translate("Chart", "&Colour"))
        for name, colour in COLOURS:
            swatch = icon("circle", QColor(colour) if colour else palette.accent)
            entry = colours.addAction(swatch, translate("Dialogs", name))
            entry.triggered.connect(lambda _=False, colour=colour: self.restyle(thing, colour, thing.width_px))
        widths = menu.addMenu(icon("format-line-weight", palette.text), translate("Chart", "&Width"))
        for width_px in range(1, WIDEST_PX + 1):
            entry = widths.addAction(translate("Chart", "{0} px").format(width_px))
            entry.triggered.connect(lambda _=False, width=width_px: self.restyle(thing, thing.colour, width))
        self.offer(menu, "delete-outline", translate("Chart", "Remove &drawing"), lambda: self.placement.remove(thing))

    def _all_anchors(self, kind: DrawingKind, placed: tuple[Anchor, ...]) -> tuple[Anchor, ...]:
        if kind.is_position:
            entry, target, stop = position_anchors(kind, *placed)
            return (entry, self._rounded(target), self._rounded(stop))
        if kind is DrawingKind.CHANNEL:
            shown, start = self._chart.frame.prices, placed[0]
            below = shown.value_at(shown.share(start.price) - _CHANNEL_SHARE)
            return (*placed, self._rounded(bounded(start.time_ms, below)))
        return placed

    def _rounded(self, anchor: Anchor) -> Anchor:
        """In the market's decimals, as prices under the mouse are."""
        return bounded(anchor.time_ms, in_steps(anchor.price, self._model))

    def _ask(self, drawing: Drawing, on_done: Callable[[Drawing], object]) -> QDialog:
        accent = self._chart.style_shown.palette.accent
        return open_dialog(DrawingDialog(drawing, accent, on_done, self._shell.window))
