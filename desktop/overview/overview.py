"""A wall of at most 4, 9 or 16 charts, one for each market; a click on one opens it large."""

from __future__ import annotations

from functools import partial
from math import isqrt
from pathlib import Path
from typing import get_args

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QGridLayout, QToolBar, QWidget

from core.domain.candle import Market
from core.domain.clock import Clock
from core.settings.tree import Settings
from core.settings.window import OverviewCharts
from desktop.actions import ActionId, ActionRegistry, panel_actions
from desktop.chart.frame_clock import Dirty, FrameClock
from desktop.layouts.pages import Pages
from desktop.overview.tile import Tile
from desktop.state.database import WindowDatabase
from desktop.state.markets import MarketsState
from desktop.state.shell import Shell
from desktop.ui.paint_in_turn import PaintInTurn
from desktop.ui.plain_text import Label
from desktop.ui.stacks import beside, stacked
from desktop.ui.theme import Theme
from desktop.ui.translation import translate

_COUNTS: dict[ActionId, OverviewCharts] = {ActionId[f"OVERVIEW_{count}"]: count for count in get_args(OverviewCharts)}
_MOST_COLUMNS = 4
_TILES_A_FRAME = 2
"""When all markets have news, as at a close, sixteen tiles need eight frames; each frame stays short."""
_STEPS = {
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
}


