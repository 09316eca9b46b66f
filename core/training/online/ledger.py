"""A run's scores and training losses over rolling windows, as the panels show them."""

from __future__ import annotations

import math
import statistics
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from core.domain.events import AccuracySummary, Estimate, ForecastGroup, ForecastMode, LossSummary, Trend
from core.domain.quantities import FloatArray, Quantity
from core.forecast.confidence import FEWEST_FOR_A_PROOF, skill_sequence
from core.forecast.experts import NO_CHALLENGERS, ExpertList, loss_without_challengers
from core.forecast.score import mean, newest_coverage, share, skill
from core.storage.evidence import EvidenceBlock
from core.storage.record_reader import RecordReader
from core.storage.records import StoredScore
from core.training.online.evidence import RunEvidence, without_model

SCORE_WINDOW = 1000
"""Newest scores of each kind, as many as a ledger has and reads."""
CHECKPOINT_WINDOW = 300
"""A checkpoint's score is the skill over this many candles, so that one lucky candle cannot make it the best."""
_FEWEST_FOR_CHECKPOINT = 100
_USUAL_WINDOW = 200
_LOSS_WINDOW = 50

_GROUPS = {
    ForecastMode.LIVE: ForecastGroup.LIVE,
    ForecastMode.REPLAY: ForecastGroup.REPLAYED,
    ForecastMode.SIMULATED: ForecastGroup.SIMULATED,
    ForecastMode.CATCH_UP: ForecastGroup.CAUGHT_UP,
    ForecastMode.RECOVERY: ForecastGroup.CAUGHT_UP,
    ForecastMode.SEEN: ForecastGroup.SEEN,
}


@dataclass(frozen=True, slots=True)
class CheckpointScores:
    """The scores stored with a checkpoint, for close and range in equal parts. model: the model alone, against the
    reference; shown: the shown forecast; gain: what the model added to that."""

    model: Estimate
    shown: float | None
    gain: float | None


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
        """Take scores, each in its newest version. first_loss: gives the loss that was learned from (see
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
        """Over the newest window of the current line of weights; None if it has too few scores."""
        newest = self._newest_of_line()
        if len(newest) < _FEWEST_FOR_CHECKPOINT:
            nothing = Estimate(None, None, None, len(newest))
            return CheckpointScores(nothing, None, None)
        reference = _columns(newest, "reference_loss", "range_reference_loss")
        shown, model = _columns(newest, "loss", "range_loss"), _columns(newest, "model_loss", "range_model_loss")
        without = [without_model(score) for score in newest]
        gain = None if None in without else model_gain(shown, list(np.array(without, dtype=np.float64).T), reference)
        return CheckpointScores(skill_of_both(model, reference), skill_of_both(shown, reference).value, gain)

    def checkpoint_hits(self) -> tuple[Estimate, Estimate]:
        """Direction and 90 % coverage over the candles of `checkpoint_scores`."""
        newest = self._newest_of_line()
        if len(newest) < _FEWEST_FOR_CHECKPOINT:
            return Estimate(None, None, None, 0), Estimate(None, None, None, len(newest))
        hits = [score.direction_hit for score in newest if score.direction_hit is not None]
        return share(sum(hits), len(hits)), share(sum(score.inside_90 for score in newest), len(newest))

    def _newest_of_line(self) -> list[StoredScore]:
        newest, after_ms = list(self._all)[-CHECKPOINT_WINDOW:], self.line_after_ms
        return [score for score in newest if after_ms is None or score.origin_open_time_ms > after_ms]

    def own_summary(self, scored: int, live_scored: int, model_weight: float | None) -> AccuracySummary:
        """The headline: skills and gain over all of the run's own scores, the rest over the newest window."""
        (_, close, spread), gains = self.evidence.skills(), self.evidence.model_gains()
        group = _GROUPS[self.own_mode]
        return _summary(list(self._own), group, scored, live_scored, model_weight, (close, spread), gains)

    def other_summary(self, scored: int, live_scored: int) -> AccuracySummary | None:
        """Scores of the newest kind of forecasts that are not the run's own: caught up, or seen before. None without
        any."""
        if not self._others:
            return None
        group = _GROUPS[self._others[-1].mode]
        others = [each for each in self._others if _GROUPS[each.mode] is group]
        names = ("loss", "reference_loss", "range_loss", "range_reference_loss")
        close, reference, spread, range_reference = _columns(others, *names)
        skills = skill_sequence(close, reference), skill_sequence(spread, range_reference)
        return _summary(others, group, scored, live_scored, None, skills, None)


