"""A synthetic record of many scored candles, thinned by the current rules: its size on disk, and the time to read it.
No torch: nothing is trained."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.domain.candle import Candle, Interval, Market
from core.domain.clock import Clock
from core.domain.diagnosis import GradientStatistics, LayerStatistics
from core.domain.events import ForecastMode
from core.domain.quantities import LEVELS, QUANTITIES, FloatArray
from core.evaluation.findings import Request
from core.evaluation.running import RunningAccuracy
from core.evaluation.summary import summarise
from core.forecast.experts import LOSS_ROWS, Quantiles, pack_losses
from core.settings.record import RecordSettings
from core.storage.candles import CandleStore
from core.storage.checksums import Row, SealedTable
from core.storage.database import open_database, write
from core.storage.folder import DataFolder
from core.storage.packing import MODES, NUMBERS, digest_of, pack_gradients, packed_scores, unpack_exact
from core.storage.record_tables import DETAILS, FORECASTS, FURTHER_SCORES, SCORES, STEPS
from core.storage.record_thinning import Thinner, ThinningRules
from core.storage.record_writer import TrainingRecord
from core.storage.records import StoredForecast, StoredScore
from core.storage.rows import forecast_values, score_values
from core.storage.runs import RunStore
from core.training.online.evidence import RunEvidence

if TYPE_CHECKING:
    from sqlite_utils import Database

_MARKET = Market("binance", "BTC/USDT", Interval.parse("1m"))
_HORIZONS, _LAYERS, _PATTERNS, _AT_ONCE = 8, 29, 64, 1_000
_THINNED_CANDLES = 10_000
"""Number of candles stored with all details and then thinned. Earlier ones are stored as they would be after that."""
_STEP_MS = _MARKET.interval.duration_ms
_START_MS = 1_735_689_600_000

Progress = Callable[[int, int], object]


def measure_record(
    root: Path, candles: int, rules: RecordSettings, clock: Clock, on_progress: Progress
) -> dict[str, Any]:
    """Plain data, fit for JSON. Keeps the data folder, so that it can be opened. Raises StorageError."""
    folder = DataFolder(root)
    folder.ensure()
    run_id = _write_record(folder, candles, rules, on_progress)
    size = folder.database.stat().st_size
    detailed = min(candles, max(rules.keep_detail_days * 86_400_000 // _STEP_MS, rules.keep_detail_candles) or candles)
    return {
        "candles": candles,
        "detailed_candles": detailed,
        "bytes": size,
        "bytes_a_candle": size / candles,
        **_bytes_by_age(folder.database, candles, detailed),
        **_times(folder.database, run_id, clock),
    }


def _write_record(folder: DataFolder, candles: int, rules: RecordSettings, on_progress: Progress) -> str:
    with closing(open_database(folder.database)) as db:
        runs = RunStore(db)
        run = runs.create(
            _MARKET, "made up", created_at_ms=_START_MS, seed=0, is_seeded=True,
            settings_json=json.dumps({"online": {"twin_age": 2000}}), device="none", parameters=0,
        )  # fmt: skip
        record = TrainingRecord(db, run.run_id, runs.acquire_fence(run.run_id))
        kept = max(rules.keep_detail_days * 1440, rules.keep_detail_candles) if rules.keep_detail_days else candles
        writer = _Writer(db, run.run_id, candles - kept - _THINNED_CANDLES)
        thinner = Thinner(db, record, ThinningRules(rules.keep_detail_days, rules.keep_detail_candles))
        evidence = RunEvidence()
        for first in range(0, candles, _AT_ONCE):
            places = range(first, min(first + _AT_ONCE, candles))
            writer.write(places)
            evidence.extend(writer.first_scores(places), ForecastMode.LIVE, writer.at(places[-1]))
            with record.write():
                record.add_evidence(evidence.pop_new())
            while thinner.piece():
                pass
            on_progress(first, candles)
        db.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return run.run_id


class _Writer:
    """Writes rows like those of a session, in bulk: a few patterns of numbers, with the times of each candle."""

    def __init__(self, db: Database, run_id: str, detailed_from: int) -> None:
        self._db, self._run_id, self._detailed_from = db, run_id, detailed_from
        self._run = int(db.execute("SELECT sequence FROM runs WHERE run_id = ?", (run_id,)).fetchone()[0])
        draw = np.random.default_rng(1)
        self._closes = 60_000.0 * np.exp(np.cumsum(draw.normal(0.0, 5e-4, 100_000)))
        self._forecasts = [_forecast(draw, run_id) for _ in range(_PATTERNS)]
        self._losses = [pack_losses(draw.gamma(2.0, 1e-4, (len(LOSS_ROWS), QUANTITIES))) for _ in range(_PATTERNS)]
        self._gradients = pack_gradients(_gradients(draw))
        self._numbers = draw.gamma(2.0, 1e-4, (_PATTERNS, len(NUMBERS)))

    def write(self, places: range) -> None:
        """Write the next candles."""
        CandleStore(self._db).save(_MARKET, [self._candle(place) for place in places])
        rows: dict[SealedTable, list[Row]] = {}
        for place in places:
            self._add(rows, FORECASTS, place, *self._forecast(place))
            self._add(rows, STEPS, place, self._step(place), self._gradients)
            if place:
                self._add(rows, SCORES, place, *self._scores(place, range(1, 2)))
            if place > 1:
                self._add(rows, FURTHER_SCORES, place, *self._scores(place, range(2, min(place, _HORIZONS) + 1)))
        conditions = [(self._run_id, self.at(place), 0.25, 0.5, 0.25) for place in places]
        with write(self._db):
            for table, sealed in rows.items():
                self._db.conn.executemany(table.insert, sealed)
            self._db.conn.executemany(
                "INSERT INTO conditions (run_id, origin_open_time_ms, calm, trending, volatile) VALUES (?, ?, ?, ?, ?)",
                conditions,
            )

    def first_scores(self, places: range) -> Iterator[StoredScore]:
        """Scores of forecasts one candle ahead."""
        return (self._score(place, 1, self.at(place), self.at(place + 1) + 250) for place in places if place)

    def _add(
        self, rows: dict[SealedTable, list[Row]], table: SealedTable, place: int, values: Row, detail: bytes | None
    ) -> None:
        rows.setdefault(table, []).append(table.seal(place + 1, values))
        if detail is not None and place >= self._detailed_from:
            rows.setdefault(DETAILS[table], []).append(DETAILS[table].seal(place + 1, (detail,)))

    def at(self, place: int) -> int:
        """The candle's open time."""
        return _START_MS + place * _STEP_MS

    def _close(self, place: int) -> float:
        return float(self._closes[place % len(self._closes)])

    def _candle(self, place: int) -> Candle:
        close = self._close(place)
        return Candle(self.at(place), close, close * 1.0005, close * 0.9995, close, 10.0 + place % 7)

    def _forecast(self, place: int) -> tuple[Row, bytes]:
        values, exact = self._forecasts[place % _PATTERNS]
        shape = values[9], values[10], values[11]
        closed = self.at(place + 1)
        checkpoint = f"~-{place // 10 * 10:08d}-{place // 10 % 0xFFFFFF:06x}"
        own = (self._run, self.at(place), closed, closed + 250, MODES[ForecastMode.LIVE], place, checkpoint)
        digest = digest_of(self.at(place), self._close(place), values[8], *unpack_exact(exact, shape))
        return (*own, self._close(place), *values[8:13], digest), exact

    def _scores(self, place: int, horizons: range) -> tuple[Row, bytes | None]:
        target, at_ms = self.at(place), self.at(place + 1) + 250
        scores = [self._score(place, horizon, target, at_ms) for horizon in horizons]
        return score_values(self._run, scores, *packed_scores([scores]))

    def _score(self, place: int, horizon: int, target: int, at_ms: int) -> StoredScore:
        numbers = self._numbers[(place + horizon) % _PATTERNS].tolist()
        numbered: dict[str, Any] = dict(zip(NUMBERS, numbers, strict=True))
        return StoredScore(
            origin_open_time_ms=target - horizon * _STEP_MS,
            horizon=horizon,
            target_open_time_ms=target,
            mode=ForecastMode.LIVE,
            after_gap=False,
            inside_50=place % 2 == 0,
            inside_90=place % 10 > 0,
            direction_hit=place % 3 == 0,
            scored_at_ms=at_ms,
            expert_losses=self._losses[(place * 7 + horizon) % _PATTERNS],
            **numbered,
        )

    def _step(self, place: int) -> Row:
        loss = 0.2 + 0.05 * math.sin(place / 100.0)
        head = (self._run, self.at(place), place, loss, loss * 1.1, 0.7, place % 3 == 0)
        return (*head, 1e-3, 1.0, 32, 21.5, self.at(place + 1) + 300, None)


