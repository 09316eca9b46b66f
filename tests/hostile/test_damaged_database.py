"""A database that was overwritten, truncated or flipped: restored from the newest verified backup, with a notice."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from core.domain.clock import ManualClock
from core.logs.writing import WINDOW_FILE
from core.storage.backup_record import list_backups
from core.storage.backups import make_backup
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from core.storage.ownership import own
from core.storage.recovering import open_or_recover
from core.storage.soundness import pages_of, tables_of
from tests.core.storage.samples import MARKET, candle, create_run
from tests.hostile.windows import TRACEBACK, window
from tests.support import commands

pytestmark = pytest.mark.hostile

BACKED_UP, STORED = 300, 400
NOON_MS = 1_764_417_600_000


@pytest.fixture(scope="module")
def pattern(tmp_path_factory: pytest.TempPathFactory) -> DataFolder:
    """A folder whose newest backup lacks the last hundred candles."""
    folder = DataFolder(tmp_path_factory.mktemp("pattern"))
    folder.ensure()
    commands.configure(folder.root)
    with closing(open_database(folder.database)) as db:
        create_run(db)
        CandleStore(db).save(MARKET, [candle(number) for number in range(BACKED_UP)])
    make_backup(folder, ManualClock(NOON_MS), 3)
    with closing(open_database(folder.database)) as db:
        CandleStore(db).save(MARKET, [candle(number) for number in range(BACKED_UP, STORED)])
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return folder


@pytest.fixture
def folder(pattern: DataFolder, tmp_path: Path) -> DataFolder:
    shutil.copytree(pattern.root, tmp_path / "data")
    return DataFolder(tmp_path / "data")


def counted(folder: DataFolder) -> int:
    with closing(open_database(folder.database, readonly=True, quick_check=True)) as db:
        return CandleStore(db).count(MARKET)


def write_at(path: Path, offset: int, data: bytes) -> None:
    with path.open("rb+") as file:
        file.seek(offset)
        file.write(data)


def middle(path: Path) -> int:
    return path.stat().st_size // 2 // 4096 * 4096


def flip_pages(path: Path) -> None:
    for page in range(2, path.stat().st_size // 4096, 3):
        write_at(path, page * 4096, os.urandom(64))


def cut_log_of_another(path: Path) -> None:
    """The beginning is whole, the log is another database's, and both were cut."""
    path.with_name(f"{path.name}-wal").write_bytes(b"\x37\x7f\x06\x82" + os.urandom(9_000))
    os.truncate(path, middle(path))


SPOILERS: dict[str, Callable[[Path], object]] = {
    "a text": lambda path: path.write_text("Dear diary, " * 5_000, encoding="utf-8"),
    "nothing": lambda path: path.write_bytes(b""),
    "header gone": lambda path: write_at(path, 0, bytes(100)),
    "a newer file format": lambda path: write_at(path, 44, b"\x00\x00\x00\x09"),
    "an odd page size": lambda path: write_at(path, 16, b"\x00\x03"),
    "another text encoding": lambda path: write_at(path, 56, b"\x00\x00\x00\x03"),
    "cut in half": lambda path: os.truncate(path, middle(path)),
    "cut to one page": lambda path: os.truncate(path, 4096),
    "cut to a few bytes": lambda path: os.truncate(path, 40),
    "flipped pages": flip_pages,
    "a page of zeros": lambda path: write_at(path, middle(path), bytes(4096)),
    "cut, with a foreign log": cut_log_of_another,
    "gone": lambda path: path.unlink(),
}


@pytest.mark.parametrize("how", SPOILERS)
def test_the_newest_verified_backup_replaces_a_damaged_database(folder: DataFolder, how: str) -> None:
    SPOILERS[how](folder.database)
    spoiled = folder.database.read_bytes() if folder.database.exists() else None
    opened = open_or_recover(folder, clock=ManualClock(NOON_MS + 3_600_000))
    opened.db.close()
    assert opened.notice is not None and "took its place" in opened.notice and counted(folder) == BACKED_UP
    kept = [path.read_bytes() for path in folder.quarantine.glob("*.sqlite3")]
    assert kept == ([] if spoiled is None else [spoiled]), "nothing is thrown away"


