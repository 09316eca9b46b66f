"""The small chart of a row: the newest candles and the ghosts ahead of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPixmap, QPolygonF

from core.domain.candle import Candle, Market
from core.domain.events import ForecastMade, Ghost
from desktop.panels.markets.row import Row
from desktop.state.markets import MarketRow
from desktop.ui.theme import Palette, with_alpha

_SLOT_PX, _BODY_PX = 4, 3
_MARGIN_X, _MARGIN_Y = 4, 4
_LARGEST_SHARE_OF_GHOSTS = 0.4
_OPACITY_OF_OLD = 0.5
_KEPT = 320
"""Number of stored pictures: more than a list and a run may have."""


class SmallCharts:
    """Paints each chart once and caches the picture: a new price beside it, scrolling or a selection costs only a
    copy."""

    def __init__(self) -> None:
        self._kept: dict[Market, tuple[object, QPixmap]] = {}
        self.painted = 0
        """How many were painted rather than copied."""

    def picture(self, row: Row, size: QSize, ratio: float, palette: Palette, *, is_selected: bool) -> QPixmap:
        """The row's chart, of this size in logical pixels, on a transparent ground."""
        known = row.known
        shown = (known.candles, known.forming, known.forecast, row.is_uncertain)
        key = (shown, size.toTuple(), ratio, palette, is_selected)
        former = self._kept.get(row.market)
        if former is not None and former[0] == key:
            return former[1]
        picture = QPixmap(size * ratio)
        picture.setDevicePixelRatio(ratio)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        paint(painter, QRectF(0, 0, size.width(), size.height()), row, palette, is_selected=is_selected)
        painter.end()
        self.painted += 1
        if len(self._kept) >= _KEPT:
            self._kept.clear()
        self._kept[row.market] = (key, picture)
        return picture


def paint(painter: QPainter, place: QRectF, row: Row, palette: Palette, *, is_selected: bool) -> None:
    """Paint the candles of a market of the run; nothing for others."""
    room = place.adjusted(_MARGIN_X, _MARGIN_Y, -_MARGIN_X, -_MARGIN_Y)
    if row.is_uncertain:
        painter.setOpacity(_OPACITY_OF_OLD)
    if row.known.newest is not None:
        _paint_candles(painter, _Scene.of(row.known, room), palette, is_selected=is_selected)


@dataclass(frozen=True)
class _Scene:
    """Content and layout: one slot per candle, the newest ghost at the right edge."""

    room: QRectF
    candles: Sequence[Candle]
    ghosts: Sequence[Ghost]
    first_ms: int
    interval_ms: int
    low: float
    high: float

    @classmethod
    def of(cls, known: MarketRow, room: QRectF) -> _Scene:
        slots = max(4, int(room.width() // _SLOT_PX))
        interval_ms = known.market.interval.duration_ms
        newest = known.newest
        assert newest is not None, "it has candles"
        ghosts = ghosts_ahead(known.forecast, newest, int(slots * _LARGEST_SHARE_OF_GHOSTS), interval_ms)
        last_ms = max([newest.open_time_ms, *(ghost.open_time_ms for ghost in ghosts)])
        first_ms = last_ms - (slots - 1) * interval_ms
        candles = [each for each in known.candles if each.open_time_ms >= first_ms]
        candles += [] if known.forming is None else [known.forming]
        prices = [price for candle in candles for price in (candle.low, candle.high)]
        for ghost in ghosts:
            prices += [ghost.low, ghost.high, ghost.close_quantiles[0], ghost.close_quantiles[-1]]
        return cls(room, candles, ghosts, first_ms, interval_ms, min(prices), max(prices))

    def x(self, open_time_ms: int) -> float:
        return self.room.left() + _SLOT_PX * ((open_time_ms - self.first_ms) // self.interval_ms)

    def y(self, price: float) -> float:
        return height_of(price, self.low, self.high, self.room)


def ghosts_ahead(forecast: ForecastMade | None, newest: Candle, most: int, interval_ms: int) -> tuple[Ghost, ...]:
    """Ghosts of the forming candle and of later ones; empty if all are over, or if newer candles followed the
    forecast."""
    if forecast is None or newest.open_time_ms - forecast.origin_open_time_ms > interval_ms:
        return ()
    ahead = [ghost for ghost in forecast.ghosts if ghost.open_time_ms >= newest.open_time_ms]
    return tuple(ahead[: max(most, 1)])


def _paint_candles(painter: QPainter, scene: _Scene, palette: Palette, *, is_selected: bool) -> None:
    ink = palette.inverse_text if is_selected else None
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(with_alpha(ink or palette.ghost_up, 70))
    painter.drawPolygon(_band(scene))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    taken_ms = scene.candles[-1].open_time_ms if scene.candles else 0
    for ghost in scene.ghosts:
        if ghost.open_time_ms > taken_ms:
            _paint_one(painter, scene, ghost, ink or palette.ghost(rising=ghost.close >= ghost.open))
    for candle in scene.candles:
        _paint_one(painter, scene, candle, ink or palette.candle(rising=candle.close >= candle.open))


def _band(scene: _Scene) -> QPolygonF:
    """The 90 % band, from the close that it begins at."""
    middle = _BODY_PX / 2
    upper = [QPointF(scene.x(g.open_time_ms) + middle, scene.y(g.close_quantiles[-1])) for g in scene.ghosts]
    lower = [QPointF(scene.x(g.open_time_ms) + middle, scene.y(g.close_quantiles[0])) for g in scene.ghosts]
    begin = [
        QPointF(scene.x(each.open_time_ms) + middle, scene.y(each.close))
        for each in scene.candles
        if scene.ghosts and each.open_time_ms < scene.ghosts[0].open_time_ms
    ][-1:]
    return QPolygonF([*begin, *upper, *reversed(lower)])


def _paint_one(painter: QPainter, scene: _Scene, candle: Candle | Ghost, colour: QColor) -> None:
    """Paint on whole pixels: at this size a blurred body has no colour."""
    x = round(scene.x(candle.open_time_ms))
    top, foot = round(scene.y(max(candle.open, candle.close))), round(scene.y(min(candle.open, candle.close)))
    high, low = round(scene.y(candle.high)), round(scene.y(candle.low))
    painter.fillRect(x + _BODY_PX // 2, high, 1, max(low - high, 1), colour)
    painter.fillRect(x, top, _BODY_PX, max(foot - top, 1), colour)


def height_of(price: float, low: float, high: float, room: QRectF) -> float:
    """The y of a price, with `low` at the foot of `room` and `high` at its top; the middle if they are equal."""
    share = 0.5 if high <= low else (price - low) / (high - low)
    return room.bottom() - share * room.height()
