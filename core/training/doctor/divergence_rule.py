"""Whether a model has diverged: its loss against its anchor's on the same samples, now and earlier.

The anchor is the forecast that the model corrects; its loss is the loss of a model without corrections. The excess is
the logarithm of the model's loss over the anchor's, below zero if the model helps. Its level, the median of a few
steps, is compared with

- the anchor itself: a model trained on these samples that does worse on them than without corrections;
- the level before the newest change of a setting, if that was recent;
- the best level of the run: a model that was clearly better than its anchor, and is worse now.

The allowed excess depends on the spread of sound steps. Steps of a diverged model spread widely and would excuse it: a
model that was never sound stays diverged until it does about as well as its anchor, or is replaced.

A diverged model may also learn to correct almost nothing, and then equals its anchor. While the change that caused it
is in effect, a model is sound again only after it has been clearly better than its anchor for a while.
"""

from __future__ import annotations

import math
import statistics
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, replace

from core.domain.events import StepDone

RECENT = 10
"""Steps in the median that makes a level."""
_SETTLED = 50
"""Earlier steps that determine the spread."""
_FEWEST_SETTLED = 20
_CHANGE_COUNTS = 100
"""Number of steps after a change during which a rise is attributed to it."""
_ABOVE_ANCHOR = 0.03
_ABOVE_ANCHOR_ONCE_BETTER = 0.01
_RISE = 0.05
"""Logarithms of losses: 3, 1 and 5 %. 300 healthy steps of the simulated market reach -1 to -3 %, a rate of 0.03 leads
to 19 % and more in ten steps (docs/research/gradients.md)."""
_SPREADS_ABOVE_ANCHOR, _SPREADS_OF_A_RISE = 2.0, 3.0
"""A median of ten has an error of 0.4 spreads: five and seven times that."""
_SPREADS_SETTLED_ABOVE = 1.0
"""A median of fifty has an error of 0.18 spreads: more than five times that."""
_MAD_TO_SPREAD = 1.4826


@dataclass(frozen=True, slots=True)
class Divergence:
    """Levels are excesses: logarithms of the loss over the anchor's."""

    sound_until: int | None
    """The newest step after which the model was sound, or None."""
    loss: float
    """The loss of the level's middle step: the ratio of two median losses would not be the median ratio."""
    anchor_loss: float
    """The anchor's loss at the same step."""
    level: float
    changed_at: int | None
    """The step after which the setting blamed for it was changed; None without a recent change."""
    before: float | None
    """The level before that change."""
    best: float | None
    """The lowest level of the run, if known."""
    is_answered: bool = False
    """Whether a setting was changed since the divergence was found."""


@dataclass(frozen=True, slots=True)
class _StepExcess:
    step: int
    loss: float
    anchor_loss: float
    excess: float


@dataclass(frozen=True, slots=True)
class _Limit:
    level: float
    margin: float


