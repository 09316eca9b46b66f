"""Incidents of checkpoints that were refused, not written, or restored."""

from __future__ import annotations

from collections.abc import Mapping

from core.domain.events import Severity
from core.domain.incident_kinds import IncidentKind
from core.training.doctor.remedies import text
from core.training.hosting.divergence_recovery import NAMES
from core.training.recovery.incident_draft import IncidentDraft


def refused(sentence: str, step: int) -> IncidentDraft:
    return IncidentDraft(
        Severity.ERROR,
        IncidentKind.CHECKPOINT_REFUSED,
        sentence,
        "The checkpoint before it is used instead.",
        f"Training since step {step:,} is repeated; no forecast and no score is lost.",
    )


def not_written(sentence: str) -> IncidentDraft:
    return IncidentDraft(
        Severity.ERROR,
        IncidentKind.CHECKPOINT_NOT_WRITTEN,
        sentence,
        "The earlier checkpoints are kept; the next one will be tried when due.",
        "If the program ends before then, the steps since the last checkpoint are repeated.",
    )


def restore_refused(sentence: str) -> IncidentDraft:
    return IncidentDraft(
        Severity.WARNING, IncidentKind.RESTORE_REFUSED, sentence, "The current model stays in use.", "Nothing."
    )


def restored(step: int, set_back: Mapping[str, float], left: Mapping[str, tuple[float, float]]) -> IncidentDraft:
    """set_back: the settings restored with it, with their current values. left: other differing settings, with their
    current values and the checkpoint's."""
    settings = "".join(
        f" {NAMES[name].capitalize()} was set back to {text(value)}." for name, value in set_back.items()
    )
    settings += "".join(
        f" {NAMES[name].capitalize()} stays {text(now)}: the checkpoint was trained with {text(then)}."
        for name, (now, then) in left.items()
    )
    return IncidentDraft(
        Severity.INFO,
        IncidentKind.RESTORED,
        f"The checkpoint of step {step:,} was restored on request.{settings}",
        "The restored model forecasts from the next candle on; stored forecasts and scores are unchanged.",
        "All training since then.",
    )
