"""The database is checked on a worker thread, and a damaged one is recovered."""

from __future__ import annotations

import shutil
import threading
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import QThread
from pytestqt.qtbot import QtBot

from core.domain.candle import Market
from core.domain.candle_series import CandleSeries
from core.domain.clock import SystemClock
from core.domain.events import JobProgress
from core.storage import recovering
from core.storage.backups import is_damage_reported, make_backup
from core.storage.candles import CandleStore
from core.storage.database import Watch, open_database
from core.storage.folder import DataFolder
from core.storage.recovering import newest_unchecked, open_or_recover
from core.storage.schema import VERSION
from desktop.app.database_opening import CHECK_JOB, DatabaseOpener
from desktop.services.candle_loader import SHOWN_AT_FIRST
from tests.core.storage.samples import MARKET, candle

PATIENCE_MS = 60_000


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    folder = DataFolder(tmp_path / "data")
    folder.ensure()
    with closing(open_database(folder.database)) as db:
        CandleStore(db).save(MARKET, [candle(number) for number in range(40_000)])
    return folder


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Databases from 64 kB on count as large."""
    monkeypatch.setattr(recovering, "_SMALL_BYTES", 1 << 16)
    monkeypatch.setattr(recovering, "_PIECE_BYTES", 1 << 16)


def opened(qtbot: QtBot, opener: DatabaseOpener) -> object:
    with qtbot.waitSignal(opener.opened, timeout=PATIENCE_MS) as signal:
        opener.start()
    assert opener.wait(PATIENCE_MS)
    return signal.args[0]


def candles_in(folder: DataFolder) -> int:
    with closing(open_database(folder.database, readonly=True)) as db:
        return CandleStore(db).count(MARKET)


def spoil(database: Path) -> None:
    with database.open("rb+") as file:
        file.seek(5 * 4096)
        file.write(b"\xa5" * 4096)


@pytest.mark.usefixtures("large")
def test_pages_are_checked_on_a_worker_thread_with_progress(
    qtbot: QtBot, folder: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    where: list[threading.Thread] = []
    look = recovering.open_database

    def looked(*arguments: object, **options: object) -> object:
        where.append(threading.current_thread())
        return look(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(recovering, "open_database", looked)
    opener, seen = DatabaseOpener(folder, SystemClock()), list[JobProgress]()
    opener.progressed.connect(seen.append)
    assert opened(qtbot, opener) is None
    assert where and threading.main_thread() not in where
    assert QThread.currentThread() is not opener
    assert seen[0].job_id == CHECK_JOB and 0 < seen[0].done < seen[0].total and seen[-1].is_over
    assert candles_in(folder) == 40_000


def test_a_small_database_is_opened_without_progress(qtbot: QtBot, tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "new")
    folder.ensure()
    opener, seen = DatabaseOpener(folder, SystemClock()), list[JobProgress]()
    opener.progressed.connect(seen.append)
    assert opened(qtbot, opener) is None and seen == []


@pytest.mark.usefixtures("large")
def test_a_damaged_database_is_restored_from_its_backup_with_the_same_message(
    qtbot: QtBot, folder: DataFolder, tmp_path: Path
) -> None:
    make_backup(folder, SystemClock(), keep=1)
    spoil(folder.database)
    copy = DataFolder(Path(shutil.copytree(folder.root, tmp_path / "copy")))
    said = open_or_recover(copy)
    said.db.close()
    notice = opened(qtbot, DatabaseOpener(folder, SystemClock()))
    assert isinstance(notice, str) and said.notice is not None
    assert "damaged" in notice and "took its place" in notice
    assert notice.split("(")[1].split(")")[0] == said.notice.split("(")[1].split(")")[0], "what is wrong with it"
    assert candles_in(folder) == 40_000 and list(folder.quarantine.glob("*.sqlite3"))


@pytest.mark.usefixtures("large")
def test_an_unopenable_database_is_an_error_message(qtbot: QtBot, folder: DataFolder) -> None:
    with closing(open_database(folder.database)) as db:
        db.execute(f"PRAGMA user_version = {VERSION + 1}")
    opener = DatabaseOpener(folder, SystemClock())
    with qtbot.waitSignal(opener.failed, timeout=PATIENCE_MS) as signal:
        opener.start()
    assert opener.wait(PATIENCE_MS)
    assert "newer version" in str(signal.args[0])


def previews_of(qtbot: QtBot, folder: DataFolder) -> list[tuple[Market, CandleSeries]]:
    """The previews emitted while it was opened."""
    opener, seen = DatabaseOpener(folder, SystemClock(), market=MARKET), list[tuple[Market, CandleSeries]]()
    opener.previewed.connect(lambda market, series: seen.append((market, series)))
    opened(qtbot, opener)
    return seen


@pytest.mark.usefixtures("large")
def test_the_newest_candles_are_previewed_before_the_check(qtbot: QtBot, folder: DataFolder) -> None:
    ((market, series),) = previews_of(qtbot, folder)
    assert market == MARKET and len(series) == SHOWN_AT_FIRST
    assert series[-1] == candle(39_999)


def test_a_small_database_has_no_preview(qtbot: QtBot, folder: DataFolder) -> None:
    assert previews_of(qtbot, folder) == []


@pytest.mark.usefixtures("large")
def test_a_preview_leaves_the_folder_unchanged(folder: DataFolder) -> None:
    before = {path.name: path.read_bytes() for path in folder.root.iterdir() if path.is_file()}
    assert newest_unchecked(folder, MARKET, 10) is not None
    assert {path.name: path.read_bytes() for path in folder.root.iterdir() if path.is_file()} == before


@pytest.mark.usefixtures("large")
def test_an_uncleanly_closed_database_has_no_preview(folder: DataFolder) -> None:
    """Its newest candles are in the write-ahead log, which must not be opened twice."""
    with closing(open_database(folder.database)) as db:
        CandleStore(db).save(MARKET, [candle(40_000)])
        assert folder.database.with_name(f"{folder.database.name}-wal").exists()
        assert newest_unchecked(folder, MARKET, 10) is None


@pytest.mark.hostile
@pytest.mark.usefixtures("large")
def test_damage_is_found_by_the_check_and_not_by_the_preview(qtbot: QtBot, folder: DataFolder) -> None:
    """In any page."""
    make_backup(folder, SystemClock(), keep=1)
    whole = folder.database.read_bytes()
    for page in range(1, len(whole) // 4096, len(whole) // 4096 // 12):
        folder.database.write_bytes(whole[: page * 4096] + b"\xa5" * 4096 + whole[page * 4096 + 4096 :])
        previews_of(qtbot, folder)
        assert candles_in(folder) == 40_000


@pytest.mark.usefixtures("large")
def test_a_skipped_check_is_finished_at_the_next_start(folder: DataFolder) -> None:
    """Cancelled while pages are checked: it opens, and a backup's finding is kept."""
    spoil(folder.database)
    folder.backups.mkdir()
    (folder.backups / "damage-found.txt").write_text("a page")
    reads: list[int] = []
    watch = Watch(lambda done, total: reads.append(done), lambda: len(reads) > 3)
    found = open_or_recover(folder, watch=watch)
    found.db.close()
    assert found.notice is None and len(reads) == 4
    assert is_damage_reported(folder.backups)
    again = open_or_recover(folder)
    again.db.close()
    assert again.notice is not None and "damaged" in again.notice
