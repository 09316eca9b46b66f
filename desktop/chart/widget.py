"""The candle chart: takes series, forming candle and forecast; paints them and handles input."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QHideEvent, QKeyEvent, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QToolButton, QWidget

from core.domain.candle import Candle
from core.domain.candle_series import CandleSeries
from core.domain.clock import Clock
from core.domain.events import ForecastMade
from core.domain.plain_text import plain
from core.market.known_holes import KnownHoles
from desktop.chart.data.model import Moment
from desktop.chart.frame_clock import Dirty, FrameClock
from desktop.chart.labels.description import describe_candle, describe_chart
from desktop.chart.labels.last_price import Countdown
from desktop.chart.labels.overlay import Overlay
from desktop.chart.panes.frame import PRICE_PANE, Frame
from desktop.chart.panes.item import PaneBox
from desktop.chart.panes.layer import IdleWork, Layer, LayerSet, OpenPane
from desktop.chart.picture import Picture, to_px
from desktop.chart.stage import Stage
from desktop.chart.style import Style
from desktop.chart.tools.interactive_view import InteractiveView
from desktop.chart.tools.tool import NO_MODIFIER, ChartPoint
from desktop.ui.accessible import announce
from desktop.ui.plain_text import LONGEST_TEXT
from desktop.ui.theme import Palette, Theme
from desktop.ui.translation import translate

_MARGIN_PX = 10


class ChartWidget(InteractiveView):
    """A candle chart in one pyqtgraph view. Times are UTC milliseconds, prices the market's.

    The series is the caller's and is read in place: after changing it, call `refresh`. Setters are cheap and may be
    called at any rate: a frame clock merges them into at most one picture per 16 ms, which shows the latest values.
    """

    series_changed = Signal()
    """Other candles are shown: of another market or interval, or a replaced series."""

    candles_changed = Signal()
    """The candles behind `model`'s indices changed: with `series_changed`, when a past moment is shown or left, and
    when a candle closed, arrived late or was corrected. Items placed by index must be repositioned."""

    computed = Signal()
    """What takes longer than a frame, such as the paths of a forecast, is complete."""
    style_changed = Signal()
    """`style_shown` changed: colours, font, scale, or candle style."""

    def __init__(self, theme: Theme, clock: Clock) -> None:
        super().__init__(clock)
        self.setCacheMode(self.CacheModeFlag.CacheNone)  # the background is an item
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._theme = theme
        self.style_shown = Style(theme.palette, self.font())
        """The current style. Read only."""
        self._layers = LayerSet()
        self._picture = Picture(self.model, self.scale, self._held, self._layers, self.heights)
        self._stage = Stage(self.scene(), self._picture, self._layers)
        self._frame_clock = FrameClock(self._on_frame, self)
        self._idle_work = IdleWork(self._layers, self.model, self._on_computed, self)
        self.set_empty_text(translate("Chart", "Waiting for candles…"))
        self._notified_candles: object = None
        self.add_foreign_item_tool(lambda: self._stage.has_foreign_items)
        self._countdown = Countdown(self.overlay_changed, clock, self)
        self._newest_button = NewestButton(self.viewport())
        self._newest_button.clicked.connect(self.go_to_newest)
        self.setAccessibleName(translate("Chart", "Candle chart"))
        theme.changed.connect(self._on_theme)

    @property
    def closed_paints(self) -> int:
        """Number of paints of the closed candles."""
        return self._stage.background.paints

    @property
    def frame(self) -> Frame:
        """The geometry of the newest picture, in device pixels."""
        former = self._picture.frame
        frame = self._picture.build_frame(self.size(), self.devicePixelRatioF(), self.style_shown)
        if frame is not former:
            self._stage.place(frame)
        return frame

    @property
    def overlay(self) -> Overlay:
        """The labels of the newest picture."""
        frame = self.frame
        return self._picture.lay_out(frame, self.crosshair_at(frame), self._countdown.text(self.model))

    def in_words(self) -> str:
        """A description of the chart for screen readers."""
        return describe_chart(self.model, self.style_shown.time_zone, self._index_at_keys())

    def add_layer(self, layer: Layer) -> None:
        """Add a layer over the candles, on top of the others, or in a separate pane below the others."""
        self._layers.append(layer)
        self.layers_changed()

    def remove_layer(self, layer: Layer) -> None:
        """Remove a layer, and its pane if it was the last one in it. Does nothing if absent."""
        if layer in self._layers:
            self._layers.remove(layer)
            self.layers_changed()

    def show_layer(self, layer: Layer, *, is_shown: bool) -> None:
        """Add or remove a layer unless already done."""
        if is_shown != (layer in self._layers):
            (self.add_layer if is_shown else self.remove_layer)(layer)

    def box(self, pane: str = PRICE_PANE) -> PaneBox:
        """The pyqtgraph view of a pane: items that are added to it scroll and zoom with the candles. x is a candle's
        index (`model.index_of` finds it by time), y the value. Raises KeyError if there is no such pane."""
        return self._stage.box(pane)

    def add_pane(self, name: str) -> PaneBox:
        """Add a pane below the others for pyqtgraph items; its scale fits the visible ones. After changing an item's
        data, call `layers_changed`; `remove_pane` removes the pane."""
        self.add_layer(OpenPane(name))
        self.fresh_frame()
        box = self.box(name)
        box.items_changed.connect(self.layers_changed)
        return box

    def remove_pane(self, name: str) -> None:
        """Remove a pane of `add_pane` with its items. Raises KeyError if there is no such pane."""
        opened = [layer for layer in self._layers.of_pane(name) if isinstance(layer, OpenPane)]
        if not opened:
            raise KeyError(name)
        for layer in opened:
            self.remove_layer(layer)
        self.fresh_frame()

    def suppress_tooltips(self, *, is_suppressed: bool) -> None:
        """Suppress tooltips while something else is open over the chart."""
        self._layers.are_tooltips_suppressed = is_suppressed
        self._frame_clock.request(Dirty.CURSOR)

    def _on_computed(self) -> None:
        self.layers_changed()
        self.computed.emit()

    def layers_changed(self) -> None:
        """A layer's contents or a pane's height changed."""
        self._picture.dirty()  # Qt may paint before the next frame, and needs the new pane
        self._frame_clock.request(Dirty.VIEW)

    def overlay_changed(self) -> None:
        """A layer's live drawing or the readout changed."""
        self._frame_clock.request(Dirty.TICK | Dirty.CURSOR)

    def point_at(self, position: QPointF, modifiers: Qt.KeyboardModifier = NO_MODIFIER) -> ChartPoint:
        frame = self.frame
        return ChartPoint.of(position, to_px(position, frame), modifiers, frame)

    def set_series(self, series: CandleSeries, market_title: str = "", *, is_same_market: bool = False) -> None:
        """Show another market; resets forming candle, forecasts and view."""
        self.model.set_series(series, market_title, is_same_market=is_same_market)
        self.end_interaction(keeps_crosshair=is_same_market)
        self._anchor.forget()
        self.scale.set_count(0)
        self.scale.set_count(self.model.count)
        if is_same_market:  # at another interval, zoom and manual range stay valid
            self.scale.go_to_newest()
        else:
            self._held.release()
            self.scale.reset()
        self._anchor.drop()
        self._forget_pictures()
        self.series_changed.emit()
        self._notify_candles_changed()

    def replace_series(self, series: CandleSeries) -> None:
        """Show more candles of the same market: the visible ones stay in place, as do forming candle and forecast."""
        self.model.replace_series(series)
        # Now rather than with the next frame: a paint before it would show the new candles at the old positions.
        self._sync()
        self._anchor.drop()
        self._picture.dirty()
        self._frame_clock.request(Dirty.DATA)
        self.series_changed.emit()
        self._notify_candles_changed()

    def show_moment(self, moment: Moment | None) -> None:
        """Show the market at a past moment with the forecast of that time and nothing later; None: now."""
        self.model.show_moment(moment)
        self._kinetic.stop()
        self.scale.show_end(self.model.count, self.model.room_ahead(self.scale.margin))
        self._anchor.drop()
        self._picture.dirty()
        self._frame_clock.request(Dirty.DATA)
        self._notify_candles_changed()

    def refresh(self) -> None:
        """The series has changed: candles were appended, inserted or replaced."""
        self._frame_clock.request(Dirty.DATA)

    def set_forming(self, candle: Candle | None) -> None:
        """Set the open candle. One that is no newer than the closed ones is ignored."""
        self.model.set_forming(candle)
        self._frame_clock.request(Dirty.TICK)

    def set_forecast(self, forecast: ForecastMade | None) -> None:
        """The forecast to draw ahead of the closed candles; None hides it."""
        self.model.set_forecast(forecast)
        self.scale.set_margin(self.model.room_ahead(self.scale.margin))
        self._frame_clock.request(Dirty.VIEW)

    def set_market_time(self, time_ms: int | None) -> None:
        """Set the exchange's time, by which a forecast grows old without candles; None without an exchange."""
        before, self.model.market_time_ms = self.model.forecast_age, time_ms
        if self.model.forecast_age != before:
            self._frame_clock.request(Dirty.VIEW)

    def set_usual_age(self, age: int) -> None:
        """Set up to which age, in candles, a forecast is shown as current."""
        self.model.usual_age = age
        self._frame_clock.request(Dirty.VIEW)

    def set_holes(self, holes: KnownHoles | None) -> None:
        """Candles the exchange is known to lack; None if no exchange can be asked."""
        self.model.holes = holes
        self._frame_clock.request(Dirty.DATA)

    def set_note(self, text: str) -> None:
        """A remark beside the forecast; hidden if empty."""
        if self.model.set_note(plain(text, LONGEST_TEXT)):
            self._frame_clock.request(Dirty.VIEW)  # it may need room above the candles

    def set_live(self, is_live: bool) -> None:
        """Whether ticks come from a market that is open now, which enables the countdown to the close."""
        self._countdown.set_live(is_live)
        self._frame_clock.request(Dirty.TICK)

    def restyle(self, **changes: Any) -> None:
        """Change fields of `Style` by name. Another scale drops a manual price range."""
        style = replace(self.style_shown, **changes)
        if style == self.style_shown:
            return
        if style.scale is not self.style_shown.scale:
            self._held.release()
        self.style_shown = style
        self._forget_pictures()
        self.style_changed.emit()

    def set_empty_text(self, text: str) -> None:
        self._stage.background.set_text(plain(text, LONGEST_TEXT))

    def flush(self) -> None:
        """Update geometry and labels now rather than at the next frame. Qt still paints at its own time."""
        self._frame_clock.flush()

    def at_rest(self) -> AbstractContextManager[None]:
        """Context in which it is painted without mouse and selection, and nothing of that is cached."""
        self.flush()
        return self._picture.alone(self.frame, self._countdown.text(self.model))

    def close(self) -> bool:
        """Close the window. pyqtgraph's implementation also clears the scene, but a chart may be shown again."""
        return QWidget.close(self)

    def sizeHint(self) -> QSize:
        return QSize(960, 600)

    def minimumSizeHint(self) -> QSize:
        return QSize(240, 160)

    def paintEvent(self, event: QPaintEvent) -> None:
        frame = self.frame
        self._picture.lay_out(frame, self.crosshair_at(frame), self._countdown.text(self.model))
        with self._picture.painted_in(event.region(), frame.ratio):
            super().paintEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if hasattr(self, "_picture"):  # pyqtgraph's constructor triggers the first one
            self._picture.dirty()
            self._frame_clock.request(Dirty.VIEW)

    def showEvent(self, event: QShowEvent) -> None:
        self._countdown.set_seen(True)
        self._frame_clock.request(Dirty.DATA | Dirty.VIEW)
        super().showEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        self._countdown.set_seen(False)
        super().hideEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_newest_button"):
            self.restyle(font=self.font())
        super().changeEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        before = self._index_at_keys()
        super().keyPressEvent(event)
        index = self._index_at_keys()
        if index is not None and index != before:
            announce(self, describe_candle(self.model, self.style_shown.time_zone, index))

    def _index_at_keys(self) -> int | None:
        return None if self.key_mark is None else self.model.index_of(self.key_mark.time_ms)

    def fresh_frame(self) -> Frame:
        self._picture.dirty()
        return self.frame

    def view_moved(self) -> None:
        self._frame_clock.request(Dirty.VIEW)

    def cursor_moved(self) -> None:
        self._frame_clock.request(Dirty.CURSOR)

    @Slot(object)
    def _on_theme(self, palette: Palette) -> None:
        self.restyle(palette=palette)

    def _notify_candles_changed(self) -> None:
        notified = (self.model.series, self.model.version)
        if notified != self._notified_candles:
            self._notified_candles = notified
            self.candles_changed.emit()

    def _forget_pictures(self) -> None:
        self._picture.forget()
        self._frame_clock.request(Dirty.VIEW)

    def _on_frame(self, dirty: Dirty) -> None:
        if dirty & Dirty.DATA:
            self._sync()
            self._notify_candles_changed()
        self._anchor.drop()
        if dirty & (Dirty.DATA | Dirty.VIEW):
            self._idle_work.look()
        changed = self._picture.updated(dirty, lambda: self.frame, lambda: self.overlay)
        self._newest_button.place(self.frame, is_needed=not self.model.is_empty and not self.scale.is_newest_in_view)
        if changed is None or self.model.is_empty:
            self.viewport().update()
        else:
            self.viewport().update(changed)


class NewestButton(QToolButton):
    """Scrolls to the newest candle while it is out of view; in the lower right corner of the prices."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setText(translate("Chart", "Newest »"))
        self.setToolTip(translate("Chart", "Go to the newest candle (End)"))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.hide()

    def place(self, frame: Frame, *, is_needed: bool) -> None:
        """Show it in its corner of this frame, or hide it."""
        self.setVisible(is_needed)
        size = self.sizeHint()
        x = round(frame.layout.plot_right / frame.ratio) - size.width() - _MARGIN_PX
        y = round(frame.layout.main_bottom / frame.ratio) - size.height() - _MARGIN_PX
        self.setGeometry(x, y, size.width(), size.height())
