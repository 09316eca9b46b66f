"""What is said of checkpoints that were refused, not written, or gone back to."""

from __future__ import annotations

from collections.abc import Mapping

from core.domain.events import RESTORED, Severity
from core.training.doctor.remedies import text
from core.training.hosting.divergence_recovery import NAMES
from core.training.recovery.incident_draft import IncidentDraft


def refused(sentence: str, step: int) -> IncidentDraft:
    return IncidentDraft(
        Severity.ERROR,
        "checkpoint refused",
        sentence,
        "The checkpoint before it is used instead.",
        f"Training since step {step:,} is done again; no forecast and no score is lost.",
    )


def not_written(sentence: str) -> IncidentDraft:
    return IncidentDraft(
        Severity.ERROR,
        "checkpoint not written",
        sentence,
        "The checkpoints before it stay; the next one is tried in its turn.",
        "Should the program end before then, the steps since the last checkpoint are done again.",
    )


def restore_refused(sentence: str) -> IncidentDraft:
    return IncidentDraft(Severity.WARNING, "restore refused", sentence, "The model in use stays in use.", "Nothing.")


def restored(step: int, set_back: Mapping[str, float], left: Mapping[str, tuple[float, float]]) -> IncidentDraft:
    """set_back: the settings that were set back with it, as they are now. left: those that were not, as they are now
    and as they were when it was learned."""
    settings = "".join(
        f" {NAMES[name].capitalize()} was set back to {text(value)}." for name, value in set_back.items()
    )
    settings += "".join(
        f" {NAMES[name].capitalize()} stays {text(now)}: the checkpoint was learned with {text(then)}."
        for name, (now, then) in left.items()
    )
    return IncidentDraft(
        Severity.INFO,
        RESTORED,
        f"The model was taken back to the checkpoint of step {step:,}, as asked.{settings}",
        "Forecasts from the next candle on are its own; stored forecasts and scores stay as they are.",
        "What was learned since then.",
    )
