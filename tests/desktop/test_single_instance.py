from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtNetwork import QLocalServer, QLocalSocket
from pytestqt.qtbot import QtBot

from desktop.single_instance import Claim, SingleInstance, server_name

_SECOND_START = """
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from desktop.single_instance import SingleInstance
application = QCoreApplication([])
print(SingleInstance(Path(sys.argv[1])).claim().value)
"""


@pytest.fixture
def first(qapp: object, tmp_path: Path) -> Iterator[SingleInstance]:
    instance = SingleInstance(tmp_path)
    yield instance
    instance.release()


def test_a_second_start_raises_the_first_and_knows_it(qtbot: QtBot, first: SingleInstance, tmp_path: Path) -> None:
    first.claim()
    second = subprocess.Popen([sys.executable, "-c", _SECOND_START, str(tmp_path)], stdout=subprocess.PIPE)
    with qtbot.waitSignal(first.raise_requested):
        pass
    qtbot.waitUntil(lambda: second.poll() is not None)
    assert second.communicate()[0].strip() == b"raised other"


def test_one_that_hangs_is_told_from_none(qapp: object, tmp_path: Path) -> None:
    server = QLocalServer()
    assert server.listen(server_name(tmp_path))
    assert SingleInstance(tmp_path, timeout_ms=0).claim() is Claim.NO_ANSWER
    server.close()


def test_what_a_crash_left_is_removed(first: SingleInstance, tmp_path: Path) -> None:
    probe = QLocalServer()
    assert probe.listen(server_name(tmp_path))
    path = Path(probe.fullServerName())
    probe.close()
    path.write_bytes(b"")
    assert first.claim() is Claim.FIRST


def test_folders_are_apart_and_spellings_are_not(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    assert server_name(tmp_path) != server_name(tmp_path / "other")
    assert server_name(tmp_path) == server_name(tmp_path / "other" / "..")


def test_rubbish_is_hung_up_on(qtbot: QtBot, first: SingleInstance, tmp_path: Path) -> None:
    first.claim()
    socket = QLocalSocket()
    socket.connectToServer(server_name(tmp_path))
    assert socket.waitForConnected(60_000)
    with qtbot.waitSignal(socket.disconnected), qtbot.assertNotEmitted(first.raise_requested):
        socket.write(b"x" * 1_000)
        socket.flush()
