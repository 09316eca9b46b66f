"""Full and read-only disks: mounts, real processes, real windows."""

from __future__ import annotations

import itertools
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pytest

from core.storage.folder import DataFolder
from core.storage.packing import unpack_scores
from core.storage.record_tables import scores_at
from tests.hostile import windows
from tests.hostile.places import beside, on_small_disk, read_only, seen_by
from tests.hostile.windows import TRACEBACK, require_a_sentence, window
from tests.support import commands
from tests.support.commands import TINY

pytestmark = [
    pytest.mark.hostile,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="mount namespaces"),
]


COPY = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).backup(sqlite3.connect(sys.argv[2]))"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    commands.configure(folder)
    return folder


def on_disk(data: Path, size: str, *steps: str) -> subprocess.CompletedProcess[str]:
    """Shell commands, one after another, for which `data` is an empty disk of this size."""
    return subprocess.run(
        [*on_small_disk(data, size), "sh", "-c", "\n".join(steps)],
        capture_output=True,
        text=True,
        timeout=150,
        cwd=commands.ROOT,
        check=False,
    )


def ghostcandle(data: Path, *arguments: str) -> str:
    return " ".join([*commands.command(*arguments), "--data-dir", str(data)])


def put(data: Path, settings: object = TINY) -> str:
    return f"printf %s '{json.dumps(settings)}' > {data}/settings.json"


def fill(data: Path) -> str:
    return f"cat /dev/zero > {data}/ballast 2> /dev/null"


@pytest.mark.parametrize("command", ["headless", "backups list"])
def test_a_command_reports_a_read_only_disk(data: Path, command: str) -> None:
    done = windows.run(*command.split(), "--data-dir", str(data), before=read_only(data))
    require_a_sentence(done, "cannot be written (Read-only file system)")


def test_a_command_reports_a_full_disk(data: Path) -> None:
    done = on_disk(data, "1m", fill(data), ghostcandle(data, "headless"))
    require_a_sentence(done, "cannot be written (No space left on device)")


def test_a_window_opens_on_a_read_only_disk_and_names_its_temporary_folder(data: Path) -> None:
    with window(data, "--feed", "simulate", before=read_only(data)) as opened:
        said = opened.wait_for(lambda said: said.get("step", 0) > 2, "training")
        assert "simulated" in said["title"] and said["feed"] == "simulated"
        (notice,) = (text for text in said["banner"] if str(data) in text)
        assert "cannot be written" in notice and "temporary folder" in notice
        assert opened.close() == 0
        assert TRACEBACK not in opened.errors
    assert json.loads((data / "settings.json").read_text()) == TINY


def test_a_run_on_a_full_disk_is_explained_and_continues_with_space(data: Path) -> None:
    """All committed data is there, each candle once; nothing half-written is left."""
    run = ("headless", "--feed", "simulate", "--json")
    done = on_disk(
        data,
        "14m",
        put(data),
        f"head -c 11500000 /dev/zero > {data}/ballast",
        f"{ghostcandle(data, *run, '--candles', '150')}; echo code $?",
        f"find {data} -name '*.tmp' | wc -l",
        f"rm {data}/ballast",
        f"{ghostcandle(data, *run, '--candles', '40')}; echo code $?",
        ghostcandle(data, "checkpoints", "verify", "--json"),
        ghostcandle(data, "backups", "make", "--json"),
    )
    assert TRACEBACK not in done.stderr + done.stdout, done.stderr
    first, code, left, second, again, verified, backup = done.stdout.strip().splitlines()
    assert "is full" in json.loads(first)["error"] and (code, left, again) == ("code 1", "0", "code 0")
    summary = json.loads(second)
    assert summary["steps"] == 149, "the same run continued, each candle once"
    assert json.loads(verified)["ok"] is True
    refused = json.loads(backup)
    assert "needs" in refused["error"] and "free" in refused["error"], "there is no room for a copy on so small a disk"


@pytest.mark.parametrize(
    "host",
    ["process", pytest.param("thread", marks=pytest.mark.skipif("GHOSTCANDLE_SOAK" not in os.environ, reason="soak"))],
)
def test_a_window_reports_a_full_disk_and_continues_with_space(data: Path, host: str) -> None:
    settings = {**TINY, "training": {**TINY["training"], "host": host}}
    before = [*on_small_disk(data, "24m"), "sh", "-c", f'{put(data, settings)}; exec "$@"', "sh"]
    with window(data, "--feed", "simulate", "--speed", "10", before=before) as opened:
        opened.wait_for(lambda said: said.get("step", 0) > 45, "training")
        ballast = seen_by(opened.process.pid, data) / "ballast"
        with pytest.raises(OSError, match="No space"), ballast.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4_096))
        said = opened.wait_for(lambda said: said["feed_waits"], "word of the disk")
        assert said["window"], "it is still there"
        (notice,) = (text for text in said["banner"] if "is full" in text)
        assert str(data) in notice and "continues automatically" in notice
        reached = said["step"]
        ballast.unlink()
        said = opened.wait_for(
            lambda said: said["step"] > reached + 40 and said["feed"] == "simulated", "the run to continue"
        )
        assert not any("is full" in text for text in said["banner"])
        copy = data.with_name("copy.sqlite3")
        reader = [*beside(opened.process.pid), sys.executable, "-c", COPY, str(DataFolder(data).database), str(copy)]
        subprocess.run(reader, check=True, timeout=60)
        with closing(sqlite3.connect(copy)) as db:
            require_nothing_lost(db)
        assert opened.close() == 0
        assert TRACEBACK not in opened.errors


def require_nothing_lost(db: sqlite3.Connection) -> None:
    """The candles are without a hole, and one run has scored each of them once at each horizon."""
    assert db.execute("SELECT COUNT(*) FROM runs").fetchone() == (1,)
    require_each_minute_once(db.execute("SELECT open_time_ms FROM candles ORDER BY open_time_ms"))
    for horizon in (1, 2, 3):
        scored = [
            (target,)
            for target, packed in db.execute(
                f"SELECT target_open_time_ms, records FROM {scores_at(horizon).name} ORDER BY target_open_time_ms"
            )
            if horizon in unpack_scores([packed])["horizon"]
        ]
        require_each_minute_once(scored)


def require_each_minute_once(rows: Iterable[tuple[int]]) -> None:
    times = [time_ms for (time_ms,) in rows]
    assert len(times) > 60
    assert {later - earlier for earlier, later in itertools.pairwise(times)} == {60_000}
