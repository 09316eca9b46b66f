"""A thread that reads a record leaves what nobody waits for any more."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot
from sqlite_utils import Database

from core.storage.database import open_database
from core.storage.folder import DataFolder
from desktop.services.record_watch import RecordThread, RecordWatch
from desktop.state.run_state import RunState

ENDLESS = "endless"


class Work:
    """One request never ends; the others are answered by themselves."""

    def __init__(self, db: Database, subject: str) -> None:
        """Nothing of it is needed."""

    def answer(self, request: str) -> Iterator[str | None]:
        yield f"began {request}"
        if request == ENDLESS:
            yield from itertools.repeat(None)
        yield request


class Watch(RecordWatch):
    def subject(self) -> Hashable | None:
        return "run"


@pytest.fixture
def watch(tmp_path: Path, state: RunState) -> Iterator[Watch]:
    folder = DataFolder(tmp_path)
    folder.ensure()
    open_database(folder.database).close()
    watch = Watch(state, RecordThread("Reader", folder.database, Work))
    yield watch
    watch.close()


def test_another_request_ends_the_one_that_is_under_way(watch: Watch, qtbot: QtBot) -> None:
    found: list[str] = []
    watch._reader.found.connect(found.append)
    watch.want(ENDLESS)
    qtbot.waitUntil(lambda: found == [f"began {ENDLESS}"])
    watch.want(ENDLESS)
    watch._on_record()  # a candle was scored meanwhile: no reason to begin again
    watch.want(ENDLESS)
    watch.want("short")
    qtbot.waitUntil(lambda: found[1:] == ["began short", "short"])


def test_a_request_that_was_left_is_taken_up_again_when_it_is_wanted_after_all(watch: Watch, qtbot: QtBot) -> None:
    found: list[str] = []
    watch._reader.found.connect(found.append)
    watch.want(ENDLESS)
    qtbot.waitUntil(lambda: len(found) == 1)
    watch.want("short")
    watch.want(ENDLESS)
    qtbot.waitUntil(lambda: found == [f"began {ENDLESS}"] * 2)
