"""Incidents, messages of the feed and lines of the log as rows of one list."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from heapq import merge

from core.domain.events import Incident, Severity
from core.logs.reading import LogEntry
from core.market.feeds.base import FeedState, RejectedMessage
from desktop.panels.feed.words import Line, in_one_line, story
from desktop.state.feed_record import FeedRecord
from desktop.state.incident_history import identity
from desktop.ui.formatting import format_count, format_time
from desktop.ui.translation import translate
from desktop.ui.words import word

_ROOT = "ghostcandle"
_OF_STATES = {FeedState.FAILED: Severity.ERROR, FeedState.RECONNECTING: Severity.WARNING}


class EventKind(Enum):
    INCIDENT = auto()
    FEED = auto()
    LOG = auto()


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """at_ms: of an episode, the newest occurrence. text: one line."""

    kind: EventKind
    at_ms: int
    severity: Severity
    source: str
    text: str
    origin: Incident | LogEntry | Line | RejectedMessage

    @property
    def key(self) -> object:
        """Equal for two states of the same event. Thousands of lines of a log are slow to hash by their text."""
        origin = self.origin
        return (
            identity(origin) if isinstance(origin, Incident) else id(origin) if self.kind is EventKind.LOG else origin
        )

    @property
    def full_text(self) -> str:
        """All that is known, for a report; a rejected message as it was received."""
        match self.origin:
            case Incident() as incident:
                return _incident_text(incident)
            case LogEntry(at_ms=at_ms, details=details):
                line = f"{format_time(at_ms, seconds=True)} {self.severity} {self.source}: {self.text}"
                return f"{line}\n{details}" if details else line
            case RejectedMessage(at_ms, reason, raw):
                return f"{format_time(at_ms, seconds=True)}, {reason}\n{raw}"
        return f"{format_time(self.at_ms, seconds=True)}  {self.text}"


def newest_first(*parts: Iterable[Event]) -> list[Event]:
    """Events by time. Those of one part stay in its order, as the clock may have been set back."""
    return list(merge(*parts, key=lambda event: event.at_ms, reverse=True))


def of_incidents(incidents: Iterable[Incident]) -> list[Event]:
    source = translate("Panels", "Training")
    return [
        Event(
            EventKind.INCIDENT,
            incident.newest_at_ms,
            incident.severity,
            source,
            _happened(incident),
            incident,
        )
        for incident in incidents
    ]


def of_feed(record: FeedRecord) -> list[Event]:
    """Changes of state, gaps, corrections and rejected messages."""
    return newest_first(map(_of_line, story(record)), map(_of_message, record.rejected))


def of_log(entries: Sequence[LogEntry]) -> list[Event]:
    """entries: oldest first."""
    return [
        Event(EventKind.LOG, entry.at_ms, severity_of(entry.level), part_of(entry), entry.text, entry)
        for entry in reversed(entries)
    ]


def severity_of(level: int) -> Severity:
    """level: as in `logging`."""
    if level >= logging.ERROR:
        return Severity.ERROR
    return Severity.WARNING if level >= logging.WARNING else Severity.INFO


def part_of(entry: LogEntry) -> str:
    """The part of the program that logged it."""
    return entry.name.removeprefix(_ROOT).lstrip(".").capitalize() or translate("Panels", "Program")


def _incident_text(incident: Incident) -> str:
    lines = [f"{_when(incident)}, {word(incident.severity)} ({incident.kind})", *_sentences(incident)]
    if incident.details:
        lines += ["", incident.details]
    return "\n".join(lines)


def _happened(incident: Incident) -> str:
    """The incident, and its count if it was repeated."""
    if incident.count == 1:
        return incident.what_happened
    return translate("Panels", "{0} times: {1}").format(format_count(incident.count), incident.what_happened)


def _when(incident: Incident) -> str:
    """The time; of an episode the first and the last, and how often."""
    first = format_time(incident.at_ms, seconds=True)
    if incident.count == 1:
        return first
    last = format_time(incident.newest_at_ms, seconds=True)
    return translate("Panels", "{0} to {1}, {2} times").format(first, last, format_count(incident.count))


def _sentences(incident: Incident) -> list[str]:
    labelled = (
        ("", incident.what_happened),
        (translate("Panels", "Action taken: "), incident.what_was_done),
        (translate("Panels", "Cost: "), incident.what_it_cost),
    )
    return [f"{label}{text}" for label, text in labelled if text]


def _of_line(line: Line) -> Event:
    at_ms, state, sentence = line
    text = sentence if state is None else in_one_line(state, sentence)
    severity = Severity.INFO if state is None else _OF_STATES.get(state, Severity.INFO)
    return Event(EventKind.FEED, at_ms, severity, translate("Panels", "Feed"), text, line)


def _of_message(message: RejectedMessage) -> Event:
    text = translate("Panels", "Rejected message: {0}").format(message.reason)
    return Event(EventKind.FEED, message.at_ms, Severity.WARNING, translate("Panels", "Feed"), text, message)
