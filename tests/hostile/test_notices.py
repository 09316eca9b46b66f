"""Startup problems are shown in the window's banner, also two at once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication
from qasync import QEventLoop

from core.settings.tree import from_dict
from core.storage.database import open_database
from core.storage.folder import DataFolder
from desktop.actions import ActionId
from desktop.app.composition import Application
from desktop.app.context import Context
from tests.desktop.whole_window import until
from tests.support import commands

pytestmark = pytest.mark.hostile


@pytest.fixture
def qt(qapp: QApplication) -> Iterator[QApplication]:
    palette, ends = QPalette(qapp.palette()), qapp.quitOnLastWindowClosed()
    qapp.setQuitOnLastWindowClosed(False)
    yield qapp
    qapp.setPalette(palette)
    qapp.setQuitOnLastWindowClosed(ends)


def test_all_startup_problems_are_named(qt: QApplication, tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    folder.ensure()
    folder.layout.write_bytes(b"\x00\xff" * 900)
    folder.database.write_text("Dear diary, " * 5_000, encoding="utf-8")
    settings, _ = from_dict({**commands.TINY, "market": {"feed": "simulate", "catch_up_candles": 40}})
    context = Context(settings, folder, as_json=False, folder_notice="This is a temporary folder.")

    async def start() -> tuple[list[str], bool]:
        application = Application(context, qt)
        begun = asyncio.Event()
        application.first_paint.happened.connect(begun.set)
        application.start()
        try:
            await begun.wait()
            banner = application.window.banner
            await until(lambda: any("damaged" in notice.text for notice in banner._notices), "the database's check")
            return [notice.text for notice in banner._notices], application.window.docks[
                ActionId.SHOW_MARKETS
            ].isVisible()
        finally:
            application.window.close()
            await application.close()

    with QEventLoop(qt) as loop:
        asyncio.set_event_loop(loop)
        texts, is_default_layout = loop.run_until_complete(start())
    asyncio.set_event_loop(None)
    copy = folder.root / "layout.json.bak"
    for words in ("This is a temporary folder.", str(copy), "damaged"):
        assert any(words in text for text in texts), texts
    assert is_default_layout
    with closing(open_database(folder.database, readonly=True, quick_check=True)):
        """A new one was begun."""
