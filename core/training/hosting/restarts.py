"""What follows from a trainer's death: the same device again, the CPU instead, or a pause until the user starts it."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from core.domain.clock import Clock
from core.domain.events import (
    BREAKER,
    CANDLE_SET_ASIDE,
    GPU_IS_BACK,
    TRAINER_ENDED,
    Incident,
    Severity,
    TrainerFailed,
    TrainerReady,
    TrainerState,
)
from core.market.history.moments import moment_text
from core.storage.candles import SetAside
from core.training.commands import (
    ApplyDeletions,
    ForecastWith,
    KeepBy,
    RecordIncident,
    RestoreCheckpoint,
    SaveCheckpoint,
    SetClipNorm,
    SetDuty,
    SetLearningRate,
    SetPaused,
    StepOnce,
    TrainerCommand,
)
from core.training.hosting.exit_reasons import DeathCause
from core.training.hosting.host import HostDiedError
from core.training.online.spec import SessionSpec

_BREAKER_CRASHES = 3
_BREAKER_WINDOW_S = 600.0
_ASKED = {
    StepOnce: "one extra step",
    SaveCheckpoint: "a checkpoint",
    RestoreCheckpoint: "going back to a checkpoint",
    ApplyDeletions: "deleting checkpoints",
    ForecastWith: "the forecast of a checkpoint",
    KeepBy: "cleaning up checkpoints",
}

DeviceName = Literal["auto", "cpu", "cuda"]


class Breaker:
    """Opens at the third crash within ten minutes."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._crashes_s: deque[float] = deque(maxlen=_BREAKER_CRASHES)

    def forget(self) -> None:
        """The newest crash is explained: it does not count."""
        if self._crashes_s:
            self._crashes_s.pop()

    def crashed(self) -> bool:
        """Count a crash. True where it was one too many."""
        self._crashes_s.append(self._clock.monotonic_s())
        newest, oldest = self._crashes_s[-1], self._crashes_s[0]
        return len(self._crashes_s) == _BREAKER_CRASHES and newest - oldest < _BREAKER_WINDOW_S


class CandleDeaths:
    """On which candle trainers died. The second time it is the candle's fault, unless trainers die of any candle."""

    def __init__(self) -> None:
        self._died_on: set[int] = set()
        self._was_one_taken = True
        """Since a candle was set aside last."""

    def taken(self) -> None:
        """A trainer took a candle and lived."""
        self._was_one_taken = True

    def died_on(self, open_time_ms: int) -> bool:
        """Count a death. True where the candle is to be set aside."""
        if open_time_ms not in self._died_on or not self._was_one_taken:
            self._died_on.add(open_time_ms)
            return False
        self._was_one_taken = False
        return True


@dataclass(frozen=True, slots=True)
class Verdict:
    """What follows from a death: another host is to be made of `Restarts.spec`, unless there is a failure."""

    incidents: tuple[Incident, ...]
    failure: TrainerFailed | None = None