def learned_loss(score: StoredScore) -> float:
    """The close's loss that learning depends on: that of the forecast without challengers, so that they change nothing
    of the main model."""
    own = loss_without_challengers(score.expert_losses)
    return score.loss if own is None else float(own[Quantity.CLOSE])


def take_scores(
    ledger: ScoreLedger,
    reader: RecordReader,
    own_mode: ForecastMode,
    until_ms: int,
    first_loss: Callable[[StoredScore], float] | None = None,
) -> None:
    """Fill a new ledger as if it had taken all scores up to this target (inclusive), reading only what its windows and
    its evidence need. Raises StorageError."""
    blocks, scores = reader.evidence(until_ms), reader.newest_scores(until_ms, SCORE_WINDOW)
    ledger.evidence.take(blocks)
    if _may_have_gap(blocks, scores):  # a record older than evidence blocks, or a damaged one
        ledger.evidence.extend(reader.scores(), own_mode, until_ms)
    ledger.extend(scores, first_loss)


def _may_have_gap(blocks: Sequence[EvidenceBlock], scores: Sequence[StoredScore]) -> bool:
    """Whether scores may be missing between the newest block and the oldest score that was read."""
    last = max((block.last_target_ms for block in blocks), default=-1)
    return len(scores) >= SCORE_WINDOW and scores[0].target_open_time_ms > last


def _replace_version(scores: deque[StoredScore], score: StoredScore) -> None:
    for index in range(len(scores) - 1, -1, -1):  # mostly the newest are corrected
        if scores[index].target_open_time_ms == score.target_open_time_ms:
            scores[index] = score
            return


class LossLedger:
    """Training losses. "Best" is the lowest mean of the run over a full window. Means and trends never mix two lines of
    weights."""

    def __init__(self) -> None:
        self.best: float | None = None
        self._losses: deque[float] = deque(maxlen=2 * _LOSS_WINDOW)
        self.of_line = 0
        """Number of losses of the current line of weights, at most the number stored."""

    def restore(self, best: float | None, newest: Sequence[float], of_line: int) -> None:
        """Continue from the saved `best`, `newest` and `of_line`."""
        self.best = best
        self._losses = deque(newest, maxlen=2 * _LOSS_WINDOW)
        self.of_line = max(0, min(of_line, len(self._losses)))

    def begin_line(self) -> None:
        """The next losses are of other weights."""
        self.of_line = 0

    def add(self, loss: float) -> None:
        """Take the loss of a completed step (a skipped one has none)."""
        if not math.isfinite(loss):
            raise ValueError(f"a completed step has a finite loss, was {loss}")
        self._losses.append(loss)
        self._count(1)
        windowed = self.windowed
        if windowed is not None:
            self.best = windowed if self.best is None else min(self.best, windowed)

    def take_all(self, losses: np.ndarray) -> None:
        """As `add` with each of these in a new ledger, in a hundredth of the time. losses: [n]."""
        if len(losses) >= _LOSS_WINDOW:
            means = np.lib.stride_tricks.sliding_window_view(losses, _LOSS_WINDOW).mean(axis=1)
            lowest = int(means.argmin())
            self.best = statistics.fmean(losses[lowest : lowest + _LOSS_WINDOW].tolist())
        self._losses.extend(losses[-2 * _LOSS_WINDOW :].tolist())
        self._count(len(losses))

    def _count(self, new: int) -> None:
        self.of_line = min(self.of_line + new, 2 * _LOSS_WINDOW)

    @property
    def newest(self) -> tuple[float, ...]:
        return tuple(self._losses)

    @property
    def windowed(self) -> float | None:
        """The mean over the newest window, or None before it is full."""
        newest = self._newest_of_line()
        return statistics.fmean(newest) if len(newest) == _LOSS_WINDOW else None

    def summary(self) -> LossSummary:
        newest = self._newest_of_line()
        current = statistics.fmean(newest) if newest else None
        return LossSummary(current, self.best, self._trend())

    def _newest_of_line(self) -> list[float]:
        return list(self._losses)[len(self._losses) - min(self.of_line, _LOSS_WINDOW) :]

    def _trend(self) -> Trend:
        """Newest window against the one before, by ranks, so that a few spikes make no trend. A rank sum two standard
        errors from its mean counts."""
        if self.of_line < 2 * _LOSS_WINDOW:
            return Trend.UNKNOWN
        losses = np.array(self._losses)
        before, after = losses[:_LOSS_WINDOW, None], losses[_LOSS_WINDOW:]
        rises = (np.sign(after - before)).sum() / 2.0
        error = _LOSS_WINDOW * math.sqrt((2 * _LOSS_WINDOW + 1) / 12.0)
        if abs(rises) <= 2.0 * error:
            return Trend.FLAT
        return Trend.IMPROVING if rises < 0.0 else Trend.WORSENING


