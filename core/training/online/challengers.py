"""The challengers of a session, in the order of the expert axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from core.domain.clock import Clock
from core.domain.quantities import FloatArray
from core.settings.tree import RecoverySettings
from core.storage.records import ChallengerWork
from core.training.commands import MarketCandle
from core.training.engine.engine import part_of
from core.training.engine.samples import Batch
from core.training.online.challenger import Challenger, MarketInputs
from core.training.online.guarded_challenger import GuardedChallenger
from core.training.recovery.incident_draft import IncidentDraft
from core.training.recovery.quarantine import non_finite_parts


class Challengers:
    """Calls each of them in turn. Most sessions have none, and then nothing here does anything."""

    def __init__(
        self,
        members: Sequence[Challenger],
        recovery: RecoverySettings,
        remember_every: int,
        clock: Clock,
        programs: Sequence[str] | None = None,
    ) -> None:
        """remember_every, programs: see `GuardedChallenger`."""
        known = [""] * len(members) if programs is None else programs
        self._members = [
            GuardedChallenger(each, recovery, remember_every, clock, program)
            for each, program in zip(members, known, strict=True)
        ]

    def __len__(self) -> int:
        return len(self._members)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(each.name for each in self._members)

    def observe(self, closed: Sequence[MarketCandle]) -> None:
        """Hand on the candles that have just closed."""
        for each in self._members:
            each.observe(closed)

    def forecast(self, markets: Sequence[MarketInputs]) -> list[list[FloatArray | None]]:
        """Of each market what each challenger forecasts: normalised [H, Q, L], or None."""
        made = [each.forecast(markets) for each in self._members]
        return [[of_member[place] for of_member in made] for place in range(len(markets))]

    def learn(self, batch: Batch, anchors: FloatArray, step: int) -> None:
        """Let each take a training step on these samples, unless a number in them is not finite."""
        if not self._members or non_finite_parts(batch, anchors):
            return
        for each in self._members:
            each.learn(batch, anchors, step)

    def compare(self, own: Sequence[FloatArray], without_model: FloatArray) -> None:
        """own: [K] of each challenger; see `Challenger.compare`."""
        for each, losses in zip(self._members, own, strict=True):
            each.compare(losses, without_model)

    def resume(self) -> None:
        """The user resumed training."""
        for each in self._members:
            each.resume()

    def close(self) -> None:
        """The session ends."""
        for each in self._members:
            each.close()

    def take_incidents(self) -> list[IncidentDraft]:
        """Those since the last call."""
        return [draft for each in self._members for draft in each.take_incidents()]

    def take_work(self) -> list[ChallengerWork]:
        """Of each since the last call."""
        return [each.take_work() for each in self._members]

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Tensors and JSON for a checkpoint, by name."""
        states = {each.name: each.state() for each in self._members}
        tensors = {f"{name}.{key}": tensor for name, (own, _) in states.items() for key, tensor in own.items()}
        return tensors, {name: scalars for name, (_, scalars) in states.items()}

    def restore(self, tensors: dict[str, Tensor], scalars: Mapping[str, Any], *, is_same_run: bool) -> None:
        """Continue from what `state` returned. One that it does not have begins new. is_same_run: see
        `GuardedChallenger.restore`."""
        for each in self._members:
            each.restore(part_of(tensors, each.name), scalars.get(each.name), is_same_run=is_same_run)
