"""Evidence for each expert alone, and for their combination: what it lost and hit, summed in blocks of 50 candles.

The blocks are stored once and never change, also after the losses of their candles were thinned; the leaderboard reads
them (`core.evaluation.leaderboard`). All kinds have the same candles in a block, so that any two can be compared.
No torch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from core.domain.events import ForecastMode
from core.domain.quantities import FloatArray, Quantity
from core.forecast.confidence import BLOCK
from core.forecast.experts import NO_CHALLENGERS, ExpertList, unpack_losses
from core.storage.evidence import COMBINATION, EvidenceBlock, expert_kind
from core.storage.record_reader import RecordReader
from core.storage.records import StoredScore


class ExpertEvidence:
    """Takes the run's own one-step scores in time order."""

    def __init__(self, experts: ExpertList = NO_CHALLENGERS) -> None:
        self._rows = len(experts.loss_rows)
        self._next_number = dict.fromkeys((COMBINATION, *map(expert_kind, experts.loss_rows[1:])), 0)
        """By kind: of the combination, of each expert, and of the combination without challengers if there are any."""
        self._open: list[tuple[int, FloatArray]] = []
        """Candles that are in no full block yet: their targets, and the numbers [kind, 3, 2] of each (`ExpertSums`)."""
        self._taken_until_ms: int | None = None
        self._new: list[EvidenceBlock] = []
        self._not_stored: list[tuple[int, FloatArray]] = []
        """The candles of those."""
        self._restored_hits: dict[int, FloatArray] = {}
        """By target."""

    def open_hits(self) -> dict[str, NDArray[np.generic]]:
        """For a checkpoint, which `restore_hits` reads: the record has no hits of single candles."""
        candles = [*self._not_stored, *self._open]
        hits = [numbers[1:, 1:] for _, numbers in candles]
        return {
            "target_open_time_ms": np.array([target_ms for target_ms, _ in candles], dtype=np.int64),
            "hits": np.array(hits, dtype=np.uint8).reshape(len(hits), self._rows - 1, 2, 2),
        }

    def restore_hits(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        """What `open_hits` gave, before `resume`. Empty, as in older checkpoints: not known."""
        if state and state["hits"].shape[1:] == (self._rows - 1, 2, 2):
            targets, hits = state["target_open_time_ms"].tolist(), state["hits"].astype(np.float64)
            self._restored_hits = dict(zip(targets, hits, strict=True))

    def resume(self, reader: RecordReader, own_mode: ForecastMode, until_ms: int) -> None:
        """Continue after the blocks up to this target that the record has; without any, from the oldest score whose
        losses are still stored. Raises StorageError."""
        last = reader.last_expert_blocks(until_ms)
        self._next_number |= {kind: number + 1 for kind, (number, _) in last.items()}
        self._taken_until_ms = max((target_ms for _, target_ms in last.values()), default=None)
        after_ms = self._taken_until_ms
        scores = (
            reader.scores_with_losses(until_ms) if after_ms is None else reader.scores_between(after_ms + 1, until_ms)
        )
        self._extend(score for score in scores if score.mode is own_mode and not score.after_gap)

    def _extend(self, scores: Iterable[StoredScore]) -> None:
        for score in scores:
            self.add(score, self._restored_hits.get(score.target_open_time_ms))

    def add(self, score: StoredScore, hits: FloatArray | None) -> None:
        """Take the next score; a repeated one changes nothing, nor does one without the experts' losses.

        hits [kinds but the first, 2, 2]: see `core.forecast.score.close_hits`; None where not known.
        """
        target_ms, losses = score.target_open_time_ms, unpack_losses(score.expert_losses)
        if (
            losses is None
            or len(losses) != self._rows
            or (self._taken_until_ms is not None and target_ms <= self._taken_until_ms)
        ):
            return
        self._taken_until_ms = target_ms
        self._open.append((target_ms, _numbers(score, losses, hits)))
        if len(self._open) == BLOCK:
            self._close(target_ms)

    def remove(self, target_open_time_ms: int) -> None:
        """A candle was corrected: what the experts would have lost on it now is not known. A full block stays."""
        self._open = [each for each in self._open if each[0] != target_open_time_ms]

    def take_new(self) -> list[EvidenceBlock]:
        """Blocks that became full since the last call, to be stored."""
        new, self._new, self._not_stored = self._new, [], []
        return new

    def _close(self, target_ms: int) -> None:
        sums = np.sum([numbers for _, numbers in self._open], axis=0)
        for kind, of_kind in zip(self._next_number, sums, strict=True):
            self._new.append(EvidenceBlock(kind, self._next_number[kind], target_ms, of_kind))
            self._next_number[kind] += 1
        self._not_stored, self._open = [*self._not_stored, *self._open], []


def _numbers(score: StoredScore, losses: FloatArray, hits: FloatArray | None) -> FloatArray:
    """[kind, 3, 2]. losses: [kind, Q], of which the first is the combination without the model, which is no kind."""
    numbers = np.zeros((len(losses), 3, 2))
    numbers[0, 0] = score.loss, score.range_loss
    numbers[0, 1:] = (score.inside_90, 1.0), (score.direction_hit is True, score.direction_hit is not None)
    numbers[1:, 0] = losses[1:, [Quantity.CLOSE, Quantity.RANGE]]
    if hits is not None:
        numbers[1:, 1:] = hits
    return numbers
