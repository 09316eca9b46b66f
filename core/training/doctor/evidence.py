"""Measurements of the window, on which the verdicts are based. All numbers are finite, or None."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.domain.diagnosis import NonFiniteOrigin
from core.domain.events import StepDone
from core.training.doctor.window import Numbers, StepWindow, finite_or_nan, non_negative_or_nan

IndexArray = npt.NDArray[np.intp]

SETTLING_STEPS = 20
"""The first steps of a run are not typical: with a zero-initialised head the body gets no gradient, and Adam's first
steps are its largest."""
RECENT_STEPS = 100
START_STEPS = 10
_OVERFLOW_STEPS = 30
_OVERFLOW_SHARE = 0.1
_CALM_STEPS = 10
"""Finite steps in a row that end an episode of non-finite ones."""
FEWEST_FOR_A_TREND = 24
_BLOCKS = 20
_SMALLEST_BLOCK = 3


@dataclass(frozen=True, slots=True)
class Spread:
    """Percentiles of a measured number over the recent steps."""

    low: float
    """5th"""
    quarter: float
    """25th"""
    median: float
    high: float
    """95th"""
    largest: float


@dataclass(frozen=True, slots=True)
class SeriesTrend:
    """The change of a noisy series from its first block to its last, in its units: robust to spikes and to noise that
    is not normal.

    The series is cut into blocks, so that correlated neighbours count once. Mann-Kendall's statistic on the blocks'
    mean ranks says whether there is a trend, the Theil-Sen slope of their medians how large it is.
    """

    start: float
    """Median of its first quarter."""
    end: float
    """Median of its last quarter."""
    climb: float
    """The Theil-Sen slope times the length: below 0 for a fall."""
    z: float
    """Mann-Kendall's: below -2.6 a fall, above 2.6 a rise, each with less than one error in a hundred."""


def trend_of(values: Numbers) -> SeriesTrend | None:
    """values: [n], in time order, NaN for missing. None for fewer than `FEWEST_FOR_A_TREND` numbers."""
    known = values[~np.isnan(values)]
    if known.size < FEWEST_FOR_A_TREND:
        return None
    ordered = np.sort(known)
    mean_ranks = (ordered.searchsorted(known, "left") + ordered.searchsorted(known, "right")) / 2  # shared by equals
    medians, ranks = np.median(_blocks(known), axis=1), _blocks(mean_ranks).sum(axis=1)
    count = medians.size
    first, second = np.triu_indices(count, 1)
    slope = float(np.median((medians[second] - medians[first]) / (second - first)))
    variance = count * (count - 1) * (2 * count + 5) / 18
    z = float(np.sign(ranks[second] - ranks[first]).sum()) / math.sqrt(variance)
    quarter = known.size // 4
    start, end = float(np.median(known[:quarter])), float(np.median(known[-quarter:]))
    return SeriesTrend(start, end, slope * (count - 1), z)


