"""History commands that store through the window: each on a separate thread, with its progress in the window."""

from __future__ import annotations

import logging
import queue
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QThread, QTimer, Signal, Slot
from PySide6.QtNetwork import QLocalSocket

from core.domain.candle import Market
from core.domain.events import JobProgress
from core.domain.plain_text import plain
from core.domain.spans import TimeSpan
from core.domain.validation import LATEST_MS
from core.storage.candles import CandleStore, StoredColumns
from core.storage.database import open_database
from core.storage.errors import StorageError
from core.storage.holes import HoleStore
from desktop.services.remote_protocol import Unpacker, WireError, columns_of, market_of, packed, spans_of, whole
from desktop.ui.formatting import format_candles
from desktop.ui.translation import translate

_ENDS_WITHIN_MS = 10_000
_SHOW_EVERY_MS = 5_000
_MOST_UNREAD = 1 << 20
"""Limit of unread answer bytes of a command; an answer has some twenty."""
_MOST_WAITING = 4
_MOST_ROWS = 1_000_000_000
_NOT_READY = "The window is still starting. Try again in a moment."
REMOTE_JOB = "history command"
_CANCELLED = "It was cancelled in the window. Stored candles are kept; the same command continues from there."
_log = logging.getLogger("ghostcandle")


@dataclass(frozen=True, slots=True, eq=False)
class _Candles:
    market: Market
    columns: StoredColumns
    replaces: bool


@dataclass(frozen=True, slots=True)
class _Holes:
    market: Market
    holes: tuple[TimeSpan, ...]
    asked_at_ms: int


_Order = _Candles | _Holes | None


