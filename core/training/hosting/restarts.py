"""Decides the reaction to a trainer's death: the same device again, the CPU instead, or a pause until the user acts."""

from __future__ import annotations

import contextlib
import sys
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.checkpoints.retention import with_rules
from core.domain.candle import Market
from core.domain.clock import Clock
from core.domain.events import Incident, Severity, TrainerFailed, TrainerReady, TrainerState
from core.domain.incident_kinds import IncidentKind
from core.domain.passing_faults import PassingFault
from core.machine.cuda_setup import RELOAD_DRIVER
from core.market.history.utc_times import moment_text
from core.market.shown_names import shown_market
from core.settings.devices import DeviceName
from core.storage.candles import SetAside
from core.training.commands import (
    ApplyDeletions,
    ApplyRetention,
    ForecastWith,
    RecordIncident,
    RestoreCheckpoint,
    SaveCheckpoint,
    SetClipNorm,
    SetDuty,
    SetLearned,
    SetLearningRate,
    SetPaused,
    StepOnce,
    TrainerCommand,
)
from core.training.hosting.host import HostDiedError
from core.training.online.trainer_spec import SessionSpec, rate_factor
from core.training.recovery.exit_reasons import DeathCause

_BREAKER_CRASHES = 3
_BREAKER_WINDOW_S = 600.0
_BLAMES_DEVICE = frozenset({DeathCause.HUNG, DeathCause.OUT_OF_MEMORY, DeathCause.KILLED})
"""Causes of a failed start that the CPU may not have: a driver that hangs, a GPU that others fill, and the libraries of
CUDA, which need memory of the host too (KILLED is most often its out-of-memory killer)."""
_MOST_FAILED_STARTS = 3
_REQUESTS = {
    StepOnce: "one extra step",
    SaveCheckpoint: "a checkpoint",
    RestoreCheckpoint: "going back to a checkpoint",
    ApplyDeletions: "deleting checkpoints",
    ApplyRetention: "cleaning up checkpoints",
}
_AFTER_A_SUSPEND = f" After a suspend this can bring it back: {RELOAD_DRIVER}" if sys.platform == "linux" else ""


