"""The kinds of incidents. Their values are stored in databases and never change."""

from __future__ import annotations

from enum import StrEnum


class IncidentKind(StrEnum):
    """The kind of an incident, for logic; its sentences are for the user."""

    BAD_BATCH = "bad batch"
    BREAKER = "breaker"
    """Trainers ended too often, so training is paused until it is resumed."""
    CANDLE_SET_ASIDE = "candle set aside"
    """A stored candle that the trainer cannot process was replaced by a hole."""
    CHALLENGER_CHANGED = "challenger changed"
    """Another program has its name than when the run was saved."""
    CHALLENGER_ENDED = "challenger ended"
    """The process of one; it is started again."""
    CHALLENGER_FAILED = "challenger failed"
    CHALLENGER_REFUSED = "challenger's state refused"
    """A stored state does not fit it, so it begins new."""
    CHALLENGER_SET_BACK = "challenger set back"
    """The newest state known to be good was restored, of this challenger alone."""
    CHALLENGER_SORTED = "challenger's quantiles sorted"
    CHALLENGER_SUSPENDED = "challenger suspended"
    CHALLENGER_WITHOUT_FORECAST = "challenger without forecast"
    """A challenger's process returned no forecast for a candle."""
    CHANGED_IN_PLACE = "changed in place"
    CHECKPOINT_NOT_WRITTEN = "checkpoint not written"
    CHECKPOINT_REFUSED = "checkpoint refused"
    CONTINUED_ALONE = "continued alone"
    """A market continues with its own model; one that has it with others was saved later."""
    DAMAGED_ROWS = "damaged rows"
    DATABASE_DAMAGED = "database damaged"
    DEVICE_REFUSED = "device refused"
    DRIFT = "drift"
    """A `DriftFound`."""
    FORECAST_FAILED = "forecast failed"
    FORECAST_WITHOUT_MODEL = "forecast without the model"
    GPU_GONE = "GPU gone"
    GPU_IS_BACK = "GPU is back"
    """A lost GPU can be used again."""
    GRADIENT_DOCTOR = "gradient doctor"
    LEARNING_RATE_ADAPTED = "learning rate adapted"
    LOSS_SPIKE = "loss spike"
    MEMORY_IS_BACK = "memory is back"
    MODEL_TAKEN_OVER = "model taken over"
    """A new run started from another run's model: for several markets from the model of one, or the reverse."""
    OUT_OF_MEMORY = "out of memory"
    PRETRAINED_NOT_USED = "pretrained model not used"
    PRETRAINED_REFUSED = "pretrained model refused"
    PRETRAINED_START = "started from a pretrained model"
    RESTORED = "restored"
    """A checkpoint was restored, as requested."""
    RESTORE_REFUSED = "restore refused"
    ROLLBACKS_USED_UP = "rollbacks used up"
    ROLLED_BACK = "rolled back"
    """Training was rolled back to its known good state."""
    SETTING_REFUSED = "setting refused"
    STEP_FAILED = "step failed"
    STEP_FAILED_AGAIN = "step failed again"
    STEP_SKIPPED = "step skipped"
    TRAINER_ENDED = "trainer ended"
    UNCLEAN_END = "unclean end"

    @classmethod
    def _missing_(cls, value: object) -> IncidentKind:
        """A kind that another version stored: it is shown, and no logic knows it."""
        kind = str.__new__(cls, value)
        kind._name_ = kind._value_ = str(value)
        return kind

    def __reduce_ex__(self, protocol: object) -> tuple[type[IncidentKind], tuple[str]]:
        # By value: 3.11 began to pickle members by name (python/cpython#26658), under which an unknown kind cannot be
        # found. Measured: 3.11.2 fails there, 3.11.7 does not.
        return IncidentKind, (self.value,)


PAUSES = frozenset({IncidentKind.ROLLBACKS_USED_UP, IncidentKind.STEP_FAILED_AGAIN})
"""Kinds after which the trainer has paused; `Resume` continues."""
REPEATING = frozenset(
    {
        IncidentKind.LOSS_SPIKE,
        IncidentKind.STEP_SKIPPED,
        IncidentKind.BAD_BATCH,
        IncidentKind.OUT_OF_MEMORY,
        IncidentKind.CHALLENGER_WITHOUT_FORECAST,
        IncidentKind.CHALLENGER_SORTED,
        IncidentKind.FORECAST_FAILED,
        IncidentKind.CHECKPOINT_NOT_WRITTEN,
    }
)
"""Kinds that may occur at every step: in one episode they share a row with a count (`Incident.count`)."""
ENDS_OF_EPISODES = (IncidentKind.RESTORED, IncidentKind.ROLLED_BACK)
"""Kinds after which no incident joins an earlier episode: the model is another one."""
