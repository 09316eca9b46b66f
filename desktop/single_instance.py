"""One window for one data folder: a second start asks the first window to come to the front, and ends.

The proof of ownership is the lock in the data folder; this is the way in which two starts talk.
"""

from __future__ import annotations

import hashlib
import logging
from enum import Enum
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from desktop.history_wire import GREETING

_log = logging.getLogger(__name__)

_REQUEST = b"raise\n"
_ANSWER = b"raised\n"
_LONGEST_REQUEST = 64


class Claim(Enum):
    """How a start came out."""

    FIRST = "first"
    """No other window is open on this data folder."""
    RAISED_OTHER = "raised other"
    """Another one is, and has come to the front."""
    NO_ANSWER = "no answer"
    """Another one is, but did not answer in time: it may hang."""


class SingleInstance(QObject):
    """The door between starts on one data folder."""

    raise_requested = Signal()
    """A second start asks this window to come to the front."""
    history_requested = Signal(object)
    """QLocalSocket: a history command wants this window to store candles. Whoever takes it serves it to its end."""

    def __init__(self, data_folder: Path, parent: QObject | None = None, timeout_ms: int = 2_000) -> None:
        super().__init__(parent)
        self._name = server_name(data_folder)
        self._timeout_ms = timeout_ms
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._on_connection)

    def claim(self) -> Claim:
        """Become the first window of the folder, or raise the one that is open. Blocks for at most the timeout."""
        answer = self._ask_other()
        if answer is not None:
            return answer
        # Nobody listens: what lies there was left by a window that did not end well.
        QLocalServer.removeServer(self._name)
        if not self._server.listen(self._name):
            _log.warning(
                "A second start cannot raise this window (%s); it will be told that the folder is in use.",
                self._server.errorString(),
            )
        return Claim.FIRST

    def release(self) -> None:
        """Stop listening."""
        self._server.close()

    def _ask_other(self) -> Claim | None:
        socket = QLocalSocket()
        socket.connectToServer(self._name)
        if not socket.waitForConnected(self._timeout_ms):
            return None
        socket.write(_REQUEST)
        socket.waitForBytesWritten(self._timeout_ms)
        has_answer = socket.waitForReadyRead(self._timeout_ms) and socket.readAll().data() == _ANSWER
        socket.abort()
        return Claim.RAISED_OTHER if has_answer else Claim.NO_ANSWER

    def _on_connection(self) -> None:
        while self._server.hasPendingConnections():
            socket = self._server.nextPendingConnection()
            socket.readyRead.connect(lambda socket=socket: self._on_request(socket))
            socket.disconnected.connect(socket.deleteLater)
            if socket.bytesAvailable():
                self._on_request(socket)

    def _on_request(self, socket: QLocalSocket) -> None:
        request = bytes(socket.peek(_LONGEST_REQUEST).data())
        if request == _REQUEST:
            socket.readAll()
            socket.write(_ANSWER)
            socket.flush()
            self.raise_requested.emit()
        elif request.startswith(GREETING):
            socket.read(len(GREETING))
            socket.readyRead.disconnect()
            self.history_requested.emit(socket)
        elif not (_REQUEST.startswith(request) or GREETING.startswith(request)):
            socket.abort()


def server_name(data_folder: Path) -> str:
    """The same for the same folder, however it is written; short, for the path of a socket has little room."""
    resolved = str(data_folder.expanduser().resolve())
    return "ghostcandle-" + hashlib.sha256(resolved.encode()).hexdigest()[:16]
