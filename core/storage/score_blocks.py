"""Reads scores and their forecasts as columns, in blocks or of one horizon. Damaged rows are skipped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.domain.events import ForecastMode
from core.storage.checksums import Row, SealedTable, intact_rows, intact_with_details
from core.storage.database import select
from core.storage.packing import MODES, Records, flag, losses_of, records_in, unpack_drawn, unpack_scores
from core.storage.record_tables import DETAILS, FORECASTS, RUN, scores_at
from core.storage.records import ONLINE_LOSSES, SHOWN_LOSSES
from core.storage.rows import REGIME_COLUMNS, to_checkpoint_id

if TYPE_CHECKING:
    from sqlite_utils import Database

OnDamage = Callable[[SealedTable, int], None]
"""Called with the table and the id of a damaged row."""
_REGIMES = f"""
SELECT origin_open_time_ms, {", ".join(REGIME_COLUMNS)} FROM conditions
WHERE run_id = ? AND origin_open_time_ms BETWEEN ? AND ? ORDER BY origin_open_time_ms
"""
_FOREVER = 2**63 - 1


@dataclass(frozen=True, slots=True, eq=False)
class ScoreBlock:
    """Scores, n of them, ascending by target and version."""

    target_open_time_ms: NDArray[np.int64]
    version: NDArray[np.int64]
    scored_at_ms: NDArray[np.int64]
    records: Records
    losses: Sequence[bytes]
    """The experts' losses; empty if they are not stored or not requested."""
    read_until_ms: int
    """The newest target read."""
    is_end: bool
    """Whether this is the last block."""

    def __len__(self) -> int:
        return len(self.target_open_time_ms)

    def at(self, horizon: int) -> ScoreBlock:
        return self.selected(self.records["horizon"] == horizon)

    @property
    def newest(self) -> ScoreBlock:
        """The newest version of each target, for the scores of one horizon."""
        target = self.target_open_time_ms
        is_newest = np.ones(len(target), dtype=np.bool_)
        is_newest[:-1] = target[1:] != target[:-1]
        return self if is_newest.all() else self.selected(is_newest)

    def selected(self, which: NDArray[np.bool_]) -> ScoreBlock:
        losses = [self.losses[place] for place in np.flatnonzero(which).tolist()]
        columns = (self.target_open_time_ms[which], self.version[which], self.scored_at_ms[which], self.records[which])
        return ScoreBlock(*columns, losses, self.read_until_ms, self.is_end)


class BlockReader:
    """Reads one run. All methods raise StorageError."""

    def __init__(self, db: Database, run_id: str, on_damage: OnDamage) -> None:
        self._db = db
        self.run_id = run_id
        self._on_damage = on_damage

    def scores(
        self, table: SealedTable, first_ms: int, last_ms: int = _FOREVER, most: int = -1, *, with_losses: bool
    ) -> ScoreBlock:
        """The first `most` rows (all: -1) of targets that open in first_ms..last_ms, in all versions and at all
        horizons of the table. A target is never split."""
        detail = DETAILS[table]
        columns, join = table.select("s"), ""
        if with_losses:
            columns, join = f"{columns}, {detail.select('d')}", f"LEFT JOIN {detail.name} AS d ON d.id = s.id"
        sql = (
            f"SELECT {columns} FROM {table.name} AS s {join} WHERE s.run = {RUN} "
            "AND s.target_open_time_ms BETWEEN ? AND ? "
            "ORDER BY s.target_open_time_ms, s.version LIMIT ?"
        )
        found = select(self._db, sql, (self.run_id, first_ms, last_ms, most))
        if with_losses:
            rows = intact_with_details(table, detail, found, self._on_damage)
        else:
            rows = [(row, None) for row in intact_rows(table, found, self._on_damage)]
        is_end = most < 0 or len(found) < most or not rows
        if not is_end:  # the last target may have further versions
            rows = [each for each in rows if each[0][2] != rows[-1][0][2]] or rows
        read_until_ms = int(rows[-1][0][2]) if rows else first_ms - 1
        return _to_block([row for row, _ in rows], [losses for _, losses in rows], read_until_ms, is_end)

    def forecasts(self, block: ScoreBlock) -> dict[int, Row]:
        """The rows of the table `forecasts` for these scores, by origin; may include others of the same time."""
        if not len(block):
            return {}
        origins = block.records["origin_open_time_ms"]
        sql = (
            f"SELECT {FORECASTS.select()} FROM forecasts WHERE run = {RUN} "
            "AND origin_open_time_ms BETWEEN ? AND ? ORDER BY origin_open_time_ms"
        )
        found = select(self._db, sql, (self.run_id, int(origins.min()), int(origins.max())))
        return {int(row[2]): row for row in intact_rows(FORECASTS, found, self._on_damage)}

    def regimes(self, block: ScoreBlock) -> dict[int, list[float]]:
        """REGIME_COLUMNS at the origins of these scores, by origin; may include others of the same time."""
        if not len(block):
            return {}
        origins = block.records["origin_open_time_ms"]
        rows = select(self._db, _REGIMES, (self.run_id, int(origins.min()), int(origins.max())))
        return {int(origin): regime for origin, *regime in rows}

    def with_forecasts(
        self, block: ScoreBlock, known: dict[int, Row] | None = None
    ) -> tuple[ScoreBlock, ForecastBlock]:
        """The scores whose forecast exists, and those forecasts: both [n]. known: the result of `forecasts`."""
        rows = self.forecasts(block) if known is None else known
        wanted = list(
            zip(block.records["origin_open_time_ms"].tolist(), block.records["horizon"].tolist(), strict=True)
        )
        here = [origin in rows and horizon <= rows[origin][10] for origin, horizon in wanted]
        if not all(here):
            block = block.selected(np.array(here, dtype=np.bool_))
            wanted = [each for each, is_here in zip(wanted, here, strict=True) if is_here]
        chosen = [rows[origin] for origin, _ in wanted]
        return block, ForecastBlock(self.run_id, chosen, [horizon for _, horizon in wanted])


