"""The socket between a window and its commands: no access for other users, and no harm by the same user."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QObject
from PySide6.QtNetwork import QLocalServer, QLocalSocket
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.domain.candle import Market
from core.storage.database import open_database
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from core.storage.ownership import own
from desktop.services.remote_client import OpenWindow
from desktop.services.remote_commands import RemoteCommands
from desktop.services.remote_protocol import GREETING, market_fields, packed
from desktop.services.single_instance import Reply, SingleInstance, address, is_own_peer
from tests.support import commands
from tests.support.candles import MINUTE

pytestmark = [
    pytest.mark.hostile,
    pytest.mark.skipif(sys.platform == "win32", reason="Unix sockets"),
]
as_root = pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only root can act as another user")
MARKET = Market("binance", "BTC/USDT", MINUTE)
NOBODY = 65_534
BEGIN = packed({"op": "begin", "title": "Mischief"})
STORE = {"op": "store", **market_fields(MARKET)}

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


@pytest.fixture
def remote_commands(instance_lock: SingleInstance, tmp_path: Path) -> Iterator[RemoteCommands]:
    """The instance lock of a window and its remote commands, without the window."""
    owner = QObject()
    with open_database(tmp_path / "ghostcandle.sqlite3"):
        served = RemoteCommands(lambda: True, owner)
        instance_lock.history_requested.connect(served.serve)
        instance_lock.listen()
        yield served
        served.close()


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


def said_to(qtbot: QtBot, folder: Path, *messages: bytes) -> str:
    """The answer before the connection is closed."""
    client = connected(folder)
    with qtbot.waitSignal(client.disconnected, timeout=60_000):
        client.write(GREETING + b"".join(messages))
        client.flush()
    return bytes(client.readAll().data()).decode()


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
def test_a_command_sends_nothing_to_another_users_program(
    instance_lock: SingleInstance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Path(address(tmp_path))
    place.parent.parent.chmod(0o777)
    place.parent.chmod(0o777)
    with as_nobody(_BIND, str(place)) as stranger:
        assert stranger.stdout is not None and stranger.stdout.readline() == "taken\n"
        client = QLocalSocket()
        client.connectToServer(str(place))
        assert client.waitForConnected(60_000) and not is_own_peer(client)
        client.abort()
        monkeypatch.setattr("desktop.services.remote_client.address", lambda folder: str(place))
        with pytest.raises(StorageError, match="another user answers"):
            OpenWindow(tmp_path, "Importing candles").__enter__()
        stranger.communicate("", timeout=60.0)


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
    with pytest.raises(StorageError, match="cannot be asked"):
        OpenWindow(tmp_path, "Importing candles").__enter__()
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


ODD = [
    b'{"op": "begin", "title": 1e999}\n',
    b'{"op": "stored", "changed": 48.5}\n',
    b'{"op": "progress", "done": 1e999, "total": 1e999}\n',
    b'{"op": "progress", "done": -1, "total": 5}\n',
    b'{"op": "progress", "done": true, "total": 5}\n',
    b'{"op": "progress", "done": 1, "total": 99999999999999999999999}\n',
    b"[" * 30_000 + b"\n",
    b"[" * 3_000 + b"\n",
    b'{"a":' * 6_000 + b"1" + b"}" * 6_000 + b"\n",
    b'{"op": "\\ud800"}\n',
    b"\xff\xfe\n",
    b"hello\n",
    b"[1]\n",
    b"x" * 20_000,
    packed({"op": "store"}),
    packed({**STORE, "interval_ms": 1e300}),
    packed({**STORE, "interval_ms": 0}),
    packed({**STORE, "symbol": "x" * 1_000}),
    packed({**STORE, "symbol": "x" * 30_000}),
    packed({**STORE, "symbol": {"a": 1}}),
    packed(STORE) + packed(STORE),
    packed({"op": "stored", "changed": 1}),
    packed(STORE) + packed({"op": "stored", "changed": -1}),
    BEGIN,
]


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_nonsense_is_refused_with_an_explanation(
    qtbot: QtBot, remote_commands: RemoteCommands, tmp_path: Path, odd: bytes
) -> None:
    summaries: list[str] = []
    remote_commands.summary_ready.connect(summaries.append)
    answer = said_to(qtbot, tmp_path, BEGIN, odd)
    assert "does not understand this command" in answer and len(answer) < 500
    assert summaries == []


def test_nothing_is_stored_before_the_beginning(qtbot: QtBot, remote_commands: RemoteCommands, tmp_path: Path) -> None:
    assert "not its turn" in said_to(qtbot, tmp_path, packed(STORE))


def test_a_client_that_reads_no_answers_is_disconnected(
    qtbot: QtBot, instance_lock: SingleInstance, tmp_path: Path
) -> None:
    owner = QObject()
    served = RemoteCommands(lambda: False, owner)  # each start is answered: later
    instance_lock.history_requested.connect(served.serve)
    instance_lock.listen()
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(address(tmp_path))
        client.setblocking(False)
        client.send(GREETING)
        most = [0]

        def is_hung_up_on() -> bool:
            try:
                client.send(BEGIN * 2_000)
            except BlockingIOError:
                pass
            except OSError:
                return True
            most[0] = max([most[0], *(remote._socket.bytesToWrite() for remote in served._commands)])
            return False

        qtbot.waitUntil(is_hung_up_on, timeout=60_000)
    assert most[0] < 4_000_000
    served.close()


def test_a_real_server_is_recognised_as_the_users(qapp: QApplication, cache: Path, tmp_path: Path) -> None:
    server = QLocalServer()
    assert server.listen(address(tmp_path))
    client = connected(tmp_path)
    assert is_own_peer(client)
    client.abort()
    assert not is_own_peer(client), "one that has gone is nobody's"
    server.close()