class Restarts:
    """Knows what the next host is to be made of: the settings as the user has them by now, and the device."""

    def __init__(self, spec: SessionSpec, clock: Clock) -> None:
        self._spec = spec
        self._clock = clock
        self._breaker = Breaker(clock)
        self._candle_deaths = CandleDeaths()
        self._is_paused = False
        self._unrecorded: list[Incident] = []
        self._has_run = False
        self._had_gpu = False
        self.misses_gpu = False

    @property
    def spec(self) -> SessionSpec:
        """For the next host."""
        return self._spec

    def take_orders(self) -> tuple[TrainerCommand, ...]:
        """What a host that was started again must be told: no checkpoint and no setting holds it."""
        told = tuple(RecordIncident(incident) for incident in self.take_unrecorded())
        return (*told, SetPaused(True)) if self._is_paused else told

    def take_unrecorded(self) -> tuple[Incident, ...]:
        """The incidents that no host was told of, for whoever writes them down."""
        told = tuple(self._unrecorded)
        self._unrecorded.clear()
        return told

    def note(self, command: TrainerCommand) -> None:
        """Remember what was asked for: the next host begins with it."""
        match command:
            case SetPaused(paused):
                self._is_paused = paused
            case SetLearningRate(learning_rate):
                self._change("training", learning_rate=learning_rate)
            case SetDuty(percent):
                self._change("training", duty_percent=percent)
            case SetClipNorm(clip_norm):
                self._change("gradients", clip_norm=clip_norm)

    def note_state(self, state: TrainerState) -> None:
        """The trainer may have paused by itself; one that is started again stays paused."""
        if state in (TrainerState.PAUSED, TrainerState.TRAINING, TrainerState.CATCHING_UP):
            self._is_paused = state is TrainerState.PAUSED

    def use(self, device: DeviceName) -> None:
        """Make the next host on this device."""
        self._change("training", device=device)

    def ready(self, event: TrainerReady) -> Incident | None:
        """A host stands. An incident where `auto` has come out on the CPU although a GPU was in use before."""
        self._spec = replace(self._spec, new_run=False)  # a second start goes on with the run that the first began
        self._has_run = True
        if event.uses_gpu:
            self._had_gpu, self.misses_gpu = True, False
        if event.uses_gpu or not self._had_gpu or self.misses_gpu or self._spec.settings.training.device != "auto":
            return None
        self.misses_gpu = True
        return self._incident("GPU gone", "The GPU does not answer any more.", self._on_the_cpu(), _SLOWER)

    def candle_taken(self) -> None:
        """The host took a candle."""
        self._candle_deaths.taken()

    def candle_to_set_aside(self, death: HostDiedError) -> int | None:
        """When the candle opened that a second host has died of now, where that is the candle's fault."""
        if death.candle_ms is None or not self._candle_deaths.died_on(death.candle_ms):
            return None
        self._breaker.forget()  # the first of the two; the second is not counted
        return death.candle_ms

    def set_aside(self, candles: Sequence[SetAside]) -> tuple[Incident, ...]:
        """What is told of candles that were set aside: nothing where there are none."""
        if not candles:
            return ()
        first = candles[0]
        which = f"The candle of {moment_text(first.open_time_ms)} was"
        if len(candles) > 1:
            which = f"{len(candles):,} candles, the first of {moment_text(first.open_time_ms)}, were"
        return (
            self._incident(
                CANDLE_SET_ASIDE,
                f"{which} set aside: {first.reason}",
                "A hole takes the place of it; training continues behind it, in every run of this market.",
                "Forecasts across the hole are not scored. A corrected candle is taken.",
                severity=Severity.WARNING,
            ),
        )

    def after(
        self, death: HostDiedError, unanswered: Sequence[TrainerCommand], *, is_explained: bool = False
    ) -> Verdict:
        """What the window is told, and whether another host is to be made of `spec`.

        unanswered: commands that the dead host was given and never answered. is_explained: its cause is out of the
        way, so the death does not count as a crash.
        """
        is_without_device = death.cause is DeathCause.GONE or (death.cause is DeathCause.NO_DEVICE and self._has_run)
        if death.is_final and not is_without_device:
            return self.end(death, unanswered)
        self._take_back(unanswered)
        if not is_explained and death.cause is not DeathCause.NO_DEVICE and self._breaker.crashed():
            return self._open_breaker(death)
        if is_without_device:
            return Verdict((self._fall_back(death),))
        ended = self._ended(
            death,
            "It was started again from the newest whole checkpoint.",
            f"The steps since that checkpoint are done again. No forecast and no score is lost.{_undone(unanswered)}",
        )
        return Verdict((ended,))

    def end(self, death: HostDiedError, unanswered: Sequence[TrainerCommand]) -> Verdict:
        """No other host follows: the cause must be mended first, or the run was ending anyway."""
        self._take_back(unanswered)
        return Verdict((self._ended(death, "It was not started again.", _LEFT_FOR_LATER),), _failed(death))

    def gpu_is_back(self) -> Incident:
        """The offer to go back."""
        return self._incident(
            GPU_IS_BACK,
            "The GPU answers again.",
            "Training stays on the CPU until you ask to go back.",
            "Nothing. Going back writes a checkpoint and takes a few seconds.",
            severity=Severity.INFO,
        )

    @property
    def can_look_for_gpu(self) -> bool:
        """Whether a lost GPU could be gone back to: the process in which it was lost does not get it back."""
        return self.misses_gpu and self._spec.settings.training.host == "process"

    def _take_back(self, unanswered: Sequence[TrainerCommand]) -> None:
        """The host died before it wrote these down."""
        self._unrecorded[:0] = [command.incident for command in unanswered if isinstance(command, RecordIncident)]

    def _open_breaker(self, death: HostDiedError) -> Verdict:
        ended = self._ended(death, "It was not started again.", _LEFT_FOR_LATER)
        breaker = self._incident(
            BREAKER,
            "The trainer ended for the third time in ten minutes.",
            "Training is paused until you start it again. The chart goes on.",
            "Candles that close until then get no forecast in time; they are learned from afterwards.",
        )
        why = " It was the third time in ten minutes, so training is paused."
        return Verdict((ended, breaker), replace(_failed(death, why), by_breaker=True))

    def _ended(self, death: HostDiedError, done: str, cost: str) -> Incident:
        return self._incident(TRAINER_ENDED, death.sentence, done, cost, death.details)

    def _fall_back(self, death: HostDiedError) -> Incident:
        self.use("cpu")
        self._had_gpu = self.misses_gpu = self._had_gpu or death.cause is DeathCause.GONE
        kind = "GPU gone" if self._had_gpu else "device refused"
        return self._incident(kind, death.sentence, self._on_the_cpu(), _SLOWER, death.details)

    def _on_the_cpu(self) -> str:
        done = "Training goes on on the CPU, from the newest whole checkpoint."
        if not self.misses_gpu:
            return done
        if self.can_look_for_gpu:
            return f"{done} The GPU is looked for once a minute."
        return f"{done} To use the GPU again, close the program and start it anew."

    def _change(self, group: str, **values: object) -> None:
        settings = self._spec.settings
        with contextlib.suppress(ValueError):  # out of range: the running host refuses it, and so does a new one
            changed = replace(getattr(settings, group), **values)
            self._spec = replace(self._spec, settings=replace(settings, **{group: changed}))

    def _incident(
        self,
        kind: str,
        happened: str,
        done: str,
        cost: str,
        details: str = "",
        severity: Severity = Severity.ERROR,
    ) -> Incident:
        incident = Incident(None, self._clock.now_ms(), severity, kind, happened, done, cost, details)
        self._unrecorded.append(incident)
        return incident


_SLOWER = "Steps take longer. Those since that checkpoint are done again; no forecast and no score is lost."


_LEFT_FOR_LATER = (
    "The steps since the newest whole checkpoint are done again at the next start. No forecast and no score is lost."
)


def _failed(death: HostDiedError, why: str = "") -> TrainerFailed:
    needs_room = death.cause is DeathCause.FULL_DISK
    advice = "training can go on once there is room" if needs_room else "start training again when the cause is mended"
    return TrainerFailed(f"{death.sentence}{why} The chart goes on; {advice}.", death.details, needs_room=needs_room)


def _undone(unanswered: Sequence[TrainerCommand]) -> str:
    """One-off wishes are not repeated: one of them may be what the trainer died of."""
    asked = dict.fromkeys(_ASKED[type(command)] for command in unanswered if type(command) in _ASKED)
    return f" Not done, ask again: {', '.join(asked)}." if asked else ""
