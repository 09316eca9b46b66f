"""Whether a model has diverged: its loss beside its anchor's on the same samples, now and as it was.

The anchor is what the model corrects; its loss is that of a model that corrects nothing. The logarithm of the one over
the other, the excess, is below zero where the model helps. Its level is a median of a few steps, held against

- the anchor itself: a model that was trained on these samples and does worse on them than with no correction;
- the level before the newest change of a setting, where that was made lately;
- the best level of the run: a model that was clearly better than its anchor, and is worse now.

How far it may lie above is judged by the spread of sound steps. Those of a wreck spread widely and would excuse it: a
model that was never seen sound stays diverged until it does about as well as its anchor, or is replaced.

A wreck may also come to correct next to nothing, and is as good as its anchor then. While the change that wrecked it
is in force, a model is sound again only where it has been clearly better than its anchor for a while.
"""

from __future__ import annotations

import math
import statistics
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, replace

from core.domain.events import StepDone

RECENT = 10
"""Steps that make a level."""
_SETTLED = 50
"""Steps before them, by which their spread is judged."""
_FEWEST_SETTLED = 20
_CHANGE_COUNTS = 100
"""Steps after a change in which a rise is laid to it."""
_ABOVE_ANCHOR = 0.03
_ABOVE_ANCHOR_ONCE_BETTER = 0.01
_RISE = 0.05
"""Logarithms of losses: 3, 1 and 5 %. 300 healthy steps of the simulated market reach -1 to -3 %, a rate of 0.03 leads
to 19 % and more in ten steps (docs/gradients.md)."""
_SPREADS_ABOVE_ANCHOR, _SPREADS_OF_A_RISE = 2.0, 3.0
"""A median of ten has an error of 0.4 spreads: five and seven of those."""
_SPREADS_SETTLED_ABOVE = 1.0
"""The median of fifty has an error of 0.18 spreads: more than five of those."""
_MAD_TO_SPREAD = 1.4826


@dataclass(frozen=True, slots=True)
class Divergence:
    """Levels are excesses: logarithms of the loss over the anchor's."""

    sound_until: int | None
    """The newest step after which the model was sound; None where it was not seen so."""
    loss: float
    """Of the step in the middle of those that make the level: medians of losses would not have the median ratio."""
    anchor_loss: float
    """Of the same step."""
    level: float
    changed_at: int | None
    """The step after which the setting was changed that it is laid to; None where none was, lately."""
    before: float | None
    """The level before that."""
    best: float | None
    """The lowest of the run; None where it was never known."""
    is_answered: bool = False
    """Whether a setting was changed since it was found."""


@dataclass(frozen=True, slots=True)
class _Measured:
    """One step that was done."""

    step: int
    loss: float
    anchor_loss: float
    excess: float


@dataclass(frozen=True, slots=True)
class _Limit:
    level: float
    margin: float


class DivergenceWatch:
    """Owns the excesses of one run's newest steps."""

    def __init__(self, best: float | None = None) -> None:
        """best: the lowest level of the run, where it was another model that reached it."""
        self.found: Divergence | None = None
        """As of the newest step; None while the model is sound, or too little is known."""
        self._recent: deque[_Measured] = deque(maxlen=RECENT)
        self._settled: deque[float] = deque(maxlen=_SETTLED)
        self._since_found: deque[float] = deque(maxlen=_SETTLED)
        self._sound_until: int | None = None
        self._best = best
        self._before: float | None = None
        self._changed_at: int | None = None

    def observe(self, step: StepDone) -> None:
        """Take note of a step. One without a loss, or from before anchors were measured, says nothing."""
        measured = _measured(step)
        if measured is None:
            return
        if len(self._recent) == RECENT and self.found is None:
            self._settle(self._recent[0])
        self._recent.append(measured)
        self._judge(step.step)

    def changed(self) -> None:
        """A setting was changed: what comes now is held against what was. Several in a row count as one."""
        if self.found is not None:
            self.found = replace(self.found, is_answered=True)
        if self.found is not None or (self._changed_at is not None and len(self._recent) < RECENT):
            return
        if self._recent:
            self._before = self._level
            self._changed_at = self._recent[-1].step
        while self._recent:
            self._settle(self._recent.popleft())

    def still_diverged(self, changed_at: int) -> None:
        """It had diverged when it was saved, after the change of a setting at this step."""
        if len(self._recent) == RECENT:
            self._changed_at = changed_at
            self.found = self._divergence()

    def of_other_model(self) -> DivergenceWatch:
        """For the one that was restored in the place of this one. Of what was, only the best of the run counts."""
        return DivergenceWatch(self._best)

    @property
    def _level(self) -> float:
        return statistics.median(each.excess for each in self._recent)

    def _settle(self, sound: _Measured) -> None:
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
        if self.found is None:
            self._look_for_sound(limit.level - limit.margin / 2.0)
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
        """Than its anchor. About as well does a wreck, too, that has come to correct next to nothing."""
        if len(self._since_found) < _SETTLED:
            return False
        margin = max(_ABOVE_ANCHOR_ONCE_BETTER, _SPREADS_SETTLED_ABOVE * _spread_of(self._since_found))
        return statistics.median(self._since_found) < -margin

    def _look_for_sound(self, level: float) -> None:
        """The loss of a step is that of the weights which the step before it left."""
        sound = [each.step - 1 for each in self._recent if each.excess <= level]
        self._sound_until = max(sound, default=self._sound_until)

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
        """Robust. Of the steps that were sound; of the newest where too few of those are known, and 0 once those were
        found diverged."""
        if len(self._settled) < _FEWEST_SETTLED:
            return 0.0 if self.found is not None else _spread_of([each.excess for each in self._recent])
        return 0.0 if self._has_settled_above_anchor else _spread_of(self._settled)

    @property
    def _has_settled_above_anchor(self) -> bool:
        """Whether what passed for sound is clearly worse than no correction: as after a restart with a wreck."""
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


def _measured(step: StepDone) -> _Measured | None:
    loss, anchor = step.loss, None if step.gradients is None else step.gradients.anchor_loss
    if loss is None or anchor is None or not (0.0 < loss < math.inf and 0.0 < anchor < math.inf):
        return None
    return _Measured(step.step, loss, anchor, math.log(loss / anchor))
