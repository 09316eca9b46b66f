from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtNetwork import QLocalServer, QLocalSocket
from pytestqt.qtbot import QtBot

from desktop.services.single_instance import Reply, SingleInstance, address

_SECOND_START = """
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from desktop.services.single_instance import SingleInstance
application = QCoreApplication([])
print(SingleInstance(Path(sys.argv[1]), timeout_ms=60_000).ask_owner().value)
"""


@pytest.fixture
def first(qapp: object, tmp_path: Path) -> Iterator[SingleInstance]:
    instance = SingleInstance(tmp_path)
    yield instance
    instance.release()


@pytest.mark.parametrize("is_closing", [False, True])
def test_a_second_start_raises_the_first_unless_that_is_closing_and_knows_it(
    qtbot: QtBot, first: SingleInstance, tmp_path: Path, is_closing: bool
) -> None:
    first.listen()
    if is_closing:
        first.begin_to_close()
    raised: list[None] = []
    first.raise_requested.connect(lambda: raised.append(None))
    second = subprocess.Popen([sys.executable, "-c", _SECOND_START, str(tmp_path)], stdout=subprocess.PIPE)
    qtbot.waitUntil(lambda: second.poll() is not None, timeout=60_000)
    assert second.communicate()[0].strip() == (b"closing" if is_closing else b"raised")
    assert len(raised) == (0 if is_closing else 1)


def test_a_hanging_owner_is_distinguished_from_none(qapp: object, tmp_path: Path) -> None:
    server = QLocalServer()
    assert server.listen(address(tmp_path))
    assert SingleInstance(tmp_path, timeout_ms=0).ask_owner() is Reply.NO_ANSWER
    server.close()
    assert SingleInstance(tmp_path, timeout_ms=0).ask_owner() is Reply.NOBODY


def test_a_stale_socket_is_removed(qtbot: QtBot, first: SingleInstance, tmp_path: Path) -> None:
    Path(address(tmp_path)).write_bytes(b"")
    first.listen()
    socket = QLocalSocket()
    socket.connectToServer(address(tmp_path))
    assert socket.waitForConnected(60_000)
    socket.abort()


def test_each_folder_has_one_address_in_any_spelling(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    assert address(tmp_path) != address(tmp_path / "other")
    assert address(tmp_path) == address(tmp_path / "other" / "..")


def test_malformed_bytes_are_disconnected(qtbot: QtBot, first: SingleInstance, tmp_path: Path) -> None:
    first.listen()
    socket = QLocalSocket()
    socket.connectToServer(address(tmp_path))
    assert socket.waitForConnected(60_000)
    with qtbot.waitSignal(socket.disconnected, timeout=60_000), qtbot.assertNotEmitted(first.raise_requested):
        socket.write(b"x" * 1_000)
        socket.flush()


@pytest.mark.skipif(sys.platform == "win32", reason="named pipes")
def test_only_the_user_can_access_the_socket_folder(first: SingleInstance, tmp_path: Path) -> None:
    first.listen()
    place = Path(address(tmp_path))
    found = place.parent.lstat()
    assert stat.S_ISSOCK(place.lstat().st_mode)
    assert stat.S_IMODE(found.st_mode) == 0o700 and found.st_uid == os.geteuid()
