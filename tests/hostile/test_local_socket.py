"""The socket between two starts: no access for other users, and no harm by the same user."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtNetwork import QLocalServer, QLocalSocket
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.storage.folder import DataFolder
from core.storage.ownership import own
from desktop.services.single_instance import Reply, SingleInstance, address, is_own_peer
from tests.support import commands

pytestmark = [
    pytest.mark.hostile,
    pytest.mark.skipif(sys.platform == "win32", reason="Unix sockets"),
]
as_root = pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only root can act as another user")
NOBODY = 65_534

_AS_NOBODY = f"""
import os, socket, sys
os.setgid({NOBODY})
os.setuid({NOBODY})
"""
_BIND = """
with socket.socket(socket.AF_UNIX) as server:
    server.bind(sys.argv[1])
    server.listen()
    print("taken", flush=True)
    sys.stdin.read()
"""
_ANSWER = """
import socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.bind(sys.argv[1])
    server.listen()
    print("taken", flush=True)
    while True:
        client, _ = server.accept()
        with client:
            client.recv(64)
            client.sendall(b"raised\\n")
"""
_CALL = """
with socket.socket(socket.AF_UNIX) as client:
    client.connect(sys.argv[1])
    client.sendall(b"raise\\n")
    print(client.recv(100), flush=True)
"""


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The user's folder for sockets, apart from the real one; short, as a socket's path has to be."""
    folder = Path(tempfile.mkdtemp(prefix="gc-"))
    folder.chmod(0o755)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def instance_lock(qapp: QApplication, cache: Path, tmp_path: Path) -> Iterator[SingleInstance]:
    instance = SingleInstance(tmp_path, timeout_ms=0)
    yield instance
    instance.release()


def as_nobody(program: str, *arguments: str) -> subprocess.Popen[str]:
    """Python as another user."""
    return python(_AS_NOBODY + program, *arguments)


def python(program: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def connected(folder: Path) -> QLocalSocket:
    client = QLocalSocket()
    client.connectToServer(address(folder))
    assert client.waitForConnected(60_000)
    return client


@as_root
def test_another_user_can_neither_bind_the_socket_nor_enter_the_folder(
    instance_lock: SingleInstance, tmp_path: Path
) -> None:
    place = address(tmp_path)
    for program in (_BIND, _CALL):
        with as_nobody(program, place) as stranger:
            assert "PermissionError" in stranger.communicate("", timeout=60.0)[1]


@as_root
def test_a_connection_of_another_user_is_closed(qtbot: QtBot, instance_lock: SingleInstance, tmp_path: Path) -> None:
    instance_lock.listen()
    place = Path(address(tmp_path))
    place.parent.parent.chmod(0o755)
    place.parent.chmod(0o755)
    place.chmod(0o777)
    with qtbot.assertNotEmitted(instance_lock.raise_requested), as_nobody(_CALL, str(place)) as stranger:
        qtbot.waitUntil(lambda: stranger.poll() is not None, timeout=60_000)
        out, errors = stranger.communicate()
    assert "raised" not in out and (out.strip() == "b''" or "ConnectionResetError" in errors or "BrokenPipe" in errors)


@as_root
def test_another_users_program_cannot_impersonate_the_window(instance_lock: SingleInstance, tmp_path: Path) -> None:
    place = Path(address(tmp_path))
    place.parent.parent.chmod(0o777)
    place.parent.chmod(0o777)
    with as_nobody(_BIND, str(place)) as stranger:
        assert stranger.stdout is not None and stranger.stdout.readline() == "taken\n"
        assert instance_lock.ask_owner() is Reply.NOBODY
        stranger.communicate("", timeout=60.0)


def test_a_folder_open_to_others_is_made_private(cache: Path, tmp_path: Path) -> None:
    folder = Path(address(tmp_path)).parent
    folder.chmod(0o777)
    address(tmp_path)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("kind", ["link", "file"])
def test_a_path_that_is_not_a_folder_of_the_user_is_not_used(cache: Path, tmp_path: Path, kind: str) -> None:
    (cache / "ghostcandle").mkdir()
    run = cache / "ghostcandle" / "run"
    run.symlink_to(tmp_path) if kind == "link" else run.write_bytes(b"")
    with pytest.raises(OSError):
        address(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_listener_without_the_lock_does_not_block_a_window(
    instance_lock: SingleInstance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock is checked first: without it, a listener on the socket path is ignored whatever it answers."""
    opened: list[int] = []

    def run(*_: Any, **__: Any) -> int:
        opened.append(1)
        return 0

    monkeypatch.setattr("desktop.app.running.run_application", run)
    with python(_ANSWER, address(tmp_path)) as squatter:
        assert squatter.stdout is not None and squatter.stdout.readline() == "taken\n"
        done = commands.invoke("run", "--data-dir", str(tmp_path))
        squatter.kill()
    assert (done.returncode, opened) == (0, [1]), done.stderr


def test_a_folder_with_an_unresponsive_owner_is_reported_in_use(cache: Path, tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    folder.ensure()
    with own(folder, "headless"):
        done = commands.invoke("run", "--data-dir", str(tmp_path))
    assert done.returncode == 1 and "in use by a headless" in done.stderr


def test_a_real_server_is_recognised_as_the_users(qapp: QApplication, cache: Path, tmp_path: Path) -> None:
    server = QLocalServer()
    assert server.listen(address(tmp_path))
    client = connected(tmp_path)
    assert is_own_peer(client)
    client.abort()
    assert not is_own_peer(client), "one that has gone is nobody's"
    server.close()
