"""The contents of a run's share page, from its stored record. No torch."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlite_utils import Database

from core.domain.candle import Interval, Market
from core.domain.challenger_sources import names_of
from core.domain.events import Ghost
from core.domain.quantities import BAND_90, FloatArray, Quantity
from core.evaluation.details import Timeline, evaluate_run, timeline_of
from core.evaluation.leaderboard import as_data, stored_leaderboard
from core.evaluation.summary import stored_incidents, summarise
from core.forecast.ghosts import ghosts
from core.market.shown_names import shown_symbol
from core.settings.tree import Settings, from_dict
from core.storage.candles import CandleStore
from core.storage.errors import StorageError
from core.storage.record_reader import RecordReader
from core.storage.runs import Run, RunStore

_NEWEST = 60
"""Candles on the chart."""
_HIDDEN = "…"
_FOLDERS = re.compile(r"""(?<![\w./:…])(?:/(?:[^\s/\\"'“”]+/)+|[A-Za-z]:\\(?:[^\s\\"'“”]+\\)*)(?=[^\s/\\"'“”])""")
"""The folders of an absolute path, to be removed; the file's name remains."""


@dataclass(frozen=True, slots=True, eq=False)
class NewestCandles:
    """n candles in time order; the ghosts were forecast from the last.

    open_time_ms: [n]. prices: [4, n], open, high, low, close. band_90: [2, n], the close's band of one candle before,
    NaN without a forecast.
    """

    interval: Interval
    open_time_ms: NDArray[np.int64]
    prices: FloatArray
    band_90: FloatArray
    ghosts: tuple[Ghost, ...]


@dataclass(frozen=True, slots=True, eq=False)
class SharedRun:
    """summary: as in `evaluate --json`, with the run's incidents and its leaderboard."""

    run: Run
    markets: tuple[Market, ...]
    """All that its model has learned."""
    settings: Settings
    """The settings that the run began with."""
    summary: dict[str, Any]
    timeline: Timeline
    first_ms: int | None
    """The opening time of the first candle that was forecast from; None: none was yet."""
    newest: NewestCandles | None


def read_shared(db: Database, run: Run, trade_cost: float, private: Sequence[str]) -> SharedRun:
    """trade_cost: the paper score's, as a share of a trade's value. private: texts that no page may show, such as the
    data folder's path. Raises StorageError."""
    try:
        settings = from_dict(json.loads(run.settings_json))[0]
    except ValueError as error:
        raise StorageError(f"The settings of run {run.run_id} are damaged in the database ({error}).") from error
    # Where a challenger's file lies, and what its command is given, say more than a stranger should know.
    names = names_of(settings.model.challengers)
    settings = replace(settings, model=replace(settings.model, challengers=names))
    reader, horizons = RecordReader(db, run.run_id), settings.model.horizons
    summary = {
        "file": f"{shown_symbol(run.market.venue, run.market.symbol)} ({run.market.venue})",
        **summarise(db, run),
        **evaluate_run(db, run, horizons, trade_cost),
    }
    summary["leaderboard"] = as_data(stored_leaderboard(db, [run]))
    summary["incidents"] = stored_incidents(reader, (run.head_id,))  # the model's too
    return SharedRun(
        run=run,
        markets=tuple(each.market for each in RunStore(db).members(run.head_id)),
        settings=settings,
        summary=_without(summary, private),
        timeline=timeline_of(db, run, horizons),
        first_ms=reader.nth_origin(0),
        newest=_newest(db, run, reader),
    )


def _without(value: Any, private: Sequence[str]) -> Any:
    """A value of JSON without these texts, and without the folders of absolute paths."""
    if isinstance(value, dict):
        return {key: _without(each, private) for key, each in value.items()}
    if isinstance(value, list):
        return [_without(each, private) for each in value]
    if isinstance(value, str):
        for text in private:
            value = value.replace(text, _HIDDEN)
        return _FOLDERS.sub("", value)
    return value


def _newest(db: Database, run: Run, reader: RecordReader) -> NewestCandles | None:
    origin_ms = reader.latest_origin_ms()
    forecast = None if origin_ms is None else reader.forecast_of(origin_ms)
    if origin_ms is None or forecast is None:
        return None
    interval = run.market.interval
    stored = CandleStore(db).columns_before(run.market, origin_ms + 1, _NEWEST)
    return NewestCandles(
        interval=interval,
        open_time_ms=stored.open_time_ms,
        prices=stored.values[:4],
        band_90=_band_90(reader, stored.open_time_ms),
        ghosts=ghosts(forecast.quantiles.shown, forecast.origin_close, origin_ms, interval),
    )


def _band_90(reader: RecordReader, opened: NDArray[np.int64]) -> FloatArray:
    band = np.full((2, opened.size), np.nan)
    if opened.size:
        past = reader.past_forecasts(1, int(opened[0]), int(opened[-1]) + 1, opened.size)
        is_shown = np.isin(past.target_open_time_ms, opened)
        moves = past.quantiles[is_shown][:, Quantity.CLOSE, list(BAND_90)]
        places = np.searchsorted(opened, past.target_open_time_ms[is_shown])
        band[:, places] = (past.origin_close[is_shown, None] * np.exp(moves)).T
    return band
