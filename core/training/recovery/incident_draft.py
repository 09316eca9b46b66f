"""The text of an incident; the session adds the run and the time."""

from __future__ import annotations

from dataclasses import dataclass

from core.domain.events import Incident, Severity
from core.domain.incident_kinds import IncidentKind


@dataclass(frozen=True, slots=True)
class IncidentDraft:
    """The fields are as in `core.domain.events.Incident`."""

    severity: Severity
    kind: IncidentKind
    happened: str
    done: str
    cost: str
    details: str = ""

    def incident(self, run_id: str, at_ms: int) -> Incident:
        return Incident(run_id, at_ms, self.severity, self.kind, self.happened, self.done, self.cost, self.details)