class DivergenceWatch:
    """Watches the excesses of one run's newest steps."""

    def __init__(self, best: float | None = None) -> None:
        """best: the lowest level of the run, if a previous model reached it."""
        self.found: Divergence | None = None
        """The newest step's divergence; None while the model is sound or too little is known."""
        self._recent: deque[_StepExcess] = deque(maxlen=RECENT)
        self._settled: deque[float] = deque(maxlen=_SETTLED)
        self._since_found: deque[float] = deque(maxlen=_SETTLED)
        self._sound_until: int | None = None
        self._best = best
        self._before: float | None = None
        self._changed_at: int | None = None

    def observe(self, step: StepDone) -> None:
        """Append a step. A step without its loss or its anchor's is ignored."""
        measured = _measured(step)
        if measured is None:
            return
        if len(self._recent) == RECENT and self.found is None:
            self._add_sound(self._recent[0])
        self._recent.append(measured)
        self._judge(step.step)

    def changed(self) -> None:
        """A setting was changed: later steps are compared with those before. Several in a row count as one."""
        if self.found is not None:
            self.found = replace(self.found, is_answered=True)
        if self.found is not None or (self._changed_at is not None and len(self._recent) < RECENT):
            return
        if self._recent:
            self._before = self._level
            self._changed_at = self._recent[-1].step
        while self._recent:
            self._add_sound(self._recent.popleft())

    def resume_diverged(self, changed_at: int) -> None:
        """The model was saved as diverged, after a setting was changed at this step."""
        if len(self._recent) == RECENT:
            self._changed_at = changed_at
            self.found = self._divergence()

    def for_restored_model(self) -> DivergenceWatch:
        """A watch for a restored model. It keeps only the best level of the run."""
        return DivergenceWatch(self._best)

    @property
    def _level(self) -> float:
        return statistics.median(each.excess for each in self._recent)

    def _add_sound(self, sound: _StepExcess) -> None:
        self._settled.append(sound.excess)
        if len(self._settled) == _SETTLED:
            level = statistics.median(self._settled)
            self._best = level if self._best is None else min(self._best, level)

    def _judge(self, step: int) -> None:
        if len(self._recent) < RECENT:
            return
        if self._changed_at is not None and self.found is None and step - self._changed_at > _CHANGE_COUNTS:
            self._changed_at = self._before = None
        limit = self._limit()
        if self.found is None:  # the loss of a step belongs to the weights that the previous step left
            sound = [each.step - 1 for each in self._recent if each.excess <= limit.level - limit.margin / 2.0]
            self._sound_until = max(sound, default=self._sound_until)
        if self._has_settled_above_anchor:
            self._sound_until = None
        self.found = None if self._is_sound(limit) else self._divergence()
        if self.found is None:
            self._since_found.clear()
        else:
            self._since_found.append(self._recent[-1].excess)

    def _is_sound(self, limit: _Limit) -> bool:
        if self.found is None:
            return self._level <= limit.level
        if self._changed_at is not None and not self.found.is_answered:
            return self._is_clearly_better_again
        return self._level <= limit.level - limit.margin / 2.0

    @property
    def _is_clearly_better_again(self) -> bool:
        """Better than its anchor. Equal is not enough: so is a diverged model that has learned to correct nothing."""
        if len(self._since_found) < _SETTLED:
            return False
        margin = max(_ABOVE_ANCHOR_ONCE_BETTER, _SPREADS_SETTLED_ABOVE * _spread_of(self._since_found))
        return statistics.median(self._since_found) < -margin

    def _limit(self) -> _Limit:
        spread = self._spread()
        was_better = self._best is not None and self._best < -_ABOVE_ANCHOR
        above = _ABOVE_ANCHOR_ONCE_BETTER if was_better else _ABOVE_ANCHOR
        margin = max(above, _SPREADS_ABOVE_ANCHOR * spread)
        limits = [_Limit(margin, margin)]
        if self._before is not None:
            rise = max(_RISE, _SPREADS_OF_A_RISE * spread)
            limits.append(_Limit(max(self._before + rise, self._before / 2.0), rise))
        return min(limits, key=lambda limit: limit.level)

    def _spread(self) -> float:
        """A robust spread of the sound steps; with too few of them, of the newest steps, or 0 after a divergence."""
        if len(self._settled) < _FEWEST_SETTLED:
            return 0.0 if self.found is not None else _spread_of([each.excess for each in self._recent])
        return 0.0 if self._has_settled_above_anchor else _spread_of(self._settled)

    @property
    def _has_settled_above_anchor(self) -> bool:
        """Whether the steps assumed sound are clearly worse than no correction, as after a restart while diverged."""
        if len(self._settled) < _SETTLED:
            return False
        return statistics.median(self._settled) > max(_ABOVE_ANCHOR, _SPREADS_SETTLED_ABOVE * _spread_of(self._settled))

    def _divergence(self) -> Divergence:
        middle = sorted(self._recent, key=lambda each: each.excess)[RECENT // 2]
        until = self._sound_until if self._changed_at is None else self._changed_at
        is_answered = self.found is not None and self.found.is_answered
        changed_at, before, best = self._changed_at, self._before, self._best
        return Divergence(until, middle.loss, middle.anchor_loss, self._level, changed_at, before, best, is_answered)


def _spread_of(excesses: Collection[float]) -> float:
    middle = statistics.median(excesses)
    return _MAD_TO_SPREAD * statistics.median(abs(excess - middle) for excess in excesses)


def _measured(step: StepDone) -> _StepExcess | None:
    loss, anchor = step.loss, None if step.gradients is None else step.gradients.anchor_loss
    if loss is None or anchor is None or not (0.0 < loss < math.inf and 0.0 < anchor < math.inf):
        return None
    return _StepExcess(step.step, loss, anchor, math.log(loss / anchor))
