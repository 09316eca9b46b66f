"""Starts a run from a checkpoint, for `evaluate --checkpoint`."""

from __future__ import annotations

from core.settings.tree import ModelSettings
from core.storage.errors import StorageError
from core.storage.weights import CheckpointError, read_weights
from core.training.online.session import TrainingSession
from core.training.online.snapshot import require_fit, unpack_learned
from core.training.online.trainer_spec import StartingPoint


def start_from_checkpoint(session: TrainingSession, start: StartingPoint, model: ModelSettings) -> None:
    """Load the checkpoint's weights, optimizer, expert weights and calibration into a new session, but not its past.
    Raises StorageError with the reason, since another try would fail in the same way.
    """
    try:
        tensors, metadata = read_weights(start.file, start.sha256)
        require_fit(metadata, model, start.file.name)
        unpack_learned(session, tensors, metadata)
    except CheckpointError as error:
        raise StorageError(str(error)) from error
    session.provenance.counts_seen = start.counts_seen
    session.note_new_weights(start.checkpoint_id, start.learned_until_ms)