class CircuitBreaker:
    """Opens at the third crash within ten minutes."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._crashes_s: deque[float] = deque(maxlen=_BREAKER_CRASHES)

    def forget(self) -> None:
        """Do not count the newest crash: its cause was removed."""
        if self._crashes_s:
            self._crashes_s.pop()

    def reset(self) -> None:
        """Count no crash so far: their cause was removed."""
        self._crashes_s.clear()

    def record_crash(self) -> bool:
        """Count a crash. True if it was one too many."""
        self._crashes_s.append(self._clock.monotonic_s())
        newest, oldest = self._crashes_s[-1], self._crashes_s[0]
        return len(self._crashes_s) == _BREAKER_CRASHES and newest - oldest < _BREAKER_WINDOW_S


class CandleDeaths:
    """Counts deaths per candle. The second one blames the candle, unless trainers die on every candle."""

    def __init__(self) -> None:
        self._died_on: set[tuple[Market, int]] = set()
        self._has_survived = True
        """Whether a trainer survived a candle since the last one was set aside."""

    def survived(self) -> None:
        """A trainer survived a candle."""
        self._has_survived = True

    def died_on(self, market: Market, open_time_ms: int) -> bool:
        """Count a death. True if the candle must be set aside."""
        if (market, open_time_ms) not in self._died_on or not self._has_survived:
            self._died_on.add((market, open_time_ms))
            return False
        self._has_survived = False
        return True


@dataclass(frozen=True, slots=True)
class RestartDecision:
    """The reaction to a death: a new host from `Restarts.spec`, unless there is a failure."""

    incidents: tuple[Incident, ...]
    failure: TrainerFailed | None = None


class Restarts:
    """Owns the spec of the next host: the settings as changed by the user so far, and the device."""

    def __init__(self, spec: SessionSpec, clock: Clock) -> None:
        self.spec = spec
        """The spec of the next host."""
        self._clock = clock
        self._breaker = CircuitBreaker(clock)
        self._candle_deaths = CandleDeaths()
        self._pauses_next = False
        """Whether the next host is to be paused; the present one's session knows whether it is."""
        self._preview: ForecastWith | None = None
        """The checkpoints whose forecasts are shown."""
        self._learned: dict[Market, bool] = {}
        """Learning switches by market, as set by the user."""
        self._unrecorded: list[Incident] = []
        self._has_run = False
        self._is_ready = False
        """Whether the present host has started."""
        self._failed_starts = 0
        """Failed starts in a row, on a device that may be a GPU."""
        self._is_gpu_named = spec.settings.training.device.startswith("cuda")
        """If True, the CPU does not replace a GPU that fails to start."""
        self._had_gpu = False
        self.misses_gpu = False

    def pop_commands(self) -> tuple[TrainerCommand, ...]:
        """Commands that restore the state of a restarted host that is neither in the checkpoint nor in the settings."""
        incidents = (RecordIncident(incident) for incident in self.pop_unrecorded_incidents())
        switches = (SetLearned(is_learned, market) for market, is_learned in self._learned.items())
        preview = () if self._preview is None else (self._preview,)
        return (*incidents, *switches, *preview, *((SetPaused(True),) if self._pauses_next else ()))

    def pop_unrecorded_incidents(self) -> tuple[Incident, ...]:
        """The incidents that no host has received."""
        incidents = tuple(self._unrecorded)
        self._unrecorded.clear()
        return incidents

    def remember(self, command: TrainerCommand) -> None:
        """Remember a command whose effect the next host must keep."""
        match command:
            case SetPaused(paused):
                self._pauses_next = paused
            case SetLearningRate(learning_rate):
                factor = rate_factor(len(self.spec.markets))
                self._change("training", learning_rate=learning_rate / factor)
            case SetDuty(percent):
                self._change("training", duty_percent=percent)
            case SetClipNorm(clip_norm):
                self._change("gradients", clip_norm=clip_norm)
            case ApplyRetention(rules):
                settings = self.spec.settings
                changed = replace(settings, checkpoints=with_rules(settings.checkpoints, rules))
                self.spec = replace(self.spec, settings=changed)
            case ForecastWith():
                self._preview = command if command.checkpoint_ids else None
            case RestoreCheckpoint():
                self._preview = None
            case SetLearned(is_learned, market):
                self._learned[market] = is_learned

    def remember_state(self, state: TrainerState) -> None:
        """The trainer may have paused by itself; a restarted one stays paused."""
        if state in (TrainerState.PAUSED, TrainerState.TRAINING, TrainerState.CATCHING_UP):
            self._pauses_next = state is TrainerState.PAUSED

    def use_device(self, device: DeviceName) -> None:
        """Make the next host on this device."""
        self._is_ready = False
        self._change("training", device=device)

    def ready(self, event: TrainerReady) -> Incident | None:
        """A host has started. An incident if `auto` chose the CPU although a GPU was in use before."""
        self.spec = replace(self.spec, new_run=False)  # a restart continues the run that the first start created
        self._has_run = self._is_ready = True
        self._failed_starts = 0
        if event.uses_gpu:
            self._had_gpu, self.misses_gpu = True, False
        if event.uses_gpu or not self._had_gpu or self.misses_gpu or self.spec.settings.training.device != "auto":
            return None
        self.misses_gpu = True
        return self._incident(IncidentKind.GPU_GONE, "The GPU no longer responds.", self._on_the_cpu(), _SLOWER)

    def candle_processed(self) -> None:
        self._candle_deaths.survived()

    def candle_to_set_aside(self, death: HostDiedError) -> int | None:
        """The open time of the candle, if it is to blame for the death of a second host."""
        if death.candle_ms is None or death.market is None:
            return None
        if not self._candle_deaths.died_on(death.market, death.candle_ms):
            return None
        self._breaker.forget()  # the first of the two; the second is not counted
        return death.candle_ms

    def set_aside(self, market: Market, candles: Sequence[SetAside]) -> tuple[Incident, ...]:
        """Incidents of candles of this market that were set aside."""
        if not candles:
            return ()
        first = candles[0]
        which = f"The candle of {moment_text(first.open_time_ms)} was"
        if len(candles) > 1:
            which = f"{len(candles):,} candles, the first of {moment_text(first.open_time_ms)}, were"
        if self.spec.others:
            which = f"In {shown_market(market)}, {which[:1].lower()}{which[1:]}"
        return (
            self._incident(
                IncidentKind.CANDLE_SET_ASIDE,
                f"{which} set aside: {first.reason}",
                "A gap takes its place; training continues after it, in every run of this market.",
                "Forecasts across the gap are not scored. A corrected candle is accepted.",
                severity=Severity.WARNING,
            ),
        )

    def after(
        self, death: HostDiedError, unanswered: Sequence[TrainerCommand], *, is_explained: bool = False
    ) -> RestartDecision:
        """The incidents to report, and whether to make another host from `spec`.

        unanswered: commands that the dead host did not answer. is_explained: the cause was removed, so the death does
        not count as a crash.
        """
        is_without_device = death.cause is DeathCause.GONE or (death.cause is DeathCause.NO_DEVICE and self._has_run)
        if death.is_final and not is_without_device:
            return self.end(death, unanswered)
        self._requeue(unanswered)
        is_one_too_many = not is_explained and death.cause is not DeathCause.NO_DEVICE and self._breaker.record_crash()
        if self._failed_to_start(death):
            self._failed_starts += 1
            if not self._is_gpu_named and (is_one_too_many or self._failed_starts >= _MOST_FAILED_STARTS):
                return RestartDecision((self._give_up_gpu(death),))
        self._is_ready = False
        if is_one_too_many:
            return self._pause_training(death)
        if is_without_device:
            return RestartDecision((self._fall_back(death),))
        ended = self._trainer_ended(
            death,
            "It was restarted from the newest intact checkpoint.",
            f"The steps since that checkpoint are repeated. No forecast and no score is lost.{_unfinished(unanswered)}",
        )
        return RestartDecision((ended,))

    def end(self, death: HostDiedError, unanswered: Sequence[TrainerCommand]) -> RestartDecision:
        """No other host follows: the cause must be fixed first, or the run was ending anyway."""
        self._requeue(unanswered)
        waits = death.passing in (PassingFault.HELD, PassingFault.AWAY)
        done = "It waits until this has passed." if waits else "It was not restarted."
        return RestartDecision((self._trainer_ended(death, done, _REPEATED_LATER),), _failed(death))

    def gpu_is_back(self) -> Incident:
        """The offer to use the GPU again."""
        return self._incident(
            IncidentKind.GPU_IS_BACK,
            "The GPU responds again.",
            "Training stays on the CPU until you switch back.",
            "Nothing. Switching writes a checkpoint and takes a few seconds.",
            severity=Severity.INFO,
        )

    @property
    def can_look_for_gpu(self) -> bool:
        """Whether a lost GPU can be used again: the process in which it was lost cannot get it back."""
        return self.misses_gpu and self.spec.settings.training.host == "process"

    def _requeue(self, unanswered: Sequence[TrainerCommand]) -> None:
        """Send the incidents that the host did not store before it died to the next one."""
        self._unrecorded[:0] = [command.incident for command in unanswered if isinstance(command, RecordIncident)]

    def _failed_to_start(self, death: HostDiedError) -> bool:
        """Whether a GPU may be the reason why the host did not start."""
        is_on_cpu = self.spec.settings.training.device == "cpu"
        return not (self._is_ready or is_on_cpu) and death.cause in _BLAMES_DEVICE

    def _give_up_gpu(self, death: HostDiedError) -> Incident:
        self._breaker.reset()
        self._failed_starts = 0
        self.use_device("cpu")
        self.misses_gpu = True
        happened = f"Training could not be started on this device. The last try: {death.sentence}"
        return self._incident(IncidentKind.DEVICE_REFUSED, happened, self._on_the_cpu(), _SLOWER, death.details)

    def _pause_training(self, death: HostDiedError) -> RestartDecision:
        ended = self._trainer_ended(death, "It was not restarted.", _REPEATED_LATER)
        by_name = _GPU_NAMED if self._failed_starts else ""
        breaker = self._incident(
            IncidentKind.BREAKER,
            "The trainer ended for the third time in ten minutes.",
            f"Training is paused until you start it again. The chart continues.{by_name}",
            "Candles that close until then get no forecast in time; the model learns from them later.",
        )
        why = f" It was the third time in ten minutes, so training is paused.{by_name}"
        return RestartDecision((ended, breaker), replace(_failed(death, why), by_breaker=True))

    def _trainer_ended(self, death: HostDiedError, done: str, cost: str) -> Incident:
        return self._incident(IncidentKind.TRAINER_ENDED, death.sentence, done, cost, death.details)

    def _fall_back(self, death: HostDiedError) -> Incident:
        self.use_device("cpu")
        self._had_gpu = self.misses_gpu = self._had_gpu or death.cause is DeathCause.GONE
        kind = IncidentKind.GPU_GONE if self._had_gpu else IncidentKind.DEVICE_REFUSED
        cure = _AFTER_A_SUSPEND if death.cause is DeathCause.GONE else ""
        return self._incident(kind, death.sentence, f"{self._on_the_cpu()}{cure}", _SLOWER, death.details)

    def _on_the_cpu(self) -> str:
        done = "Training continues on the CPU, from the newest intact checkpoint."
        if not self.misses_gpu:
            return done
        if self.can_look_for_gpu:
            return f"{done} {'The' if self._had_gpu else 'Any'} GPU is checked once a minute."
        return f"{done} To use the GPU again, restart the program."

    def _change(self, group: str, **values: object) -> None:
        settings = self.spec.settings
        with contextlib.suppress(ValueError):  # out of range: the running host refuses it, and so will a new one
            changed = replace(getattr(settings, group), **values)
            self.spec = replace(self.spec, settings=replace(settings, **{group: changed}))

    def _incident(
        self,
        kind: IncidentKind,
        happened: str,
        done: str,
        cost: str,
        details: str = "",
        severity: Severity = Severity.ERROR,
    ) -> Incident:
        incident = Incident(None, self._clock.now_ms(), severity, kind, happened, done, cost, details)
        self._unrecorded.append(incident)
        return incident


_GPU_NAMED = (
    " The GPU was chosen by name, so the CPU does not take over: free the GPU first, or start the program with "
    "--device auto or --device cpu."
)
_SLOWER = "Steps take longer. Those since that checkpoint are repeated; no forecast and no score is lost."


_REPEATED_LATER = (
    "The steps since the newest intact checkpoint are repeated at the next start. No forecast and no score is lost."
)


def _failed(death: HostDiedError, why: str = "") -> TrainerFailed:
    advice = "Restart training when the cause is fixed." if death.passing is None else "Training can continue then."
    return TrainerFailed(f"{death.sentence}{why} {advice}", death.details, passing=death.passing)


def _unfinished(unanswered: Sequence[TrainerCommand]) -> str:
    """A sentence naming the unanswered requests. They are not repeated: one may have killed the trainer."""
    asked = dict.fromkeys(_REQUESTS[type(command)] for command in unanswered if type(command) in _REQUESTS)
    return f" Not done, please repeat: {', '.join(asked)}." if asked else ""
