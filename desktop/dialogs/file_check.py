"""A field for files. Another thread checks whether they can be used, while the dialog around it is open."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QTimer, Signal, Slot
from PySide6.QtWidgets import QFileDialog, QPushButton, QWidget

from core.domain.candle import Interval
from core.market.history.errors import CandleFileError
from core.market.history.files import read_candle_file
from core.market.history.reading import interval_of, require_table
from core.market.history.source import require_readable
from desktop.dialogs.messages import open_dialog
from desktop.ui.dialog_parts import PathLine
from desktop.ui.formatting import format_count, format_time
from desktop.ui.stacks import NO_MARGINS, beside
from desktop.ui.translation import translate

_PAUSE_MS = 200
"""From the last key press until the file is read, so that it is not read for each letter."""
_ASKED_EVERY_MS = 50
_ENOUGH_BYTES = 16 << 20
"""What is wrong with a file is seen in its first part, but for a few slips; the market that runs outlives those too."""
_ENOUGH_PIECES = 4
"""The same for Feather and Parquet, whose bytes read are unknown."""
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
Look = Callable[[Path, Watch], str]
"""Looks at one file, and says what one should know of it; nothing where all is well. Raises CandleFileError for a file
that is of no use."""


def check_readable(path: Path, _watch: Watch) -> str:
    """There is something in it that can be read, whatever it is."""
    require_readable(path)
    return ""


def check_importable(path: Path, _watch: Watch) -> str:
    """It begins as a file of candles or trades does, perhaps of a form that the user has to name."""
    require_readable(path)
    try:
        require_table(path)
    except CandleFileError as error:
        if "--form" not in str(error):
            raise
    return ""


def check_replayable(
    path: Path, watch: Watch, interval: Interval | None = None, learned_until_ms: int | None = None
) -> str:
    """It begins as a file of candles does. Says how many rows are rejected of one that could be read to its end.

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
            "it. Give later candles; or, where the file is of another market, select “Also evaluate candles before "
            "{1}”.",
        )
        raise CandleFileError(known.format(path.name, format_time(learned_until_ms)))
    rejected = file.rejected
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
    """Enough of it was read, or nobody wants to know any more."""


class _Looking:
    """On a thread that may outlive the dialog: a disk that does not answer holds nobody up."""

    def __init__(self, look: Look, files: Sequence[Path]) -> None:
        self.problem: str | None = None
        """What is wrong with the first that is of no use; empty where none is; None while they are looked at."""
        self.remark = ""
        """What the look said of the first that it said something of."""
        self.is_cancelled = threading.Event()
        self._look, self._files, self._pieces = look, tuple(files), 0

    def start(self) -> None:
        threading.Thread(target=self._run, name="look at chosen files", daemon=True).start()

    def _run(self) -> None:
        self.problem = next((problem for problem in map(self._problem_of, self._files) if problem), "")

    def _problem_of(self, file: Path) -> str:
        self._pieces = 0
        try:
            said = self._look(file, self._watch)
            self.remark = self.remark or said
        except _EnoughError:
            pass
        except CandleFileError as error:
            return str(error)
        except Exception:  # who opens it says what came of it
            _log.exception("A file that was chosen could not be looked at.")
        return ""

    def _watch(self, done: int, _total: int) -> None:
        self._pieces += 1
        if self.is_cancelled.is_set() or done >= _ENOUGH_BYTES or self._pieces > _ENOUGH_PIECES:
            raise _EnoughError


class FilePicker(QWidget):
    """One file or several, typed or chosen. They are looked at on another thread: a disk may not answer."""

    changed = Signal()
    answered = Signal()
    """What is wrong with them is known now."""

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
        self.line.textChanged.connect(lambda _text: self._on_text())
        self.browse.clicked.connect(self.open)

    @property
    def problem(self) -> str | None:
        """What is wrong with the files that are named, in a sentence; empty where nothing is; None while it is not
        known."""
        return self._looking.problem if self._looking is not None and self._named() == self._asked else None

    @property
    def remark(self) -> str:
        """What one should know of them, in a sentence; empty where there is nothing, or it is not known."""
        return "" if self._looking is None or self.problem is None else self._looking.remark

    def files(self) -> list[Path]:
        """Those that are named. Raises ValueError in a sentence where none is, or one is known to be unreadable."""
        files = self._named()
        if not files:
            raise ValueError(translate("Dialogs", "Choose a candle file."))
        if problem := self.problem:
            raise ValueError(problem)
        return files

    def check(self) -> None:
        """Look at the files that are named; once they are known, `answered` comes. Asking twice is asking once."""
        named = self._named()
        if named != self._asked:
            self.end()
            self._asked = named
            if named:
                self._pause.start()

    def check_again(self) -> None:
        """They are looked at for another purpose."""
        self._asked = ()
        self.check()

    def end(self) -> None:
        """Nobody wants to know any more."""
        self._pause.stop()
        self._wait.stop()
        if self._looking is not None:
            self._looking.is_cancelled.set()
        self._asked, self._looking = (), None

    def choose(self, files: Sequence[Path]) -> None:
        """Put these in the line; none leaves it as it is."""
        if files:
            self.line.setText("; ".join(_typed(str(file)) for file in files))

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
        """The user returns to the window, perhaps with a repaired file."""
        if event.type() is QEvent.Type.WindowActivate and self.problem is not None:
            self.check_again()
        return super().event(event)

    def _named(self) -> list[Path]:
        """In full, by their names alone: nothing asks the disk."""
        names = _names(self.line.text())
        if not self._several and len(names) > 1:
            names = [self.line.text().strip()]
        return [_in_full(name) for name in names]

    def _on_text(self) -> None:
        self.check()
        self.changed.emit()

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


def _typed(name: str) -> str:
    """In quotes where it would be read as something else."""
    return next((form for form in (name, f'"{name}"', f"'{name}'") if _names(form) == [name]), name)


def _in_full(name: str) -> Path:
    try:
        return Path(name).expanduser().absolute()
    except RuntimeError:  # the home of nobody who is known
        return Path(name).absolute()
