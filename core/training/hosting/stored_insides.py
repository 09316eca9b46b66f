"""What stored finer candles say of a run's candles, to be found before its trainer starts. Imports no torch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from core.domain.candle import FILE_VENUE, Market
from core.market.feeds.base import Feed
from core.market.feeds.replay import ReplayFeed, StoredFeed
from core.market.history.stored_insides import store_insides
from core.settings.tree import from_dict
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.record_reader import RecordReader
from core.storage.runs import Run, RunStore
from core.training.online.trainer_spec import SessionSpec, in_order

if TYPE_CHECKING:
    from sqlite_utils import Database


def find_insides(database: Path, feeds: Mapping[Market, Feed]) -> None:
    """Give the stored candles of these markets the insides that stored finer ones, or the files of replays, have for
    them, and let feeds of stored candles know. To be called while no trainer runs. Raises StorageError.

    An inside never changes what a run has read: where one that reads insides has forecast already, none is added.
    """
    of_exchanges = [market for market in feeds if market.venue != FILE_VENUE and not market.is_simulated]
    stored = [feed for feed in feeds.values() if isinstance(feed, StoredFeed)]
    replays = [feed for feed in feeds.values() if isinstance(feed, ReplayFeed) and feed.insides]
    if not of_exchanges and not stored and not replays:
        return
    with closing(open_database(database, creates=False)) as db:
        store = CandleStore(db)
        for market in of_exchanges:
            store_insides(store, market, _read_until_ms(db, market))
        for replay in replays:  # its candles may have been stored by a replay without insides
            opened = store.times_without_inside(replay.market, _read_until_ms(db, replay.market)).tolist()
            found = {time_ms: replay.insides[time_ms] for time_ms in opened if time_ms in replay.insides}
            if found:
                store.add_insides(replay.market, found)
        for feed in stored:
            feed.has_insides = store.has_insides(feed.market)


def _read_until_ms(db: Database, market: Market) -> int | None:
    """The newest candle that a run which reads insides has forecast from; None without any."""
    runs = [run for run in RunStore(db).list() if run.market == market and run.fence and reads_inside(db, run)]
    newest = (RecordReader(db, run.run_id).latest_origin_ms() for run in runs)
    return max((each for each in newest if each is not None), default=None)


def reads_inside(db: Database, run: Run) -> bool:
    """Whether a run reads the inside of candles: unless its fingerprint is that of its settings without."""
    try:
        settings, _ = from_dict(json.loads(run.settings_json))
        first, *others = in_order([member.market for member in RunStore(db).members(run.head_id)])
    except ValueError:  # its row is damaged
        return True
    return run.fingerprint != SessionSpec(Path(), first, settings, others=tuple(others)).fingerprint
