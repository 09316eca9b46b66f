"""Decides when a checkpoint is written and which are kept, and finds the one to restore."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor

from core.checkpoints.best import best_of, is_proven_to_add
from core.checkpoints.provenance import learned_until_ms
from core.checkpoints.retention import checkpoints_to_delete, rules_of, with_rules
from core.domain.checkpoint_info import CheckpointInfo
from core.domain.clock import Clock
from core.domain.events import CheckpointsChanged, Estimate
from core.machine.heap import return_freed_memory
from core.settings.tree import CheckpointSettings, ModelSettings, Settings
from core.storage.checkpoints import CheckpointRows
from core.storage.folder import DataFolder
from core.storage.record_writer import TrainingRecord
from core.storage.setting_sets import describe
from core.storage.weights import CheckpointError, read_weights, write_weights
from core.training.commands import EXIT
from core.training.online.checkpoint_score import hits_together, score_together
from core.training.online.reference_model import UNFINISHED_SNAPSHOTS
from core.training.online.session import TrainingSession
from core.training.online.snapshot import pack, require_finite_state, require_fit

_SUFFIX = ".safetensors"
_OURS = (_SUFFIX, ".tmp")
_MINUTE_MS = 60_000
_RETURNS_MEMORY_EVERY_S = 60.0
"""It takes about 2 ms of a core, in which the window may wait for memory if the trainer is a thread of its process."""
_MARKETS_AT_USUAL_PACE = 4
"""A checkpoint has the past of each market, some megabytes: of more markets than these it is written less often."""
RESTORE = "restore"
"""The reason stored with a checkpoint that is written after a restore."""
_FIGURES = (
    "skill",
    "skill_low",
    "skill_high",
    "shown_skill",
    "model_gain",
    "gain_low",
    "gain_high",
    "gain_candles",
    "scored",
    "loss",
    "coverage",
    "direction",
    "health",
    "settings_id",
)
"""Figures that belong to a checkpoint's weights: their scores, health and settings."""
_State = tuple[int, tuple[int | None, ...], str | None]


@dataclass(frozen=True, slots=True)
class Circumstances:
    """Data stored with a checkpoint: current settings, device, and the gradient doctor's verdict."""

    settings: Settings
    device: str
    health: str
    recovery_checkpoint_id: str | None
    """The id of the checkpoint recommended to a diverged model; not stored. It is kept while it is recommended."""