def skill_of_both(losses: Sequence[FloatArray], reference: Sequence[FloatArray]) -> Estimate:
    """The skill of close and range in equal parts. losses: of each [n], in time order."""
    if min(float(each.sum()) for each in reference) <= 0.0:
        return Estimate(None, None, None, len(reference[0]))
    units = [each.mean() for each in reference]
    both, both_reference = (
        sum(each / unit for each, unit in zip(pair, units, strict=True)) for pair in (losses, reference)
    )
    return skill(np.asarray(both), np.asarray(both_reference))


def model_gain(
    shown: Sequence[FloatArray], without: Sequence[FloatArray], reference: Sequence[FloatArray]
) -> float | None:
    """What the model adds to the skill of close and range in equal parts. Losses of each: [n]."""
    with_model, without_it = skill_of_both(shown, reference).value, skill_of_both(without, reference).value
    return None if with_model is None or without_it is None else with_model - without_it


def _columns(scores: Sequence[StoredScore], *names: str) -> list[FloatArray]:
    return [np.array([getattr(score, name) for score in scores], dtype=np.float64) for name in names]


def _summary(
    scores: Sequence[StoredScore],
    group: ForecastGroup,
    scored: int,
    live_scored: int,
    model_weight: float | None,
    skills: tuple[Estimate, Estimate],
    gains: tuple[Estimate, Estimate, Estimate] | None,
) -> AccuracySummary:
    n = len(scores)
    directions = [score.direction_hit for score in scores if score.direction_hit is not None]
    overlaps, reference_overlaps = _columns(scores, "overlap", "reference_overlap")
    accuracy = mean(overlaps)
    close, spread = skills
    return AccuracySummary(
        group=group,
        window=SCORE_WINDOW,
        scored=scored,
        live_scored=live_scored,
        direction=share(sum(directions), len(directions)),
        candle_accuracy=accuracy,
        reference_candle_accuracy=None if accuracy.value is None else float(reference_overlaps.mean()),
        coverage_50=share(sum(score.inside_50 for score in scores), n),
        coverage_90=share(sum(score.inside_90 for score in scores), n),
        skill_close=close,
        skill_range=spread,
        model_weight=model_weight,
        has_proven_edge=gains is not None and close.low is not None and close.low > 0.0,
        verdict=_verdict(close),
        model_gain=gains,
        newest_coverage_90=newest_coverage([score.inside_90 for score in scores]),
    )


def _verdict(close: Estimate) -> str:
    n = close.n
    if close.value is None:
        return f"Too early to tell: {n:,} scored candles."
    if close.low is None or close.high is None:
        return f"No proven edge yet: {n:,} of the {FEWEST_FOR_A_PROOF} scored candles that a proof needs."
    if close.low > 0.0:
        return f"Better than “no change”: the interval of the close skill lies above zero, on {n:,} candles."
    if close.high < 0.0:
        return f"Worse than “no change”: the interval of the close skill lies below zero, on {n:,} candles."
    return f"No proven edge: the interval of the close skill includes zero, on {n:,} candles."
