"""A stored checkpoint of a short run."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from core.domain.candle import Market
from core.domain.checkpoint_info import CheckpointInfo
from core.domain.clock import SystemClock
from core.storage.folder import DataFolder
from core.training.hosting.service import TrainingService
from tests.core.training.rigs import feed, saved_now, spec
from tests.support.candles import MINUTE, random_walk

FILE = Market("file", "walk", MINUTE)


def saved(root: Path) -> tuple[CheckpointInfo, Path]:
    """A checkpoint of a run that learned 40 candles."""
    with closing(TrainingService(spec(root, market=FILE), SystemClock())) as service:
        feed(service, random_walk(40))
        info = saved_now(service)
    return info, DataFolder(root).absolute(info.file)
