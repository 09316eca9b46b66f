"""Opens a run: finds or creates it, takes its fence, builds its session, restores its newest checkpoint."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import nn

from core.domain.candle import Market
from core.domain.challenger_sources import source_of
from core.domain.checkpoint_info import CheckpointInfo
from core.domain.clock import Clock
from core.domain.quantities import LEVELS, QUANTITIES
from core.forecast.experts import ExpertList
from core.forecast.panel import FEATURES, OTHERS, Panel
from core.forecast.reference_forecast import REFERENCE_WINDOW
from core.settings.tree import Settings, to_record
from core.storage.candles import CandleStore
from core.storage.checkpoints import CheckpointRows
from core.storage.folder import DataFolder
from core.storage.record_writer import EPISODE_MS, TrainingRecord
from core.storage.runs import Run, RunStore
from core.storage.weights import CheckpointError
from core.training.engine.cuda_graph import CudaGraphs
from core.training.engine.device import Device
from core.training.engine.engine import TrainingEngine
from core.training.engine.replicas import Replicas
from core.training.hosting.challengers import open_challengers, process_starter, program_of
from core.training.hosting.checkpoint_writer import CheckpointWriter
from core.training.online.drift import DriftWatch
from core.training.online.forecast_mode import Provenance
from core.training.online.forecaster import Forecaster
from core.training.online.guarded_challenger import GuardedChallenger
from core.training.online.learned_chances import ChanceLearner
from core.training.online.market_session import MarketSession
from core.training.online.reference_model import ReferenceModel
from core.training.online.score_ledger import ScoreLedger
from core.training.online.session import TrainingSession
from core.training.online.snapshot import unpack_all
from core.training.online.trainer_spec import SessionSpec, as_it_began, for_markets
from core.training.recovery.known_good import KnownGood
from core.training.recovery.ladder import RecoveryLadder
from core.training.recovery.quarantine import Quarantine
from models.registry import ModelMaker, build_model
from models.shape import ModelShape

if TYPE_CHECKING:
    from sqlite_utils import Database

_EPISODE_CANDLES = 20
"""A repeated incident belongs to the episode of the previous one if at most this many candles lie between."""
_PENALTY_POWER_WITH_OTHERS = 2
"""Patterns of several markets are less likely memorised: near corrections may be larger, not far ones."""


@dataclass(frozen=True, slots=True)
class OpenedRun:
    """A run that this trainer owns, before anything is restored."""

    spec: SessionSpec
    """The spec, with its settings adapted to the number of markets."""
    run: Run
    """The head of the runs, if there are several."""
    session: TrainingSession
    record: TrainingRecord
    """The record of the head."""
    writer: CheckpointWriter


def open_run(spec: SessionSpec, db: Database, device: Device, clock: Clock) -> OpenedRun:
    """Take over the run, with the runs of the model's other markets. Raises StorageError and ChallengerError."""
    settings = for_markets(spec.settings, len(spec.markets))
    spec = as_it_began(replace(spec, settings=settings), RunStore(db))
    run = None if spec.new_run else RunStore(db).find(spec.market, spec.fingerprint, spec.others)
    if run is not None:
        seed = run.seed
    else:
        seed = secrets.randbits(32) if settings.training.seed is None else settings.training.seed
    opening = _Opening(spec, db, device, clock, seed)
    engine, challengers = opening.engine(), opening.challengers(is_new_run=run is None)
    with ExitStack() as on_failure:
        for challenger in challengers:
            on_failure.callback(challenger.close)
        # created last: there is no run with a model that cannot be opened
        opened = opening.take_over(opening.create(engine) if run is None else run, engine, challengers)
        on_failure.pop_all()
    return opened


def restore_newest(
    session: TrainingSession, writer: CheckpointWriter, on_refused: Callable[[CheckpointInfo, str], None]
) -> CheckpointInfo | None:
    """Restore the newest checkpoint that passes every check and fits the session; None if there is none. Those that are
    refused are reported and skipped."""
    for info in writer.to_continue_from():
        try:
            tensors, metadata, _ = writer.load(info.checkpoint_id)
            unpack_all(session, tensors, metadata)
        except CheckpointError as error:
            on_refused(info, str(error))
        else:
            return info
    return None


