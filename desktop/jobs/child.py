"""A command of the program as a child process: it prints its progress as lines, and closing its stdin ends it."""

from __future__ import annotations

import json
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QProcess, QProcessEnvironment, QTimer, Signal, Slot

from desktop.ui.translation import translate

_LAUNCHER = Path(__file__).resolve().parents[2] / "run_ghostcandle.py"
"""Not `-m desktop`: that would run a `desktop.py` in the working folder."""
_CONSOLE_PROGRAM = "ghostcandle-console.exe"
_POLITE_MS = 20_000
"""A trainer finishes its step and writes its last checkpoint first."""
_INSISTING_MS = 5_000
_LONGEST_LINE = 1 << 20
_LARGEST_ANSWER = 16 << 20
_LAST_LINES = 20
_ENDS_WITHIN_MS = 3_000


@dataclass(frozen=True, slots=True)
class Ending:
    """How a child ended. summary: its one object on stdout, if it succeeded, or was cancelled with a partial result."""

    summary: Mapping[str, Any] | None
    sentence: str = ""
    """The error message, if it failed."""
    was_cancelled: bool = False


def own_program() -> list[str]:
    """The command line that starts this program again, installed or packaged."""
    if not getattr(sys, "frozen", False):
        return [sys.executable, str(_LAUNCHER)]
    console = Path(sys.executable).with_name(_CONSOLE_PROGRAM)  # a windowed program on Windows has no streams
    return [str(console if console.exists() else sys.executable)]


class ChildProcess(QObject):
    """Starts, listens to and ends one child. Should this process die, its end of stdin closes, and the child ends."""

    progressed = Signal(str, int, int, object)
    """The current part, the amount done, the total (0: unknown), and the seconds left or None."""
    message_received = Signal(str)
    over = Signal(object)
    """Ending. The last signal; the process is gone."""

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str], parent: QObject) -> None:
        super().__init__(parent)
        self._process = QProcess(self)
        own = QProcessEnvironment.systemEnvironment()
        for name, value in environment.items():
            own.insert(name, value)
        self._process.setProcessEnvironment(own)
        program, *rest = own_program()
        self._process.setProgram(program)
        self._process.setArguments([*rest, *arguments])
        self._process.readyReadStandardError.connect(self._on_progress)
        self._process.readyReadStandardOutput.connect(self._on_answer)
        self._process.finished.connect(self._on_finished)
        self._process.errorOccurred.connect(self._on_error)
        self._lines, self._answer = bytearray(), bytearray()
        self._other_lines: deque[str] = deque(maxlen=_LAST_LINES)
        self._was_cancelled = self._is_over = False
        self._insist = QTimer(self, singleShot=True)
        self._insist.timeout.connect(self._on_patience_over)

    @property
    def process_id(self) -> int:
        return int(self._process.processId())

    def start(self) -> None:
        """Start the process; `over` follows in any case."""
        self._process.start()

    @Slot()
    def cancel(self) -> None:
        """Ask it to end; kill it after a while. Safe to call twice."""
        if self._was_cancelled or self._is_over:
            return
        self._was_cancelled = True
        self._process.closeWriteChannel()
        self._insist.start(_POLITE_MS)

    def kill(self) -> None:
        """End it now, and wait for that."""
        self._was_cancelled = True
        if not self._is_over:
            self._process.kill()
            self._process.waitForFinished(_ENDS_WITHIN_MS)

    def _on_patience_over(self) -> None:
        if self._insist.interval() == _INSISTING_MS:
            self._process.kill()
            return
        self._process.terminate()
        self._insist.start(_INSISTING_MS)

    @Slot()
    def _on_progress(self) -> None:
        self._lines += self._process.readAllStandardError().data()
        *lines, rest = bytes(self._lines).split(b"\n")
        self._lines = bytearray(rest[-_LONGEST_LINE:])
        for line in lines:
            self._handle_line(line.decode("utf-8", "replace").strip())

    def _handle_line(self, line: str) -> None:
        """Lines other than progress are stored: one may be the last message of a dying process."""
        match _object(line):
            case {"progress": {"title": str(title), "done": int(done), "total": int(total), "seconds_left": left}}:
                self.progressed.emit(title, done, total, left if isinstance(left, (int, float)) else None)
            case {"say": str(sentence)}:
                self.message_received.emit(sentence)
            case _ if line:
                self._other_lines.append(line)

    @Slot()
    def _on_answer(self) -> None:
        self._answer += self._process.readAllStandardOutput().data()
        if len(self._answer) > _LARGEST_ANSWER:
            self._other_lines.append(translate("Jobs", "It printed more output than expected."))
            self._process.kill()

    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:
            self._end(
                Ending(None, translate("Jobs", "It could not be started: {0}.").format(self._process.errorString()))
            )

    def _on_finished(self, code: int, status: QProcess.ExitStatus) -> None:
        self._on_progress()
        self._on_answer()
        parsed = _object(self._answer.decode("utf-8", "replace"))
        if self._was_cancelled:
            self._end(Ending(parsed if code == 0 else None, was_cancelled=True))
        elif status is QProcess.ExitStatus.CrashExit:
            self._end(Ending(None, self._with_last_line(translate("Jobs", "Its process was killed or crashed."))))
        elif parsed is not None and "error" in parsed:
            self._end(Ending(None, str(parsed["error"])))
        elif parsed is not None and parsed.get("errors"):
            self._end(Ending(parsed if parsed.get("files") else None, " ".join(map(str, parsed["errors"]))))
        elif code == 0 and parsed is not None:
            self._end(Ending(parsed))
        else:
            self._end(Ending(None, self._with_last_line(translate("Jobs", "It exited with code {0}.").format(code))))

    def _with_last_line(self, sentence: str) -> str:
        return f"{sentence} {self._other_lines[-1]}" if self._other_lines else sentence

    def _end(self, ending: Ending) -> None:
        if not self._is_over:
            self._is_over = True
            self._insist.stop()
            self.over.emit(ending)


def _object(text: str) -> dict[str, Any] | None:
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None
