"""The child process of a job: its program, its messages, and malformed ones."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QByteArray, QObject
from pytestqt.qtbot import QtBot

from desktop.jobs.child import ChildProcess, Ending, own_program
from desktop.jobs.job_commands import in_fields
from tests.support.commands import ROOT


def test_the_program_is_this_one_installed_or_packaged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert own_program() == [sys.executable, str(ROOT / "run_ghostcandle.py")]
    program, console = tmp_path / "ghostcandle.exe", tmp_path / "ghostcandle-console.exe"
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(program))
    assert own_program() == [str(program)]
    console.touch()
    assert own_program() == [str(console)], "the one that has streams"


def ending(qtbot: QtBot, *arguments: str) -> Ending:
    owner = QObject()
    child = ChildProcess(arguments, {}, owner)
    with qtbot.waitSignal(child.over) as signal:
        child.start()
    found = signal.args[0]
    assert isinstance(found, Ending) and child.process_id == 0
    return found


@pytest.mark.slow
def test_a_failure_shows_the_commands_message(qtbot: QtBot, tmp_path: Path) -> None:
    arguments = ("import", "--json", "--progress-lines", "--data-dir", str(tmp_path), "--", str(tmp_path / "none.csv"))
    found = ending(qtbot, *arguments)
    assert found.summary is None and "none.csv" in found.sentence and not found.was_cancelled


def test_a_usage_error_shows_a_message(qtbot: QtBot) -> None:
    found = ending(qtbot, "no-such-command", "--json")
    assert found.summary is None and "no-such-command" in found.sentence


def test_a_missing_program_is_reported(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/ghostcandle")
    found = ending(qtbot, "doctor")
    assert found.summary is None and "could not be started" in found.sentence


class Parts:
    """A process whose output arrives a few bytes at a time."""

    def __init__(self, words: bytes, size: int) -> None:
        self._parts = [words[first : first + size] for first in range(0, len(words), size)]

    def readAllStandardError(self) -> QByteArray:
        return QByteArray(self._parts.pop(0))

    def __bool__(self) -> bool:
        return bool(self._parts)


def test_a_line_received_in_parts_is_joined(qapp: object) -> None:
    owner, said = QObject(), []
    child = ChildProcess([], {}, owner)
    child.message_received.connect(said.append)
    lines = b'{"say": "The first."}\n\n{"other": 1}\nno object\n{"say": "\xc3\x84 second."}\n'
    child._process = parts = Parts(lines, 5)  # type: ignore[assignment]
    while parts:
        child._on_progress()
    assert said == ["The first.", "Ä second."] and list(child._other_lines) == ['{"other": 1}', "no object"]


def test_options_in_messages_are_replaced_by_field_titles() -> None:
    message = in_fields("Name it with --venue, or --interval 1m; never --venues.")
    assert message == "Name it with “Exchange”, or “Interval” 1m; never --venues."
