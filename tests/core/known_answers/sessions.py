"""Sessions over known markets: the real one, and one of baselines only, which takes a tenth of the time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from sqlite_utils import Database

from core.domain.candle import FILE_VENUE, Market
from core.domain.clock import SystemClock
from core.domain.events import Estimate
from core.domain.quantities import FloatArray, Quantity
from core.forecast.baseline_experts import BaselineExperts
from core.forecast.combination import Combination, prior
from core.forecast.experts import EXPERTS, LOSS_ROWS, REFERENCE, unpack_losses
from core.forecast.history import History
from core.forecast.other_markets import exchange_numbers
from core.forecast.outcomes import Outcomes, newest_outcomes
from core.forecast.panel import Panel
from core.forecast.reference_forecast import REFERENCE_WINDOW, ReferenceForecast
from core.forecast.score import pinball, skill
from core.settings.tree import CheckpointSettings, ModelSettings, Settings, TrainingSettings
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.storage.records import SHOWN_LOSSES
from core.training.hosting.service import TrainingService
from core.training.online.trainer_spec import SessionSpec
from tests.core.forecast.alone import ALONE
from tests.core.known_answers.markets import INTERVAL, KnownMarket
from tests.core.training import rigs
from tests.support.plain_loop import learn_together

DEFAULTS = Settings(
    model=ModelSettings(horizons=1),
    training=TrainingSettings(device="cpu"),
    checkpoints=CheckpointSettings(every_steps=1000),
)
"""The program's, without unused horizons and checkpoints."""
SMALLEST = replace(DEFAULTS, model=ModelSettings(width=8, layers=1, heads=1, context=8, horizons=1))


@dataclass(frozen=True, eq=False)
class Lost:
    """Pinball losses of each forecast one candle ahead, of the second candle and those after it: each [n - 1]."""

    shown: FloatArray
    reference: FloatArray
    best: FloatArray
    """Of the best possible forecast."""
    without: FloatArray
    """Of the forecast that would be shown without the model."""

    def newest(self, count: int) -> Lost:
        return Lost(self.shown[-count:], self.reference[-count:], self.best[-count:], self.without[-count:])

    @property
    def skill(self) -> Estimate:
        return skill(self.shown, self.reference)

    @property
    def attainable(self) -> float:
        """The skill of the best possible forecast."""
        return 1.0 - float(self.best.sum() / self.reference.sum())

    @property
    def reached(self) -> float:
        """The share of the attainable skill that was reached."""
        return (1.0 - float(self.shown.sum() / self.reference.sum())) / self.attainable

    @property
    def reached_without(self) -> float:
        """The share that was reached without the model."""
        return (1.0 - float(self.without.sum() / self.reference.sum())) / self.attainable


def of_session(known: KnownMarket, root: Path, settings: Settings, seed: int) -> Lost:
    """The session that runs live, candle after candle."""
    DataFolder(root).ensure()
    open_database(DataFolder(root).database).close()
    seeded = replace(settings, training=replace(settings.training, seed=seed))
    market = Market(FILE_VENUE, "KNOWN", INTERVAL)
    service = TrainingService(SessionSpec(root, market, seeded), SystemClock())
    try:
        for candle in known.candles:
            service.handle(rigs.observed(candle, market=market))
        run_id = service.status().run_id
    finally:
        service.close()
    db = open_database(DataFolder(root).database, readonly=True)
    try:
        return _lost(db, run_id, known)
    finally:
        db.close()


def of_session_together(universe: Sequence[KnownMarket], root: Path, settings: Settings, seed: int) -> list[Lost]:
    """One session that learns all of them at once, close after close."""
    folder = DataFolder(root)
    folder.ensure()
    seeded = replace(settings, training=replace(settings.training, seed=seed))
    markets = [Market(FILE_VENUE, f"KNOWN{place:02}", INTERVAL) for place in range(len(universe))]
    spec = SessionSpec(root, markets[0], seeded, others=tuple(markets[1:]))
    db = open_database(folder.database)
    try:
        for market, known in zip(markets, universe, strict=True):
            CandleStore(db).save(market, known.candles)
        runs = learn_together(spec, db, SystemClock())
        return [_lost(db, run.run_id, known) for run, known in zip(runs, universe, strict=True)]
    finally:
        db.close()


