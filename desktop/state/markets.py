"""The window's state of each market of the list and of the run, for chart, panels, Markets dock and Overview."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal

from core.domain.candle import Candle, Market
from core.domain.events import AccuracySummary, DriftFound, Estimate, ForecastMade, MarketStatus
from core.domain.passing_faults import PassingFault
from core.market.feeds.base import CatchUpProgress, FeedState, FeedStatus, FeedVitals
from core.market.pipeline import FeedReport
from core.market.shown_names import name_order
from desktop.ui.formatting import decimals_of_prices

CANDLES_KEPT = 60
"""The candles of each market that a small chart shows."""


@dataclass(frozen=True, slots=True)
class MarketRow:
    """One market. Everything but `status` belongs to the current run, and is dropped when the market leaves it."""

    market: Market
    run_id: str | None = None
    is_in_run: bool = False
    is_learned: bool = False
    """Whether the model learns from it; the run's other markets are forecast all the same."""
    is_opened: bool = False
    """Whether it was opened, or named on the command line: the run learns from it regardless of the list."""
    feed_status: FeedStatus | None = None
    catch_up: CatchUpProgress | None = None
    """Progress of the fetch of missing candles; None without one."""
    vitals: FeedVitals | None = None
    has_caught_up: bool = False
    """Whether its past candles are stored, or unavailable for now."""
    candles: tuple[Candle, ...] = ()
    """The newest closed ones, ascending, at most `CANDLES_KEPT`."""
    decimals: int | None = None
    """Decimals of the prices of these candles; None without candles."""
    forming: Candle | None = None
    committed: ForecastMade | None = None
    """The newest forecast of the model."""
    first_forecast: ForecastMade | None = None
    """The simple rules' forecast, until the trainer has caught up."""
    status: MarketStatus | None = None
    """The trainer's newest status, or the stored one."""

    @property
    def feed(self) -> FeedState | None:
        return None if self.feed_status is None else self.feed_status.state

    @property
    def feed_sentence(self) -> str:
        return "" if self.feed_status is None else self.feed_status.sentence

    @property
    def passing(self) -> PassingFault | None:
        """Why its candles cannot be stored at present."""
        return None if self.feed_status is None else self.feed_status.passing

    @property
    def newest(self) -> Candle | None:
        """The forming candle, else the newest closed one."""
        return self.forming or (self.candles[-1] if self.candles else None)

    @property
    def forecast(self) -> ForecastMade | None:
        """The forecast with the latest origin; of equal ones, the model's."""
        first, committed = self.first_forecast, self.committed
        if first is None or committed is None:
            return committed or first
        return first if first.origin_open_time_ms > committed.origin_open_time_ms else committed

    @property
    def accuracy(self) -> AccuracySummary | None:
        return None if self.status is None else self.status.accuracy

    @property
    def position_ms(self) -> int | None:
        """Opening time of the newest candle that the trainer has received."""
        return None if self.status is None else self.status.position_ms

    @property
    def skill(self) -> Estimate | None:
        """The skill on the shown closes, with its interval."""
        return None if self.accuracy is None else self.accuracy.skill_close

    @property
    def model_gain(self) -> Estimate | None:
        """The model's gain over the baselines, close and range in equal parts."""
        gains = None if self.accuracy is None else self.accuracy.model_gain
        return None if gains is None else gains[0]


