"""The figures of a run: skill of the ghosts, gain of the model, worth of learning, each with one interval.

They are computed here and nowhere else, over all of the run's own candles, one ahead, with intervals that hold at every
moment. Losses are summed in blocks. The sums of a full block are stored once and never change: a figure depends on the
original scores, even after they were thinned or corrected. Once a figure has an interval, value, interval and number of
candles are those of the newest full block: a verdict changes with a block, never in between. No torch.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.domain.events import Estimate, ForecastMode, OnlineGain
from core.domain.quantities import FloatArray, Quantity
from core.forecast.confidence import is_bounded, proven_after, ratio_sequence
from core.forecast.experts import NO_CHALLENGERS, ExpertList, unpack_losses
from core.forecast.sample_sizes import BLOCK
from core.forecast.score import LEAST_LOSS, quotient
from core.storage.evidence_blocks import COMBINATION, ONLINE, OWN, EvidenceBlock, expert_kind
from core.storage.record_reader import RecordReader
from core.storage.records import StoredScore

_PAIR = 2
"""Close, then range."""
SHOWN, WITHOUT_MODEL, REFERENCE = range(3)
"""Rows of the losses of a run's own forecasts."""


@dataclass(frozen=True, slots=True, eq=False)
class LossSums:
    """Losses [row, close or range] of n candles, with the unit of all rows last.

    blocks: [B, 3, 2], of each full block; ends_ms: [B], its last target. rest: [3, 2], of the candles in none, of which
    there are `n_rest`.
    """

    n: int
    ends_ms: NDArray[np.int64]
    blocks: FloatArray
    rest: FloatArray
    n_rest: int = 0

    @property
    def judged(self) -> LossSums:
        """The candles behind its figures: all, or once they have intervals those in full blocks."""
        return self.in_blocks if is_bounded(len(self.blocks)) else self

    @property
    def in_blocks(self) -> LossSums:
        """Without the candles after the newest full block."""
        return replace(self, n=self.n - self.n_rest, rest=np.zeros_like(self.rest), n_rest=0)

    @property
    def total(self) -> FloatArray:
        total: FloatArray = self.blocks.sum(axis=0) + self.rest
        return total

    def gains(self, against: int) -> tuple[Estimate, Estimate, Estimate]:
        """How much less the first row loses than row `against`, as a share of the last row's loss: both equally, close,
        range."""
        of = self.judged
        units = of.total[-1]
        close, spread = (of._ratio(against, np.eye(_PAIR)[part]) for part in range(_PAIR))
        if any(quotient(1.0, float(unit), of.n) is None for unit in units):
            return Estimate(None, None, None, of.n), close, spread
        return of._ratio(against, 1.0 / units), close, spread

    def proven_after(self, against: int, quantity: int) -> int | None:
        """After how many candles, looked at after each full block, this gain was first proven; None: never. quantity:
        0 for the close, 1 for the range."""
        lost = self.blocks[:, :, quantity]
        return proven_after(lost[:, against] - lost[:, 0], lost[:, -1])

    def _ratio(self, against: int, weights: FloatArray) -> Estimate:
        blocks, total = self.blocks, self.total
        parts, wholes = (blocks[:, against] - blocks[:, 0]) @ weights, blocks[:, -1] @ weights
        part, whole = float((total[against] - total[0]) @ weights), float(total[-1] @ weights)
        return ratio_sequence(parts, wholes, quotient(part, whole, self.n), self.n)


