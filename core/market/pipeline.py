"""From a feed to the candle table: checked, stored, and only then told to whoever listens."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Protocol

from core.clock import Clock
from core.market.candle import Candle, Market
from core.market.feeds.base import (
    CatchUpProgress,
    ClosedCandle,
    Feed,
    FeedError,
    FeedEvent,
    FeedState,
    FeedStatus,
    FormingCandle,
)
from core.market.validate import Rejection, Validator

_BATCH_CANDLES = 256
_BATCH_S = 0.05
_log = logging.getLogger("ghostcandle.feed")


class CandleSink(Protocol):
    """The table. `core.storage.candles.CandleStore` is one."""

    def save(self, market: Market, candles: Sequence[Candle]) -> int: ...

    def latest_open_time_ms(self, market: Market) -> int | None: ...


class PipelineListener(Protocol):
    """Who is told. Called on the loop that `run` is awaited on."""

    def on_closed(self, candles: Sequence[Candle], live_open_times_ms: tuple[int, ...]) -> None:
        """These candles are durable; those of these opening times came live."""
        ...

    def on_forming(self, candle: Candle) -> None: ...

    def on_status(self, status: FeedStatus) -> None: ...

    def on_catch_up(self, progress: CatchUpProgress) -> None: ...

    def on_rejected(self, candle: Candle, rejection: Rejection) -> None: ...


class MarketPipeline:
    """Consumes one feed. A flood of candles is stored in batches; a live one waits for nothing."""

    def __init__(self, feed: Feed, store: CandleSink, clock: Clock, listener: PipelineListener) -> None:
        self._feed = feed
        self._store = store
        self._clock = clock
        self._listener = listener
        self._validator: Validator | None = None
        self._batch: list[ClosedCandle] = []
        self._batch_began_s = 0.0

    async def run(self) -> None:
        """Until the feed ends, fails or this is cancelled. What goes wrong becomes a FAILED status, never a raise."""
        try:
            async for event in self._feed.events(self._store.latest_open_time_ms(self._feed.market)):
                self._take(event)
            self._flush()
        except FeedError as error:
            self._fail(str(error))
        except Exception as error:  # a feed is other people's code: none of its faults may end the window's loop
            _log.exception("the feed of %s failed", self._feed.market)
            self._fail(f"The feed failed: {error}. Choose the market again to go on; stored candles stay.")
        finally:
            await self._feed.aclose()

    def _take(self, event: FeedEvent) -> None:
        match event:
            case ClosedCandle():
                self._take_closed(event)
            case FormingCandle(candle=candle):
                self._take_forming(candle)
            case FeedStatus():
                self._flush()
                _log.info("%s: %s", event.state.value, event.sentence)
                self._listener.on_status(event)
            case CatchUpProgress():
                self._listener.on_catch_up(event)

    def _take_closed(self, closed: ClosedCandle) -> None:
        rejection = self._check(closed.candle)
        if rejection is not None:
            self._reject(closed.candle, rejection)
            return
        if not self._batch:
            self._batch_began_s = self._clock.monotonic_s()
        self._batch.append(closed)
        is_old = self._clock.monotonic_s() - self._batch_began_s >= _BATCH_S
        if closed.is_live or len(self._batch) >= _BATCH_CANDLES or is_old:
            self._flush()

    def _take_forming(self, candle: Candle) -> None:
        self._flush()
        if self._validator is not None and self._validator.check_forming(candle) is not None:
            return
        self._listener.on_forming(candle)

    def _check(self, candle: Candle) -> Rejection | None:
        if self._validator is None:
            interval = self._feed.market.interval
            self._validator = Validator(interval, candle.open_time_ms % interval.duration_ms)
        return self._validator.check(candle)

    def _reject(self, candle: Candle, rejection: Rejection) -> None:
        _log.warning("%s", rejection.sentence)
        self._listener.on_rejected(candle, rejection)

    def _flush(self) -> None:
        if not self._batch:
            return
        batch, self._batch = self._batch, []
        candles = [closed.candle for closed in batch]
        self._store.save(self._feed.market, candles)
        live = tuple(closed.candle.open_time_ms for closed in batch if closed.is_live)
        self._listener.on_closed(candles, live)

    def _fail(self, sentence: str) -> None:
        self._listener.on_status(FeedStatus(FeedState.FAILED, sentence, self._clock.now_ms()))