class MarketsState(QObject):
    """Updated by the feeds' listeners and by `RunState`. Lives in the window's thread; holds nothing about markets that
    are neither in the list nor in the run."""

    changed = Signal(object)
    """Market: its row differs now."""
    listed = Signal()
    """The markets or their order have changed."""
    closed = Signal(object, object)
    """Market, and a sequence of its candles that have closed and are stored."""
    corrected = Signal(object, object)
    """Market, and the candle that was stored in place of a closed one."""
    forming_changed = Signal(object, object)
    """Market, Candle"""
    feed_changed = Signal(object, object)
    """Market, or None while a market is being opened; FeedStatus or CatchUpProgress."""
    reported = Signal(object, object)
    """Market and FeedReport: what its feed reports about itself."""
    drift_found = Signal(object, object)
    """Market and DriftFound."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._list: tuple[Market, ...] = ()
        self.universe: tuple[Market, ...] = ()
        """The markets of the run, its head first."""
        self._rows: dict[Market, MarketRow] = {}

    def row(self, market: Market) -> MarketRow:
        """The market's row; an empty one for an unknown market."""
        return self._rows.get(market) or MarketRow(market)

    def rows(self) -> tuple[MarketRow, ...]:
        """Rows of markets that only the run has, by name, then the list's in its order."""
        return tuple(self._rows.values())

    def set_list(self, markets: Iterable[Market]) -> None:
        self._list = tuple(dict.fromkeys(markets))
        self._arrange()

    def set_universe(self, markets: Iterable[Market]) -> None:
        """The markets of the run, its head first. The scores of a market that leaves it stay known."""
        self.universe = tuple(markets)
        self._arrange()
        for market, row in tuple(self._rows.items()):
            if market not in self.universe:
                self._show(MarketRow(market, status=row.status))
            elif not row.is_in_run:
                self._put(market, is_in_run=True, is_learned=True)

    def set_opened(self, markets: Collection[Market]) -> None:
        """Set the run's markets that it learns from regardless of the list."""
        for market in self.universe:
            self._put(market, is_opened=market in markets)

    def set_run(self, market: Market, run_id: str) -> None:
        """Set the run of this market's forecasts and scores; those of another run are dropped."""
        row = self.row(market)
        if row.run_id not in (None, run_id):
            self._put(market, committed=None, status=None)
        self._put(market, run_id=run_id)

    def begin_feed(self, market: Market) -> None:
        """Reset the state of its feed, as a new one has been opened."""
        self._put(market, feed_status=None, catch_up=None, vitals=None, forming=None, has_caught_up=False)

    def forget_forecasts(self, market: Market) -> None:
        """Called until the run is known whose forecasts to show."""
        self._put(market, committed=None, first_forecast=None)

    def add_stored(self, market: Market, candles: Sequence[Candle]) -> None:
        """Add closed candles, new, old or corrected."""
        row = self._rows.get(market)
        if row is None or not candles:
            return
        merged = {candle.open_time_ms: candle for candle in (*row.candles, *candles[-CANDLES_KEPT:])}
        newest = tuple(merged[at_ms] for at_ms in sorted(merged))[-CANDLES_KEPT:]
        is_over = row.forming is not None and row.forming.open_time_ms <= newest[-1].open_time_ms
        decimals = decimals_of_prices([price for candle in newest for price in (candle.open, candle.close)])
        self._put(market, candles=newest, decimals=decimals, **({"forming": None} if is_over else {}))

    def add_closed(self, market: Market, candles: Sequence[Candle]) -> None:
        """Add the feed's closed and stored candles, in ascending time."""
        self.add_stored(market, candles)
        self.closed.emit(market, candles)

    def correct(self, market: Market, candle: Candle) -> None:
        """Replace a closed candle that the feed has corrected; it is stored."""
        self.add_stored(market, (candle,))
        self.corrected.emit(market, candle)

    def set_forming(self, market: Market, candle: Candle) -> None:
        row = self.row(market)
        if not row.candles or candle.open_time_ms > row.candles[-1].open_time_ms:
            self._put(market, forming=candle)
        self.forming_changed.emit(market, candle)

    def on_feed_event(self, market: Market | None, event: FeedStatus | CatchUpProgress) -> None:
        """Update the row. market: None while a market is being opened."""
        if market is not None and isinstance(event, FeedStatus):
            row = self.row(market)
            self._put(
                market,
                feed_status=event,
                catch_up=None if event.state.is_over else row.catch_up,
                has_caught_up=row.has_caught_up or not event.state.is_loading_history,
            )
        elif market is not None and isinstance(event, CatchUpProgress):
            self._put(market, catch_up=event if event.done < event.total else None)
        self.feed_changed.emit(market, event)

    def on_report(self, market: Market, report: FeedReport) -> None:
        if isinstance(report, FeedVitals):
            self._put(market, vitals=report)
        self.reported.emit(market, report)

    def set_status(self, status: MarketStatus) -> None:
        member = status.member
        self.set_run(member.market, member.run_id)
        self._put(member.market, status=status, is_learned=member.is_learned)

    def set_learned(self, market: Market, *, is_learned: bool) -> None:
        self._put(market, is_learned=is_learned)

    def add_forecast(self, market: Market, forecast: ForecastMade) -> None:
        """Set a committed forecast, unless there is a newer one: after a crash, older ones come again."""
        former = self.row(market).committed
        if former is None or former.origin_open_time_ms <= forecast.origin_open_time_ms:
            self._put(market, committed=forecast)

    def add_first_forecast(self, market: Market, forecast: ForecastMade) -> None:
        """Set the forecast of the simple rules."""
        self._put(market, first_forecast=forecast)

    def add_drift(self, market: Market, drift: DriftFound) -> None:
        if market in self.universe:
            self.drift_found.emit(market, drift)

    def _arrange(self) -> None:
        """Keep rows for all markets of the list and of the run, and no others."""
        only_in_run = sorted(set(self.universe).difference(self._list), key=name_order)
        markets = (*only_in_run, *self._list)
        if markets != tuple(self._rows):
            self._rows = {market: self.row(market) for market in markets}
            self.listed.emit()

    def _put(self, market: Market, **changes: object) -> None:
        if market in self._rows:
            self._show(replace(self._rows[market], **changes))  # type: ignore[arg-type]  # as `MarketRow` has them

    def _show(self, row: MarketRow) -> None:
        if row != self._rows[row.market]:
            self._rows[row.market] = row
            self.changed.emit(row.market)
