"""Log handlers: a rotating file in the data folder, and stderr. Never stdout, which is for results."""

from __future__ import annotations

import logging
import sys
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from core.domain.dates import utc_text
from core.domain.plain_text import plain
from core.files.private import make_private

LOGGER_NAME = "ghostcandle"
WINDOW_FILE = "ghostcandle.log"
TRAINER_FILE = "trainer.log"
_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
LONGEST_MESSAGE = 20_000
"""Characters of one message, and of its traceback."""
_FILE_BYTES = 5_000_000
_FILES_KEPT = 3


def log_to_file(path: Path) -> logging.Handler:
    """Append to a rotating file. Without write access there is no log, but the program starts."""
    logger = logging.getLogger(LOGGER_NAME)
    logger.setLevel(logging.INFO)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for former in path.parent.glob(f"{path.name}*"):
            make_private(former)
        handler: logging.Handler = _PatientHandler(path, maxBytes=_FILE_BYTES, backupCount=_FILES_KEPT, delay=True)
    except OSError:
        handler = logging.NullHandler()
    handler.setFormatter(_UtcFormatter(_FORMAT))
    logger.addHandler(handler)
    return handler


def log_to_stderr() -> logging.Handler:
    """Warnings and errors for the terminal; the file has everything."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setLevel(logging.WARNING)
    handler.setFormatter(_Bounded("%(levelname)s: %(message)s"))
    logging.getLogger(LOGGER_NAME).addHandler(handler)
    return handler


class _PatientHandler(RotatingFileHandler):
    """A handler that drops log lines silently on a full disk, without a traceback on stderr for each."""

    def _open(self) -> TextIOWrapper:
        stream = super()._open()
        make_private(Path(self.baseFilename))
        return stream

    def handleError(self, record: logging.LogRecord) -> None:
        if not isinstance(sys.exception(), OSError):
            super().handleError(record)


class _Bounded(logging.Formatter):
    """Limits the length of messages, which may contain foreign text such as an exchange's response."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        return plain(super().formatMessage(record), LONGEST_MESSAGE)

    def formatException(self, ei: Any) -> str:
        """The beginning and the end of a long traceback."""
        text, half = super().formatException(ei), LONGEST_MESSAGE // 2
        return text if len(text) <= LONGEST_MESSAGE else f"{text[:half]}\n…\n{text[-half:]}"


class _UtcFormatter(_Bounded):
    """``2026-11-21T15:00:00.123Z``: local times repeat when summer time ends."""

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:
        at_ms = int(record.created * 1000)
        return f"{utc_text(at_ms, '%Y-%m-%dT%H:%M:%S')}.{at_ms % 1000:03d}Z"
