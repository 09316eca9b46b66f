"""The run's running account: one-step scores and training losses over windows, as the panels show them."""

from __future__ import annotations

import math
import statistics
from collections import deque
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from core.events import AccuracySummary, Estimate, ForecastMode, LossSummary, Trend
from core.forecast.score import FEWEST_FOR_AN_EDGE, mean, share, skill
from core.storage.reader import RecordReader
from core.storage.records import StoredScore
from core.training.online import ONLINE_WINDOW, OnlineLedger

SCORE_WINDOW = 1000
CHECKPOINT_WINDOW = 300
"""A checkpoint's score is the skill over this many candles, so that no lucky candle is ever "best"."""
LONGEST_WINDOW = max(SCORE_WINDOW + 100, ONLINE_WINDOW)
"""Of each mode, the newest scores that any window of a `ScoreLedger` looks at."""
_FEWEST_FOR_CHECKPOINT = 100
_USUAL_WINDOW = 200
_LOSS_WINDOW = 50
_DECIDED_EVERY = 50
"""Scored candles between two looks at whether an edge is proven."""

_GROUP_NAMES = {
    ForecastMode.LIVE: "live",
    ForecastMode.REPLAY: "replayed",
    ForecastMode.SIMULATED: "simulated",
    ForecastMode.CATCH_UP: "caught up",
    ForecastMode.RECOVERY: "caught up",
    ForecastMode.SEEN: "seen before",
}


class ScoreLedger:
    """One-step scores, the run's own apart from the others. Scores after a gap are in neither."""

    def __init__(self, own_mode: ForecastMode) -> None:
        self.own_mode = own_mode
        self._own: deque[StoredScore] = deque(maxlen=SCORE_WINDOW + 2 * _DECIDED_EVERY)
        """A window, and what the last two looks at the edge have seen beyond it."""
        self._others: deque[StoredScore] = deque(maxlen=SCORE_WINDOW)
        self._all: deque[StoredScore] = deque(maxlen=SCORE_WINDOW)
        self._usual: deque[float] = deque(maxlen=_USUAL_WINDOW)
        self._edge = _Edge()
        self.online = OnlineLedger()
        """The model beside its frozen twin."""

    def add(self, score: StoredScore, first_loss: float | None = None) -> None:
        """Take the next one-step score, in time order.

        first_loss: the loss of its first version, where `score` is not that one.
        """
        if score.horizon != 1 or score.after_gap:
            return
        self._usual.append(score.loss if first_loss is None else first_loss)
        if score.mode is ForecastMode.SEEN:
            self._others.append(score)
            return
        self._all.append(score)
        self.online.add(score)
        if score.mode is not self.own_mode:
            self._others.append(score)
            return
        self._own.append(score)
        self._edge.scored(self._own)

    def extend(
        self,
        scores: Iterable[StoredScore],
        first_loss: Callable[[StoredScore], float] | None = None,
        own_before: int = 0,
    ) -> None:
        """Take scores, each in its newest version. first_loss: asked for what was learned from (see `usual_loss`).

        own_before: how many of the run's own came before those, and are not among them (see `LONGEST_WINDOW`)."""
        self._edge.skip(own_before)
        for score in scores:
            self.add(score, None if first_loss is None else first_loss(score))

    def replace(self, score: StoredScore) -> None:
        """Put a new version of a score in the place of the one before; it does not count again.

        One that no window holds any more changes nothing.
        """
        if score.horizon != 1 or score.after_gap:
            return
        self.online.replace(score)
        _put_in_place(self._all, score)
        _put_in_place(self._others, score)
        if _put_in_place(self._own, score):
            self._edge.revised(self._own)

    @property
    def usual_loss(self) -> float | None:
        """The median loss of the newest scores: what a poor forecast is measured by.

        Samples are weighed with it, so it is that of first versions: what is corrected later trains nothing.
        """
        return statistics.median(self._usual) if self._usual else None

    def checkpoint_skill(self) -> Estimate:
        """Skill over the newest window, close and range in equal parts; all None while there are too few scores."""
        newest = list(self._all)[-CHECKPOINT_WINDOW:]
        if len(newest) < _FEWEST_FOR_CHECKPOINT:
            return Estimate(None, None, None, len(newest))
        close, close_reference = _columns(newest, "loss", "reference_loss")
        spread, spread_reference = _columns(newest, "range_loss", "range_reference_loss")
        close_unit, spread_unit = close_reference.mean(), spread_reference.mean()
        if close_unit <= 0.0 or spread_unit <= 0.0:
            return Estimate(None, None, None, len(newest))
        combined = close / close_unit + spread / spread_unit
        return skill(combined, close_reference / close_unit + spread_reference / spread_unit)

    def checkpoint_hits(self) -> tuple[Estimate, Estimate]:
        """Direction and 90 % coverage over the candles of `checkpoint_skill`."""
        newest = list(self._all)[-CHECKPOINT_WINDOW:]
        if len(newest) < _FEWEST_FOR_CHECKPOINT:
            return Estimate(None, None, None, 0), Estimate(None, None, None, len(newest))
        hits = [score.direction_hit for score in newest if score.direction_hit is not None]
        return share(sum(hits), len(hits)), share(sum(score.inside_90 for score in newest), len(newest))

    def own_summary(self, scored: int, live_scored: int, model_weight: float | None) -> AccuracySummary:
        """The headline."""
        group = _GROUP_NAMES[self.own_mode]
        return _summary(list(self._own)[-SCORE_WINDOW:], group, scored, live_scored, model_weight, self._edge.is_proven)

    def other_summary(self, scored: int, live_scored: int) -> AccuracySummary | None:
        """Scores of forecasts that are not the run's own, or None where there are none."""
        if not self._others:
            return None
        group = _GROUP_NAMES[self._others[-1].mode]
        return _summary(list(self._others), group, scored, live_scored, None, is_proven=False)


