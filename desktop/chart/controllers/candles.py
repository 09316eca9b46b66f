"""The watched market's candles: the newest immediately, the full history soon after, at the selected interval."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import get_args

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject

from core.domain.candle import FILE_VENUE, SIMULATED_VENUE, Candle, Interval, Market
from core.domain.candle_series import CandleSeries
from core.domain.events import Severity
from core.market.feeds.base import MissingCandles
from core.market.known_holes import KnownHoles
from core.market.resample import ResampledSeries
from core.market.shown_names import shown_market
from core.settings.tree import Settings
from core.settings.window import ChartInterval
from core.storage.errors import StorageError
from desktop.actions import ActionId
from desktop.chart.widget import ChartWidget
from desktop.services.candle_loader import SHOWN_AT_FIRST, HistoryLoading
from desktop.state.database import WindowDatabase
from desktop.state.shell import Shell
from desktop.ui.translation import translate

_HISTORY_NOTICE = "history"
_AS_STORED: ChartInterval = "market"
_ACTIONS: dict[ActionId, ChartInterval] = {
    ActionId[f"INTERVAL_{name.upper()}"]: name for name in get_args(ChartInterval)
}


class ChartCandles(QObject):
    """Owns the stored series and the shown one, merged for a coarser interval. The settings own the interval."""

    def __init__(self, shell: Shell, chart: ChartWidget, database: WindowDatabase, history: HistoryLoading) -> None:
        super().__init__(shell.window)
        self._shell, self._chart, self._database, self._history = shell, chart, database, history
        self._market: Market | None = None
        self._is_whole = False
        """Whether all stored candles have been read, and not only the newest."""
        self.stored = chart.model.whole
        """The candles at the market's own interval; None before a market is shown."""
        self._shown = ResampledSeries(self.stored, self.stored.interval)
        self._forming: Candle | None = None
        self._wanted = shell.settings.current.chart.interval
        chart.model.open_at = lambda time_ms: self._shown.open_at(time_ms)
        history.loaded.connect(self._on_history)
        history.failed.connect(self._on_history_failed)
        shell.settings.changed.connect(self._on_settings)
        choices = {action: partial(shell.settings.change_chart, interval=name) for action, name in _ACTIONS.items()}
        shell.actions.wire(choices)
        self._present_actions()

    def show_market(self, market: Market) -> None:
        """Show this market's stored candles, and drop the previous market's."""
        self._market, self._forming = market, None
        self._history.cancel()
        self._shell.banner.withdraw(_HISTORY_NOTICE)
        self.stored = self._newest(market)
        self._chart.set_holes(self._known_holes(market, self.stored))
        self._show()
        self._is_whole = len(self.stored) < SHOWN_AT_FIRST
        if not self._is_whole:
            self._history.start(market)

    def preview(self, market: Market, stored: CandleSeries) -> None:
        """Show stored candles while the database is being checked, until `show_market`."""
        if self._market is None:
            title = translate("Chart", "{0} · stored; checking the database")
            self._chart.set_series(stored, title.format(shown_market(market)))

    def reload(self, market: Market) -> None:
        """Stored candles of a market have changed: read them again on a thread, if they are shown."""
        if market == self._market:
            self._history.start(market)

    def add(self, candles: Sequence[Candle]) -> None:
        """Append candles that were stored just now."""
        self.stored.extend(candles)
        self._history.add(candles)
        self._shown.sync()
        self._show_forming()
        self._chart.refresh()

    def add_hole(self, hole: MissingCandles) -> None:
        """Add a hole that the exchange has just confirmed."""
        known = self._chart.model.holes
        if known is None or self._market is None:
            return
        stop_ms = hole.first_ms + hole.count * self._market.interval.duration_ms
        self._chart.set_holes(known.joined(np.array([[hole.first_ms, stop_ms]])))

    def set_forming(self, candle: Candle) -> None:
        """Set the open candle of the stored interval."""
        self._forming = candle
        self._show_forming()

    def _show(self, *, is_same_market: bool = False) -> None:
        """Show everything again, at the chosen interval if possible."""
        market = self._market
        if market is None:
            return
        coarser = _coarser(market.interval, self._wanted)
        self._shown = ResampledSeries(self.stored, coarser or market.interval)
        title = shown_market(market)
        if coarser is not None:
            title = translate("Chart", "{0} · shown as {1}").format(title, coarser)
        self._chart.set_series(self._shown.series, title, is_same_market=is_same_market)
        self._show_forming()
        self._present_actions()

    def _show_forming(self) -> None:
        before = self._shown.series.version
        self._chart.set_forming(self._shown.forming(self._forming))
        if self._shown.series.version != before:  # it closed the candle before it
            self._chart.refresh()

    def _on_settings(self, settings: Settings) -> None:
        if settings.chart.interval == self._wanted:
            return
        self._wanted = settings.chart.interval
        scale, model = self._chart.scale, self._chart.model
        looked_at = None if scale.is_newest_in_view else model.time_at(round((scale.left + scale.right) / 2))
        was_seen = self._is_crosshair_in_view()
        self._show(is_same_market=True)
        if looked_at is not None:
            self._chart.go_to_time(looked_at)
        mark = self._chart.key_mark
        if was_seen and mark is not None and not self._is_crosshair_in_view():
            self._chart.go_to_time(mark.time_ms)

    def _is_crosshair_in_view(self) -> bool:
        scale, mark = self._chart.scale, self._chart.key_mark
        index = None if mark is None else self._chart.model.index_from(mark.time_ms)
        return index is not None and scale.left <= index <= scale.right

    def _present_actions(self) -> None:
        """Enable the intervals that the market's candles can be merged to, and check the shown one."""
        own = None if self._market is None else self._market.interval
        is_possible = {name: own is not None and _coarser(own, name) is not None for name in _ACTIONS.values()}
        shown = self._wanted if is_possible[self._wanted] else _AS_STORED
        for action_id, name in _ACTIONS.items():
            action = self._shell.actions[action_id]
            is_own = own is not None and name == str(own)
            action.setEnabled(name == _AS_STORED or is_possible[name] or is_own)
            action.setChecked(name == shown)

    def _newest(self, market: Market) -> CandleSeries:
        """The newest candles, shown until the full history is loaded; empty if the database cannot be read."""
        try:
            stored = self._database.candles.columns_before(market, None, SHOWN_AT_FIRST)
            return CandleSeries.from_columns(market.interval, stored.open_time_ms, stored.values)
        except (StorageError, ValueError) as error:  # an impossible value: another program wrote it
            self._shell.banner.notify(
                translate("Chart", "The stored candles cannot be shown: {0}").format(error),
                Severity.ERROR,
                _HISTORY_NOTICE,
            )
            return CandleSeries(market.interval)

    def _known_holes(self, market: Market, stored: CandleSeries) -> KnownHoles | None:
        """Known holes within the shown time; None for candles that come from no exchange."""
        if market.venue in (FILE_VENUE, SIMULATED_VENUE):
            return None
        try:
            first_ms = int(stored.open_time_ms[0]) if len(stored) else 0
            return KnownHoles(self._database.holes.of_exchange_from(market, first_ms))
        except StorageError:  # the read before has failed too, with a notice
            return KnownHoles()

    def _on_history(self, series: CandleSeries, holes: NDArray[np.int64]) -> None:
        self._is_whole = True
        self._shell.banner.withdraw(_HISTORY_NOTICE)
        known = self._chart.model.holes
        self.stored, self._shown = series, ResampledSeries(series, self._shown.series.interval)
        if known is not None:
            self._chart.set_holes(known.joined(holes))  # more may have arrived while it was read
        self._chart.replace_series(self._shown.series)
        self._show_forming()

    def _on_history_failed(self, sentence: str) -> None:
        if self._is_whole:
            shown = translate("Chart", "Newly stored candles could not be read.")
        else:
            shown = translate("Chart", "The chart shows only the {0:,} newest candles.").format(SHOWN_AT_FIRST)
        self._shell.banner.notify(f"{shown} {sentence}", Severity.WARNING, _HISTORY_NOTICE)


def _coarser(own: Interval, name: str) -> Interval | None:
    """The interval of this name, if the market's candles can be merged to it."""
    if name == _AS_STORED:
        return None
    wanted = Interval.parse(name)
    is_multiple = wanted.duration_ms > own.duration_ms and wanted.duration_ms % own.duration_ms == 0
    return wanted if is_multiple else None
