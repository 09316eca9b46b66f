"""The contract of a feed. `tests/core/market/feeds/test_contract.py` holds every feed to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from core.market.candle import Candle, Market


class FeedKind(StrEnum):
    """Where candles come from. Only EXCHANGE can make a forecast `live`."""

    EXCHANGE = "exchange"
    REPLAY = "replay"
    SIMULATED = "simulated"


class FeedState(StrEnum):
    """What the status bar says of the feed, one word; `FeedStatus.sentence` says it in full."""

    CONNECTING = "connecting"
    CATCHING_UP = "catching up"
    LIVE = "live"
    REPLAYING = "replaying"
    SIMULATED = "simulated"
    RECONNECTING = "reconnecting"
    ENDED = "ended"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class FeedStatus:
    """A change of the feed's state, in words a user understands."""

    state: FeedState
    sentence: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class ClosedCandle:
    """A candle that will not change any more. `is_live` is false for history and back-filled candles."""

    candle: Candle
    is_live: bool


@dataclass(frozen=True, slots=True)
class FormingCandle:
    """The candle that is still open, as it stands now. Never stored, never trained on."""

    candle: Candle


@dataclass(frozen=True, slots=True)
class CatchUpProgress:
    """How much of the start-up history has come."""

    done: int
    total: int


FeedEvent = FeedStatus | ClosedCandle | FormingCandle | CatchUpProgress


class FeedError(Exception):
    """A feed cannot go on. The message is a sentence for the user: what, why, what to do."""


class Feed(Protocol):
    """A source of candles for one market.

    `events()` first yields history (closed candles, ascending, `is_live` false), then goes on live until the
    feed ends, fails (FeedError) or is closed. Closed candles come in strictly ascending order, each once; a
    candle that the source does not have is missing, never invented. It may be iterated once.
    """

    @property
    def market(self) -> Market: ...

    @property
    def kind(self) -> FeedKind: ...

    def events(self, after_ms: int | None = None) -> AsyncIterator[FeedEvent]:
        """Iterate. Closed candles that opened at or before `after_ms` may be left out: they are stored already."""
        ...

    async def aclose(self) -> None:
        """Let go of sockets and files. Safe to call twice, and while `events()` is being iterated."""
        ...
