"""The loop that drives a run: stored candles in, events out, a dead host started again. No Qt, no torch.

The candle table is the queue: live candles, catch-up, replay and recovery are all "the next stored candle after the
trainer's position", so nothing can be missed or taken twice.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from core.clock import Clock
from core.commands import ObserveCandle, StopSession, TrainerCommand
from core.events import (
    EventBatch,
    ForecastMode,
    Incident,
    Severity,
    TrainerEvent,
    TrainerFailed,
    TrainerReady,
)
from core.market.candle import Candle
from core.storage.candles import CandleStore
from core.training.catch_up import CatchUpMeter
from core.training.host import Host, HostDiedError
from core.training.spec import SessionSpec

_MOST_IN_FLIGHT = 16
_IDLE_WAIT_S = 0.25
_ANSWER_WAIT_S = 0.1
_BREAKER_CRASHES = 3
_BREAKER_WINDOW_S = 600.0
_RESTART_PAUSE_S = 0.5
_STOP_WITHIN_S = 30.0
_CLOSED_MEANWHILE = 100
"""Candles that may close while the trainer of a new run starts: none of them is passed over."""


@dataclass(slots=True)
class Inbox:
    """What other threads tell the driver. Every method may be called from any thread."""

    _wake: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _commands: deque[TrainerCommand] = field(default_factory=deque)
    _live: set[int] = field(default_factory=set)
    _is_ended: bool = False
    _is_stopped: bool = False

    def candles_stored(self, live_open_times_ms: tuple[int, ...] = ()) -> None:
        """Candles are durable in the database; these of them came live."""
        with self._lock:
            self._live.update(live_open_times_ms)
        self._wake.set()

    def send(self, command: TrainerCommand) -> None:
        """Queue a command. It overtakes candles that are not under way yet."""
        with self._lock:
            self._commands.append(command)
        self._wake.set()

    def feed_ended(self) -> None:
        """No further candle will come: the driver ends when all are taken."""
        self._is_ended = True
        self._wake.set()

    def stop(self) -> None:
        """End as soon as the candle under way is done."""
        self._is_stopped = True
        self._wake.set()

    @property
    def is_ended(self) -> bool:
        return self._is_ended

    @property
    def is_stopped(self) -> bool:
        return self._is_stopped

    def take_commands(self) -> list[TrainerCommand]:
        with self._lock:
            commands = list(self._commands)
            self._commands.clear()
        return commands

    def take_live(self, open_time_ms: int) -> bool:
        """Whether this candle came live. Asked once per candle."""
        with self._lock:
            if open_time_ms not in self._live:
                return False
            self._live.discard(open_time_ms)
            return True

    def wait(self, timeout_s: float) -> None:
        self._wake.wait(timeout_s)
        self._wake.clear()


class TrainingDriver:
    """Drives one run on the thread that calls `run`. `store` belongs to that thread."""

    def __init__(
        self,
        spec: SessionSpec,
        make_host: Callable[[], Host],
        store: CandleStore,
        inbox: Inbox,
        emit: Callable[[EventBatch], None],
        clock: Clock,
    ) -> None:
        self._spec = spec
        self._make_host = make_host
        self._store = store
        self._inbox = inbox
        self._emit = emit
        self._clock = clock
        self._host = make_host()
        self._sent_until_ms: int | None = None
        self._recorded_until_ms: int | None = None
        self._in_flight = 0
        self._has_failed = False
        self._crashes_s: deque[float] = deque(maxlen=_BREAKER_CRASHES)
        self._meter = CatchUpMeter(clock)

    def run(self) -> None:
        """Until the feed has ended and every candle is taken, `stop` is called, or training cannot go on.

        Raises nothing for a failing host: that becomes an Incident and a new start, or TrainerFailed.
        """
        try:
            if self._start():
                while not self._is_finished():
                    self._turn()
                if not self._has_failed:
                    self._stop()
                    self._report_progress(is_last=True)
        finally:
            self._host.close()

    def _is_finished(self) -> bool:
        if self._inbox.is_stopped:
            return True
        return self._inbox.is_ended and self._in_flight == 0 and not self._next_candles(1)

    def _turn(self) -> None:
        """One round: pass on commands and candles, take an answer. A dead host is replaced."""
        try:
            self._pass_on()
            if self._in_flight:
                self._take_answer(_ANSWER_WAIT_S)
            else:
                self._host.receive(0.0)  # notices a host that died while idle
                self._inbox.wait(_IDLE_WAIT_S)
        except HostDiedError as death:
            if not (self._may_restart(death) and self._start()):
                self._inbox.stop()

    def _pass_on(self) -> None:
        for command in self._inbox.take_commands():
            self._send(command)
        room = _MOST_IN_FLIGHT - self._in_flight
        for candle in self._next_candles(room) if room > 0 else ():
            self._send(ObserveCandle(candle, self._mode(candle)))
            self._sent_until_ms = candle.open_time_ms
        self._report_progress()

    def _report_progress(self, is_last: bool = False) -> None:
        if is_last or self._meter.is_due():
            left = 0 if is_last else self._store.count(self._spec.market, after_ms=self._sent_until_ms)
            progress = self._meter.report(left + self._in_flight)
            if progress is not None:
                self._tell(progress)

    def _send(self, command: TrainerCommand) -> None:
        self._host.send(command)
        self._in_flight += 1

    def _take_answer(self, timeout_s: float) -> bool:
        batch = self._host.receive(timeout_s)
        if batch is None:
            return False
        self._in_flight -= 1
        self._publish(batch)
        return True

    def _publish(self, batch: EventBatch) -> None:
        for event in batch.events:
            if isinstance(event, TrainerReady):
                self._sent_until_ms = event.position_ms or self._first_start_ms()
                self._recorded_until_ms = event.recorded_until_ms
        self._emit(batch)

    def _tell(self, event: TrainerEvent) -> None:
        self._emit(EventBatch((event,)))

    def _first_start_ms(self) -> int | None:
        """Where a new run begins: a live one with the newest stored candles, any other with the first."""
        if self._spec.own_mode is not ForecastMode.LIVE:
            return None
        wanted = self._spec.settings.market.catch_up_candles + _CLOSED_MEANWHILE
        newest = self._store.newest(self._spec.market, wanted)
        return newest[0].open_time_ms - 1 if newest else None

    def _next_candles(self, limit: int) -> list[Candle]:
        return self._store.load(self._spec.market, after_ms=self._sent_until_ms, limit=limit)

    def _mode(self, candle: Candle) -> ForecastMode:
        came_live = self._inbox.take_live(candle.open_time_ms)
        if self._spec.own_mode is not ForecastMode.LIVE:
            return self._spec.own_mode
        if self._recorded_until_ms is not None and candle.open_time_ms <= self._recorded_until_ms:
            return ForecastMode.RECOVERY
        return ForecastMode.LIVE if came_live else ForecastMode.CATCH_UP

    def _start(self) -> bool:
        """Start the host and publish its first answer. False where training cannot go on."""
        while not self._inbox.is_stopped:
            try:
                self._in_flight = 0
                self._host.start()
                while not self._take_first_answer():
                    if self._inbox.is_stopped:
                        return False
                return True
            except HostDiedError as death:
                if not self._may_restart(death):
                    return False
        return False

    def _take_first_answer(self) -> bool:
        batch = self._host.receive(_IDLE_WAIT_S)
        if batch is None:
            return False
        self._publish(batch)
        return True

    def _may_restart(self, death: HostDiedError) -> bool:
        """Make a new host, unless the cause is final or there were too many crashes; tell the window either way."""
        self._host.close()
        self._crashes_s.append(self._clock.monotonic_s())
        is_loop = (
            len(self._crashes_s) == _BREAKER_CRASHES and self._crashes_s[-1] - self._crashes_s[0] < _BREAKER_WINDOW_S
        )
        if death.is_final or is_loop:
            reason = death.sentence if death.is_final else f"{death.sentence} It was the third time in ten minutes."
            advice = "The chart goes on; start training again when the cause is mended."
            self._tell(TrainerFailed(f"{reason} {advice}", death.details))
            self._has_failed = True
            return False
        self._tell(
            Incident(
                run_id=None,
                at_ms=self._clock.now_ms(),
                severity=Severity.ERROR,
                kind="trainer ended",
                what_happened=death.sentence,
                what_was_done="It was started again from the newest whole checkpoint.",
                what_it_cost="The steps since that checkpoint are done again. No forecast and no score is lost.",
                details=death.details,
            )
        )
        self._host = self._make_host()
        self._inbox.wait(_RESTART_PAUSE_S)
        return True

    def _stop(self) -> None:
        """Take the answers under way, ask for a last checkpoint, and let the host end."""
        deadline_s = self._clock.monotonic_s() + _STOP_WITHIN_S
        try:
            self._drain(deadline_s)
            self._send(StopSession())
            self._drain(deadline_s)
        except HostDiedError as death:
            self._tell(TrainerFailed(death.sentence, death.details))

    def _drain(self, deadline_s: float) -> None:
        while self._in_flight:
            if self._clock.monotonic_s() > deadline_s:
                raise HostDiedError("The trainer did not answer in time and was ended.")
            self._take_answer(_IDLE_WAIT_S)
