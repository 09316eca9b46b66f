"""What the window knows of each market of the list and of the run: one owner; Markets and Overview only read it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import singledispatchmethod

from PySide6.QtCore import QObject, Signal

from core.domain.candle import Candle, Market
from core.domain.events import (
    AccuracySummary,
    DriftFound,
    Estimate,
    FirstForecast,
    ForecastMade,
    TrainerReady,
    TrainerStatus,
)
from core.market.feeds.base import FeedState, FeedStatus
from core.market.shown_names import name_order
from desktop.ui.formatting import decimals_of_prices

CANDLES_KEPT = 60
"""Of each market: what a small chart shows."""


@dataclass(frozen=True, slots=True)
class MarketRow:
    """One market. Everything but `accuracy` and `position_ms` is of the current run, and gone when it leaves it."""

    market: Market
    run_id: str | None = None
    is_in_run: bool = False
    is_learned: bool = False
    """Whether the model learns from it; one of the run that it does not learn from is forecast all the same."""
    is_opened: bool = False
    """Opened, or named on the command line: the run learns from it whatever the list says."""
    feed: FeedState | None = None
    feed_sentence: str = ""
    needs_room: bool = False
    """The feed was stopped by a full disk."""
    candles: tuple[Candle, ...] = ()
    """The newest closed ones, ascending, at most `CANDLES_KEPT`."""
    decimals: int | None = None
    """As many as the prices of these candles have; None: there are none yet."""
    forming: Candle | None = None
    forecast: ForecastMade | None = None
    """The one that reaches furthest."""
    accuracy: AccuracySummary | None = None
    position_ms: int | None = None
    """Opening time of the newest candle that the trainer has taken."""

    @property
    def newest(self) -> Candle | None:
        """The forming candle, else the newest that closed."""
        return self.forming or (self.candles[-1] if self.candles else None)

    @property
    def skill(self) -> Estimate | None:
        """Of the shown closes, with its interval."""
        return None if self.accuracy is None else self.accuracy.skill_close

    @property
    def model_gain(self) -> Estimate | None:
        """What the model adds to the baselines, close and range in equal parts."""
        gains = None if self.accuracy is None else self.accuracy.model_gain
        return None if gains is None else gains[0]


class MarketsState(QObject):
    """Takes what feeds and trainer report of each market. Lives in the window's thread; holds nothing of a market that
    is neither in the list nor in the run."""

    changed = Signal(object)
    """Market: its row differs now."""
    listed = Signal()
    """There are other markets, or they are in another order."""
    drift_found = Signal(object, object)
    """Market and DriftFound, as it comes."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._list: tuple[Market, ...] = ()
        self.universe: tuple[Market, ...] = ()
        """The markets of the run, its head first."""
        self._rows: dict[Market, MarketRow] = {}
        self._by_run: dict[str, Market] = {}

    def row(self, market: Market) -> MarketRow:
        """An empty one for a market that is unknown here."""
        return self._rows.get(market) or MarketRow(market)

    def rows(self) -> tuple[MarketRow, ...]:
        """Those that only the run has, by name, then those of the list in its order."""
        return tuple(self._rows.values())

    def market_of(self, run_id: str) -> Market | None:
        """Whose run this is; None for one that is not the run's."""
        return self._by_run.get(run_id)

    def set_list(self, markets: Iterable[Market]) -> None:
        self._list = tuple(dict.fromkeys(markets))
        self._arrange()

    def set_universe(self, markets: Iterable[Market]) -> None:
        """The markets of the run, its head first. What a market that leaves it was worth stays known."""
        self.universe = tuple(markets)
        self._by_run = {run_id: market for run_id, market in self._by_run.items() if market in self.universe}
        self._arrange()
        for market, row in tuple(self._rows.items()):
            if market not in self.universe:
                self._show(MarketRow(market, accuracy=row.accuracy, position_ms=row.position_ms))
            elif not row.is_in_run:
                self._put(market, is_in_run=True, is_learned=True)

    def set_opened(self, markets: Collection[Market]) -> None:
        """Those of the run that it learns from whatever the list says."""
        for market in self.universe:
            self._put(market, is_opened=market in markets)

    def set_run(self, market: Market, run_id: str) -> None:
        """The run that holds this market's forecasts and scores; another one's are not this one's."""
        row = self._rows.get(market)
        if row is None:
            return
        self._by_run[run_id] = market
        if row.run_id not in (None, run_id):
            self._by_run.pop(row.run_id or "", None)
            self._put(market, forecast=None, accuracy=None, position_ms=None)
        self._put(market, run_id=run_id)

    def add_closed(self, market: Market, candles: Sequence[Candle]) -> None:
        """Closed candles, new, old or corrected."""
        row = self._rows.get(market)
        if row is None or not candles:
            return
        merged = {candle.open_time_ms: candle for candle in (*row.candles, *candles[-CANDLES_KEPT:])}
        newest = tuple(merged[at_ms] for at_ms in sorted(merged))[-CANDLES_KEPT:]
        is_over = row.forming is not None and row.forming.open_time_ms <= newest[-1].open_time_ms
        decimals = decimals_of_prices([price for candle in newest for price in (candle.open, candle.close)])
        self._put(market, candles=newest, decimals=decimals, **({"forming": None} if is_over else {}))

    def set_forming(self, market: Market, candle: Candle | None) -> None:
        """The candle that is still open."""
        row = self._rows.get(market)
        if row is None or (candle is not None and row.candles and candle.open_time_ms <= row.candles[-1].open_time_ms):
            return
        self._put(market, forming=candle)

    def take_feed(self, market: Market, event: object) -> None:
        """A FeedStatus; whatever else a feed reports is not shown here."""
        if isinstance(event, FeedStatus):
            self._put(market, feed=event.state, feed_sentence=event.sentence, needs_room=event.needs_room)

    def set_summary(
        self, market: Market, accuracy: AccuracySummary, position_ms: int | None, *, is_learned: bool = True
    ) -> None:
        """What the trainer says of one market."""
        self._put(market, accuracy=accuracy, position_ms=position_ms, is_learned=is_learned)

    @singledispatchmethod
    def apply(self, event: object) -> None:
        """Take an event of any run; those of other runs are dropped."""

    @apply.register
    def _(self, event: TrainerReady) -> None:
        if self.universe and not event.members:
            self.set_run(self.universe[0], event.run_id)
        for member in event.members:
            self.set_run(member.market, member.run_id)
            self._put(member.market, is_learned=member.is_learned)

    @apply.register
    def _(self, event: TrainerStatus) -> None:
        for each in event.markets:
            self.set_run(each.member.market, each.member.run_id)
            self.set_summary(each.member.market, each.accuracy, each.position_ms, is_learned=each.member.is_learned)
        market = self._by_run.get(event.run_id)
        if market is not None and not event.markets:
            self._put(market, accuracy=event.accuracy, position_ms=event.position_ms)

    @apply.register
    def _(self, event: DriftFound) -> None:
        if (market := self._by_run.get(event.run_id)) is not None:
            self.drift_found.emit(market, event)

    @apply.register
    def _(self, event: ForecastMade) -> None:
        self._take_forecast(self._by_run.get(event.run_id), event)

    @apply.register
    def _(self, event: FirstForecast) -> None:
        """It names no run, and no market if there is only one."""
        first = self.universe[0] if self.universe else None
        self._take_forecast(event.market or first, event.forecast)

    def _take_forecast(self, market: Market | None, forecast: ForecastMade) -> None:
        row = None if market is None else self._rows.get(market)
        former = None if row is None else row.forecast
        if market is not None and (former is None or _reach(former) <= _reach(forecast)):
            self._put(market, forecast=forecast)

    def _arrange(self) -> None:
        """Rows for all of the list and of the run, and for no other."""
        only_in_run = sorted(set(self.universe).difference(self._list), key=name_order)
        wanted = (*only_in_run, *self._list)
        if wanted != tuple(self._rows):
            self._rows = {market: self.row(market) for market in wanted}
            self.listed.emit()

    def _put(self, market: Market, **changes: object) -> None:
        if market in self._rows:
            self._show(replace(self._rows[market], **changes))  # type: ignore[arg-type]  # as `MarketRow` has them

    def _show(self, row: MarketRow) -> None:
        if row != self._rows[row.market]:
            self._rows[row.market] = row
            self.changed.emit(row.market)


def _reach(forecast: ForecastMade) -> tuple[int, bool]:
    """Of the same candle, a committed forecast stays and the simple rules' is replaced."""
    return forecast.origin_open_time_ms, not forecast.is_by_simple_rules