@dataclass(frozen=True, slots=True)
class _Opening:
    """Builds the parts of one run."""

    spec: SessionSpec
    db: Database
    device: Device
    clock: Clock
    seed: int

    def engine(self, make: ModelMaker | None = None) -> TrainingEngine:
        """make: see `build_engine`."""
        return build_engine(
            self.spec.settings,
            self.device.torch_device,
            self.seed,
            has_others=bool(self.spec.others),
            make=make,
        )

    def challengers(self, *, is_new_run: bool) -> list[GuardedChallenger]:
        settings = self.spec.settings
        wanted, remember_every = settings.model.challengers, settings.checkpoints.every_steps
        start = process_starter(self.spec, CandleStore(self.db), self.clock)
        members = open_challengers(wanted, self.engine, start, self.seed, is_new_run=is_new_run)
        return [
            GuardedChallenger(each, settings.recovery, remember_every, self.clock, program_of(source_of(source)))
            for each, source in zip(members, wanted, strict=True)
        ]

    def create(self, engine: TrainingEngine) -> Run:
        spec = self.spec
        return RunStore(self.db).create(
            spec.market,
            spec.fingerprint,
            created_at_ms=self.clock.now_ms(),
            seed=self.seed,
            is_seeded=spec.settings.training.seed is not None,
            settings_json=json.dumps(to_record(spec.settings)),
            device=self.device.label,
            parameters=engine.parameters,
            others=spec.others,
            challengers=spec.challengers,
        )

    def take_over(self, run: Run, engine: TrainingEngine, challengers: Sequence[GuardedChallenger]) -> OpenedRun:
        spec, runs = self.spec, RunStore(self.db)
        runs.join(run, spec.markets, self.clock.now_ms())  # those that the model did not have
        members = {member.market: member for member in runs.members(run.run_id)}
        fence = runs.acquire_fence(run.run_id, self.device.label)
        episode_ms = max(EPISODE_MS, _EPISODE_CANDLES * spec.market.interval.duration_ms)
        records = {of: TrainingRecord(self.db, member.run_id, fence, episode_ms) for of, member in members.items()}
        session = self._session(run, records, engine, challengers)
        for market in session.markets:
            market.is_learned = members[market.market].is_learned
        checkpoints, model = spec.settings.checkpoints, spec.settings.model
        folder, rows = DataFolder(spec.root), CheckpointRows(self.db)
        writer = CheckpointWriter(folder, records[run.market], rows, checkpoints, model, self.clock)
        return OpenedRun(spec, run, session, records[run.market], writer)

    def _session(
        self,
        run: Run,
        records: Mapping[Market, TrainingRecord],
        engine: TrainingEngine,
        challengers: Sequence[GuardedChallenger],
    ) -> TrainingSession:
        """records: each market's; steps and common events go to the record of the run, the head."""
        spec, settings, folder = self.spec, self.spec.settings, DataFolder(self.spec.root)
        generator = np.random.Generator(np.random.PCG64(run.seed))
        quarantine = Quarantine(folder.bad_batches(run.run_id))
        provenance = Provenance(spec.market.interval)
        forecaster = self._forecaster()
        markets = [
            self._market(market, place, records[market], forecaster, engine, provenance)
            for place, market in enumerate(spec.markets)
        ]
        return TrainingSession(
            settings,
            markets,
            engine,
            RecoveryLadder(engine, settings.recovery, KnownGood(engine, generator), quarantine),
            records[run.market],
            generator,
            self.clock,
            ReferenceModel(engine, folder.checkpoints(run.run_id), settings.online.twin_age),
            provenance,
            challengers,
        )

    def _forecaster(self) -> Forecaster:
        spec, model = self.spec, self.spec.settings.model
        needed = max(spec.settings.training.replay_window, REFERENCE_WINDOW) + model.context + model.horizons
        size = len(spec.markets), needed, model.horizons
        panel = Panel(spec.market.interval, *size, reads_inside=spec.reads_inside)
        return Forecaster(panel, model.context, ExpertList(spec.challengers))

    def _market(
        self,
        market: Market,
        place: int,
        record: TrainingRecord,
        forecaster: Forecaster,
        engine: TrainingEngine,
        provenance: Provenance,
    ) -> MarketSession:
        spec, settings = self.spec, self.spec.settings
        return MarketSession(
            market,
            place,
            forecaster,
            record,
            ScoreLedger(spec.own_mode, ExpertList(spec.challengers)),
            DriftWatch(settings.online.drift, engine),
            ChanceLearner(self.db, record.reader, market, settings.model.horizons),
            provenance,
            self.clock,
        )


def model_shape(settings: Settings, *, has_others: bool = False) -> ModelShape:
    """The shape of a model. has_others: it learns several markets."""
    model = settings.model
    return ModelShape(
        features=FEATURES,
        context=model.context,
        width=model.width,
        layers=model.layers,
        heads=model.heads,
        horizons=model.horizons,
        quantities=QUANTITIES,
        levels=len(LEVELS),
        activation=model.activation,
        others=OTHERS if has_others else 0,
        recompute=settings.training.recompute_activations,
    )


def build_engine(
    settings: Settings,
    device: torch.device,
    seed: int,
    join: Callable[[nn.Module], Replicas] | None = None,
    *,
    has_others: bool = False,
    make: ModelMaker | None = None,
) -> TrainingEngine:
    """A new engine with a new model, as configured.

    join: makes the model one of several replicas, which run eagerly; None: a single one. has_others: it learns several
    markets, and reads in each the numbers of the others. make: makes another model than the configured one, whose steps
    run eagerly; its errors are raised.
    """
    model, shape = settings.model, model_shape(settings, has_others=has_others)
    if make is None:
        module = build_model(model.name, shape, seed, model.initialisation).to(device)
    else:
        module = make(shape).to(device)
    has_graphs = device.type == "cuda" and settings.training.cuda_graphs and join is None and make is None
    return TrainingEngine(
        module,
        device,
        settings.training,
        settings.gradients,
        seed,
        settings.recovery.spike_action,
        None if join is None else join(module),
        graphs=CudaGraphs() if has_graphs else None,
        penalty_power=_PENALTY_POWER_WITH_OTHERS if has_others else 1,
    )