@pytest.mark.parametrize("how", SPOILERS)
def test_without_a_backup_a_new_database_is_created_and_reported(folder: DataFolder, how: str) -> None:
    if how == "gone":
        pytest.skip("a folder without a database and without a backup is a new one")
    shutil.rmtree(folder.backups)
    SPOILERS[how](folder.database)
    opened = open_or_recover(folder)
    opened.db.close()
    assert opened.notice is not None and "no verified backup" in opened.notice and counted(folder) == 0
    assert len(list(folder.quarantine.glob("*.sqlite3"))) == 1


def test_garbage_in_the_wal_loses_no_checkpointed_data(folder: DataFolder) -> None:
    folder.database.with_name(f"{folder.database.name}-wal").write_bytes(os.urandom(40_000))
    folder.database.with_name(f"{folder.database.name}-shm").write_bytes(os.urandom(32_768))
    opened = open_or_recover(folder)
    opened.db.close()
    assert opened.notice is None and counted(folder) == STORED


def test_a_folder_in_place_of_the_database_is_explained(folder: DataFolder) -> None:
    folder.database.unlink()
    folder.database.mkdir()
    with pytest.raises(StorageError):
        open_or_recover(folder)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(flips=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(1, 255)), min_size=1, max_size=6))
@example(flips=[(18 / 200_000, 1)])
def test_no_flipped_byte_crashes_a_start(
    pattern: DataFolder, tmp_path_factory: pytest.TempPathFactory, flips: list[tuple[float, int]]
) -> None:
    """Half of the flips go into the first page: header and schema. The result is a valid database or an explanation."""
    root = tmp_path_factory.mktemp("flipped") / "data"
    shutil.copytree(pattern.root, root)
    folder = DataFolder(root)
    data = bytearray(folder.database.read_bytes())
    for place, mask in flips:
        reach = 4096 if mask % 2 else len(data)
        data[int(place * reach)] ^= mask
    folder.database.write_bytes(data)
    try:
        opened = open_or_recover(folder)
    except StorageError as refused:
        assert str(refused).endswith("."), "a sentence, and the file where it was"
        assert folder.database.read_bytes() == bytes(data)
        return
    finally:
        shutil.rmtree(root.parent / "kept", ignore_errors=True)
    with closing(opened.db) as db:
        assert pages_of(db.conn, is_thorough=False) is None and tables_of(db.conn) is None
        found = db.execute("SELECT COUNT(*) FROM candles").fetchone()[0]
        assert found == (STORED if opened.notice is None else BACKED_UP)
    shutil.rmtree(root)


def test_a_command_reports_the_damage_and_continues(folder: DataFolder) -> None:
    SPOILERS["flipped pages"](folder.database)
    done = commands.invoke("headless", "--feed", "simulate", "--candles", "8", "--data-dir", str(folder.root))
    assert done.returncode == 0 and TRACEBACK not in done.stderr, done.stderr
    reported = " ".join(done.stderr.split())
    assert "is damaged" in reported and "took its place" in reported and "is missing from it" in reported
    assert counted(folder) == BACKED_UP


@pytest.mark.slow
def test_a_window_opens_on_damaged_files_and_reports_them(folder: DataFolder) -> None:
    """What is dropped of the settings would be gone with the next change of one: so the file is kept as it was."""
    SPOILERS["header gone"](folder.database)
    folder.layout.write_bytes(b"\x00\xff" * 900)
    commands.configure(folder.root, {**commands.TINY, "appearance": {"theme": "mauve"}, "of_the_future": {"a": 1}})
    broken = folder.settings.read_bytes()
    with window(folder.root, "--feed", "simulate") as opened:
        said = opened.wait_for(lambda said: said.get("step", 0) > 2, "training on the restored database")
        (damage,) = (text for text in said["banner"] if "took its place" in text)
        assert "is damaged" in damage and "is missing from it" in damage
        for kind in ("settings", "layout"):
            kept = folder.root / f"{kind}.json.bak"
            assert any(str(kept) in text for text in said["banner"])
            assert kind == "layout" or kept.read_bytes() == broken
        assert "SHOW_ACCURACY" in said["docks"]
        assert opened.close() == 0 and TRACEBACK not in opened.errors
    assert counted(folder) == BACKED_UP


def backups(folder: DataFolder, *arguments: str) -> CompletedProcess[str]:
    done = commands.invoke("backups", *arguments, "--data-dir", str(folder.root))
    assert TRACEBACK not in done.stderr
    return done


