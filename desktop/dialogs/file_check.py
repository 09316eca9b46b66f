"""A field for files. Another thread checks whether they can be used, while the dialog around it is open."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PySide6.QtCore import QEvent, QTimer, Signal, Slot
from PySide6.QtWidgets import QFileDialog, QPushButton, QWidget

from core.domain.candle import Interval
from core.domain.spans import candles_in, holes_between
from core.market.history.candle_file import CandleFile, read_candle_file
from core.market.history.errors import CandleFileError
from core.market.history.open_file import require_readable
from core.market.history.read import interval_of, require_table
from core.market.history.utc_times import moment_text
from desktop.dialogs.messages import open_dialog
from desktop.ui.dialog_parts import PathLine
from desktop.ui.formatting import format_candles, format_count, format_time
from desktop.ui.stacks import NO_MARGINS, beside
from desktop.ui.translation import translate

_PAUSE_MS = 200
"""Delay from the last key press, so that the file is not read for each letter."""
_ASKED_EVERY_MS = 50
_ENOUGH_BYTES = 16 << 20
"""Nearly all faults of a file are in its first part too; a running market tolerates the few others."""
_ENOUGH_PIECES = 4
"""The limit for Feather and Parquet, whose bytes read are unknown."""
_FILES = re.compile(
    r"""
    "([^"]+)"(?=[\s;]|$) | '([^']+)'(?=[\s;]|$)     # quoted, as file managers copy a path
    | ([^\s;][^;\r\n\u2028\u2029]*)                  # or up to a semicolon, or the end of its line
    """,
    re.VERBOSE,
)
_log = logging.getLogger("ghostcandle")
Watch = Callable[[int, int], None]
"""Called with the bytes read and their total. Raises once enough was read."""


@dataclass(frozen=True, slots=True)
class Found:
    """A usable file. contents: in a sentence, empty if they are unknown. remark: to be read before the file is used,
    empty if all is well."""

    contents: str = ""
    remark: str = ""


Look = Callable[[Path, Watch], Found]
"""Checks one file. Raises CandleFileError for a file that is of no use."""


def check_readable(path: Path, _watch: Watch) -> Found:
    require_readable(path)
    return Found()


def check_importable(path: Path, _watch: Watch) -> Found:
    """Accept a file that begins as candles or trades do, perhaps of a form that the user has to name."""
    require_readable(path)
    try:
        require_table(path)
    except CandleFileError as error:
        if "--form" not in str(error):
            raise
    return Found()


def check_replayable(
    path: Path, watch: Watch, interval: Interval | None = None, learned_until_ms: int | None = None
) -> Found:
    """Accept a file that begins as candles do. The contents and the remark, which counts the rejected rows, are of one
    that was read to its end.

    interval: of the checkpoint that is to be evaluated on it. learned_until_ms: candles from before do not count.
    """
    require_readable(path)
    if interval is not None and (found := interval_of(path)) != interval:
        other = translate(
            "Dialogs", "The checkpoint has learned candles of {0}, and {1} holds candles of {2}. Give a file of {0}."
        )
        raise CandleFileError(other.format(interval, path.name, found))
    file = read_candle_file(path, watch)
    if learned_until_ms is not None and file.candles[-1].open_time_ms < learned_until_ms:
        known = translate(
            "Dialogs",
            "Every candle of {0} is from before {1}, up to which the checkpoint has learned, so none would be new to "
            "it. Give later candles; or, if the file is of another market, select “Also evaluate candles before "
            "{1}”.",
        )
        raise CandleFileError(known.format(path.name, format_time(learned_until_ms)))
    return Found(_contents(file), _rejected_rows(path, file.rejected))


def _contents(file: CandleFile) -> str:
    """``8,643 candles of 15m from 2020-01-01 00:00 to 2020-03-31 23:45 UTC, without gaps.``"""
    times, interval = np.array([each.open_time_ms for each in file.candles]), file.interval
    missing = candles_in(holes_between(times, interval), interval)
    first, last = (moment_text(int(times[place])) for place in (0, -1))
    gaps = translate("Dialogs", "without gaps")
    if missing:
        gaps = translate("Dialogs", "{0} missing").format(format_candles(missing))
    words = translate("Dialogs", "{0} of {1} from {2} to {3} UTC, {4}.")
    return words.format(format_candles(len(times)), interval, first, last, gaps)


def _rejected_rows(path: Path, rejected: Mapping[str, int]) -> str:
    count = sum(rejected.values())
    if not count:
        return ""
    if count == 1:
        one = translate("Dialogs", "1 row of {0} is rejected ({1}); the others are replayed.")
        return one.format(path.name, next(iter(rejected)))
    why = ", ".join(f"{format_count(each)} ({reason})" for reason, each in rejected.items())
    many = translate("Dialogs", "{0} rows of {1} are rejected: {2}; the others are replayed.")
    return many.format(format_count(count), path.name, why)


class _EnoughError(Exception):
    """Ends the reading of a file once enough was read, or the check was cancelled."""


class _Looking:
    """Checks files on a thread that may outlive the dialog, as a disk may not answer."""

    def __init__(self, look: Look, files: Sequence[Path]) -> None:
        self.problem: str | None = None
        """The fault of the first useless file; empty if all are usable; None while they are checked."""
        self.contents = self.remark = ""
        """The contents of the last file, and the first remark on any of them."""
        self.is_cancelled = threading.Event()
        self._look, self._files, self._pieces = look, tuple(files), 0

    def start(self) -> None:
        def run() -> None:
            self.problem = next((problem for problem in map(self._problem_of, self._files) if problem), "")

        threading.Thread(target=run, name="look at chosen files", daemon=True).start()

    def _problem_of(self, file: Path) -> str:
        self._pieces = 0
        try:
            found = self._look(file, self._watch)
            self.contents, self.remark = found.contents, self.remark or found.remark
        except _EnoughError:
            pass
        except CandleFileError as error:
            return str(error)
        except Exception:  # opening the file reports the fault
            _log.exception("A file that was chosen could not be looked at.")
        return ""

    def _watch(self, done: int, _total: int) -> None:
        self._pieces += 1
        if self.is_cancelled.is_set() or done >= _ENOUGH_BYTES or self._pieces > _ENOUGH_PIECES:
            raise _EnoughError


class FilePicker(QWidget):
    """One file or several, typed or chosen. They are checked on another thread: a disk may not answer."""

    changed = Signal()
    answered = Signal()
    """The files have been checked."""

    def __init__(self, *, several: bool, look: Look = check_readable, text: str = "") -> None:
        super().__init__()
        self._several, self._look = several, look
        self._asked: Sequence[Path] = ()
        self._looking: _Looking | None = None
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self._begin)
        self._wait = QTimer(self, interval=_ASKED_EVERY_MS)
        self._wait.timeout.connect(self._ask_look)
        self.line = PathLine(text)
        self.line.setPlaceholderText(translate("Dialogs", "CSV or JSON (also .gz, .zip, .zst), Feather or Parquet"))
        self._title = translate("Dialogs", "Choose files") if several else translate("Dialogs", "Choose a file")
        self.browse = QPushButton(translate("Dialogs", "Browse…"))
        self.browse.setAccessibleName(self._title)
        beside(self, self.line, self.browse, stretched=self.line, margins=NO_MARGINS)
        self.setFocusProxy(self.line)
        self.line.textChanged.connect(lambda _text: self.check())
        self.line.textChanged.connect(self.changed)
        self.browse.clicked.connect(self.open)

    @property
    def problem(self) -> str | None:
        """The fault of the named files, in a sentence; empty without one; None while it is unknown."""
        return self._looking.problem if self._looking is not None and self._named() == self._asked else None

    @property
    def remark(self) -> str:
        """A sentence on usable files, such as rejected rows; empty if there is none, or it is unknown."""
        return "" if self._looking is None or self.problem is None else self._looking.remark

    @property
    def contents(self) -> str:
        """The contents of a usable file in a sentence; empty if they are unknown."""
        return "" if self._looking is None or self.problem is None else self._looking.contents

    def files(self) -> list[Path]:
        """The named files. Raises ValueError with a sentence if none is named, or one is known to be unreadable."""
        files = self._named()
        if not files:
            raise ValueError(translate("Dialogs", "Choose a candle file."))
        if problem := self.problem:
            raise ValueError(problem)
        return files

    def check(self) -> None:
        """Check the files that are named, and emit `answered` once it is known. Does nothing while it checks them."""
        named = self._named()
        if named != self._asked:
            self.end()
            self._asked = named
            if named:
                self._pause.start()

    def check_again(self) -> None:
        """Check the same files again, for another purpose or after they may have changed."""
        self._asked = ()
        self.check()

    def end(self) -> None:
        """Cancel the check; `answered` will not come."""
        self._pause.stop()
        self._wait.stop()
        if self._looking is not None:
            self._looking.is_cancelled.set()
        self._asked, self._looking = (), None

    def choose(self, files: Sequence[Path]) -> None:
        """Put these files in the line; without any it stays unchanged."""
        if files:
            self.line.setText("; ".join(_quoted(str(file)) for file in files))

    def open(self) -> QFileDialog:
        named = self._named()
        dialog = QFileDialog(self, self._title, str(named[0].parent if named else Path.home()))
        modes = QFileDialog.FileMode
        dialog.setFileMode(modes.ExistingFiles if self._several else modes.ExistingFile)
        dialog.setNameFilters(
            [
                translate("Dialogs", "Candles (*.csv *.json *.jsonl *.txt *.gz *.zip *.zst *.feather *.parquet *.pq)"),
                translate("Dialogs", "All files (*)"),
            ]
        )
        dialog.filesSelected.connect(lambda names: self.choose([Path(name) for name in names]))
        return open_dialog(dialog)

    def event(self, event: QEvent) -> bool:
        # The user returns to the window, perhaps with a repaired file.
        if event.type() is QEvent.Type.WindowActivate and self.problem is not None:
            self.check_again()
        return super().event(event)

    def _named(self) -> list[Path]:
        """The absolute paths of the named files, without access to the disk."""
        names = _names(self.line.text())
        if not self._several and len(names) > 1:
            names = [self.line.text().strip()]
        paths = []
        for name in names:
            try:
                paths.append(Path(name).expanduser().absolute())
            except RuntimeError:  # the home of an unknown user
                paths.append(Path(name).absolute())
        return paths

    @Slot()
    def _begin(self) -> None:
        self._looking = _Looking(self._look, self._asked)
        self._looking.start()
        self._wait.start()

    @Slot()
    def _ask_look(self) -> None:
        if self._looking is not None and self._looking.problem is not None:
            self._wait.stop()
            self.answered.emit()


def _names(text: str) -> list[str]:
    return ["".join(match.groups("")).strip() for match in _FILES.finditer(text)]


def _quoted(name: str) -> str:
    """The name, in quotes if it would be misread without them."""
    return next((form for form in (name, f'"{name}"', f"'{name}'") if _names(form) == [name]), name)
