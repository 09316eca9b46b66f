"""A training session with its storage: commands in, events out. Both hosts use it."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial

from core.checkpoints.retention import CHANGE
from core.domain.candle import Market
from core.domain.checkpoint_info import CheckpointInfo
from core.domain.clock import Clock
from core.domain.diagnosis import Diagnosis, Disease
from core.domain.events import (
    CheckpointsChanged,
    EventBatch,
    ForecastMode,
    Incident,
    LossSummary,
    Severity,
    StepDone,
    TrainerEvent,
    TrainerReady,
    TrainerState,
    TrainerStatus,
    Trend,
)
from core.settings.tree import Settings
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from core.storage.record_writer import Fenced
from core.storage.setting_sets import settings_of
from core.storage.weights import CheckpointError
from core.training.commands import (
    EXIT,
    ApplyDeletions,
    ApplyRetention,
    BrowserCommand,
    ForecastWith,
    ObserveClose,
    RecordIncident,
    RescoreCandle,
    RestoreCheckpoint,
    SaveCheckpoint,
    SetClipNorm,
    SetDuty,
    SetLearned,
    SetLearningRate,
    SetPaused,
    StepOnce,
    StopSession,
    TrainerCommand,
)
from core.training.doctor.divergence_rule import Divergence
from core.training.doctor.doctor import GradientDoctor
from core.training.doctor.window import WINDOW
from core.training.engine.device import prepare_thread, release_thread
from core.training.hosting import checkpoint_incidents
from core.training.hosting.checkpoint_writer import RESTORE, Circumstances
from core.training.hosting.divergence_recovery import differing_settings, diverged_since, with_recovery
from core.training.hosting.host import CandleError
from core.training.hosting.market_statuses import MarketStatuses
from core.training.hosting.opening import open_run, restore_newest
from core.training.hosting.pacing import StepRate
from core.training.hosting.preview import preview
from core.training.hosting.record_maintenance import RecordMaintenance
from core.training.hosting.run_start import note_newer, start_run
from core.training.hosting.threads import device_with_threads
from core.training.online.adjusting import rejection_reason, settings_in_force
from core.training.online.corrections import Corrections
from core.training.online.health import GradientHealth
from core.training.online.snapshot import unpack_learned
from core.training.online.trainer_spec import SessionSpec
from core.training.recovery.incident_draft import IncidentDraft

_STATUS_EVERY_S = 0.25
_CORRECTIONS_AT_OPENING = 500
"""Processed before the first answer: a few seconds' work. More, as after an import, follow between candles."""
_CORRECTIONS_AT_ONCE = 16
_CANDLE_FAULTS = (ArithmeticError, ValueError, IndexError, sqlite3.IntegrityError)
"""Errors of arithmetic on unusable numbers: the session is half changed then, and must be dropped. IntegrityError: a
NaN was to be stored."""
_log = logging.getLogger("ghostcandle.training")