def take_scores(
    ledger: ScoreLedger,
    reader: RecordReader,
    own_mode: ForecastMode,
    until_ms: int,
    first_loss: Callable[[StoredScore], float] | None = None,
) -> None:
    """Bring a new ledger to where it would be with all scores up to this target (inclusive), reading no more than its
    windows hold. Raises StorageError."""
    scores = reader.newest_scores(until_ms, LONGEST_WINDOW)
    taken = sum(score.mode is own_mode and not score.after_gap for score in scores)
    own = reader.scored_by_mode(until_ms).get((own_mode, False), 0)
    ledger.extend(scores, first_loss, own_before=max(0, own - taken))


class _Edge:
    """Whether an edge counts as proven.

    Asked with each candle, an interval near zero would say yes and no in turn, and yes too often: so it is asked every
    so many candles; two yeses in a row make a proof, one no ends it.
    """

    def __init__(self) -> None:
        self._scored = 0
        self._was_above = False
        self.is_proven = False

    def skip(self, scored: int) -> None:
        """So many scores came that no window holds any more."""
        self._scored += scored

    def scored(self, own: deque[StoredScore]) -> None:
        """A score of the run's own came; `own` holds the newest of them."""
        self._scored += 1
        if self._scored % _DECIDED_EVERY:
            return
        is_above = _is_above(list(own))
        self.is_proven = is_above and self._was_above
        self._was_above = is_above

    def revised(self, own: deque[StoredScore]) -> None:
        """One of the scores has another version: the last two looks are taken again, as they would have been."""
        since = self._scored % _DECIDED_EVERY
        scores = list(own)
        self._was_above = _is_above(scores[: len(scores) - since])
        self.is_proven = self._was_above and _is_above(scores[: max(0, len(scores) - since - _DECIDED_EVERY)])


def _is_above(scores: Sequence[StoredScore]) -> bool:
    """Whether the whole interval of the close skill lies above zero, over the newest window."""
    newest = scores[-SCORE_WINDOW:]
    if len(newest) < FEWEST_FOR_AN_EDGE:
        return False
    loss, reference_loss = _columns(newest, "loss", "reference_loss")
    close = skill(loss, reference_loss)
    return close.low is not None and close.low > 0.0


def _put_in_place(scores: deque[StoredScore], score: StoredScore) -> bool:
    """False where there is no former version of it."""
    for index in range(len(scores) - 1, -1, -1):  # those that are corrected are mostly among the newest
        if scores[index].target_open_time_ms == score.target_open_time_ms:
            scores[index] = score
            return True
    return False