class ForecastBlock:
    """Forecasts of one horizon each, as columns: [n]."""

    def __init__(self, run_id: str, rows: Sequence[Row], horizons: Sequence[int]) -> None:
        self._run_id, self._rows, self._horizons = run_id, rows, horizons

    def integers(self, name: str) -> NDArray[np.int64]:
        return np.array(self._column(name), dtype=np.int64)

    @property
    def origin_close(self) -> NDArray[np.float64]:
        return np.array(self._column("origin_close"), dtype=np.float64)

    @property
    def checkpoint_id(self) -> tuple[str | None, ...]:
        return tuple(to_checkpoint_id(self._run_id, each) for each in self._column("checkpoint_id"))

    @property
    def quantiles(self) -> NDArray[np.float64]:
        """[n, Q, L], NaN for quantiles not drawn (`packing.unpack_drawn`)."""
        if not self._rows:
            return np.empty((0, 1, 1))
        return unpack_drawn(b"".join(map(_drawn, self._rows, self._horizons)), *self._rows[0][11:13])

    @property
    def before(self) -> NDArray[np.float64]:
        """The median close return of the previous horizon; 0 for the first one."""
        medians = [_median_before(row, horizon) for row, horizon in zip(self._rows, self._horizons, strict=True)]
        return np.array(medians, dtype=np.float64)

    def _column(self, name: str) -> list[Any]:
        place = FORECASTS.names.index(name)
        return [row[place] for row in self._rows]


def _drawn(row: Row, horizon: int) -> bytes:
    size = len(row[13]) // row[10]
    drawn: bytes = row[13][(horizon - 1) * size : horizon * size]
    return drawn


def _median_before(row: Row, horizon: int) -> float:
    if horizon == 1:
        return 0.0
    place = 4 * (row[12] // 2)
    return float(np.frombuffer(_drawn(row, horizon - 1)[place : place + 4], "<f4")[0])


def _to_block(rows: Sequence[Row], losses: Sequence[bytes | None], read_until_ms: int, is_end: bool) -> ScoreBlock:
    counts = np.array([records_in(row[7]) for row in rows], dtype=np.int64)
    records = unpack_scores(row[7] for row in rows)
    place = np.repeat(np.arange(len(rows)), counts)
    target, version, at_ms = (np.array([row[column] for row in rows], dtype=np.int64)[place] for column in (2, 3, 6))
    everyones = losses_of(records, place, losses) if any(losses) else [b""] * len(records)
    return ScoreBlock(target, version, at_ms, records, everyones, read_until_ms, is_end)


@dataclass(frozen=True, slots=True, eq=False)
class ScoredRows:
    """n scores of one horizon, ascending by target."""

    columns: dict[str, NDArray[Any]]
    """[n] each, named as in `StoredScore`; direction_hit: 1 hit, 0 missed, -1 not counted; losses that a score lacks
    are NaN. Also origin_close; close [n, level], the shown quantiles of the close return; regime, the index in
    REGIME_COLUMNS of the likeliest regime at the origin, -1 if unknown."""
    losses: Sequence[bytes]
    """[n], packed (`core.forecast.experts.pack_losses`)."""
    read_until_ms: int
    """The newest target read, even if it is not among these scores."""
    is_end: bool
    """Whether it is the last one."""

    def __len__(self) -> int:
        return len(self.losses)


def read_scored(
    blocks: BlockReader, own_mode: ForecastMode, horizons: Sequence[int], after_ms: int, most: int
) -> dict[int, ScoredRows]:
    """A run's scores among the first `most` targets (-1: of all) that opened after this time, each in its newest
    version, by horizon. Raises StorageError.

    own_mode: forecasts of other modes are scored separately, and are left out. horizons: those that are stored
    together: the first one, or further ones.
    """
    block = blocks.scores(scores_at(horizons[0]), after_ms + 1, most=most, with_losses=True)
    forecasts = blocks.forecasts(block)
    regimes = {origin: regime.index(max(regime)) for origin, regime in blocks.regimes(block).items()}

    def rows(of: ScoreBlock) -> ScoredRows:
        own, made = blocks.with_forecasts(of.selected(of.records["mode"] == MODES[own_mode]), forecasts)
        return _rows(own, made, regimes)

    return {horizon: rows(block.at(horizon).newest) for horizon in horizons}


def _rows(block: ScoreBlock, made: ForecastBlock, regimes: dict[int, int]) -> ScoredRows:
    records = block.records
    regime = [regimes.get(origin, -1) for origin in records["origin_open_time_ms"].tolist()]
    columns = {
        "target_open_time_ms": block.target_open_time_ms,
        "version": block.version,
        **{name: flag(records, name) for name in ("after_gap", "inside_50", "inside_90")},
        **{name: records[name] for name in (*SHOWN_LOSSES.values(), *ONLINE_LOSSES, "direction_hit")},
        "origin_close": made.origin_close,
        "close": made.quantiles[:, 0],
        "regime": np.array(regime, dtype=np.int8),
    }
    return ScoredRows(columns, block.losses, block.read_until_ms, block.is_end)
