"""Alerts that the webhook has not taken yet, in a file: what is left at the program's end is sent at its next start."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from core.alerts.alert import Alert
from core.files.durable import write_durably

_ALERTS = TypeAdapter(list[Alert])
_log = logging.getLogger("ghostcandle")


class Outbox:
    """A file that cannot be read or written costs the alerts of an earlier start, and a line of the log."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._written: list[Alert] = []

    def read(self) -> list[Alert]:
        """In the order in which they were put."""
        try:
            self._written = _ALERTS.validate_json(self._path.read_bytes())
        except FileNotFoundError:
            return []
        except (OSError, ValidationError) as error:
            _log.warning("The alerts that waited for the webhook could not be read (%s).", type(error).__name__)
            return []
        return list(self._written)

    def write(self, alerts: Iterable[Alert]) -> None:
        """These, and no others. Nothing is written if they are there already."""
        wanted = list(alerts)
        if wanted == self._written:
            return
        self._written = wanted
        try:
            if wanted:
                write_durably(self._path, _ALERTS.dump_json(wanted))
            else:
                self._path.unlink(missing_ok=True)
        except OSError as error:
            _log.warning("The alerts that wait for the webhook could not be written (%s).", error.strerror)
