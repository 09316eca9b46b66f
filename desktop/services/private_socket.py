"""Connects two processes of one user: a socket in a folder that only this user can enter, and a check of the peer.

The shared temporary folder would do for neither: its names can be computed and taken by others.
"""

from __future__ import annotations

import hashlib
import os
import socket
import stat
import struct
import sys
from pathlib import Path

from platformdirs import user_cache_path
from PySide6.QtNetwork import QLocalSocket

_PEER = struct.Struct("iII")
"""Linux's `struct ucred`: process, user, group."""
_LONGEST_PATH = 90
"""Bytes: systems allow 104 to 108, and Qt needs a few when it starts to listen."""


def address(data_folder: Path) -> str:
    """The socket's address for a data folder, the same for every spelling of its path. Raises OSError if the user has
    no private folder."""
    resolved = str(data_folder.expanduser().resolve())
    name = "ghostcandle-" + hashlib.sha256(resolved.encode()).hexdigest()[:16]
    if sys.platform == "win32":  # a pipe's name; Qt lets the user alone connect to it
        return name
    path = _private_folder() / name
    if len(os.fsencode(path)) > _LONGEST_PATH:
        raise OSError(f"{path} is too long for a socket")
    return str(path)


def _private_folder() -> Path:
    folder = user_cache_path("ghostcandle") / "run"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise OSError(f"{folder} is not a folder of this user")
    if stat.S_IMODE(found.st_mode) != 0o700:
        folder.chmod(0o700)
    return folder


def is_own_peer(connection: QLocalSocket) -> bool:
    """Whether this user is at the other end. On other systems than Linux the folder's mode ensures it."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    try:
        with socket.socket(fileno=os.dup(int(connection.socketDescriptor()))) as same:
            credentials = same.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
    except OSError:  # it hung up already
        return False
    _process, user, _group = _PEER.unpack(credentials)
    return bool(user == os.geteuid())
