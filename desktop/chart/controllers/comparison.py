"""Compares the shown market with another stored one, selected in the settings."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, SignalInstance, Slot

from core.domain.candle import Interval, Market
from core.domain.candle_series import CandleSeries
from core.domain.events import Severity
from core.domain.venue_names import venue_name
from core.market.resample import ResampledSeries
from core.market.shown_names import shown_market, shown_symbol, symbols_apart
from core.settings.tree import Settings
from core.storage.errors import StorageError
from desktop.actions import ActionId
from desktop.chart.items.comparison import Comparison, ComparisonLayer
from desktop.chart.widget import ChartWidget
from desktop.dialogs.compared_market import ComparedMarketDialog
from desktop.dialogs.messages import open_dialog
from desktop.services.candle_loader import HistoryLoading
from desktop.state.database import WindowDatabase
from desktop.state.shell import Shell
from desktop.ui.formatting import format_date
from desktop.ui.translation import translate

_NOTICE = "compare"
_BEFORE_ALL_MS = -(2**63)


class ChartComparison(QObject):
    """Reads the other market's candles on a thread, and joins them if the chart's are coarser; reads new ones whenever
    a candle of the chart closes. End `history` (`cancel` and `wait`) before the window is deleted."""

    def __init__(self, shell: Shell, chart: ChartWidget, database: WindowDatabase, history: HistoryLoading) -> None:
        super().__init__(shell.window)
        self._shell, self._chart, self._database, self.history = shell, chart, database, history
        self.layer = ComparisonLayer()
        self._market: Market | None = None
        self._source: Market | None = None
        self._stored: CandleSeries | None = None
        self._shown: ResampledSeries | None = None
        self._wanted = ""
        self._has_failed = False
        """The last reading failed, with a notice."""
        self._is_opening: Callable[[], bool] = lambda: False
        self._is_asked = False
        """Open the list as soon as the market being opened is shown."""
        history.loaded.connect(self._on_loaded)
        history.later_loaded.connect(self._on_later)
        history.failed.connect(self._on_failed)
        shell.actions.wire({ActionId.COMPARE: self.open, ActionId.COMPARE_STOP: self.stop})
        shell.settings.changed.connect(self._on_settings)
        chart.series_changed.connect(self._follow)
        self._on_settings(shell.settings.current)

    @property
    def compared(self) -> Market | None:
        return Market.parse(self._wanted) if self._wanted else None

    def show_market(self, market: Market) -> None:
        """Set the shown market. The database is open."""
        former, self._market = self._market, market
        self._follow()
        if former is not None and former == self._source:  # its feed may have repaired older candles too
            self.history.start(former)
        self.read_on()
        if self._is_asked:
            self._is_asked = False
            self._offer(self._on_offer())

    def wait_for(self, is_opening: Callable[[], bool], refused: SignalInstance) -> None:
        """Set how to find out whether a market is being opened: markets that fit the previous one are then not
        offered."""
        self._is_opening = is_opening
        refused.connect(self._cancel_list)

    def read_on(self) -> None:
        """Read the other market's new candles, or all if none have been read. Does nothing while a read is running."""
        source, stored = self._source, self._stored
        if source is None or self.history.is_loading:
            return
        if stored is not None and len(stored):
            self.history.start(source, int(stored.open_time_ms[-1]))
        else:
            self.history.start(source)

    def reload(self, market: Market) -> None:
        """Stored candles of a market have changed: read them again, if they are shown here."""
        if market == self._source:
            self.history.start(market)

    def open(self) -> ComparedMarketDialog | None:
        """Open the list of markets. None if it is empty, or not ready yet."""
        markets = self._on_offer()
        if not markets and self._is_opening():
            self._is_asked = True
            words = translate("Chart", "Markets to compare with are listed once the market is open.")
            self._shell.banner.notify(words, key=_NOTICE, is_answer=True)
            return None
        return self._offer(markets)

    @Slot(object)
    def choose(self, market: Market) -> None:
        """Compare with this market in percent; choosing it again removes it."""
        shown = self._shell.settings.current.chart
        if str(market) == shown.compare:
            self.stop()
            return
        before = shown.scale_before_compare if shown.compare else shown.scale
        self._shell.settings.change_chart(compare=str(market), scale="percent", scale_before_compare=before)

    def stop(self) -> None:
        """Remove the comparison; restores the previous price scale unless another was chosen since."""
        shown = self._shell.settings.current.chart
        if shown.compare:
            scale = shown.scale_before_compare if shown.scale == "percent" else shown.scale
            self._shell.settings.change_chart(compare="", scale=scale)

    def _offer(self, markets: list[Market]) -> ComparedMarketDialog | None:
        if not markets:
            words = translate("Chart", "No other stored market can be compared with the one on the chart.")
            self._shell.banner.notify(words, key=_NOTICE, is_answer=True)
            return None
        dialog = ComparedMarketDialog(markets, self.compared, self._shell.window)
        dialog.chosen.connect(self.choose)
        return open_dialog(dialog)

    @Slot(object)
    def _on_settings(self, settings: Settings) -> None:
        self._shell.actions[ActionId.COMPARE_STOP].setEnabled(bool(settings.chart.compare))
        if settings.chart.compare != self._wanted:
            self._wanted = settings.chart.compare
            self._follow()

    @Slot()
    def _follow(self) -> None:
        """Apply a change of market, interval or selection; a market is never compared with itself."""
        wanted, interval = self.compared, self._chart.model.whole.interval
        if wanted is None or self._market is None or _name(wanted) == _name(self._market):
            self._clear()
            return
        source: Market | None = wanted
        if not _fits(wanted, interval):  # candles of another interval that fit the chart's, if there are any
            source = next((market for market in self._fitting(interval) if _name(market) == _name(wanted)), None)
        if source != self._source:
            self._clear()
            self._source = source
            if source is not None:
                self.history.start(source)
        self._show(wanted, interval)

    @Slot()
    def _cancel_list(self) -> None:
        self._is_asked = False

    def _clear(self) -> None:
        self.history.cancel()
        self._source = self._stored = self._shown = None
        self._has_failed = False
        self._chart.show_layer(self.layer, is_shown=False)

    def _show(self, wanted: Market, interval: Interval) -> None:
        series, words = None, ""
        if self._source is None:
            words = translate("Chart", "nothing stored can be shown as {0}").format(interval)
        elif self._stored is None:
            words = translate("Chart", "reading…")
        else:
            self._shown = ResampledSeries(self._stored, interval)
            series = self._shown.series
            own = self._chart.model.whole
            if len(series) and len(own) and not _overlap(_span(series), _span(own)):
                series, words = None, translate("Chart", "no candles at these times")
        self.layer.shown = Comparison(self._name_of(wanted), series, words)
        self._chart.show_layer(self.layer, is_shown=True)
        self._chart.layers_changed()

    def _name_of(self, wanted: Market) -> str:
        """The compared market's symbol, with its venue if that differs from the shown market's."""
        own = self._market
        symbol = symbols_apart([wanted] if own is None else [own, wanted])[wanted]
        if own is not None and own.venue == wanted.venue:
            return symbol
        return f"{symbol} ({venue_name(wanted.venue)})"

    def _on_offer(self) -> list[Market]:
        """One entry per market other than the shown one: the one being compared, or the one with the longest
        candles."""
        own, interval = self._market, self._chart.model.whole.interval
        if own is None:
            return []
        others = [market for market in self._fitting(interval) if _name(market) != _name(own)]
        chosen = [market for market in others if market == self.compared]
        found = {_name(market): market for market in (*reversed(others), *chosen)}
        return sorted(found.values(), key=lambda market: (market.venue != own.venue, market))

    def _fitting(self, interval: Interval) -> list[Market]:
        """The stored markets that can be shown at an interval, those with the longest candles first."""
        try:
            stored = self._database.stored_markets()
        except StorageError as error:
            self._shell.banner.notify(str(error), Severity.ERROR, _NOTICE)
            return []
        fitting = (market for market in stored if _fits(market, interval))
        return sorted(fitting, key=lambda market: -market.interval.duration_ms)

    @Slot(object, object)
    def _on_loaded(self, series: CandleSeries, _holes: object) -> None:
        self._stored, self._has_failed = series, False
        self._follow()
        self._warn_if_apart(series)

    def _warn_if_apart(self, other: CandleSeries) -> None:
        """Report that the two markets share no time, by all stored candles: the chart may still be reading its own."""
        own, wanted = self._market, self.compared
        if own is None or wanted is None:
            return
        try:
            stored = self._database.candles.columns_between(own, _BEFORE_ALL_MS, limit=1)
        except StorageError:
            return  # reading the chart's own candles meets the error again, and reports it
        whole, zone = self._chart.model.whole, self._chart.style_shown.time_zone
        if not len(stored) or not len(whole) or not len(other):
            return
        span, others = (int(stored.open_time_ms[0]), int(whole.open_time_ms[-1])), _span(other)
        if not _overlap(span, others):
            words = translate("Chart", "{0} has candles from {1} to {2}, and {3} from {4} to {5}: no time is in both.")
            days = [format_date(each, zone) for each in (*others, *span)]
            text = words.format(self._name_of(wanted), *days[:2], shown_symbol(own.venue, own.symbol), *days[2:])
            self._shell.banner.notify(text, Severity.WARNING, _NOTICE, is_answer=True)

    @Slot(object)
    def _on_later(self, later: CandleSeries) -> None:
        self._has_failed = False
        if self._stored is not None and self._shown is not None and len(later):
            self._stored.extend_columns(later.open_time_ms, later.values)
            self._shown.sync()
            self._chart.layers_changed()

    @Slot(str)
    def _on_failed(self, sentence: str) -> None:
        wanted, words = self.compared, translate("Chart", "Newer candles of {0} cannot be read. {1}")
        if wanted is not None and self._stored is None:
            words = translate("Chart", "{0} cannot be compared. {1}")
            self.layer.shown = Comparison(self._name_of(wanted), None, translate("Chart", "could not be read"))
            self._chart.layers_changed()
        if not self._has_failed and self._source is not None:  # the next candle's read may fail too
            self._shell.banner.notify(words.format(shown_market(self._source), sentence), Severity.WARNING, _NOTICE)
        self._has_failed = True


def _span(series: CandleSeries) -> tuple[int, int]:
    return int(series.open_time_ms[0]), int(series.open_time_ms[-1])


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]


def _name(market: Market) -> tuple[str, str]:
    return market.venue, market.symbol


def _fits(market: Market, interval: Interval) -> bool:
    """Whether its candles have that interval, or can be merged to it."""
    return interval.duration_ms % market.interval.duration_ms == 0
