"""A preview of the chosen files before their import, read by a child process so that the window stays fluid."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from desktop.jobs.child import ChildProcess, Ending
from desktop.jobs.job_commands import in_fields
from desktop.ui.formatting import format_candles, format_count, format_time
from desktop.ui.translation import translate

StartChild = Callable[[Sequence[str], QObject], ChildProcess]
"""Makes a child that runs our own command with these arguments; it is not started yet."""
_PAUSE_MS = 500
"""After the last key, in place of a process a letter."""


class ImportPreview(QObject):
    """Emits the text to show, empty for nothing. One child at a time; `end` before the dialog goes."""

    text_changed = Signal(str, bool)
    """The words, and whether none of the files can be read."""

    def __init__(self, start_child: StartChild, parent: QObject) -> None:
        super().__init__(parent)
        self._start_child = start_child
        self._child: ChildProcess | None = None
        self._wanted: tuple[str, ...] = ()
        self._asked: tuple[str, ...] = ()
        """What the child looks at."""
        self._is_answered = False
        self._rows_from: tuple[str, ...] = ()
        self._found: Sequence[Mapping[str, Any]] = ()
        """The files' accounts of the newest dry run that read any of them."""
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self._begin)

    @property
    def is_reading(self) -> bool:
        """Whether the rows of what is looked at are not known yet."""
        return bool(self._wanted) and not self._found and not self._is_answered

    def look(self, arguments: Sequence[str], rows_from: Sequence[str] = ()) -> None:
        """Look at what this import would read; none: at nothing. rows_from: what the rows, span and interval depend on;
        while that stays the same, they stay on show, and only what depends on the market is looked up again."""
        if tuple(arguments) == self._wanted:
            return
        if arguments and self._child is not None and self.is_reading and tuple(rows_from) == self._rows_from:
            self._wanted = tuple(arguments)  # the rows that are being read are needed in any case
            return
        self.end()
        if tuple(rows_from) != self._rows_from:
            self._found = ()
        self._wanted, self._rows_from = tuple(arguments), tuple(rows_from)
        self._show_known()

    def _show_known(self) -> None:
        """The rows that are known; the rest is asked after a pause."""
        self._is_answered = False
        known = "\n".join(_line({**each, "new": None, "unnamed": None}) for each in self._found)
        self.text_changed.emit(known or (translate("Jobs", "Reading…") if self._wanted else ""), False)
        if self._wanted:
            self._pause.start()

    def end(self) -> None:
        """Look at nothing any more."""
        self._pause.stop()
        self._wanted = ()
        self._end_child()

    def _end_child(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.deleteLater()

    def _begin(self) -> None:
        self._asked = self._wanted
        command, *rest = self._wanted
        child = self._start_child([command, "--dry-run", *rest], self)
        child.over.connect(lambda ending: self._on_over(child, ending))
        self._child = child
        child.start()

    def _on_over(self, child: ChildProcess, ending: Ending) -> None:
        if child is not self._child:
            return
        self._found = (ending.summary or {}).get("files") or self._found
        if self._asked != self._wanted:
            self._end_child()
            self._show_known()
            return
        self._is_answered = True
        if ending.summary is None:
            self.text_changed.emit(in_fields(ending.sentence), True)
        else:
            self.text_changed.emit(preview_text(ending.summary), not ending.summary.get("files"))


def preview_text(summary: Mapping[str, Any]) -> str:
    """A line for each file, from the account of a dry run, and a sentence for each that cannot be used."""
    lines = [_line(each) for each in summary.get("files", ())]
    return "\n".join((*lines, *map(in_fields, map(str, summary.get("errors", ())))))


def _line(found: Mapping[str, Any]) -> str:
    first, last = (format_time(int(found[name])) for name in ("first_ms", "last_ms"))
    words = translate("Jobs", "{0}: {1} rows, {2} of {3}, {4} to {5}")
    said = words.format(
        found["file"],
        format_count(int(found["rows"])),
        format_candles(int(found["candles"])),
        found["interval"],
        first,
        last,
    )
    rejected = sum(int(count) for count in found["rejected"].values())
    parts = [said]
    if found.get("new") is not None:
        parts.append(translate("Jobs", "{0} new").format(format_count(int(found["new"]))))
    if rejected:
        parts.append(translate("Jobs", "{0} rejected").format(format_count(rejected)))
    if found["holes"]:
        parts.append(translate("Jobs", "{0} missing").format(format_candles(int(found["missing"]))))
    text = "; ".join(parts)
    unnamed = str(found.get("unnamed") or "")
    return f"{text}. {in_fields(unnamed)}" if unnamed else text