def _blocks(values: Numbers) -> Numbers:
    """[blocks, length]. The oldest values that fill no block are dropped."""
    length = max(_SMALLEST_BLOCK, values.size // _BLOCKS)
    count = values.size // length
    return values[values.size - count * length :].reshape(count, length)


class RunStart:
    """Measurements of a run's first steps, kept after they have left the window, as a baseline."""

    def __init__(self) -> None:
        self._losses: list[float] = []
        self._update_ratios: list[float] = []
        self._norms: list[float] = []

    def observe(self, step: StepDone) -> None:
        if (
            step.step > SETTLING_STEPS
            or len(self._losses) >= START_STEPS
            or math.isnan(loss := finite_or_nan(step.loss))
        ):
            return
        self._losses.append(loss)
        if not math.isnan(norm := non_negative_or_nan(step.gradient_norm)):
            self._norms.append(norm)
        if step.gradients is not None and not math.isnan(ratio := non_negative_or_nan(step.gradients.update_ratio)):
            self._update_ratios.append(ratio)

    def forget_updates(self) -> None:
        self._update_ratios.clear()

    @property
    def loss(self) -> float | None:
        """The median loss; None for a run that was resumed later."""
        return statistics.median(self._losses) if self._losses else None

    @property
    def first_loss(self) -> float | None:
        """The loss of the first step, before its update."""
        return self._losses[0] if self._losses else None

    @property
    def norm(self) -> float | None:
        """Median gradient norm."""
        return statistics.median(self._norms) if self._norms else None

    @property
    def update_ratio(self) -> float | None:
        """The median ratio; None also after `forget_updates`."""
        return statistics.median(self._update_ratios) if self._update_ratios else None

    @property
    def largest_update_ratio(self) -> float | None:
        return max(self._update_ratios, default=None)


@dataclass(frozen=True, slots=True)
class LossTrend:
    """The loss at the start, now, and its trend."""

    trend: SeriesTrend
    """The trend over the window, without the run's first steps."""
    steps: int
    """Number of steps in the window that have a loss."""
    at_start: float | None
    """Median of the run's first steps; None if the run was resumed later."""
    first: float | None
    """The value before the first update."""

    @property
    def now(self) -> float:
        return self.trend.end

    @property
    def fall_percent(self) -> float:
        """The fall in percent of the level at the window's start; below 0 for a rise."""
        return _percent(self.trend.start, self.trend.end)

    @property
    def fall_since_start_percent(self) -> float | None:
        return None if self.at_start is None else _percent(self.at_start, self.now)

    @property
    def fall_since_first_percent(self) -> float | None:
        return None if self.first is None else _percent(self.first, self.now)


@dataclass(frozen=True, slots=True)
class NotFinite:
    """Steps of the window that had a non-finite number."""

    began_with: NonFiniteOrigin
    began_at_step: int
    counts: dict[NonFiniteOrigin, int]
    steps_looked_at: int


@dataclass(frozen=True, slots=True)
class Layers:
    """The layers over the recent steps, from the input to the output."""

    names: tuple[str, ...]
    norms: Numbers
    """[layers]: the median gradient norm, NaN if never measured."""
    rise: Numbers
    """[layers]: norm in the window's last third over that in its first third."""
    update_ratios: Numbers
    """[layers]: the median of update over parameter norm."""
    early: float | None
    """Median norm of the first third of the layers; None for fewer than two."""
    late: float | None


@dataclass(frozen=True, slots=True)
class Evidence:
    """All measurements that verdicts use."""

    first_step: int | None
    """The oldest in the window."""
    steps: int
    """Steps in the window whose gradient norm is known."""
    counted_since: str
    """The change after which they were counted again, for a sentence; empty: the start."""
    norm: Spread | None
    norm_at_start: float | None
    """Median over the run's first steps."""
    window_norm: Spread | None
    """The spread of the norm over the whole window."""
    norm_trend: SeriesTrend | None
    """The trend of the log norm over the window."""
    recent_norms: Numbers
    """Sorted."""
    clip_share: float
    threshold: float | None
    largest_layer_norm: Spread | None
    largest_number: Spread | None
    update_ratio: float | None
    """Median over the recent steps."""
    update_ratio_at_start: float | None
    """Median over the run's first steps."""
    largest_update_at_start: float | None
    learning_rate: float | None
    """The rate of the newest step."""
    loss: LossTrend | None
    layers: Layers
    not_finite: NotFinite | None

    def share_of_norms_above(self, level: float) -> float:
        """The share, 0 to 1, of the recent steps."""
        norms = self.recent_norms
        return 0.0 if norms.size == 0 else float(norms.size - np.searchsorted(norms, level, "right")) / norms.size

    @property
    def growth(self) -> float:
        """Factor by which the norm grew over the window, by its robust line; 1 if unknown."""
        return 1.0 if self.norm_trend is None else math.exp(min(700.0, self.norm_trend.climb))


def measure(window: StepWindow, names: tuple[str, ...], start: RunStart, closed: int = 0) -> Evidence:
    """Measure the window. names: the layers, as many as the window has. closed: the first steps since the start to
    leave out, except for non-finite numbers; they count even if they have left the window."""
    fresh = np.arange(_begin(window, closed), len(window))
    settled = np.arange(_begin(window, closed + SETTLING_STEPS), len(window))
    rows = settled[window.column("is_skipped")[settled] == 0.0]
    recent = rows[-RECENT_STEPS:]
    norms = window.column("norm")
    recent_norms = _sorted_known(norms[recent])
    return Evidence(
        first_step=int(window.column("step")[fresh[0]]) if fresh.size else None,
        steps=int(np.count_nonzero(~np.isnan(norms[fresh]))),
        counted_since=window.counted_since,
        norm=spread_of(recent_norms),
        norm_at_start=start.norm,
        window_norm=spread_of(_sorted_known(norms[rows])),
        norm_trend=_log_trend(norms[rows]),
        recent_norms=recent_norms,
        clip_share=_mean(window.column("clipped")[recent]),
        threshold=median_of(window.column("threshold")[recent]),
        largest_layer_norm=spread_of(np.sort(_largest_of(window.layer_norms[recent]))),
        largest_number=spread_of(_sorted_known(window.column("largest")[recent])),
        update_ratio=median_of(window.column("update_ratio")[recent]),
        update_ratio_at_start=start.update_ratio,
        largest_update_at_start=start.largest_update_ratio,
        learning_rate=_newest(window.column("rate")),
        loss=_loss_trend(window.column("loss")[rows], start),
        layers=_layers(names, window, rows),
        not_finite=_not_finite(window),
    )


def _begin(window: StepWindow, steps: int) -> int:
    """The row that comes after this many steps."""
    fell_out = window.seen - len(window)
    return min(len(window), max(0, steps - fell_out))


def spread_of(known: Numbers) -> Spread | None:
    """known: sorted, without NaN. None if empty."""
    if known.size == 0:
        return None
    low, quarter, median, high = (float(known[round(share * (known.size - 1))]) for share in (0.05, 0.25, 0.5, 0.95))
    return Spread(low, quarter, median, high, float(known[-1]))


def median_of(values: Numbers) -> float | None:
    """The median without NaN."""
    known = _sorted_known(values)
    return None if known.size == 0 else float(known[known.size // 2])


def column_medians(table: Numbers) -> Numbers:
    """[rows, columns] to [columns]: the median without NaN, which sorts last; NaN if there is no number."""
    if table.shape[0] == 0:
        return np.full(table.shape[1], np.nan)
    known = np.count_nonzero(~np.isnan(table), axis=0)
    middle = np.maximum(known - 1, 0) // 2
    medians: Numbers = np.sort(table, axis=0)[middle, np.arange(table.shape[1])]
    return medians


def _layers(names: tuple[str, ...], window: StepWindow, rows: IndexArray) -> Layers:
    medians = column_medians(window.layer_norms[rows[-RECENT_STEPS:]])
    known = medians[~np.isnan(medians)]
    part = max(1, known.size // 3)
    has_depth = known.size >= 2
    return Layers(
        names=names,
        norms=medians,
        rise=_rise(window.layer_norms, rows),
        update_ratios=column_medians(window.layer_update_ratios[rows[-RECENT_STEPS:]]),
        early=float(np.median(known[:part])) if has_depth else None,
        late=float(np.median(known[-part:])) if has_depth else None,
    )


def _rise(norms: Numbers, rows: IndexArray) -> Numbers:
    """1 if unknown; a layer that stays at exactly zero does not rise."""
    third = rows.size // 3
    before, after = column_medians(norms[rows[:third]]), column_medians(norms[rows[rows.size - third :]])
    tiny = np.finfo(np.float64).tiny
    with np.errstate(over="ignore"):
        rise: Numbers = np.where(np.isnan(before) | np.isnan(after), 1.0, (after + tiny) / (before + tiny))
    return rise


def _loss_trend(losses: Numbers, start: RunStart) -> LossTrend | None:
    trend, known = trend_of(losses), int(np.count_nonzero(~np.isnan(losses)))
    return None if trend is None else LossTrend(trend, known, start.loss, start.first_loss)


def _log_trend(norms: Numbers) -> SeriesTrend | None:
    with np.errstate(divide="ignore", invalid="ignore"):
        return trend_of(np.log(norms[norms > 0.0]))


def _not_finite(window: StepWindow) -> NotFinite | None:
    """None if the newest steps were finite, or if fp16's scaler was only finding its scale."""
    origins = window.origins[-RECENT_STEPS:]
    if _is_scaling_at_work(window, origins):
        origins = [None if origin is NonFiniteOrigin.GRADIENTS else origin for origin in origins]
    bad = [place for place, origin in enumerate(origins) if origin is not None]
    if not bad:
        return None
    first = bad[-1]
    for place in reversed(bad):
        if first - place > _CALM_STEPS:
            break
        first = place
    origin = origins[first]
    assert origin is not None
    step = int(window.column("step")[len(window) - len(origins) + first])
    return NotFinite(origin, step, dict(Counter(found for found in origins if found is not None)), len(origins))


def _is_scaling_at_work(window: StepWindow, origins: list[NonFiniteOrigin | None]) -> bool:
    """Whether overflows come from loss scaling, which finds the scale by occasional ones; many among the newest steps
    are too many."""
    if np.all(np.isnan(window.column("loss_scale"))):
        return False
    newest = origins[-_OVERFLOW_STEPS:]
    overflowed = sum(origin is NonFiniteOrigin.GRADIENTS for origin in newest)
    return overflowed <= max(1.0, _OVERFLOW_SHARE * len(newest)) or len(origins) <= SETTLING_STEPS


def _largest_of(layer_norms: Numbers) -> Numbers:
    """The largest layer norm of each step that has one."""
    if layer_norms.shape[1] == 0:
        return np.empty(0)
    filled = np.where(np.isnan(layer_norms), -1.0, layer_norms)
    largest: Numbers = filled.max(axis=1)
    return largest[largest >= 0.0]


def _sorted_known(values: Numbers) -> Numbers:
    return np.sort(values[~np.isnan(values)])


def _newest(values: Numbers) -> float | None:
    known = values[~np.isnan(values)]
    return None if known.size == 0 else float(known[-1])


def _mean(values: Numbers) -> float:
    return 0.0 if values.size == 0 else float(values.mean())


def _percent(before: float, after: float) -> float:
    """The fall in percent of the earlier size; bounded, so that a start near zero yields no huge number."""
    size = max(abs(before), 1e-300)
    return max(-1e6, min(1e6, 100.0 * ((before - after) / size)))
