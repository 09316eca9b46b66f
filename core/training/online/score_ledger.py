"""A run's scores over rolling windows, and the scores of its checkpoints."""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from core.domain.events import AccuracySummary, Estimate, ForecastMode
from core.domain.quantities import FloatArray, Quantity
from core.forecast.confidence import skill_sequence
from core.forecast.experts import NO_CHALLENGERS, ExpertList, loss_without_challengers
from core.forecast.score import quotient, share, skill
from core.storage.record_reader import RecordReader
from core.storage.records import StoredScore
from core.training.online.accuracy_summary import GROUPS, SCORE_WINDOW, accuracy_summary, columns
from core.training.online.evidence import RunEvidence

CHECKPOINT_WINDOW = 300
"""A checkpoint's score is the skill over this many candles, so that one lucky candle cannot put it first."""
_FEWEST_FOR_CHECKPOINT = 100
_USUAL_WINDOW = 200


@dataclass(frozen=True, slots=True)
class CheckpointScores:
    """The scores stored with a checkpoint, for close and range in equal parts. model: the model alone, against the
    reference; shown: the shown forecast, over the same candles; gain: what the model added to it, over all own candles
    of its line of weights."""

    model: Estimate
    shown: float | None
    gain: Estimate


class ScoreLedger:
    """One-step scores, the run's own separate from the others. Scores after a gap are excluded."""

    def __init__(self, own_mode: ForecastMode, experts: ExpertList = NO_CHALLENGERS) -> None:
        self.own_mode = own_mode
        self._own: deque[StoredScore] = deque(maxlen=SCORE_WINDOW)
        self._others: deque[StoredScore] = deque(maxlen=SCORE_WINDOW)
        self._all: deque[StoredScore] = deque(maxlen=SCORE_WINDOW)
        self._usual: deque[float] = deque(maxlen=_USUAL_WINDOW)
        self.evidence = RunEvidence(experts)
        self.line_after_ms: int | None = None
        """Forecasts from candles up to here were made by other weights than the current line: before a restore or a
        rollback. They count in no checkpoint's score. None: there was no other line."""

    def begin_line(self, position_ms: int | None) -> None:
        """The weights were replaced after this candle."""
        self.line_after_ms = position_ms

    def add(self, score: StoredScore, first_loss: float | None = None, hits: FloatArray | None = None) -> None:
        """Take the next one-step score, in time order.

        first_loss: the loss of the first version, if `score` is a later one. hits: see `Outcome`.
        """
        if score.horizon != 1 or score.after_gap:
            return
        self._usual.append(learned_loss(score) if first_loss is None else first_loss)
        if score.mode is ForecastMode.SEEN:
            self._others.append(score)
            return
        self._all.append(score)
        self.evidence.add_online(score)
        if score.mode is not self.own_mode:
            self._others.append(score)
            return
        self._own.append(score)
        self.evidence.add_own(score, hits)

    def extend(self, scores: Iterable[StoredScore], first_loss: Callable[[StoredScore], float] | None = None) -> None:
        """Take scores, each in its newest version. first_loss: returns the loss that was learned from (see
        `usual_loss`)."""
        for score in scores:
            self.add(score, None if first_loss is None else first_loss(score))

    def replace(self, score: StoredScore) -> None:
        """Replace a score by its new version; it does not count again.

        A score outside all windows changes nothing, and a full block of evidence does not change.
        """
        if score.horizon != 1 or score.after_gap:
            return
        self.evidence.replace(score)
        for scores in (self._all, self._others, self._own):
            _replace_version(scores, score)

    @property
    def usual_loss(self) -> float | None:
        """The median loss of the newest scores, which defines a poor forecast.

        It weights training samples, so it uses first versions: later corrections do not affect training.
        """
        return statistics.median(self._usual) if self._usual else None

    def newest(self, most: int) -> list[StoredScore]:
        """The newest valid one-step scores, at most this many of a window."""
        return list(self._all)[-most:]

    def checkpoint_scores(self) -> CheckpointScores:
        """Scores over the newest window of the current line of weights; None if it has too few."""
        newest, gain = self._newest_of_line(), self._gain_of_line()
        if len(newest) < _FEWEST_FOR_CHECKPOINT:
            nothing = Estimate(None, None, None, len(newest))
            return CheckpointScores(nothing, None, gain)
        reference = columns(newest, "reference_loss", "range_reference_loss")
        shown, model = columns(newest, "loss", "range_loss"), columns(newest, "model_loss", "range_model_loss")
        return CheckpointScores(skill_of_both(model, reference), skill_of_both(shown, reference).value, gain)

    def checkpoint_hits(self) -> tuple[Estimate, Estimate]:
        """Direction and 90 % coverage over the candles of `checkpoint_scores`."""
        newest = self._newest_of_line()
        if len(newest) < _FEWEST_FOR_CHECKPOINT:
            return Estimate(None, None, None, 0), Estimate(None, None, None, len(newest))
        hits = [score.direction_hit for score in newest if score.direction_hit is not None]
        return share(sum(hits), len(hits)), share(sum(score.inside_90 for score in newest), len(newest))

    def _gain_of_line(self) -> Estimate:
        """All checkpoints of a line share one interval, which grows with its candles: it holds whenever one is saved.
        The interval of a moving window would not."""
        if self.line_after_ms is None or not self._all:
            return self.evidence.model_gains()[0]
        length_ms = self._all[-1].target_open_time_ms - self._all[-1].origin_open_time_ms
        return self.evidence.model_gain_after(self.line_after_ms + length_ms)

    def _newest_of_line(self) -> list[StoredScore]:
        newest, after_ms = list(self._all)[-CHECKPOINT_WINDOW:], self.line_after_ms
        return [score for score in newest if after_ms is None or score.origin_open_time_ms > after_ms]

    def own_summary(self, scored: int, live_scored: int, model_weight: float | None) -> AccuracySummary:
        """The headline: skills and gain over all of the run's own scores, the rest over the newest window."""
        (_, close, spread), gains = self.evidence.skills(), self.evidence.model_gains()
        group = GROUPS[self.own_mode]
        return accuracy_summary(list(self._own), group, scored, live_scored, model_weight, (close, spread), gains)

    def other_summary(self, scored: int, live_scored: int) -> AccuracySummary | None:
        """Scores of the newest kind of forecasts that are not the run's own: caught up, or seen before. None without
        any."""
        if not self._others:
            return None
        group = GROUPS[self._others[-1].mode]
        others = [each for each in self._others if GROUPS[each.mode] is group]
        names = ("loss", "reference_loss", "range_loss", "range_reference_loss")
        close, reference, spread, range_reference = columns(others, *names)
        skills = skill_sequence(close, reference), skill_sequence(spread, range_reference)
        return accuracy_summary(others, group, scored, live_scored, None, skills, None)