class TrainingService:
    """Opens the run, restores its newest intact checkpoint, then turns commands into events until closed.

    Used from one thread only: the connection and torch's thread settings belong to it.
    """

    def __init__(self, spec: SessionSpec, clock: Clock, on_part_done: Callable[[], None] = lambda: None) -> None:
        """on_part_done: called while an answer is computed, each time that some of the work for it is done."""
        self._spec = spec
        self._clock = clock
        self._on_part_done = on_part_done
        self._state_in_status: TrainerState | None = None
        self._is_catching_up = self._is_stopped = False
        self._status_at_s: float | None = None
        self.owes_status = False
        """Whether the newest close is not in the newest status: of closes in quick succession not each has its own."""
        self._step_rate = StepRate(clock)
        self._restores_seen = 0
        self._opening_incidents: list[TrainerEvent] = []
        self._opening_rescores: tuple[TrainerEvent, ...] = ()
        self._deferred_incidents: list[TrainerEvent] = []
        self._db = open_database(DataFolder(spec.root).database, creates=False)
        self._closing = ExitStack()
        self._closing.callback(self._db.close)
        try:
            prepare_thread()
            self._device = device_with_threads(spec.settings, DataFolder(spec.root).threads, clock)
            on_part_done()
            opened = open_run(spec, self._db, self._device, clock)
            self._spec, self._run, self._session = opened.spec, opened.run, opened.session
            self._record, self._writer = opened.record, opened.writer
            self._session.on_part_done = on_part_done
            on_part_done()
            for challenger in self._session.challengers:
                self._closing.callback(challenger.close)
            self._corrections = self._open_corrections()
            self._markets = MarketStatuses(self._session, clock)
            folder, rules = DataFolder(spec.root), spec.settings.record
            self._maintenance = RecordMaintenance(self._db, self._record, folder, rules, clock)
            self._opening_incidents.extend(self._maintenance.opening())
            on_part_done()
            self._writer.sweep_orphans()
            self._resume()
            doctor = GradientDoctor(self._run.run_id, self._session.engine.layers, self._settings_in_force)
            self._health = GradientHealth(doctor, self._find_recovery)
            self._writer.circumstances = self._circumstances
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Release the database and the thread. Committed data stays; nothing else is written."""
        self._closing.close()
        release_thread()

    def opening_events(self) -> tuple[TrainerEvent, ...]:
        """The first events for the window: incidents of the restore, then readiness and status."""
        session = self._session
        ready = TrainerReady(
            run_id=self._run.run_id,
            device=self._device.label,
            step=session.step,
            resumed_from=session.checkpoint_id,
            parameters=session.engine.parameters,
            markets=self._markets.resume_points(),
            layers=session.engine.layers,
            uses_gpu=self._device.torch_device.type == "cuda",
        )
        steps, wrecked = self._record.reader.steps(WINDOW), diverged_since(self._writer.kept(), session.checkpoint_id)
        verdict = self._health.prime(steps, session.market.scores.line_after_ms, wrecked)
        asked_meanwhile = self._delete(self._writer.apply_requests)
        return (*self._opening_incidents, ready, verdict, *asked_meanwhile, *self._opening_rescores, self.status())

    def do_deferred_work(self) -> bool:
        """Do a few milliseconds of deferred work; True if there is more. Its incidents go with the next answer. Raises
        Fenced."""
        try:
            has_more, incidents = self._maintenance.piece()
        except Fenced:
            raise
        except StorageError as error:  # the next candle will report it too
            _log.warning("Deferred work failed: %s", error)
            return False
        self._deferred_incidents.extend(incidents)
        return has_more

    def late_status(self) -> EventBatch | None:
        """The status that is owed, once the last one is old enough, for a trainer that has nothing else to do."""
        if not self.owes_status or not self._is_status_old():
            return None
        self._markets.forget()
        return EventBatch((self.status(),), is_whole=False)

    def handle(self, command: TrainerCommand) -> tuple[TrainerEvent, ...]:
        """Carry out one command. Raises StorageError (Fenced) if nothing can be written any more."""
        return tuple(event for batch in self.respond(command) for event in batch.events)

    def respond(self, command: TrainerCommand) -> Iterator[EventBatch]:
        """Like `handle`, but the forecasts of a close come before its training step: the next piece of work begins when
        the next batch is requested."""
        found, self._deferred_incidents = tuple(self._deferred_incidents), []
        if isinstance(command, ObserveClose):
            mode = command.mode_of_close(self._spec.own_mode)
            self._is_catching_up = mode is not self._spec.own_mode
            with self._stopping_at(command):
                forecast = self._pausing(lambda: self._session.forecast_close(command.candles))
            yield EventBatch((*found, *forecast), is_whole=False)
            yield EventBatch(self._learn_close(command, mode))
            return
        answer = self._control(command)
        self._markets.forget()
        yield EventBatch((*found, *answer, self.status()))

    @property
    def _state(self) -> TrainerState:
        if self._is_stopped:
            return TrainerState.STOPPED
        if self._session.is_paused:
            return TrainerState.PAUSED
        return TrainerState.CATCHING_UP if self._is_catching_up else TrainerState.TRAINING

    def status(self) -> TrainerStatus:
        session = self._session
        self._status_at_s, self._state_in_status = self._clock.monotonic_s(), self._state
        markets = self._markets.statuses()
        self.owes_status = self._markets.are_older
        return TrainerStatus(
            run_id=self._run.run_id,
            state=self._state,
            step=session.step,
            candles=session.closes,
            steps_per_s=self._step_rate.per_s,
            last_step_at_ms=session.last_step_at_ms,
            loss=self._losses(),
            device=self._device.label,
            learning_rate=session.engine.rate_in_force,
            clip_norm=session.engine.clip_norm,
            markets=markets,
        )

    def _losses(self) -> LossSummary:
        """A diverged model's loss that falls from a height is no progress, and one that stays there is not flat."""
        found = self._session.losses.summary()
        is_misleading = found.trend is not Trend.WORSENING and self._health.newest is Disease.DIVERGED
        return replace(found, trend=Trend.UNKNOWN) if is_misleading else found

    def _resume(self) -> None:
        """Continue from the newest intact checkpoint, with the scores that the record held then."""
        session = self._session
        if self._spec.start is not None:
            session.provenance.counts_seen = self._spec.start.counts_seen
        info = restore_newest(session, self._writer, self._on_refused)
        self._on_part_done()
        if info is not None:
            session.checkpoint_id = info.checkpoint_id
            session.ladder.known_good.remember(session.step)
            self._writer.note_resumed(session)
            drafts = note_newer(self._spec, self._db, info)
        else:
            drafts = start_run(session, self._writer, self._spec, self._db)
        self._opening_incidents.extend(self._incident(draft) for draft in drafts)
        session.is_paused = self._spec.start is not None and not self._spec.start.learns
        self._opening_rescores = self._apply_corrections(_CORRECTIONS_AT_OPENING)
        session.load_record()

    def _open_corrections(self) -> dict[Market, Corrections]:
        store, horizons = CandleStore(self._db), self._spec.settings.model.horizons
        markets, clock = self._session.markets, self._clock
        return {of.market: Corrections(of.record, store, of.market, horizons, of.scores, clock) for of in markets}

    def _find_recovery(self, verdict: Diagnosis, found: Divergence) -> Diagnosis:
        return with_recovery(
            verdict, self._writer.kept(), found, self._settings_in_force(), partial(settings_of, self._db)
        )

    def _circumstances(self) -> Circumstances:
        settings, health = self._settings_in_force(), self._health
        return Circumstances(settings, self._device.label, health.newest.value, health.recovery_checkpoint_id)

    def _settings_in_force(self) -> Settings:
        return settings_in_force(self._spec.settings, self._session.engine)

    def _on_refused(self, info: CheckpointInfo, sentence: str) -> None:
        self._opening_incidents.append(self._incident(checkpoint_incidents.refused(sentence, info.step)))

    def _learn_close(self, command: ObserveClose, mode: ForecastMode) -> tuple[TrainerEvent, ...]:
        with self._stopping_at(command):
            events = [*self._pausing(self._session.learn)]
        is_coalesced = mode is not ForecastMode.LIVE and not self._run.is_seeded
        if self._writer.is_due(self._session, is_coalesced):
            events.extend(self._save("periodic"))
        if any(each.has_more for each in self._corrections.values()):
            events.extend(self._apply_corrections(_CORRECTIONS_AT_ONCE))
        for _ in command.candles:
            events.extend(self._maintenance.candle_processed())
        if self._is_status_due(mode):
            events.append(self.status())
        else:
            self.owes_status = True
        return tuple(events)

    @contextmanager
    def _stopping_at(self, command: ObserveClose) -> Iterator[None]:
        """Raises CandleError."""
        try:
            yield
        except _CANDLE_FAULTS as error:
            raise CandleError(command.candles[0].candle.open_time_ms, error, self._session.market_at_work) from error

    def _pausing(self, work: Callable[[], tuple[TrainerEvent, ...]]) -> tuple[TrainerEvent, ...]:
        """Do the session's work, with the doctor's verdicts on it; with a checkpoint if it had to pause."""
        was_paused = self._session.is_paused
        events = work()
        events = (*events, *self._after_steps(events))
        has_paused = self._session.is_paused and not was_paused
        return (*events, *self._save("pause")) if has_paused else events

    def _after_steps(self, events: Sequence[TrainerEvent]) -> Sequence[TrainerEvent]:
        """The doctor's verdicts on the steps among the events."""
        steps = [event for event in events if isinstance(event, StepDone)]
        restores_before, self._restores_seen = self._restores_seen, self._session.ladder.known_good.restores
        has_rolled_back = self._restores_seen > restores_before
        if steps:
            self._step_rate.step_done()
        if not steps and not has_rolled_back:
            return ()
        findings: list[TrainerEvent] = []
        for verdict in self._health.observe(steps, has_rolled_back):
            draft = self._health.incident(verdict)
            findings += [verdict] if draft is None else [verdict, self._incident(draft)]
        self._session.reference_model.is_diverged = self._health.newest is Disease.DIVERGED
        return findings

    def _is_status_due(self, mode: ForecastMode) -> bool:
        is_other_state = self._state is not self._state_in_status
        return mode is ForecastMode.LIVE or is_other_state or self._is_status_old()

    def _is_status_old(self) -> bool:
        return self._status_at_s is None or self._clock.monotonic_s() - self._status_at_s >= _STATUS_EVERY_S

    def _control(self, command: TrainerCommand) -> Sequence[TrainerEvent]:
        match command:
            case SetLearningRate() | SetClipNorm() | SetDuty():
                return self._change_setting(command)
            case SetPaused(paused):
                return self._set_paused(paused)
            case StepOnce():
                return self._pausing(self._session.step_once)
            case SaveCheckpoint(reason):
                return self._save(reason)
            case RestoreCheckpoint(checkpoint_id, set_back):
                return self._restore(checkpoint_id, {change.name for change in set_back})
            case ApplyDeletions() | ForecastWith() | ApplyRetention():
                return self._on_browser_command(command)
            case RecordIncident(incident):
                with self._record.write():
                    self._record.add_incident_once(incident)
            case RescoreCandle() | SetLearned():
                return self._on_market_command(command)
            case StopSession():
                self._is_stopped = True
                return self._save(EXIT)
            case _:
                raise TypeError(f"no such command: {command}")
        return ()

    def _on_market_command(self, command: RescoreCandle | SetLearned) -> tuple[TrainerEvent, ...]:
        if isinstance(command, SetLearned):
            with self._record.write():
                self._session.of_market(command.market).set_learned(command.is_learned)
            return ()
        rescored = self._corrections[command.market].rescore(command.open_time_ms)
        if rescored:
            self._writer.note_rescored()
        return (*rescored, *self._apply_corrections(_CORRECTIONS_AT_ONCE))

    def _apply_corrections(self, most: int) -> tuple[TrainerEvent, ...]:
        rescored: list[TrainerEvent] = []
        for each in self._corrections.values():
            rescored += each.apply(most)
            self._on_part_done()
        if rescored:
            self._writer.note_rescored()
        return tuple(rescored)

    def _change_setting(self, command: SetLearningRate | SetClipNorm | SetDuty) -> Sequence[TrainerEvent]:
        """Change a setting. A checkpoint comes first, to restore if the change turns out badly."""
        if isinstance(command, SetDuty):
            return ()  # the driver paces: a sleeping trainer would leave commands unanswered
        refused = rejection_reason(command, self._settings_in_force())
        if refused is not None:
            return (self._incident(refused),)
        saved = () if self._health.newest is Disease.DIVERGED else self._save(CHANGE)
        if isinstance(command, SetLearningRate):
            self._session.engine.learning_rate = command.learning_rate
        else:
            self._session.engine.clip_norm = command.clip_norm
        return (*saved, self._health.forget())

    def _set_paused(self, paused: bool) -> Sequence[TrainerEvent]:
        if not paused:
            self._session.resume()
            return ()
        self._session.is_paused = True
        return self._save("pause")

    def _save(self, reason: str) -> Sequence[TrainerEvent]:
        try:
            changed = self._writer.save(self._session, reason)
        except CheckpointError as error:
            return (self._incident(checkpoint_incidents.not_written(str(error))),)
        return () if changed is None else (changed,)

    def _restore(self, checkpoint_id: str, set_back: set[str]) -> Sequence[TrainerEvent]:
        """set_back: the names of the settings that were set back with it."""
        rate = self._session.engine.rate_in_force
        try:
            tensors, metadata, learned_until_ms = self._writer.load(checkpoint_id)
            unpack_learned(self._session, tensors, metadata)
        except CheckpointError as error:
            return (self._incident(checkpoint_incidents.restore_refused(str(error))),)
        self._writer.previewed = frozenset()
        self._session.note_new_weights(checkpoint_id, learned_until_ms)
        verdict = self._health.forget(is_other_model=True)
        now = self._session.engine
        values = {"learning_rate": now.rate_in_force, "clip_norm": now.clip_norm}
        if now.rate_in_force != rate:  # the checkpoint's rate replaces the one that rollbacks had lowered
            set_back = {*set_back, "learning_rate"}
        shown = {name: value for name, value in values.items() if name in set_back}
        info = self._writer.info(checkpoint_id)
        left = differing_settings(info, self._settings_in_force(), partial(settings_of, self._db), set_back)
        done = self._incident(checkpoint_incidents.restored(metadata["step"], shown, left))
        return done, verdict, *self._save(RESTORE)

    def _on_browser_command(self, command: BrowserCommand) -> Sequence[TrainerEvent]:
        if isinstance(command, ApplyDeletions):
            return self._delete(self._writer.apply_requests)
        if isinstance(command, ApplyRetention):
            self._writer.apply_retention(command.rules)
            return self._delete(self._writer.clean_up) if command.at_once else ()
        self._writer.previewed = frozenset(command.checkpoint_ids)
        settings, of_market = self._spec.settings, self._session.of_market
        return [
            preview(self._session, of_market(command.market), self._writer, settings, id_)
            for id_ in command.checkpoint_ids
        ]

    def _delete(self, delete: Callable[[set[str]], tuple[str, ...]]) -> Sequence[TrainerEvent]:
        in_use = {self._session.checkpoint_id} if self._session.checkpoint_id else set()
        return (CheckpointsChanged(self._run.run_id, None, delete(in_use)),)

    def _incident(self, draft: IncidentDraft) -> Incident:
        incident = draft.incident(self._run.run_id, self._clock.now_ms())
        level = logging.INFO if draft.severity is Severity.INFO else logging.WARNING
        _log.log(level, "%s: %s %s", draft.kind, draft.happened, draft.done)
        with self._record.write():
            return self._record.add_incident(incident)