class CheckpointWriter:
    """Writes the run's checkpoints, and carries out the deletions that retention and the window request."""

    def __init__(
        self,
        folder: DataFolder,
        record: TrainingRecord,
        rows: CheckpointRows,
        settings: CheckpointSettings,
        model: ModelSettings,
        clock: Clock,
    ) -> None:
        self._folder = folder
        self._record = record
        self._rows = rows
        self._settings = settings
        self._model = model
        self._clock = clock
        self._saved_at_s: float | None = None
        self._returned_memory_at_s = -math.inf
        self._saved_state: _State | None = None
        self._newest_state: _State | None = None
        """State at the newest checkpoint, also a resumed one; None if scores have changed since."""
        self.previewed: frozenset[str] = frozenset()
        """Their forecasts are shown in the window: they stay until others are, or none."""
        self.circumstances: Callable[[], Circumstances]
        """Called for each checkpoint and deletion; to be set before the first."""

    @property
    def _run_id(self) -> str:
        return self._record.reader.run_id

    def is_due(self, session: TrainingSession, is_catching_up: bool) -> bool:
        """Whether a checkpoint is due by steps, with many markets less often; while catching up, at most once in
        `catch_up_seconds`."""
        every = self._settings.every_steps * math.ceil(len(session.markets) / _MARKETS_AT_USUAL_PACE)
        saved_step = None if self._saved_state is None else self._saved_state[0]
        if session.step == 0 or session.step % every or session.step == saved_step:
            return False
        if not is_catching_up or self._saved_at_s is None:
            return True
        return self._clock.monotonic_s() - self._saved_at_s >= self._settings.catch_up_seconds

    def note_resumed(self, session: TrainingSession) -> None:
        """The session has just resumed from a checkpoint of this run: an exit need not write it again."""
        self._newest_state = _state_of(session)

    def note_rescored(self) -> None:
        """A correction changed scores: an exit writes a checkpoint, even without a step."""
        self._newest_state = None

    def save(self, session: TrainingSession, reason: str) -> CheckpointsChanged | None:
        """Write the state, then its row; then delete the checkpoints that retention drops. At most once a minute also
        return freed memory to the system. None if this state is saved already.

        Raises CheckpointError if the state is not finite or the disk refuses it.
        """
        known = self._newest_state if reason == EXIT else self._saved_state
        if session.position_ms is None or _state_of(session) == known:
            return None
        if not session.engine.is_finite():
            raise CheckpointError("The model holds numbers that are not finite, so no checkpoint was written.")
        around = self.circumstances()
        settings_id, settings_json = describe(around.settings)
        info = replace(self._write(session, reason, around), settings_id=settings_id)
        if reason == RESTORE:
            info = replace(info, **self._figures_of(session.checkpoint_id))
        is_stored = info.settings_id != settings_id  # those of the restored checkpoint
        with self._record.write():
            self._record.add_checkpoint(info, None if is_stored else settings_json)
        session.checkpoint_id = info.checkpoint_id
        self._saved_state = self._newest_state = _state_of(session)
        self._saved_at_s = self._clock.monotonic_s()
        in_use = {info.checkpoint_id}
        deleted = (*self.apply_requests(in_use), *self.clean_up(in_use))
        if self._saved_at_s - self._returned_memory_at_s >= _RETURNS_MEMORY_EVERY_S:
            self._returned_memory_at_s = self._saved_at_s
            return_freed_memory()
        return CheckpointsChanged(self._run_id, info, deleted)

    def apply_retention(self, settings: CheckpointSettings) -> None:
        """Apply these retention rules from now on. When checkpoints are written does not change."""
        self._settings = with_rules(self._settings, settings)

    def clean_up(self, in_use: set[str]) -> tuple[str, ...]:
        """Delete checkpoints that no rule keeps. Returns the ids."""
        known = self._rows.list(self._run_id)
        rules, now_ms = rules_of(self._settings), self._clock.now_ms()
        offered = self.circumstances().recovery_checkpoint_id
        return self.delete(checkpoints_to_delete(known, rules, now_ms, in_use | self.previewed, offered))

    def apply_requests(self, in_use: set[str]) -> tuple[str, ...]:
        """Carry out deletions that the window requested, of any run, once they can no longer be undone. Checkpoints
        that are in use, open or recommended, and the newest of each run, stay."""
        until_ms = self._clock.now_ms() - self._settings.undo_minutes * _MINUTE_MS
        offered = self.circumstances().recovery_checkpoint_id
        kept = {*in_use, *self.previewed, *self._rows.newest_ids(), offered}
        return self.delete(id_ for id_ in self._rows.requested_deletions(until_ms) if id_ not in kept)

    def delete(self, ids: Iterable[str]) -> tuple[str, ...]:
        """Mark the rows, then delete the files: a crash in between, or a disk that refuses, leaves an orphan, not a row
        without a file."""
        chosen = [info for info in (self._rows.by_id(id_) for id_ in ids) if info is not None]
        if not chosen:
            return ()
        with self._record.write():
            self._record.mark_deleted([info.checkpoint_id for info in chosen])
        gone = [info for info in chosen if self._rows.by_id(info.checkpoint_id) is None]  # a new pin keeps its row
        for info in gone:
            with suppress(OSError):
                self._folder.absolute(info.file).unlink(missing_ok=True)
        return tuple(info.checkpoint_id for info in gone)

    def kept(self) -> list[CheckpointInfo]:
        """The run's checkpoints, the newest first."""
        return self._rows.list(self._run_id)

    def to_continue_from(self) -> list[CheckpointInfo]:
        """The run's checkpoints in the order to try them: the newest first, but known good ones before all others."""
        return sorted(self.kept(), key=lambda info: not info.is_known_good)

    def info(self, checkpoint_id: str) -> CheckpointInfo | None:
        """One checkpoint, of any run; None if it was deleted."""
        return self._rows.by_id(checkpoint_id)

    def load(self, checkpoint_id: str) -> tuple[dict[str, Tensor], dict[str, Any], int]:
        """Read and check one checkpoint, of any run; with it the close of the newest candle that it may have learned
        from. Raises CheckpointError."""
        info, learned_at = self._rows.by_id(checkpoint_id), self._rows.learned_at(checkpoint_id)
        if info is None or learned_at is None:
            step = self._rows.deleted_step(checkpoint_id)
            if step is None:
                raise CheckpointError(f"There is no checkpoint '{checkpoint_id}'.")
            raise CheckpointError(f"The checkpoint of step {step:,} was deleted or cleaned up meanwhile.")
        path = self._folder.absolute(info.file)
        tensors, metadata = read_weights(path, info.sha256)
        require_fit(metadata, self._model, path.name)
        return tensors, metadata, learned_until_ms(metadata, *learned_at)

    def sweep_orphans(self) -> None:
        """Delete files of this run without a row, and unfinished ones of the reference model, which a crash has
        left."""
        folder = self._folder.checkpoints(self._run_id)
        if not folder.is_dir():
            return
        known = {self._folder.absolute(info.file) for info in self._rows.list(self._run_id)}
        orphans = [path for path in folder.iterdir() if path not in known and path.suffix in _OURS]
        orphans += folder.glob(UNFINISHED_SNAPSHOTS)
        for path in orphans:
            with suppress(OSError):  # the next start tries again
                path.unlink(missing_ok=True)

    def _figures_of(self, restored_id: str | None) -> dict[str, Any]:
        """Figures of the restored checkpoint, whose weights these are. Empty if it is of another run, which may be of
        another market."""
        restored = None if restored_id is None else self._rows.by_id(restored_id)
        if restored is None or restored.run_id != self._run_id:
            return {}
        return {name: getattr(restored, name) for name in _FIGURES}

    def _write(self, session: TrainingSession, reason: str, around: Circumstances) -> CheckpointInfo:
        pairs = [(market.scores, market.history) for market in session.markets]
        scores = score_together(pairs, session.engine, self._model.context)
        skill, gain = _finite(scores.model), _finite(scores.gain)
        direction, coverage = hits_together([market.scores for market in session.markets])
        checkpoint_id = f"{self._run_id}-{session.step:08d}-{secrets.token_hex(3)}"
        path = self._folder.checkpoints(self._run_id) / f"step-{session.step:08d}-{checkpoint_id[-6:]}{_SUFFIX}"
        tensors, metadata = pack(session, self._model)
        require_finite_state(tensors, metadata)
        try:
            written = write_weights(path, tensors, {**metadata, "checkpoint_id": checkpoint_id, "reason": reason})
        except OSError as error:
            raise CheckpointError(f"The checkpoint could not be written ({error.strerror or error}).") from error
        position = session.position_ms
        assert position is not None
        info = CheckpointInfo(
            checkpoint_id=checkpoint_id,
            run_id=self._run_id,
            step=session.step,
            candle_open_time_ms=position,
            created_at_ms=self._clock.now_ms(),
            reason=reason,
            skill=skill.value,
            skill_low=skill.low,
            skill_high=skill.high,
            shown_skill=scores.shown,
            model_gain=gain.value,
            gain_low=gain.low,
            gain_high=gain.high,
            gain_candles=gain.n,
            scored=skill.n,
            loss=session.losses.windowed,
            file=self._folder.relative(path),
            size_bytes=written.size_bytes,
            sha256=written.sha256,
            parent_id=session.checkpoint_id,
            is_known_good=session.ladder.is_sound,
            coverage=coverage,
            direction=direction,
            is_in_use=True,
            device=around.device,
            health=around.health,
        )
        if best_of([info, *self.kept()]) is not info:
            return info
        is_news = reason == "periodic" and is_proven_to_add(info)
        return replace(info, is_best=True, reason="best" if is_news else reason)


def _state_of(session: TrainingSession) -> _State:
    positions = tuple(market.position_ms for market in session.markets)
    return session.step, positions, session.checkpoint_id  # a restore changes only the last


def _finite(skill: Estimate) -> Estimate:
    """Drop non-finite skill: a NaN that became the best could never be beaten."""
    if any(number is not None and not math.isfinite(number) for number in (skill.value, skill.low, skill.high)):
        return Estimate(None, None, None, skill.n)
    return skill
