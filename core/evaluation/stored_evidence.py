"""The skill and the model's gain of a run from its record: the figures that its trainer reports. No torch."""

from __future__ import annotations

from typing import Any

from core.evaluation.judged_scores import JUDGED_QUANTITIES
from core.storage.evidence_blocks import OWN
from core.storage.record_reader import RecordReader
from core.storage.runs import Run
from core.training.online.evidence import REFERENCE, WITHOUT_MODEL, LossSums, RunEvidence
from core.training.online.trainer_spec import own_mode_of

_AGAINST = {"skill": REFERENCE, "model_gain": WITHOUT_MODEL}


class StoredEvidence:
    """Reads the losses of a run's own forecasts, each time only the new ones. Used from one thread."""

    def __init__(self, reader: RecordReader, run: Run) -> None:
        self._reader, self._own_mode = reader, own_mode_of(run.market)
        self._evidence = RunEvidence()
        self._until_ms: int | None = None

    def read(self) -> RunEvidence:
        """Without what learning was worth. Raises StorageError."""
        span = self._reader.scored_span(1)
        if span is None or span[1] == self._until_ms:
            return self._evidence
        if self._until_ms is None:
            blocks = [block for block in self._reader.evidence(span[1]) if block.kind == OWN]
            self._evidence.load(blocks)
            self._until_ms = blocks[-1].last_target_ms if blocks else span[0] - 1
        self._evidence.extend(self._reader.scores_between(self._until_ms + 1, span[1]), self._own_mode, span[1])
        self._evidence.pop_new()  # the trainer stores them
        self._until_ms = span[1]
        return self._evidence


def anytime(own: LossSums) -> dict[str, Any]:
    """Skill and the model's gain of close and range as plain data, with since when each is proven."""
    found: dict[str, Any] = {"n": own.judged.n}
    for place, name in enumerate(JUDGED_QUANTITIES):
        for key, against in _AGAINST.items():
            estimate = own.gains(against)[1 + place]
            found[f"{name}_{key}"] = {
                "value": estimate.value,
                "ci95": estimate.ci95,
                "proven_after": own.proven_after(against, place),
            }
    return found