def _lost(db: Database, run_id: str, known: KnownMarket) -> Lost:
    """From the scores of a run."""
    scores = RecordReader(db, run_id).scores()
    losses = np.stack([_whole(unpack_losses(score.expert_losses)) for score in scores])
    reference = losses[:, LOSS_ROWS.index(EXPERTS[REFERENCE]), known.quantity]
    without = losses[:, 0, known.quantity]
    shown = np.array([getattr(score, SHOWN_LOSSES[known.quantity]) for score in scores], dtype=np.float64)
    return Lost(shown, reference, pinball(known.outcome, known.best)[1:], without)


def attainable_of(known: KnownMarket, newest: int) -> float:
    """The skill of the best possible forecast, over the newest candles."""
    history = History.alone(INTERVAL, REFERENCE_WINDOW + 1, 1)
    reference = ReferenceForecast(history.panel)
    lost = []
    for place, candle in enumerate(known.candles):
        if place >= len(known.candles) - newest:
            factor, offset = (units[0, 0, known.quantity] for units in history.units(np.array([len(history) - 1])))
            said = offset + factor * reference.quantiles(ALONE)[0, 0, known.quantity]
            lost.append(pinball(known.outcome[place], said))
        history.append(candle)
        reference.observe(ALONE, newest_outcomes(history.panel, ALONE))
    best = pinball(known.outcome, known.best)[-newest:]
    return 1.0 - float(best.sum() / np.sum(lost))


def of_baselines(known: KnownMarket) -> Lost:
    """The combination of all experts but the model."""
    return of_baselines_together([known])[0]


def of_baselines_together(universe: Sequence[KnownMarket]) -> list[Lost]:
    """The same of markets that know of each other."""
    all_markets = np.arange(len(universe))
    panel = Panel(INTERVAL, all_markets.size, REFERENCE_WINDOW + 1, 1)
    baselines = BaselineExperts(panel)
    combination = Combination(prior(with_model=False), 1, all_markets.size)
    made: tuple[FloatArray, FloatArray] | None = None
    losses = []
    for candles in zip(*(known.candles for known in universe), strict=True):
        panel.append(all_markets, candles)
        of_others = exchange_numbers(panel, all_markets) if panel.has_others else None
        outcomes = baselines.observe(all_markets, of_others)
        if made is not None:
            combination.learn(all_markets, *made, outcomes.normalised, outcomes.is_known)
            losses.append([_lost_of(known.quantity, outcomes, made, row) for row, known in enumerate(universe)])
        experts = baselines.quantiles(all_markets)
        made = experts, combination.predict(all_markets, experts)
    of_markets = np.moveaxis(np.array(losses), 0, -1)
    return [
        Lost(shown, reference, pinball(known.outcome, known.best)[1:], shown)
        for known, (shown, reference) in zip(universe, of_markets, strict=True)
    ]


def _lost_of(
    quantity: Quantity, outcomes: Outcomes, made: tuple[FloatArray, FloatArray], market: int
) -> tuple[float, float]:
    """The losses of forecast and reference one candle ahead. made: the experts' forecasts [n, H, E, Q, L], and the
    combined ones [n, H, Q, L], normalised."""
    experts, shown = made
    factor, outcome = (each[market, 0, quantity] for each in (outcomes.factor, outcomes.normalised))
    of_shown, of_reference = (shown[market, 0, quantity], experts[market, 0, REFERENCE, quantity])
    return factor * float(pinball(outcome, of_shown)), factor * float(pinball(outcome, of_reference))


def _whole(losses: FloatArray | None) -> FloatArray:
    assert losses is not None, "a score without the losses of every expert"
    return losses