def learned_loss(score: StoredScore) -> float:
    """The close's loss that learning depends on: of the forecast without challengers, which must not influence the main
    model."""
    own = loss_without_challengers(score.expert_losses)
    return score.loss if own is None else float(own[Quantity.CLOSE])


def load_scores(
    ledger: ScoreLedger,
    reader: RecordReader,
    own_mode: ForecastMode,
    until_ms: int,
    first_loss: Callable[[StoredScore], float] | None = None,
) -> None:
    """Fill a new ledger as if it had taken all scores up to this target (inclusive), reading only the scores for its
    windows and its evidence. Raises StorageError."""
    blocks, scores = reader.evidence(until_ms), reader.newest_scores(until_ms, SCORE_WINDOW)
    ledger.evidence.load(blocks)
    last_ms = max((block.last_target_ms for block in blocks), default=-1)
    if len(scores) >= SCORE_WINDOW and scores[0].target_open_time_ms > last_ms:  # blocks of a damaged record are lost
        ledger.evidence.extend(reader.scores(), own_mode, until_ms)
    ledger.extend(scores, first_loss)


def _replace_version(scores: deque[StoredScore], score: StoredScore) -> None:
    for index in range(len(scores) - 1, -1, -1):  # mostly the newest are corrected
        if scores[index].target_open_time_ms == score.target_open_time_ms:
            scores[index] = score
            return


def skill_of_both(losses: Sequence[FloatArray], reference: Sequence[FloatArray]) -> Estimate:
    """The skill of close and range in equal parts. losses: [n] each, in time order."""
    if any(quotient(1.0, float(each.sum()), each.size) is None for each in reference):
        return Estimate(None, None, None, len(reference[0]))
    units = [each.mean() for each in reference]
    both, both_reference = (
        sum(each / unit for each, unit in zip(pair, units, strict=True)) for pair in (losses, reference)
    )
    return skill(np.asarray(both), np.asarray(both_reference))