def _forecast(draw: np.random.Generator, run_id: str) -> tuple[Row, bytes]:
    def quantiles() -> FloatArray:
        return np.sort(draw.normal(0.0, 1e-3, (_HORIZONS, QUANTITIES, len(LEVELS))), axis=2)

    shown, experts = quantiles(), np.stack([quantiles(), quantiles()])
    made = StoredForecast(0, 0, 0, ForecastMode.LIVE, 0, None, 1.0, 1e-3, Quantiles(shown, experts))
    return forecast_values(run_id, 0, made)


def _gradients(draw: np.random.Generator) -> GradientStatistics:
    layers = tuple(LayerStatistics(*draw.normal(size=6).tolist()) for _ in range(_LAYERS))
    return GradientStatistics(layers, 0.5, 30.0, 1e-3, (0.1,) * 6, 1.0)


def _bytes_by_age(database: Path, candles: int, detailed: int) -> dict[str, Any]:
    """Bytes of a candle with all details, and of a thinned one."""
    with closing(open_database(database, readonly=True)) as db:
        sizes = dict(db.execute("SELECT name, SUM(pgsize) FROM dbstat GROUP BY name").fetchall())
        free, size = (int(db.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("freelist_count", "page_size"))
    details = sum(sizes.pop(table.name) for table in DETAILS.values())
    thinned = sum(sizes.values()) / candles
    return {
        "bytes_a_thinned_candle": thinned,
        "bytes_a_detailed_candle": thinned + details / max(detailed, 1),
        "free_bytes": free * size,
        "bytes_by_table": sizes,
    }


def _times(database: Path, run_id: str, clock: Clock) -> dict[str, float]:
    """In seconds: the Accuracy dock's first figures and all of them, `metrics`."""
    started_s = clock.monotonic_s()
    with closing(open_database(database, readonly=True)) as db:
        accuracy = RunningAccuracy(db, run_id, _HORIZONS)
        _read(accuracy, 1)
        accuracy.find(Request())
        first_s = clock.monotonic_s() - started_s
        for horizon in range(2, _HORIZONS + 1):
            _read(accuracy, horizon)
        accuracy.find(Request())
        all_s = clock.monotonic_s() - started_s
        started_s = clock.monotonic_s()
        summarise(db, RunStore(db).get(run_id))
        metrics_s = clock.monotonic_s() - started_s
    return {"accuracy_first_s": first_s, "accuracy_s": all_s, "metrics_s": metrics_s}


def _read(accuracy: RunningAccuracy, horizon: int) -> None:
    for _ in accuracy.read_more(horizon):
        pass
