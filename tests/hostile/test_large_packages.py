"""A package of a large checkpoint: read and stored in pieces off the main thread, and cancellable."""

from __future__ import annotations

import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication

from core.checkpoints import package, weight_file
from core.storage import importing_checkpoints
from core.storage.browsing import BrowsedRows
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.training.commands import SaveCheckpoint
from desktop.app.composition import Application
from desktop.checkpoints.exchange import FILES_JOB
from tests.core.training import rigs
from tests.desktop.conftest import gate as gate
from tests.desktop.conftest import idle_trainer as idle_trainer
from tests.desktop.whole_window import context, run_window, until

pytestmark = [pytest.mark.hostile, pytest.mark.usefixtures("gate", "idle_trainer")]


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("data")
    session = rigs.service(root)
    rigs.feed(session, rigs.CANDLES[:15])
    session.handle(SaveCheckpoint())
    session.close()
    with closing(open_database(DataFolder(root).database)) as db:
        kept = BrowsedRows(db).page(None, 1)[0]
    return package.export(kept, root / kept.info.file, None, tmp_path_factory.mktemp("out"))


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make small packages count as large."""
    for module in (weight_file, importing_checkpoints):
        monkeypatch.setattr(module, "PIECE_BYTES", 4096)


@pytest.fixture
def may_store() -> threading.Event:
    """No package is stored before this is set."""
    return threading.Event()


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch, may_store: threading.Event) -> list[threading.Thread]:
    """On which packages are stored."""
    found: list[threading.Thread] = []
    take_in = importing_checkpoints.take_in

    def recorded(*arguments: Any) -> object:
        found.append(threading.current_thread())
        may_store.wait(60.0)
        return take_in(*arguments)

    monkeypatch.setattr(importing_checkpoints, "take_in", recorded)
    return found


def test_a_large_package_is_stored_off_the_main_thread_with_progress(
    qapp: QApplication, tmp_path: Path, given: Path, may_store: threading.Event, threads: list[threading.Thread]
) -> None:
    async def story(application: Application) -> None:
        exchange, window = application.browser.exchange, application.window
        await until(lambda: application.state.is_starting, "a run")
        reports: list[int] = []
        exchange.import_from(given)
        assert exchange._work is not None
        exchange._work.progressed.connect(lambda done, total: reports.append(100 * done // total))
        may_store.set()
        await until(lambda: not exchange.is_busy, "the import")
        (info,) = window.panels.checkpoints.selected()
        assert info.run_id.startswith("imported-")
        assert len(set(reports)) > 5 and reports == sorted(reports)
        assert threads and threading.main_thread() not in threads

    run_window(qapp, context(tmp_path / "data"), story)


@pytest.mark.parametrize("moment", ["reading", "storing"])
def test_a_cancelled_import_leaves_nothing(
    qapp: QApplication, tmp_path: Path, given: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    async def story(application: Application) -> None:
        exchange, window, folder = application.browser.exchange, application.window, application._context.folder
        await until(lambda: application.state.is_starting, "a run")
        before = sorted(folder.models.rglob("*.safetensors"))
        watch = exchange._watch

        def cancel_in_its_middle(done: int, total: int) -> None:
            if (2 * done >= total) == (moment == "storing"):
                exchange.cancel()
            watch(done, total)

        monkeypatch.setattr(exchange, "_watch", cancel_in_its_middle)
        exchange.import_from(given)
        await until(lambda: not exchange.is_busy, "the end of the import")
        assert window.banner.text.text().startswith("Cancelled. Nothing was imported.")
        assert sorted(folder.models.rglob("*.safetensors")) == before
        assert not [info for info in application.source.checkpoints() if info.run_id.startswith("imported-")]
        assert not list(folder.models.rglob(".*.tmp"))

    run_window(qapp, context(tmp_path / "data"), story)


def test_the_job_list_can_cancel_the_import(
    qapp: QApplication, tmp_path: Path, given: Path, may_store: threading.Event, threads: list[threading.Thread]
) -> None:
    async def story(application: Application) -> None:
        exchange = application.browser.exchange
        await until(lambda: application.state.is_starting, "a run")
        exchange.import_from(given)
        application.jobs.cancel(FILES_JOB)
        may_store.set()
        await until(lambda: not exchange.is_busy, "the end of the import")
        source = application.source
        assert not [info for info in source.checkpoints() if info.run_id.startswith("imported-")]

    run_window(qapp, context(tmp_path / "data"), story)
