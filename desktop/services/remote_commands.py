"""History commands that store while a window owns the data folder: in turns that it grants, with progress in it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtNetwork import QLocalSocket

from core.domain.candle import Market
from core.domain.events import JobProgress
from core.domain.plain_text import plain
from desktop.services.remote_protocol import WireError, market_of, next_message, packed, whole
from desktop.ui.formatting import format_candles
from desktop.ui.translation import translate

_SHOW_EVERY_MS = 5_000
_MOST_UNREAD = 1 << 16
"""Limit of unread bytes of a command, and of unread answers to it; a message has some hundred."""
_MOST_ROWS = 1_000_000_000
_NOT_READY = "The window is still starting. Try again in a moment."
REMOTE_JOB = "history command"
_CANCELLED = "It was cancelled in the window. Stored candles are kept; the same command continues from there."
_log = logging.getLogger("ghostcandle")


class RemoteCommand(QObject):
    """One command, from its greeting to its end. It stores a part of its rows each time that it is answered; between
    two of them the window can store a candle that has closed."""

    changed = Signal(object)
    """Market: rows of it were stored, or holes of it are known now."""
    progressed = Signal(object)
    """JobProgress"""
    over = Signal(str, int)
    """The command's title, and how many rows are new or changed. The last signal."""

    def __init__(self, socket: QLocalSocket, number: int, is_ready: Callable[[], bool], parent: QObject) -> None:
        super().__init__(parent)
        self._socket, self._is_ready = socket, is_ready
        self.job_id = f"{REMOTE_JOB} {number}"
        self._title = translate("Window", "A command is storing candles")
        self._stored = 0
        self._progress = JobProgress(self.job_id, self._title, 0, 0)
        self.is_shown = True
        """Whether progress is shown here; the window shows that of commands that it started as jobs."""
        self._storing: Market | None = None
        """Of which it may be storing rows now."""
        self._has_begun = False
        socket.setReadBufferSize(_MOST_UNREAD)
        socket.readyRead.connect(self._on_bytes)
        socket.disconnected.connect(self._on_disconnected)
        self._is_open = True
        QTimer.singleShot(0, self, self._on_bytes)  # what came before there was someone to hear it

    @Slot()
    def close(self) -> None:
        """End it: the command has disconnected, or the window closes. Safe to call twice."""
        self._end()
        self._socket.abort()

    def _end(self) -> None:
        if not self._is_open:
            return
        self._is_open = False
        if self._storing is not None:  # it may have stored them, and was killed before it could say so
            self.changed.emit(self._storing)
        total = max(self._progress.total, 1)  # one that went before it had measured anything is not done
        self._show(replace(self._progress, total=total, is_over=True))
        self.over.emit(self._title, self._stored)

    def cancel(self) -> None:
        """Cancel the command, which disconnects when it reads this; rows already stored are kept."""
        if self._is_open:
            self._answer({"error": _CANCELLED})
        if self._storing is None:  # else it ends once it has stored this part
            self._end()

    @Slot()
    def _on_disconnected(self) -> None:
        self._on_bytes()
        self.close()

    @Slot()
    def _on_bytes(self) -> None:
        try:
            while self._is_open and (message := next_message(self._socket)) is not None:
                self._obey(message)
        except WireError as error:
            sentence = plain(f"The window does not understand this command ({error}).")
            _log.warning("A command that stores candles violates the protocol: %s", sentence)
            self._answer({"error": sentence})
            self.close()

    def _obey(self, message: dict[str, Any]) -> None:
        match message.get("op"):
            case "begin":
                self.is_shown = bool(message.get("is_shown", True))
                self._begin(plain(str(message.get("title"))))
            case "store":
                self._grant(market_of(message))
            case "stored":
                self._take(whole(message, "changed", _MOST_ROWS))
            case "progress":
                done, total = whole(message, "done", _MOST_ROWS), whole(message, "total", _MOST_ROWS)
                if done < total:
                    self._show(replace(self._progress, done=done, total=total))
            case "end":
                total = max(self._progress.total, 1)
                self._progress = replace(self._progress, done=total, total=total)
                self.close()
            case unknown:
                raise WireError(f"'{unknown}' is unknown")

    def _begin(self, title: str) -> None:
        if self._has_begun:
            raise WireError("it has begun already")
        if not self._is_ready():
            self._answer({"later": _NOT_READY})
            return
        self._has_begun = True
        self._title, self._progress = title, replace(self._progress, title=title)
        self._answer({"ok": True})
        self._show(self._progress)

    def _grant(self, market: Market) -> None:
        """Several commands may store at once: SQLite lets one after the other."""
        if not self._has_begun or self._storing is not None:
            raise WireError("it is not its turn to store")
        self._storing = market
        self._answer({"ok": True})

    def _take(self, changed: int) -> None:
        if self._storing is None:
            raise WireError("it was not its turn to store")
        market, self._storing = self._storing, None
        self._stored += changed
        self.changed.emit(market)  # also without rows: holes may be known now

    def _show(self, progress: JobProgress) -> None:
        """Commands started by the window report through their job instead."""
        self._progress = progress
        if self.is_shown:
            self.progressed.emit(progress)

    def _answer(self, message: dict[str, Any]) -> None:
        if self._socket.state() == QLocalSocket.LocalSocketState.ConnectedState:
            self._socket.write(packed(message))
            self._socket.flush()
        if self._is_open and self._socket.bytesToWrite() > _MOST_UNREAD:
            _log.warning("A command that does not read its answers was disconnected.")
            self.close()


class RemoteCommands(QObject):
    """All commands that store beside this window. What they change is shown at their end, and every few seconds."""

    progressed = Signal(object)
    """JobProgress"""
    shown = Signal(object)
    """Market: its stored candles have changed; read them again."""
    summary_ready = Signal(str)
    """A command's summary; commands started by the window report through their job instead."""

    def __init__(self, is_ready: Callable[[], bool], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._is_ready = is_ready
        self._number = 0
        self._commands: list[RemoteCommand] = []
        self._changed: set[Market] = set()
        self._is_closed = False
        self._timer = QTimer(self, singleShot=True, interval=_SHOW_EVERY_MS)
        self._timer.timeout.connect(self._show)

    @Slot(object)
    def serve(self, socket: QLocalSocket) -> None:
        """Take over a connection whose greeting was read."""
        if self._is_closed:
            socket.abort()
            return
        self._number += 1
        command = RemoteCommand(socket, self._number, self._is_ready, self)
        command.progressed.connect(self.progressed)
        command.changed.connect(self._on_changed)
        command.over.connect(lambda title, changed: self._on_over(command, title, changed))
        self._commands.append(command)

    def cancel(self, job_id: str) -> None:
        for command in tuple(self._commands):
            if command.job_id == job_id:
                command.cancel()

    def close(self) -> None:
        """End all: the window closes."""
        self._is_closed = True
        for command in tuple(self._commands):
            command.close()
        self._timer.stop()

    def _on_changed(self, market: Market) -> None:
        if self._is_closed:
            return
        self._changed.add(market)
        if not self._timer.isActive():
            self._timer.start()

    def _on_over(self, command: RemoteCommand, title: str, changed: int) -> None:
        self._commands.remove(command)
        command.deleteLater()
        if changed and command.is_shown:
            self.summary_ready.emit(translate("Window", "{0}: {1} stored.").format(title, format_candles(changed)))
        self._timer.stop()
        if not self._is_closed:
            self._show()

    @Slot()
    def _show(self) -> None:
        changed, self._changed = self._changed, set()
        for market in sorted(changed):
            self.shown.emit(market)