def test_a_backup_is_made_verified_and_restored(folder: DataFolder) -> None:
    done = backups(folder, "make", "--json")
    assert done.returncode == 0 and len(list_backups(folder.backups)) == 2
    SPOILERS["a text"](folder.database)
    again = backups(folder, "make")
    assert again.returncode == 1 and "earlier backups are kept" in again.stderr
    verified = backups(folder, "verify")
    assert verified.returncode == 0 and "2 of 2" in verified.stdout
    assert backups(folder, "restore").returncode == 0 and counted(folder) == STORED
    missing = backups(folder, "restore", "../..")
    assert missing.returncode == 1 and "no backup '../..'" in missing.stderr


def test_an_older_backup_is_restored_by_name(folder: DataFolder) -> None:
    (older,) = list_backups(folder.backups)
    assert backups(folder, "make").returncode == 0
    restored = json.loads(backups(folder, "restore", older.name, "--json").stdout)
    assert restored["restored"] == older.name and counted(folder) == BACKED_UP


def test_a_damaged_backup_is_named_with_an_exit_code(folder: DataFolder) -> None:
    (only,) = list_backups(folder.backups)
    write_at(only.database, 5_000, b"spoiled")
    done = backups(folder, "verify", "--json")
    assert done.returncode == 1 and list(json.loads(done.stdout)["problems"]) == [only.name]


def test_an_open_window_allows_backups_but_no_restore(folder: DataFolder) -> None:
    with own(folder, "window"):
        refused = backups(folder, "restore")
        assert refused.returncode == 1 and "in use by a window" in refused.stderr and counted(folder) == STORED
        assert backups(folder, "make").returncode == 0


def test_a_killed_recovery_is_completed_by_the_next_start(folder: DataFolder) -> None:
    """SIGKILL at any moment: the database, damaged or restored, and all backups are there afterwards."""
    code = (
        "import sys; from pathlib import Path; from core.storage import recovering; from core.storage.folder import "
        "DataFolder; recovering.sync_folder = lambda path: __import__('os').kill(__import__('os').getpid(), 9); "
        "recovering.open_or_recover(DataFolder(Path(sys.argv[1])))"
    )
    SPOILERS["a text"](folder.database)
    killed = subprocess.run([*commands.command()[:1], "-c", code, str(folder.root)], cwd=commands.ROOT, check=False)
    assert killed.returncode == -9
    opened = open_or_recover(folder)
    opened.db.close()
    assert counted(folder) == BACKED_UP and len(list_backups(folder.backups)) == 1


def headless(folder: DataFolder) -> CompletedProcess[str]:
    arguments = ("--feed", "simulate", "--candles", "12", "--seed", "1", "--trainer", "thread", "--json")
    done = commands.invoke("headless", *arguments, "--data-dir", str(folder.root))
    assert done.returncode == 0 and TRACEBACK not in done.stderr, done.stderr
    return done


@pytest.mark.parametrize("has_backup", [True, False])
def test_a_headless_run_reports_a_damaged_database(folder: DataFolder, has_backup: bool) -> None:
    """Exit code 0 and not a word: a run of years could begin with an empty database unseen."""
    if not has_backup:
        shutil.rmtree(folder.backups)
    SPOILERS["a page of zeros"](folder.database)
    done = headless(folder)
    answer = json.loads(done.stdout)
    (notice,) = answer["notices"]
    words = "took its place" if has_backup else "no verified backup"
    assert words in notice and words in done.stderr and words in (folder.logs / WINDOW_FILE).read_text(encoding="utf-8")
    reported = [incident for incident in answer["incidents"] if incident["kind"] == "database damaged"]
    assert [incident["what_happened"] for incident in reported] == [notice]
    again = headless(folder)
    assert json.loads(again.stdout)["notices"] == [] and "damaged" not in again.stderr


def test_a_headless_run_reports_an_unclean_previous_exit(folder: DataFolder) -> None:
    folder.owner.write_text(json.dumps({"pid": 2**22 + 1, "role": "headless", "since_ms": NOON_MS}), encoding="utf-8")
    done = headless(folder)
    answer = json.loads(done.stdout)
    assert len(answer["notices"]) == 1 and "did not end by itself" in answer["notices"][0]
    assert [incident["kind"] for incident in answer["incidents"]] == ["unclean end"]
    assert answer["notices"][0] in done.stderr
    assert json.loads(headless(folder).stdout)["notices"] == []
