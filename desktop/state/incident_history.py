"""The incidents of the watched run, without duplicates."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from core.domain.candle import Market
from core.domain.events import Incident
from core.domain.incident_kinds import REPEATING, IncidentKind
from core.market.shown_names import shown_market
from desktop.ui.translation import translate

INCIDENTS_KEPT = 500


class IncidentHistory:
    """The newest `INCIDENTS_KEPT`, in ascending order of time."""

    def __init__(self) -> None:
        self._incidents: deque[Incident] = deque(maxlen=INCIDENTS_KEPT)

    def __iter__(self) -> Iterator[Incident]:
        return iter(self._incidents)

    @property
    def newest_first(self) -> tuple[Incident, ...]:
        return tuple(reversed(self._incidents))

    def clear(self) -> None:
        self._incidents.clear()

    def add(self, incident: Incident) -> None:
        """Add one that has happened; of an episode, in place of its former row."""
        if incident.count > 1:
            self._replace_all([former for former in self._incidents if former.episode != incident.episode])
        self._incidents.append(incident)

    def add_older(self, older: Iterable[Incident]) -> None:
        """Insert history, in ascending order, before newer incidents."""
        newer = list(self._incidents)
        known = {identity(incident) for incident in newer}
        self._replace_all([*(incident for incident in older if identity(incident) not in known), *newer])

    def _replace_all(self, incidents: Iterable[Incident]) -> None:
        self._incidents = deque(incidents, maxlen=INCIDENTS_KEPT)


def with_market(incident: Incident, markets: Mapping[str, Market]) -> Incident:
    """The drift incident with its market's name in front, if the model has several. markets: by their runs' ids."""
    market = markets.get(incident.run_id or "") if len(markets) > 1 else None
    if market is None or incident.kind != IncidentKind.DRIFT:
        return incident
    words = translate("Panels", "{0}: {1}").format(shown_market(market), incident.what_happened)
    return replace(incident, what_happened=words)


def identity(incident: Incident) -> object:
    """Equal for the same incident from different sources: the parent process, which reports a trainer's end, may not
    know its run, and the record may count fewer times."""
    return incident.episode if incident.kind in REPEATING else replace(incident, run_id=None)