def pooled(runs: Sequence[tuple[int, LossSums]]) -> LossSums:
    """Several markets as one. runs: the interval in ms of each, and its losses.

    Each counts in units of its mean loss in the last row. Markets move together, so blocks that end within the time of
    50 candles are one observation: their mean.
    """
    if len(runs) == 1:
        return runs[0][1]
    times = [of.ends_ms // (BLOCK * interval_ms) for interval_ms, of in runs]
    every = np.unique(np.concatenate(times))
    if is_bounded(every.size):
        runs = [(interval_ms, of.in_blocks) for interval_ms, of in runs]
    blocks, count = np.zeros((every.size, 3, _PAIR)), np.zeros((every.size, 1, 1))
    rests = []
    for when, (_, of) in zip(times, runs, strict=True):
        mean_unit = of.total[-1] / max(of.n, 1)
        scale = np.where(mean_unit > LEAST_LOSS, 1.0 / np.maximum(mean_unit, LEAST_LOSS), 0.0)
        places = np.searchsorted(every, when)
        blocks[places] += of.blocks * scale
        count[places] += 1.0
        rests.append(of.rest * scale)
    n, n_rest = (sum(counts) for counts in zip(*((of.n, of.n_rest) for _, of in runs), strict=True))
    return LossSums(n, every, blocks / count, np.mean(rests, axis=0), n_rest)


class SkillEvidence:
    """One kind of losses [3, close or range] a candle: the forecast's, those it is compared with, and the unit of
    both."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._blocks: list[FloatArray] = []
        self._ends_ms: list[int] = []
        self._open: list[tuple[int, FloatArray]] = []
        """Candles that are in no full block yet, with their targets."""
        self._counted_until_ms: int | None = None
        self._new: list[EvidenceBlock] = []
        self._known: dict[int, tuple[Estimate, Estimate, Estimate]] = {}
        """Cache of `gains` until the next candle: they are read several times a second."""

    @property
    def n(self) -> int:
        return len(self._blocks) * BLOCK + len(self._open)

    def add(self, target_open_time_ms: int, losses: FloatArray) -> None:
        """Append the next candle's losses [3, 2], in time order; a repeated candle changes nothing."""
        if self._counted_until_ms is not None and target_open_time_ms <= self._counted_until_ms:
            return
        self._counted_until_ms = target_open_time_ms
        self._known.clear()
        self._open.append((target_open_time_ms, losses))
        if len(self._open) < BLOCK:
            return
        sums = np.sum([each for _, each in self._open], axis=0)
        self._new.append(EvidenceBlock(self._kind, len(self._blocks), target_open_time_ms, sums))
        self._close(sums, target_open_time_ms)

    def replace(self, target_open_time_ms: int, losses: FloatArray | None) -> None:
        """Replace a candle that is in no full block yet; None removes it."""
        places = [place for place, (target, _) in enumerate(self._open) if target == target_open_time_ms]
        self._known.clear()
        for place in places:
            self._open[place : place + 1] = [] if losses is None else [(target_open_time_ms, losses)]

    def load(self, blocks: Iterable[EvidenceBlock]) -> None:
        """Start with stored blocks of this kind, in order."""
        for block in blocks:
            self._close(block.sums, block.last_target_ms)

    def pop_new(self) -> list[EvidenceBlock]:
        """Blocks that became full since the last call, to be stored."""
        new, self._new = self._new, []
        return new

    def _close(self, sums: FloatArray, until_ms: int) -> None:
        self._blocks.append(sums)
        self._ends_ms.append(until_ms)
        self._known.clear()
        self._open, self._counted_until_ms = [], until_ms

    @property
    def sums(self) -> LossSums:
        blocks, ends_ms = np.array(self._blocks).reshape(-1, 3, _PAIR), np.array(self._ends_ms, dtype=np.int64)
        rest = sum((losses for _, losses in self._open), np.zeros((3, _PAIR)))
        return LossSums(self.n, ends_ms, blocks, rest, len(self._open))

    def gains(self, against: int) -> tuple[Estimate, Estimate, Estimate]:
        """As in `LossSums`."""
        if against not in self._known:
            self._known[against] = self.sums.gains(against)
        return self._known[against]

    def later(self, after_ms: int) -> SkillEvidence:
        """Of targets after this one alone: a block counts if all of it is later."""
        later, first = SkillEvidence(self._kind), 1 + bisect_left(self._ends_ms, after_ms)
        later._blocks, later._ends_ms = self._blocks[first:], self._ends_ms[first:]
        later._open = [(target_ms, losses) for target_ms, losses in self._open if target_ms > after_ms]
        return later


class ExpertEvidence:
    """Losses and hits of each expert alone, and of their combination, on the run's own one-step scores, which are taken
    in time order. The leaderboard reads the blocks (`core.evaluation.leaderboard`).

    All kinds have the same candles in a block, so that any two can be compared.
    """

    def __init__(self, experts: ExpertList = NO_CHALLENGERS) -> None:
        self._rows = len(experts.loss_rows)
        self._next_number = dict.fromkeys((COMBINATION, *map(expert_kind, experts.loss_rows[1:])), 0)
        """The next block's number by kind: the combination, each expert, and the combination without challengers, if
        any."""
        self._open: list[tuple[int, FloatArray]] = []
        """Candles that are in no full block yet: their targets, and the numbers [kind, 3, 2] of each (`ExpertSums`)."""
        self._counted_until_ms: int | None = None
        self._new: list[EvidenceBlock] = []
        self._not_stored: list[tuple[int, FloatArray]] = []
        """The candles of those."""
        self._restored_hits: dict[int, FloatArray] = {}
        """Hits by target."""

    def open_hits(self) -> dict[str, NDArray[np.generic]]:
        """Hits for a checkpoint, read by `restore_hits`: the record has no hits of single candles."""
        candles = [*self._not_stored, *self._open]
        hits = [numbers[1:, 1:] for _, numbers in candles]
        return {
            "target_open_time_ms": np.array([target_ms for target_ms, _ in candles], dtype=np.int64),
            "hits": np.array(hits, dtype=np.uint8).reshape(len(hits), self._rows - 1, 2, 2),
        }

    def restore_hits(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        """Restore the result of `open_hits`, before `resume`."""
        if state["hits"].shape[1:] == (self._rows - 1, 2, 2):
            targets, hits = state["target_open_time_ms"].tolist(), state["hits"].astype(np.float64)
            self._restored_hits = dict(zip(targets, hits, strict=True))

    def resume(self, reader: RecordReader, own_mode: ForecastMode, until_ms: int) -> None:
        """Continue after the blocks up to this target that the record has; without any, from the oldest score whose
        losses are still stored. Raises StorageError."""
        last = reader.last_expert_blocks(until_ms)
        self._next_number |= {kind: number + 1 for kind, (number, _) in last.items()}
        self._counted_until_ms = max((target_ms for _, target_ms in last.values()), default=None)
        after_ms = self._counted_until_ms
        scores = (
            reader.scores_with_losses(until_ms) if after_ms is None else reader.scores_between(after_ms + 1, until_ms)
        )
        for score in scores:
            if score.mode is own_mode and not score.after_gap:
                self.add(score, self._restored_hits.get(score.target_open_time_ms))

    def add(self, score: StoredScore, hits: FloatArray | None) -> None:
        """Take the next score; a repeated one changes nothing, nor does one without the experts' losses.

        hits [kinds but the first, 2, 2]: see `core.forecast.score.close_hits`; None if unknown.
        """
        target_ms, losses = score.target_open_time_ms, unpack_losses(score.expert_losses)
        if (
            losses is None
            or len(losses) != self._rows
            or (self._counted_until_ms is not None and target_ms <= self._counted_until_ms)
        ):
            return
        self._counted_until_ms = target_ms
        self._open.append((target_ms, _numbers(score, losses, hits)))
        if len(self._open) == BLOCK:
            self._close(target_ms)

    def remove(self, target_open_time_ms: int) -> None:
        """Remove a corrected candle: the experts' losses on it are unknown now. A full block stays."""
        self._open = [each for each in self._open if each[0] != target_open_time_ms]

    def pop_new(self) -> list[EvidenceBlock]:
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


class RunEvidence:
    """The run's own forecasts against the baselines and the reference, and the model against the reference model."""

    def __init__(self, experts: ExpertList = NO_CHALLENGERS) -> None:
        self._own, self._online = SkillEvidence(OWN), SkillEvidence(ONLINE)
        self.experts = ExpertEvidence(experts)

    def add_own(self, score: StoredScore, hits: FloatArray | None = None) -> None:
        """Take the run's next own one-step score. If the baselines' losses are not known, the model's gain counts as
        zero. hits: see `Outcome`."""
        self._own.add(score.target_open_time_ms, _own_losses(score))
        self.experts.add(score, hits)

    def add_online(self, score: StoredScore) -> None:
        """Take the next one-step score of any mode: both models saw the same candles. Ignored without a reference
        model."""
        losses = _online_losses(score)
        if losses is not None:
            self._online.add(score.target_open_time_ms, losses)

    def replace(self, score: StoredScore) -> None:
        """A candle was corrected: update it if it is in no full block yet."""
        self._own.replace(score.target_open_time_ms, _own_losses(score))
        self._online.replace(score.target_open_time_ms, _online_losses(score))
        self.experts.remove(score.target_open_time_ms)

    def load(self, blocks: Sequence[EvidenceBlock]) -> None:
        """Start with the stored blocks."""
        for kind, evidence in ((OWN, self._own), (ONLINE, self._online)):
            evidence.load(block for block in blocks if block.kind == kind)

    def extend(self, scores: Iterable[StoredScore], own_mode: ForecastMode, until_ms: int) -> None:
        """Append a run's one-step scores up to this target, in time order."""
        for score in scores:
            if score.after_gap or score.mode is ForecastMode.SEEN or score.target_open_time_ms > until_ms:
                continue
            self.add_online(score)
            if score.mode is own_mode:
                self.add_own(score)

    def pop_new(self) -> list[EvidenceBlock]:
        """Blocks that became full since the last call, to be stored."""
        return self._own.pop_new() + self._online.pop_new() + self.experts.pop_new()

    @property
    def own(self) -> LossSums:
        """Losses of the run's own forecasts; the rows are SHOWN, WITHOUT_MODEL and REFERENCE."""
        return self._own.sums

    def skills(self) -> tuple[Estimate, Estimate, Estimate]:
        """The shown forecast's skill against the reference: both equally, close, range."""
        return self._own.gains(REFERENCE)

    def model_gains(self) -> tuple[Estimate, Estimate, Estimate]:
        """The gain of the model over the baselines: both equally, close, range."""
        return self._own.gains(WITHOUT_MODEL)

    def model_gain_after(self, after_ms: int) -> Estimate:
        """The first of `model_gains`, over targets after this one alone."""
        return self._own.later(after_ms).gains(against=1)[0]

    def online_gain(self, age: int, needed: int) -> OnlineGain:
        """The gain from online learning. age, needed: see `OnlineGain`."""
        return OnlineGain(*self._online.gains(against=1), age=age, needed=needed)


def _own_losses(score: StoredScore) -> FloatArray:
    shown = (score.loss, score.range_loss)
    reference = (score.reference_loss, score.range_reference_loss)
    return np.array([shown, without_model(score) or shown, reference])


def _online_losses(score: StoredScore) -> FloatArray | None:
    if score.twin_loss is None or score.range_twin_loss is None:
        return None
    model, reference_model = (score.model_loss, score.range_model_loss), (score.twin_loss, score.range_twin_loss)
    return np.array([model, reference_model, reference_model])


def without_model(score: StoredScore) -> tuple[float, float] | None:
    """Loss of the forecast without the model, on close and range; None if not known."""
    losses = unpack_losses(score.expert_losses)
    if losses is None:
        return None
    return float(losses[0, Quantity.CLOSE]), float(losses[0, Quantity.RANGE])
