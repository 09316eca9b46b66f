"""The candle chart: series, forming candle and forecast in; a picture and its handling out."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from datetime import tzinfo
from typing import Any, cast

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QSize, Qt, Slot
from PySide6.QtGui import (
    QHideEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QRegion,
    QResizeEvent,
    QShowEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QToolButton, QWidget

from core.clock import Clock
from core.events import ForecastMade, ForecastScored
from core.market.candle import Candle
from core.market.series import CandleSeries
from desktop.chart.countdown import Countdown
from desktop.chart.frame import Frame
from desktop.chart.frame_clock import Dirty, FrameClock
from desktop.chart.framing import FrameBuilder, Style
from desktop.chart.layers import Layers
from desktop.chart.model import ChartModel, OutcomeLookup
from desktop.chart.navigation import Navigation
from desktop.chart.overlay import Overlay
from desktop.chart.time_scale import TimeScale
from desktop.theme import Palette, Theme

_GHOST_MARGIN = 2.0
_BUTTON_MARGIN = 10


class ChartWidget(QWidget):
    """A candle chart in one widget. Times are UTC milliseconds, prices the market's.

    The series is the caller's and is read in place: after changing it, call `refresh`. Setters are cheap and may be
    called at any rate: a frame clock merges them into at most one picture in 16 ms, in which the latest value shows.
    """

    def __init__(self, theme: Theme, clock: Clock | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._model = ChartModel()
        self._scale = TimeScale()
        self._builder = FrameBuilder(self._scale)
        self._navigation = Navigation(self._scale)
        self._layers = Layers()
        self._frame_clock = FrameClock(self._on_frame, self)
        self._style = Style(theme.palette, self.font())
        self._frame: Frame | None = None
        self._overlay: Overlay | None = None
        self._touched = QRegion()
        self._cursor: QPointF | None = None
        self._anchor: tuple[int, int] | None = None
        self._is_live = False
        self._empty_text = "Waiting for candles …"
        self._countdown = Countdown(self._on_second, clock, self)
        self._newest_button = self._make_newest_button()
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAccessibleName("Candle chart")
        theme.changed.connect(self._on_theme)

    def _make_newest_button(self) -> QToolButton:
        button = QToolButton(self)
        button.setText("Newest »")
        button.setToolTip("Go to the newest candle (End)")
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.setCursor(Qt.CursorShape.ArrowCursor)
        button.hide()
        button.clicked.connect(self.go_to_newest)
        return button

    @property
    def closed_paints(self) -> int:
        """How often the closed candles have been painted."""
        return self._layers.base.paints

    @property
    def scale(self) -> TimeScale:
        """Which candles are in view. To be read; moves go through this widget."""
        return self._scale

    @property
    def model(self) -> ChartModel:
        """What is shown. To be read."""
        return self._model

    @property
    def frame(self) -> Frame:
        """The geometry of the newest picture, in device pixels."""
        if self._frame is None or self._frame.ratio != self.devicePixelRatioF():
            self._frame = self._builder.build(self.size(), self.devicePixelRatioF(), self._model, self._style)
            self._overlay = None
        return self._frame

    @property
    def overlay(self) -> Overlay:
        """The labels of the newest picture."""
        frame = self.frame
        if self._overlay is None:
            self._overlay = Overlay.of(frame, self._model, self._cursor_px(frame), self._countdown_text())
            self._touched = self._overlay.region(frame, self._model)
        return self._overlay

    def set_series(self, series: CandleSeries | None, market_title: str = "") -> None:
        """Show another market; forming candle, forecast and outcomes of the former one go, the view starts anew."""
        self._model.set_series(series, market_title)
        self._navigation.release()
        self._anchor = None
        self._scale.set_count(0)
        self._scale.set_count(self._model.count)
        self._scale.reset()
        self._set_anchor()
        self._forget_pictures()

    def replace_series(self, series: CandleSeries) -> None:
        """The same market with more candles: what is in view stays in its place, and so do forming and forecast."""
        self._model.replace_series(series)
        # Now, not with the next frame: a paint before it would show the new candles at the old places.
        self._sync()
        self._set_anchor()
        self._frame = self._overlay = None
        self._frame_clock.request(Dirty.DATA)

    def refresh(self) -> None:
        """The series has changed: candles were appended, inserted or replaced."""
        self._frame_clock.request(Dirty.DATA)

    def set_forming(self, candle: Candle | None) -> None:
        """The candle that is still open, as it stands now. One that is no newer than the closed ones is let go."""
        self._model.set_forming(candle)
        self._frame_clock.request(Dirty.TICK)

    def set_forecast(self, forecast: ForecastMade | None) -> None:
        """The forecast to draw ahead of the closed candles; None hides it."""
        self._model.set_forecast(forecast)
        if forecast is not None and forecast.ghosts:
            self._scale.set_margin(len(forecast.ghosts) + _GHOST_MARGIN)
        self._frame_clock.request(Dirty.VIEW)

    def add_outcome(self, scored: ForecastScored) -> None:
        """Remember how a one-step forecast came out, for the tooltip of its candle."""
        self._model.add_outcome(scored)
        self._frame_clock.request(Dirty.CURSOR)

    def set_outcome_lookup(self, lookup: OutcomeLookup | None) -> None:
        """Ask this first for the outcome of a candle, by its opening time; it answers None where it knows nothing."""
        self._model.set_outcome_lookup(lookup)
        self._frame_clock.request(Dirty.CURSOR)

    def set_live(self, is_live: bool) -> None:
        """Whether ticks come from a market that is open now: only then is there a countdown to the close."""
        self._is_live = is_live
        self._run_countdown()
        self._frame_clock.request(Dirty.TICK)

    def set_volume_visible(self, visible: bool) -> None:
        """Show or hide the volume bars."""
        self._restyle(shows_volume=visible)

    def set_bands_visible(self, visible: bool) -> None:
        """Show or hide the 50 % and 90 % bands."""
        self._restyle(shows_bands=visible)

    def set_time_zone(self, time_zone: tzinfo | None) -> None:
        """The zone of all times on the chart; None is the machine's."""
        self._restyle(time_zone=time_zone)

    def set_empty_text(self, text: str) -> None:
        """The sentence that stands where there is no candle yet."""
        self._empty_text = text
        self.update()

    @Slot()
    def go_to_newest(self) -> None:
        """Bring the newest candle into view, at the zoom that holds."""
        self._scale.go_to_newest()
        self._on_moved()

    @Slot()
    def go_to_oldest(self) -> None:
        """Bring the oldest candle into view, at the zoom that holds."""
        self._scale.go_to_oldest()
        self._on_moved()

    @Slot()
    def reset_view(self) -> None:
        """The default zoom, at the newest candle."""
        self._scale.reset()
        self._on_moved()

    def zoom(self, factor: float) -> None:
        """Spread the candles (factor > 1) or press them together."""
        self._navigation.zoom(factor)
        self._on_moved()

    def flush(self) -> None:
        """Bring geometry and labels up to date now rather than at the next frame. Qt still paints when it likes."""
        self._frame_clock.flush()

    def sizeHint(self) -> QSize:
        return QSize(960, 600)

    def minimumSizeHint(self) -> QSize:
        return QSize(240, 160)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        if self._model.is_empty:
            self._paint_empty(painter)
            return
        frame = self.frame
        ratio = frame.ratio
        if ratio != int(ratio):
            # Rounded to whole device pixels the picture may end a pixel short of the widget's edge.
            painter.fillRect(event.rect(), frame.palette.background)
        painter.scale(1 / ratio, 1 / ratio)
        offset = painter.deviceTransform()
        painter.translate(round(offset.dx()) - offset.dx(), round(offset.dy()) - offset.dy())
        areas = cast("Iterable[QRect]", event.region())
        self._layers.paint(painter, frame, self.overlay, self._model, areas)

    def _paint_empty(self, painter: QPainter) -> None:
        palette = self._theme.palette
        painter.fillRect(self.rect(), palette.background)
        painter.setPen(palette.muted_text)
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(self.rect().adjusted(24, 24, -24, -24), flags, self._empty_text)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._frame = self._overlay = None
        self._frame_clock.request(Dirty.VIEW)
        super().resizeEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        self._run_countdown()
        self._frame_clock.request(Dirty.DATA | Dirty.VIEW)
        super().showEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        self._countdown.stop()
        super().hideEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_newest_button"):
            self._restyle(font=self.font())
        super().changeEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self._is_over_plot(event.position()):
            self._navigation.press(event.position().x())
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
        else:
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._point_at(event.position())
        if self._navigation.move(event.position().x()):
            self._on_moved()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._navigation.release()
            self._point_at(event.position())
        else:
            super().mouseReleaseEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.reset_view()
        else:
            super().mouseDoubleClickEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self._navigation.wheel(event):
            self._on_moved()
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._navigation.key(event):
            self._on_moved()
        else:
            super().keyPressEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self._cursor = None
        self._frame_clock.request(Dirty.CURSOR)
        super().leaveEvent(event)

    @Slot()
    def _on_moved(self) -> None:
        self._frame_clock.request(Dirty.VIEW)

    @Slot(object)
    def _on_theme(self, palette: Palette) -> None:
        self._restyle(palette=palette)

    def _on_second(self) -> None:
        self._frame_clock.request(Dirty.TICK)

    def _restyle(self, **changes: Any) -> None:
        self._style = replace(self._style, **changes)
        self._forget_pictures()

    def _forget_pictures(self) -> None:
        self._builder.forget()
        self._layers.forget()
        self._frame = self._overlay = None
        self._frame_clock.request(Dirty.VIEW)

    def _on_frame(self, dirty: Dirty) -> None:
        if dirty & Dirty.DATA:
            self._sync()
        self._set_anchor()
        former, touched = self._frame, self._touched
        self._overlay = None
        if dirty & ~Dirty.CURSOR:
            self._frame = None
        self._place_newest_button()
        if self._model.is_empty:
            self.update()
            return
        frame, _ = self.frame, self.overlay
        if former is None or dirty & (Dirty.VIEW | Dirty.DATA) or former.base_key(0) != frame.base_key(0):
            self.update()
        else:
            self.update(touched + self._touched)

    def _sync(self) -> None:
        """Take over the series' new length. Candles that came late must not push what is in view aside."""
        model = self._model
        model.drop_stale_forming()
        shifted = 0
        if self._anchor is not None and model.series is not None:
            index, time_ms = self._anchor
            found = model.series.index_at(time_ms)
            shifted = 0 if found is None else found - index
        self._scale.set_count(model.count, shifted, may_follow=not self._navigation.is_dragging)
        self._navigation.candles_shifted(shifted)

    def _set_anchor(self) -> None:
        """Remember one candle in view by its time."""
        model = self._model
        index = min(max(round(self._scale.right), 0), model.count - 1)
        time_ms = model.time_at(index)
        self._anchor = None if time_ms is None or index >= model.count else (index, time_ms)

    def _countdown_text(self) -> str | None:
        forming, series = self._model.forming, self._model.series
        if not self._is_live or forming is None or series is None:
            return None
        return self._countdown.text(forming.open_time_ms, series.interval)

    def _run_countdown(self) -> None:
        if self._is_live and self.isVisible():
            self._countdown.start()
        else:
            self._countdown.stop()

    def _is_over_plot(self, position: QPointF) -> bool:
        return not self._model.is_empty and self.frame.layout.plot.contains(self._to_px(position, self.frame))

    def _point_at(self, position: QPointF) -> None:
        self._cursor = position
        if not self._navigation.is_held:
            shape = Qt.CursorShape.CrossCursor if self._is_over_plot(position) else Qt.CursorShape.ArrowCursor
            self.setCursor(shape)
        self._frame_clock.request(Dirty.CURSOR)

    def _cursor_px(self, frame: Frame) -> QPoint | None:
        return None if self._cursor is None else self._to_px(self._cursor, frame)

    def _to_px(self, position: QPointF, frame: Frame) -> QPoint:
        return QPoint(math.floor(position.x() * frame.ratio), math.floor(position.y() * frame.ratio))

    def _place_newest_button(self) -> None:
        button, frame = self._newest_button, self.frame
        button.setVisible(not self._model.is_empty and not self._scale.is_newest_in_view)
        size = button.sizeHint()
        x = round(frame.layout.plot_right / frame.ratio) - size.width() - _BUTTON_MARGIN
        y = round(frame.layout.plot_bottom / frame.ratio) - size.height() - _BUTTON_MARGIN
        button.setGeometry(x, y, size.width(), size.height())