class HistoryStorer(QThread):
    """Stores the rows of one command in order, on a separate connection.

    Signals, queued to the window's thread, one for each order:
        stored: its market and how many rows are new or changed. marked: its market, of which holes are known now.
        failed: a sentence.
    """

    stored = Signal(object, int)
    marked = Signal(object)
    failed = Signal(str)

    def __init__(self, database: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("HistoryStorer")
        self._database = database
        self._orders: queue.SimpleQueue[_Order] = queue.SimpleQueue()

    def take(self, order: _Candles | _Holes) -> None:
        """Callable from any thread."""
        self._orders.put(order)

    def end(self) -> None:
        """Finish the queued orders, then end the thread: `finished` follows."""
        self._orders.put(None)

    def run(self) -> None:
        """The thread's whole life. PySide loses exceptions of other threads, so none leaves this method."""
        try:
            with closing(open_database(self._database)) as db:
                candles, holes = CandleStore(db), HoleStore(db)
                while (order := self._orders.get()) is not None:
                    if isinstance(order, _Candles):
                        self._store(candles, order)
                    else:
                        holes.add_of_exchange(order.market, order.holes, order.asked_at_ms)
                        self.marked.emit(order.market)
        except StorageError as error:
            self.failed.emit(str(error))
        except Exception as error:
            _log.exception("Candles from a command could not be stored.")
            self.failed.emit(f"The window could not store them ({type(error).__name__}: {error}).")

    def _store(self, candles: CandleStore, order: _Candles) -> None:
        try:
            changed = candles.save_columns(order.market, order.columns, replaces=order.replaces)
        except ValueError as error:  # our commands send none such, but the peer may be another program
            self.failed.emit(f"Nothing of these {len(order.columns):,} candles was stored: {error}.")
        else:
            self.stored.emit(order.market, changed)


class RemoteCommand(QObject):
    """One command, from its greeting to its end. Lives in the window's thread."""

    changed = Signal(object)
    """Market: rows of it were stored, or holes of it are known now."""
    progressed = Signal(object)
    """JobProgress"""
    over = Signal(str, int)
    """The command's title, and how many rows are new or changed. The last signal; the thread has ended. It may come
    long after `close`: a database that another program has locked is waited for, and not by the window."""

    def __init__(
        self, socket: QLocalSocket, number: int, database: Path, is_ready: Callable[[], bool], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._socket, self._is_ready = socket, is_ready
        self.job_id = f"{REMOTE_JOB} {number}"
        self._title = translate("Window", "A command is storing candles")
        self._unpacker = Unpacker()
        self._changed = 0
        self._progress = JobProgress(self.job_id, self._title, 0, 0)
        self.is_shown = True
        """Whether progress is shown here; the window shows that of commands that it started as jobs."""
        self._storer = HistoryStorer(database, self)
        self._storer.stored.connect(self._on_stored)
        self._storer.marked.connect(self._on_marked)
        self._storer.failed.connect(self._on_failed)
        self._storer.finished.connect(self._on_finished)
        self._waiting = 0
        """Orders that are not answered yet."""
        self._has_begun = self._is_over = False
        socket.setReadBufferSize(_MOST_UNREAD)
        socket.readyRead.connect(self._on_bytes)
        socket.disconnected.connect(self.close)
        self._is_open = True
        QTimer.singleShot(0, self, self._on_bytes)  # what came before there was someone to hear it

    @Slot()
    def close(self) -> None:
        """End it: the command has disconnected, or the window closes. Does not block. Safe to call twice."""
        if not self._is_open:
            return
        self._is_open = False
        self._socket.abort()
        self._storer.end()
        if not self._storer.isRunning():
            self._on_finished()

    def finish(self) -> bool:
        """Wait until everything sent before `close` is stored. False on timeout."""
        return self._storer.wait(_ENDS_WITHIN_MS)

    @Slot()
    def _on_finished(self) -> None:
        if self._is_open or self._is_over:
            return
        self._is_over = True
        total = max(self._progress.total, 1)  # one that went before it had measured anything is not done
        self._show(replace(self._progress, total=total, is_over=True))
        self.over.emit(self._title, self._changed)

    def cancel(self) -> None:
        """Cancel the command; rows already sent are stored."""
        if self._is_open:
            self._answer({"error": _CANCELLED})
            self.close()

    @Slot()
    def _on_bytes(self) -> None:
        if not self._is_open:
            return
        self._unpacker.feed(bytes(self._socket.readAll().data()))
        try:
            while self._is_open and (found := self._unpacker.next()) is not None:
                self._obey(*found)
        except WireError as error:
            sentence = plain(f"The window does not understand this command ({error}).")
            _log.warning("A command that stores candles violates the protocol: %s", sentence)
            self._answer({"error": sentence})
            self.close()

    def _obey(self, message: dict[str, Any], payload: bytes) -> None:
        match message.get("op"):
            case "begin":
                self.is_shown = bool(message.get("is_shown", True))
                self._begin(plain(str(message.get("title"))))
            case "candles":
                replaces = message.get("replaces") is True
                self._take(_Candles(market_of(message), columns_of(payload), replaces))
            case "holes":
                asked_at_ms = whole(message, "asked_at_ms", LATEST_MS)
                self._take(_Holes(market_of(message), spans_of(message), asked_at_ms))
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

    def _take(self, order: _Candles | _Holes) -> None:
        """Our commands wait for each answer; a peer that does not would fill the memory."""
        if self._waiting >= _MOST_WAITING:
            raise WireError("it does not wait for answers")
        self._waiting += 1
        self._storer.take(order)

    def _begin(self, title: str) -> None:
        if self._has_begun:
            raise WireError("it has begun already")
        if not self._is_ready():
            self._answer({"later": _NOT_READY})
            return
        self._has_begun = True
        self._title, self._progress = title, replace(self._progress, title=title)
        if not self._storer.isRunning():
            self._storer.start()
        self._answer({"ok": True})
        self._show(self._progress)

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

    @Slot(object, int)
    def _on_stored(self, market: Market, changed: int) -> None:
        self._changed += changed
        self._answer_order({"changed": changed})
        if changed:
            self.changed.emit(market)

    @Slot(object)
    def _on_marked(self, market: Market) -> None:
        self._answer_order({"changed": 0})
        self.changed.emit(market)

    @Slot(str)
    def _on_failed(self, sentence: str) -> None:
        self._answer_order({"error": sentence})

    def _answer_order(self, message: dict[str, Any]) -> None:
        self._waiting -= 1
        if self._is_open:
            self._answer(message)


class RemoteCommands(QObject):
    """All commands that store through this window. What they change is shown at their end, and every few seconds."""

    progressed = Signal(object)
    """JobProgress"""
    shown = Signal(object)
    """Market: its stored candles have changed; read them again."""
    summary_ready = Signal(str)
    """A command's summary; commands started by the window report through their job instead."""

    def __init__(self, database: Path, is_ready: Callable[[], bool], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._database, self._is_ready = database, is_ready
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
        command = RemoteCommand(socket, self._number, self._database, self._is_ready, self)
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

    def finish(self) -> bool:
        """Wait until everything sent before `close` is stored. False on timeout."""
        return all([command.finish() for command in self._commands])

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
