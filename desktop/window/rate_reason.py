"""Why training uses another learning rate than the one that was set."""

from __future__ import annotations

import math
from collections.abc import Iterator

from core.settings.tree import TrainingSettings
from core.training.online.trainer_spec import rate_factor
from desktop.ui.inputs import readable_decimal
from desktop.ui.translation import translate

_SAME = 0.01
"""Rates that differ by less than this share are the same."""


def rate_reason(training: TrainingSettings, in_force: float, now: float | None, step: int, markets: int) -> str:
    """``now 0.0005, halved by the adaptive schedule``; empty if it is the rate that was set.

    in_force: for a single market, before the schedule; now: of the newest step, in the units of all its markets; None
    before the first.
    """
    shared = 1.0 if now is None else now / in_force
    parts = list(_reasons(training, in_force, shared, step, markets))
    if now is not None and not math.isclose(now, in_force, rel_tol=_SAME):
        parts.insert(0, translate("Panels", "now {0}").format(readable_decimal(now)))
    return ", ".join(parts)


def _reasons(training: TrainingSettings, in_force: float, shared: float, step: int, markets: int) -> Iterator[str]:
    halvings = math.log2(training.learning_rate / in_force)
    if halvings > 0.5 and math.isclose(halvings, round(halvings), abs_tol=_SAME):
        words = translate("Panels", "halved by a rollback, set to {0}")
        if round(halvings) > 1:
            words = translate("Panels", "lowered by rollbacks, set to {0}")
        yield words.format(readable_decimal(training.learning_rate))
    scheduled = shared / rate_factor(markets)
    if not math.isclose(scheduled, 1.0, rel_tol=_SAME):
        yield _by_schedule(training, scheduled, step)
    if markets > 1:
        yield translate("Panels", "{0} markets share a step").format(markets)


def _by_schedule(training: TrainingSettings, factor: float, step: int) -> str:
    if factor > 1.0:
        return translate("Panels", "raised for a while after a drift")
    if step < training.warmup_steps:
        return translate("Panels", "still warming up")
    if training.schedule == "adaptive" and math.isclose(factor, 0.5, rel_tol=_SAME):
        return translate("Panels", "halved by the adaptive schedule")
    names = {
        "adaptive": translate("Panels", "lowered by the adaptive schedule"),
        "cosine": translate("Panels", "lowered by the cosine schedule"),
        "plateau": translate("Panels", "lowered by the plateau schedule"),
    }
    return names.get(training.schedule, translate("Panels", "lowered by the schedule"))
