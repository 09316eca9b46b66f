"""Describes a diverged model. The recovery is chosen in `core.training.hosting.divergence_recovery`."""

from __future__ import annotations

import math

from core.domain.diagnosis import Disease
from core.settings.tree import Settings
from core.training.doctor.divergence_rule import RECENT, Divergence
from core.training.doctor.evidence import Evidence
from core.training.doctor.remedies import lower_rate, text
from core.training.doctor.verdicts import Verdict

_TIMES_FROM = math.log(2.0)
_LARGEST = 700.0
_THOUSAND, _LARGEST_WRITTEN_OUT = 999.5, 1e7
_SMALLEST_PERCENT = 0.05


def diverged(found: Divergence, evidence: Evidence, settings: Settings) -> Verdict:
    """The verdict, with a tenth of the rate as the remedy, used if there is no checkpoint to restore."""
    loss, anchor_loss = _figure(found.loss), _figure(found.anchor_loss)
    sentence = (
        f"In the median of the last {RECENT} steps the loss was {loss}, {_relation(_as_shown(loss, anchor_loss))} the "
        f"{anchor_loss} of the uncorrected forecast."
    )
    if found.before is not None:
        sentence += f" Before the change at step {found.changed_at:,} it was {_relation(found.before)} that."
    if found.best is not None and (found.before is None or found.best < found.before):
        sentence += f" At its best it was {_relation(found.best)} that."
    why = "The model does worse than without its corrections, on candles that it was trained on"
    return Verdict(Disease.DIVERGED, sentence, lower_rate(evidence, settings, 0.1, why))


def _figure(value: float) -> str:
    """Three digits; thousands are written out: 0.146, 1,740, 2.5e8."""
    return f"{float(f'{value:.3g}'):,.0f}" if _THOUSAND <= value < _LARGEST_WRITTEN_OUT else text(value)


def _as_shown(loss: str, anchor_loss: str) -> float:
    """The level computed from the two displayed figures, which are rounded, so that the sentence agrees with them."""
    return math.log(float(loss.replace(",", ""))) - math.log(float(anchor_loss.replace(",", "")))


def _relation(level: float) -> str:
    """``3.1 times``, ``5.3 % above``, ``1.9 % below``, to be followed by a noun."""
    if level >= _TIMES_FROM:
        return f"{_figure(math.exp(min(level, _LARGEST)))} times"
    percent = 100.0 * math.expm1(level)
    if abs(percent) < _SMALLEST_PERCENT:
        return "as high as"
    return f"{abs(percent):.1f} % {'above' if level >= 0.0 else 'below'}"
