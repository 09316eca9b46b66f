"""Stored candles of several markets, learned close after close by a session alone: what every host has to equal."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import groupby, repeat

from sqlite_utils import Database

from core.domain.candle import Candle, Market
from core.domain.clock import Clock
from core.storage.candles import CandleStore
from core.storage.folder import DataFolder
from core.storage.runs import Run, RunStore
from core.training.commands import MarketCandle
from core.training.engine.device import prepare_thread, release_thread
from core.training.hosting.opening import open_run
from core.training.hosting.threads import device_with_threads
from core.training.online.trainer_spec import SessionSpec

_PAGE = 1000

Candles = list[tuple[int, Candle]]
"""Of one opening time, each with the index of its market."""


def learn_together(spec: SessionSpec, db: Database, clock: Clock) -> Sequence[Run]:
    """Learn all stored candles of its markets, in order of opening time, then of market. Returns a run of each."""
    with ExitStack() as closing:
        closing.callback(release_thread)
        prepare_thread()
        device = device_with_threads(spec.settings, DataFolder(spec.root).threads, clock)
        opened = open_run(spec, db, device, clock)
        for challenger in opened.session.challengers:
            closing.callback(challenger.close)
        for closed in closes([_stored(CandleStore(db), market) for market in spec.markets]):
            opened.session.on_close(
                [MarketCandle(candle, spec.own_mode, spec.markets[market]) for market, candle in closed]
            )
            assert not opened.session.is_paused
    return RunStore(db).members(opened.run.run_id)


def closes(markets: Sequence[Iterator[Candle]]) -> Iterator[Candles]:
    """The candles of several markets, each in time order, by opening time."""
    marked = [zip(repeat(index), market, strict=False) for index, market in enumerate(markets)]
    in_order = heapq.merge(*marked, key=lambda each: (each[1].open_time_ms, each[0]))
    for _, group in groupby(in_order, key=lambda each: each[1].open_time_ms):
        yield list(group)


def _stored(store: CandleStore, market: Market) -> Iterator[Candle]:
    after_ms: int | None = None
    while page := store.load(market, after_ms=after_ms, limit=_PAGE):
        yield from page
        after_ms = page[-1].open_time_ms
