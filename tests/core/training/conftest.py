from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from core.training.hosting.service import TrainingService
from tests.core.training import rigs
from tests.support.trainer_fixtures import no_restart_pause as no_restart_pause
from tests.support.trainer_fixtures import one_thread as one_thread

SessionAfter = Callable[[Path, int], TrainingService]


@pytest.fixture(scope="session")
def session_after(tmp_path_factory: pytest.TempPathFactory) -> SessionAfter:
    """A session that has taken the first candles of `rigs.CANDLES`, in a copy of a folder that is made once.

    It continues from its newest checkpoint: after 21, 31, 41 ... candles that holds all of them.
    """
    made: dict[int, Path] = {0: tmp_path_factory.mktemp("run")}

    def folder_after(count: int) -> Path:
        if count not in made:
            folder = tmp_path_factory.mktemp("run")
            resumed(folder, max(before for before in made if before < count), count).close()
            made[count] = folder
        return made[count]

    def resumed(root: Path, before: int, count: int) -> TrainingService:
        shutil.copytree(folder_after(before), root, dirs_exist_ok=True)
        session = rigs.service(root)
        rigs.feed(session, rigs.after(session, count))
        return session

    return lambda root, count: resumed(root, count, count)
