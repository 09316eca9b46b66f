"""A run that begins with a kept checkpoint: what `evaluate --checkpoint` does."""

from __future__ import annotations

from core.settings.tree import ModelSettings
from core.storage.errors import StorageError
from core.storage.weights import CheckpointError, read_weights
from core.training.online.session import TrainingSession
from core.training.online.snapshot import require_fit, unpack_learned
from core.training.online.spec import StartingPoint


def begin_with(session: TrainingSession, start: StartingPoint, model: ModelSettings) -> None:
    """Give a new session the checkpoint's weights, optimizer, expert weights and calibration; nothing of its past.

    Raises StorageError, with the reason: what is wrong with the file does not go away with another try.
    """
    try:
        tensors, metadata = read_weights(start.file, start.sha256)
        require_fit(metadata, model, start.file.name)
        unpack_learned(session, tensors, metadata)
    except CheckpointError as error:
        raise StorageError(str(error)) from error
    session.provenance.counts_seen = start.counts_seen
    session.note_new_weights(start.checkpoint_id, start.learned_until_ms)