class LossLedger:
    """Training losses. "Best" is the lowest mean over a full window, never that of one step."""

    def __init__(self) -> None:
        self._best: float | None = None
        self._losses: deque[float] = deque(maxlen=2 * _LOSS_WINDOW)

    def restore(self, best: float | None, newest: Sequence[float]) -> None:
        """Go on from what `best` and `newest` were."""
        self._best = best
        self._losses = deque(newest, maxlen=2 * _LOSS_WINDOW)

    def add(self, loss: float) -> None:
        """Take the loss of a step that was done (a skipped one has none)."""
        if not math.isfinite(loss):
            raise ValueError(f"a step that was done has a finite loss, was {loss}")
        self._losses.append(loss)
        if len(self._losses) >= _LOSS_WINDOW:
            windowed = self.windowed
            assert windowed is not None
            self._best = windowed if self._best is None else min(self._best, windowed)

    def take_all(self, losses: np.ndarray) -> None:
        """The same as `add` with each of these in a new ledger, in a hundredth of the time. losses: [n]."""
        if len(losses) >= _LOSS_WINDOW:
            means = np.lib.stride_tricks.sliding_window_view(losses, _LOSS_WINDOW).mean(axis=1)
            lowest = int(means.argmin())
            self._best = statistics.fmean(losses[lowest : lowest + _LOSS_WINDOW].tolist())
        self._losses.extend(losses[-2 * _LOSS_WINDOW :].tolist())

    @property
    def newest(self) -> tuple[float, ...]:
        return tuple(self._losses)

    @property
    def best(self) -> float | None:
        return self._best

    @property
    def windowed(self) -> float | None:
        """The mean over the newest window, or None before it is full."""
        newest = list(self._losses)[-_LOSS_WINDOW:]
        return statistics.fmean(newest) if len(newest) == _LOSS_WINDOW else None

    def summary(self) -> LossSummary:
        newest = list(self._losses)[-_LOSS_WINDOW:]
        current = statistics.fmean(newest) if newest else None
        return LossSummary(current, self._best, self._trend())

    def _trend(self) -> Trend:
        """Newest window against the one before: a change of two standard errors counts."""
        losses = list(self._losses)
        if len(losses) < 2 * _LOSS_WINDOW:
            return Trend.UNKNOWN
        before, after = losses[:_LOSS_WINDOW], losses[_LOSS_WINDOW:]
        change = statistics.fmean(after) - statistics.fmean(before)
        error = math.sqrt((statistics.variance(before) + statistics.variance(after)) / _LOSS_WINDOW)
        if abs(change) <= 2.0 * error:
            return Trend.FLAT
        return Trend.IMPROVING if change < 0.0 else Trend.WORSENING


def _columns(scores: Sequence[StoredScore], *names: str) -> list[np.ndarray]:
    return [np.array([getattr(score, name) for score in scores], dtype=np.float64) for name in names]


def _summary(
    scores: Sequence[StoredScore],
    group: str,
    scored: int,
    live_scored: int,
    model_weight: float | None,
    is_proven: bool,
) -> AccuracySummary:
    n = len(scores)
    directions = [score.direction_hit for score in scores if score.direction_hit is not None]
    loss, reference_loss = _columns(scores, "loss", "reference_loss")
    range_loss, range_reference_loss = _columns(scores, "range_loss", "range_reference_loss")
    overlaps, reference_overlaps = _columns(scores, "overlap", "reference_overlap")
    accuracy = mean(overlaps)
    close = skill(loss, reference_loss)
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
        skill_range=skill(range_loss, range_reference_loss),
        model_weight=model_weight,
        has_proven_edge=is_proven,
        verdict=_verdict(close, n, is_proven),
    )


def _verdict(close: Estimate, n: int, proven: bool) -> str:
    if close.value is None or close.low is None or close.high is None:
        return f"Too early to tell: {n:,} scored candles."
    if proven:
        return f"Better than “no change”: the interval of the close skill has stayed above zero, on {n:,} candles."
    if n < FEWEST_FOR_AN_EDGE:
        return f"No proven edge yet: {n:,} of the {FEWEST_FOR_AN_EDGE} scored candles that a proof needs."
    if close.high < 0.0:
        return f"Worse than “no change”: the interval of the close skill lies below zero, on {n:,} candles."
    if close.low > 0.0:
        return f"No proven edge yet: the interval of the close skill is above zero, but only lately, on {n:,} candles."
    return f"No proven edge: the interval of the close skill includes zero, on {n:,} candles."