class Overview(QWidget):
    """A page of the window. It has tiles from the first time that it is shown, and follows the markets only while it is
    shown. Before the window is deleted, end the reading of candles with `finish`."""

    market_requested = Signal(object)
    """Market: to be shown large."""
    list_requested = Signal()
    """The list of markets is to be shown, to add one."""

    def __init__(
        self,
        shell: Shell,
        pages: Pages,
        markets: MarketsState,
        database: WindowDatabase,
        database_file: Path,
        theme: Theme,
        clock: Clock,
    ) -> None:
        super().__init__()
        self._shell, self._pages, self._markets, self._database = shell, pages, markets, database
        self._database_file, self._theme, self._clock = database_file, theme, clock
        self.tiles: list[Tile] = []
        self._laid_out = 0
        """The chosen number of charts that the tiles are laid out for."""
        self._columns = self._cells = 1
        """No more than the markets fill, up to the chosen number of charts."""
        self._places: dict[Market, int] = {}
        """Places of the markets to show, in order."""
        self._due: dict[int, None] = {}
        """Places with another market or with news, in the order in which they had them."""
        self._universe: tuple[Market, ...] | None = None
        """The markets with places; None if the list has changed since."""
        self._on_chart: Market | None = None
        self._is_followed = False
        """True while the page is shown."""
        self._frames, self._painting = FrameClock(self._on_frame, self), PaintInTurn(self)
        self.actions_of_panel = ActionRegistry(panel_actions("Overview"), self, theme)
        self.count = Label()
        self._grid = QGridLayout()
        self._lay_out()
        self._wire()
        pages.addWidget(self)

    @property
    def _charts(self) -> int:
        return self._shell.settings.current.chart.overview_charts

    def show_market(self, market: Market | None) -> None:
        """Mark the market that is on the large chart now."""
        self._on_chart = market
        for tile in self.tiles:
            self._mark(tile)

    def flush(self) -> None:
        """Show all changes now rather than at the next frames."""
        self._frames.flush()
        while self._due:
            self._frames.flush()
        for tile in self.tiles:
            tile.chart.flush()

    def finish(self) -> bool:
        """Wait until no thread reads candles. False on a timeout."""
        return all([tile.end() for tile in self.tiles])

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._is_followed = True
        self._painting.hold(self.tiles)
        self._fill()
        self._frames.flush()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._is_followed = False
        self._due.clear()
        for tile in self.tiles:
            tile.history.cancel()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = _STEPS.get(Qt.Key(event.key()))
        now = next((place for place, tile in enumerate(self.tiles) if tile.hasFocus()), None)
        if step is None or now is None:
            super().keyPressEvent(event)
            return
        row, column = (at + by for at, by in zip(divmod(now, self._columns), step, strict=True))
        place = row * self._columns + column
        if row >= 0 and 0 <= column < self._columns and place < len(self.tiles):  # the others are still to come
            by_key = Qt.FocusReason.TabFocusReason if 1 in step else Qt.FocusReason.BacktabFocusReason
            self.tiles[place].setFocus(by_key)

    def _lay_out(self) -> None:
        buttons = QToolBar(translate("Overview", "Overview actions"))
        buttons.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.actions_of_panel.fill_tool_bar(buttons)
        top = beside(None, self.count, buttons, stretched=self.count, margins=(8, 2, 4, 2))
        self._grid.setSpacing(4)
        stacked(self, top, self._grid, stretched=self._grid, margins=(4, 0, 4, 4), spacing=2)
        self.setAccessibleName(translate("Overview", "Overview of markets"))

    def _wire(self) -> None:
        actions, settings = self._shell.actions, self._shell.settings
        actions.wire({ActionId.OVERVIEW: self._toggle})
        overview_action = actions[ActionId.OVERVIEW]
        self._pages.currentChanged.connect(
            lambda _index: overview_action.setChecked(self._pages.currentWidget() is self)
        )
        self.actions_of_panel.wire(
            {
                ActionId.OVERVIEW_OPEN: self._open_focused,
                ActionId.OVERVIEW_ADD: self._add_market,
                ActionId.OVERVIEW_CLOSE: self._pages.show_first,
                **{each: partial(settings.change_chart, overview_charts=count) for each, count in _COUNTS.items()},
            }
        )
        self._markets.changed.connect(self._on_changed)
        self._markets.listed.connect(self._on_listed)
        settings.changed.connect(self._on_settings)
        self._check_count()

    @Slot()
    def _toggle(self) -> None:
        if self._pages.currentWidget() is self:
            self._pages.show_first()
            return
        self._pages.show_alone(self)
        self._take_focus()

    @Slot(object)
    def _on_settings(self, settings: Settings) -> None:
        self._check_count()
        if not self._is_followed:
            return
        if self._laid_out != self._charts:
            self._fill()
        for tile in self.tiles:
            tile.apply(settings.chart)

    def _check_count(self) -> None:
        chosen = self._shell.settings.current.chart.overview_charts
        for each, count in _COUNTS.items():
            self.actions_of_panel[each].setChecked(count == chosen)

    def _arrange(self) -> None:
        """Lay out the tiles that the markets fill; existing ones stay, the others follow one a frame."""
        shown, self._laid_out = max(len(self._places), 1), self._charts
        self._columns = min(isqrt(shown - 1) + 1, isqrt(self._charts))
        rows = (shown - 1) // self._columns + 1
        self._cells = rows * self._columns
        while len(self.tiles) > self._cells:
            tile = self.tiles.pop()
            tile.end()
            self._grid.removeWidget(tile)
            tile.hide()
            tile.deleteLater()
        for place in range(_MOST_COLUMNS):
            self._grid.setRowStretch(place, int(place < rows))
            self._grid.setColumnStretch(place, int(place < self._columns))
        for place, tile in enumerate(self.tiles):
            self._grid.addWidget(tile, *divmod(place, self._columns))

    def _add_tile(self) -> Tile:
        tile = Tile(self._theme, self._clock, self._database_file, self)
        tile.opened.connect(self._open)
        tile.apply(self._shell.settings.current.chart)
        self._grid.addWidget(tile, *divmod(len(self.tiles), self._columns))
        self.tiles.append(tile)
        tile.show()
        return tile

    def _fill(self) -> None:
        """Assign markets to tiles: the run's, then listed ones with stored candles."""
        rows = sorted(self._markets.rows(), key=lambda row: not row.is_in_run)
        found = [row.market for row in rows if row.is_in_run or self._latest_ms(row.market) is not None]
        self._universe = self._markets.universe
        self._places = {market: place for place, market in enumerate(found[: self._charts])}
        self._arrange()
        self._due = dict.fromkeys(range(self._cells))
        there_are, shown = len(found), len(self._places)
        if shown < there_are:
            text = translate("Overview", "{0} of {1} markets")
        else:
            text = translate("Overview", "{0} market") if shown == 1 else translate("Overview", "{0} markets")
        self.count.setText(text.format(shown, there_are))
        self._frames.request(Dirty.DATA)

    def _show(self, place: int) -> bool:
        """Returns whether the tile needed another chart, which takes a frame."""
        is_new = place == len(self.tiles)
        tile = self._add_tile() if is_new else self.tiles[place]
        if place >= len(self._places):
            hint = translate("Overview", "Click to add another market in the Markets panel.")
            tile.show_nothing(hint if place == len(self._places) else "")
            return is_new
        row = self._markets.row(tuple(self._places)[place])
        is_other = tile.row is None or tile.row.market != row.market
        if is_other:
            tile.show_market(row, self._latest_ms(row.market))
            tile.apply(self._shell.settings.current.chart)
        else:
            tile.show_row(row)
        self._mark(tile)
        if self.hasFocus():
            self._take_focus()
        return is_other

    def _take_focus(self) -> None:
        """Focus the tile of the market on the chart, else the first one, once it is there."""
        first = self._on_chart if self._on_chart in self._places else next(iter(self._places), None)
        place = None if first is None else self._places[first]
        tile = None if place is None or place >= len(self.tiles) else self.tiles[place]
        has_come = tile is not None and tile.row is not None and tile.row.market == first
        (tile if tile is not None and has_come else self).setFocus()

    def _latest_ms(self, market: Market) -> int | None:
        with self._shell.banner.storage_errors_shown():
            return self._database.candles.latest_open_time_ms(market) if self._database.is_open else None
        return None

    @Slot()
    def _on_listed(self) -> None:
        if self._is_followed:
            self._universe = None
            self._frames.request(Dirty.DATA)

    @Slot(object)
    def _on_changed(self, market: Market) -> None:
        if self._is_followed and (market in self._places or self._markets.universe != self._universe):
            if market in self._places:
                self._due[self._places[market]] = None
            self._frames.request(Dirty.DATA)

    def _on_frame(self, _dirty: Dirty) -> None:
        if self._is_followed and self._markets.universe != self._universe:
            self._fill()
        for place in tuple(self._due)[:_TILES_A_FRAME]:
            del self._due[place]
            if self._show(place):
                break
        if self._due:
            self._frames.request(Dirty.DATA)

    def _mark(self, tile: Tile) -> None:
        tile.mark_on_chart(is_on_chart=tile.row is not None and tile.row.market == self._on_chart)

    @Slot()
    def _open_focused(self) -> None:
        for tile in self.tiles:
            if tile.hasFocus():
                self._open(tile)

    @Slot()
    def _add_market(self) -> None:
        self._pages.show_first()
        self.list_requested.emit()

    @Slot(object)
    def _open(self, tile: Tile) -> None:
        if tile.row is None:
            self._add_market()
            return
        self._pages.show_first()
        if tile.row.market != self._on_chart:
            self.market_requested.emit(tile.row.market)
