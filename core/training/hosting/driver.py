"""The loop that drives a run: stored candles in, events out, a dead host restarted. No Qt, no torch.

The candle table is the queue: live candles, catch-up, replay and recovery are all "the next stored candle after the
trainer's position" (`close_queue.CloseQueue`), so no candle can be missed or taken twice.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace

from core.domain.candle import Market
from core.domain.clock import Clock
from core.domain.events import (
    EventBatch,
    ForecastMade,
    Incident,
    JobProgress,
    StepDone,
    TrainerEvent,
    TrainerReady,
    TrainerState,
    TrainerStatus,
)
from core.settings.devices import gpu_name
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from core.storage.record_writer import TrainingRecord
from core.storage.runs import RunStore
from core.training.commands import (
    EXIT,
    ObserveClose,
    RecordIncident,
    SaveCheckpoint,
    SetDevice,
    SetPaused,
    ShowMarket,
    StopSession,
    TrainerCommand,
)
from core.training.hosting.catch_up import CatchUpMeter
from core.training.hosting.close_queue import CloseQueue
from core.training.hosting.first_forecasts import FirstForecasts
from core.training.hosting.gpu_probe import DeviceWatch, ProcessProbe
from core.training.hosting.host import Host, HostDiedError
from core.training.hosting.inbox import Inbox
from core.training.hosting.pacing import WHOLE_TIME_PERCENT, Pacer
from core.training.hosting.restarts import RestartDecision, Restarts
from core.training.online.trainer_spec import SessionSpec
from core.training.recovery.exit_reasons import DeathCause

_MOST_IN_FLIGHT = 16
_MOST_CANDLES_IN_FLIGHT = 40
"""A pipe may hold no more than 8 kB: filled from both ends it would block both, each waiting for the other to read."""
_IDLE_WAIT_S = 0.25
_ANSWER_WAIT_S = 0.1
_RESTART_PAUSE_S = 0.5
_STOP_WITHIN_S = 30.0


class TrainingDriver:
    """Drives one run on the thread that calls `run`. `store` belongs to that thread."""

    def __init__(
        self,
        spec: SessionSpec,
        make_host: Callable[[SessionSpec], Host],
        store: CandleStore,
        inbox: Inbox,
        emit: Callable[[EventBatch], None],
        clock: Clock,
        make_probe: Callable[[str], ProcessProbe] = ProcessProbe,
        *,
        shows_first: Market | None = None,
        stays: bool = False,
    ) -> None:
        """make_host: takes the spec of the host, which differs from `spec` after a change of the device. shows_first:
        emit a `FirstForecast` while the trainer is far from the newest candle, for a window: of this market first.
        stays: run on when the feeds have ended, until `stop`."""
        self._spec = spec
        self._make_host = make_host
        self._store = store
        self._inbox = inbox
        self._emit = emit
        self._clock = clock
        self._restarts = Restarts(spec, clock)
        gpu = gpu_name(spec.settings.training.device)
        self._device_watch = DeviceWatch(clock, lambda: make_probe(gpu))
        self._host = make_host(spec)
        self._queue = CloseQueue(spec, store, inbox, clock)
        self._run_id: str | None = None
        self._unanswered: deque[TrainerCommand] = deque()
        self._status: TrainerStatus | None = None
        self._is_running = False
        """Whether a host has sent its first answer; False between two hosts."""
        self._first = FirstForecasts(spec, store, clock, shows_first) if shows_first else None
        self._stays = stays
        self._meter = CatchUpMeter(clock)
        self._pacer = Pacer(clock)

    def run(self) -> None:
        """Run until the feed has ended and every candle is taken, `stop` is called, or training cannot continue.

        Raises nothing for a failing host: that becomes an Incident and a restart, or TrainerFailed.
        """
        try:
            while not self._is_finished():
                try:
                    if self._is_running:
                        self._turn()
                    else:
                        self._start()
                except HostDiedError as death:
                    self._replace_host(death)
            self._give_up_progress()
            if self._is_running:
                self._stop()
        finally:
            self._give_up_progress()
            self._device_watch.end()
            self._host.close()
            self._leave_rest()

    def _leave_rest(self) -> None:
        """Store the incidents that no host has received, or leave them in the inbox with the switches, for a driver
        that follows."""
        rest = self._restarts.pop_unrecorded_incidents()
        is_stored = not rest or store_incidents(rest, self._restarts.spec, self._run_id)
        for command in (*self._restarts.pop_commands(), *(() if is_stored else map(RecordIncident, rest))):
            self._inbox.send(command)

    def _is_finished(self) -> bool:
        if self._inbox.is_stopped:
            return True
        if not self._is_running:
            return False
        return not (self._stays or self._unanswered or self._inbox.has_commands) and self._queue.is_over

    def _turn(self) -> None:
        """One round: send commands and candles, take an answer. Raises HostDiedError."""
        if self._device_watch.turn():
            self._emit_event(self._restarts.gpu_is_back())
        self._forecast_first()
        self._pass_on()
        if self._unanswered:
            self._handle_answer(_ANSWER_WAIT_S)
        elif self._is_running:  # else its device was changed
            late = self._host.receive(0.0)  # also notices a host that died while idle
            if late is not None:
                self._publish(late)
            self._inbox.wait(min(_IDLE_WAIT_S, self._rest_left_s or _IDLE_WAIT_S))

    def _pass_on(self) -> None:
        while self._has_room_for_command and (command := self._inbox.pop_command()) is not None:
            if isinstance(command, SetDevice):
                self._change_device(command)
                return
            if isinstance(command, ShowMarket):
                if self._first is not None:
                    self._first.show(command.market)
            else:
                self._restarts.remember(command)
                self._send(command)
        room = self._most_in_flight - len(self._unanswered)
        for close in self._queue.pop(room) if room > 0 else ():
            self._send(close)
        if self._meter.is_due():
            self._emit_progress(self._meter.report(self._queue.left() + len(self._unanswered)))

    @property
    def _duty_percent(self) -> int:
        return self._restarts.spec.settings.training.duty_percent

    @property
    def _rest_left_s(self) -> float:
        return self._pacer.left_s(self._duty_percent)

    @property
    def _has_room_for_command(self) -> bool:
        """Whether another command may be sent; candles never hold one up. An exchange may correct thousands of candles
        at once."""
        return sum(not isinstance(each, ObserveClose) for each in self._unanswered) < _MOST_IN_FLIGHT

    @property
    def _most_in_flight(self) -> int:
        """0 while resting; 1 if each candle is followed by a rest."""
        if self._rest_left_s > 0.0:
            return 0
        if self._duty_percent < WHOLE_TIME_PERCENT:
            return 1
        return max(1, min(_MOST_IN_FLIGHT, _MOST_CANDLES_IN_FLIGHT // len(self._spec.markets)))

    def _give_up_progress(self) -> None:
        self._emit_progress(self._meter.give_up())

    def _emit_progress(self, progress: JobProgress | None) -> None:
        if progress is not None:
            self._emit_event(progress)

    def _send(self, command: TrainerCommand) -> None:
        self._unanswered.append(command)
        self._host.send(command)

    def _handle_answer(self, timeout_s: float) -> bool:
        batch = self._host.receive(timeout_s)
        if batch is None:
            return False
        if not batch.is_whole:
            self._publish(batch)
            return True
        if isinstance(self._unanswered.popleft(), ObserveClose):
            self._restarts.candle_processed()
        self._publish(batch)
        if any(isinstance(command, SetPaused) for command in self._unanswered):
            return True  # the state is older than a pause request that the trainer has not handled yet
        for event in batch.events:  # not of the first answer: a host that has just started knows of no pause yet
            if isinstance(event, TrainerStatus):
                self._restarts.remember_state(event.state)
        return True

    def _publish(self, batch: EventBatch) -> None:
        for event in batch.events:
            if isinstance(event, TrainerReady):
                self._queue.trainer_is_ready(event)
                self._run_id = event.run_id
                if self._first is not None:
                    self._first.trainer_is_ready(event.markets[0].recorded_until_ms)
            elif isinstance(event, TrainerStatus):
                self._status = event
            elif isinstance(event, ForecastMade) and self._first is not None:
                self._first.committed(event)
        steps_ms = [event.duration_ms for event in batch.events if isinstance(event, StepDone)]
        if steps_ms:
            self._pacer.after_step(sum(steps_ms))
        self._emit(batch)

    def _emit_event(self, event: TrainerEvent) -> None:
        self._emit(EventBatch((event,)))

    def _forecast_first(self) -> None:
        made = None if self._first is None else self._first.look(is_behind=self._meter.has_backlog)
        if made is not None:
            self._emit_event(made)

    def _start(self) -> None:
        """Start the host and publish its first answer, unless a stop is requested meanwhile. Raises HostDiedError."""
        self._unanswered.clear()
        self._forecast_first()  # a host in this thread is silent until it has loaded
        self._host.start()
        while not (self._is_running or self._inbox.is_stopped):
            self._forecast_first()
            batch = self._host.receive(_IDLE_WAIT_S)
            if batch is None:
                continue
            self._publish(batch)
            for event in batch.events:
                if isinstance(event, TrainerReady):
                    self._on_ready(event)
            self._is_running = True

    def _on_ready(self, event: TrainerReady) -> None:
        incident = self._restarts.ready(event)
        if incident is not None:
            self._emit_event(incident)
        if self._restarts.can_look_for_gpu:
            self._device_watch.begin()
        else:
            self._device_watch.end()
        for market in self._spec.markets:
            for incident in self._restarts.set_aside(market, self._store.pop_unannounced(market)):
                self._emit_event(incident)
        for order in self._restarts.pop_commands():
            self._send(order)

    def _change_device(self, command: SetDevice) -> None:
        """End the host with a checkpoint and make a host on the other device, to be started next. Raises
        HostDiedError."""
        self._restarts.use_device(command.device)  # first, in case the host dies on the way
        deadline_s = self._clock.monotonic_s() + _STOP_WITHIN_S
        self._send(SaveCheckpoint(EXIT))
        self._drain(deadline_s)
        self._renew_host()

    def _replace_host(self, death: HostDiedError) -> None:
        """Make a new host, unless the cause is final or there were too many crashes; report it either way."""
        self._host.close()
        self._is_running = False
        to_set_aside = self._restarts.candle_to_set_aside(death)
        if to_set_aside is not None and death.market is not None:
            self._store.set_aside(death.market, to_set_aside, death.sentence)
        unanswered, is_explained = tuple(self._unanswered), to_set_aside is not None
        if self._announce(self._restarts.after(death, unanswered, is_explained=is_explained)):
            self._renew_host()
            self._inbox.wait(_RESTART_PAUSE_S)

    def _announce(self, decision: RestartDecision) -> bool:
        """Report it. False if no host follows."""
        for incident in decision.incidents:
            self._emit_event(incident)
        if decision.failure is not None:
            self._give_up_progress()
            self._inbox.stop()  # first: a restart in reaction to the event waits for this run to end
            self._emit_event(decision.failure)
        return decision.failure is None

    def _renew_host(self) -> None:
        self._host.close()
        self._is_running = False
        if self._status is not None:
            self._emit_event(replace(self._status, state=TrainerState.RESTARTING))
        self._host = self._make_host(self._restarts.spec)

    def _stop(self) -> None:
        """Take pending answers, request a last checkpoint, and end the host."""
        deadline_s = self._clock.monotonic_s() + _STOP_WITHIN_S
        try:
            self._drain(deadline_s)
            self._send(StopSession())
            self._drain(deadline_s)
        except HostDiedError as death:
            self._announce(self._restarts.end(death, tuple(self._unanswered)))

    def _drain(self, deadline_s: float) -> None:
        while self._unanswered:
            if self._clock.monotonic_s() > deadline_s:
                raise HostDiedError("The trainer did not answer in time and was ended.", cause=DeathCause.HUNG)
            self._handle_answer(_IDLE_WAIT_S)


_log = logging.getLogger("ghostcandle.training")


def store_incidents(incidents: Sequence[Incident], spec: SessionSpec, run_id: str | None) -> bool:
    """Store the incidents in the run's record, and take it over so that a leftover trainer can no longer write.

    run_id: None if the trainer ended before it named its run; the run that `spec` would continue is used then. Returns
    False and logs the incidents if there is no such run or the database cannot be written.
    """
    try:
        if _write(incidents, spec, run_id):
            return True
        why = "there is no run yet"
    except StorageError as error:
        why = str(error)
    for incident in incidents:
        _log.warning("Not in the database (%s): %s %s", why, incident.what_happened, incident.what_was_done)
    return False


def _write(incidents: Sequence[Incident], spec: SessionSpec, run_id: str | None) -> bool:
    db = open_database(DataFolder(spec.root).database, creates=False)
    try:
        runs = RunStore(db)
        if run_id is None:
            found = None if spec.new_run else runs.find(spec.market, spec.fingerprint, spec.others)
            run_id = None if found is None else found.run_id
        if run_id is None:
            return False
        record = TrainingRecord(db, run_id, runs.acquire_fence(run_id))
        with record.write():
            for incident in incidents:
                record.add_incident_once(incident)
        return True
    finally:
        db.close()
