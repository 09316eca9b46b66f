"""One window for one data folder: a second start asks the first window to come to the front, and ends.

Ownership is proven by the lock in the data folder. Its holder listens on a local socket for the second start.
"""

from __future__ import annotations

import logging
from enum import Enum
from pathlib import Path

from PySide6.QtCore import QDeadlineTimer, QObject, QThread, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from desktop.services.private_socket import address, is_own_peer

_log = logging.getLogger("ghostcandle")

_REQUEST = b"raise\n"
_ANSWER = b"raised\n"
_CLOSING_ANSWER = b"closing\n"
_LONGEST_REQUEST = 64
_LOOK_MS = 50


class Reply(Enum):
    """The reply of the window that owns the folder to the request to come to the front."""

    RAISED = "raised"
    CLOSING = "closing"
    """The owner's window was closed: it ends once all is saved."""
    NO_ANSWER = "no answer"
    """The owner listens, but did not answer in time: it may hang."""
    NOBODY = "nobody"
    """No process of this user listens."""


class SingleInstance(QObject):
    """The local socket between two starts on one data folder."""

    raise_requested = Signal()
    """A second start asks this window to come to the front."""

    def __init__(self, data_folder: Path, parent: QObject | None = None, timeout_ms: int = 2_000) -> None:
        super().__init__(parent)
        self._folder = data_folder
        self._timeout_ms = timeout_ms
        self._is_closing = False
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._on_connection)

    def listen(self) -> None:
        """Call only as the owner of the folder's lock: an existing socket is removed as left by a crashed window."""
        try:
            name = address(self._folder)
            QLocalServer.removeServer(name)
            if not self._server.listen(name):
                raise OSError(self._server.errorString())
        except OSError as error:
            _log.warning("A second start cannot raise this window (%s); it says that the folder is in use.", error)

    def begin_to_close(self) -> None:
        """Make a second start wait for the end of this one: a closing window is not shown again."""
        self._is_closing = True

    def release(self) -> None:
        self._server.close()

    def ask_owner(self) -> Reply:
        """Ask the folder's owner to come to the front. Blocks for at most twice the timeout: one that has just started
        may not listen yet."""
        deadline, reply = QDeadlineTimer(self._timeout_ms), self._ask()
        while reply is Reply.NOBODY and not deadline.hasExpired():
            QThread.msleep(_LOOK_MS)
            reply = self._ask()
        return reply

    def _ask(self) -> Reply:
        socket = QLocalSocket()
        try:
            socket.connectToServer(address(self._folder))
        except OSError:
            return Reply.NOBODY
        if not socket.waitForConnected(self._timeout_ms) or not is_own_peer(socket):
            return Reply.NOBODY
        socket.write(_REQUEST)
        socket.waitForBytesWritten(self._timeout_ms)
        answer = bytes(socket.readAll().data()) if socket.waitForReadyRead(self._timeout_ms) else b""
        socket.abort()
        return {_ANSWER: Reply.RAISED, _CLOSING_ANSWER: Reply.CLOSING}.get(answer, Reply.NO_ANSWER)

    def _on_connection(self) -> None:
        while self._server.hasPendingConnections():
            socket = self._server.nextPendingConnection()
            if not is_own_peer(socket):
                _log.warning("Another user's program was disconnected.")
                socket.abort()
                socket.deleteLater()
                continue
            socket.readyRead.connect(lambda socket=socket: self._on_request(socket))
            socket.disconnected.connect(socket.deleteLater)
            if socket.bytesAvailable():
                self._on_request(socket)

    def _on_request(self, socket: QLocalSocket) -> None:
        request = bytes(socket.peek(_LONGEST_REQUEST).data())
        if request == _REQUEST:
            socket.readAll()
            socket.write(_CLOSING_ANSWER if self._is_closing else _ANSWER)
            socket.flush()
            if not self._is_closing:
                self.raise_requested.emit()
        elif not _REQUEST.startswith(request):
            socket.abort()
