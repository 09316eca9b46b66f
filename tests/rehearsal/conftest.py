from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from tests.rehearsal.device import PretendGpu
from tests.rehearsal.installing import missing, pretend_gpu
from tests.support.trainer_fixtures import no_restart_pause as no_restart_pause
from tests.support.trainer_fixtures import one_thread as one_thread


@pytest.fixture(autouse=True)
def gpu() -> Iterator[PretendGpu]:
    """The pretend GPU, installed. Skips where this version of torch has another inside."""
    if gone := missing():
        pytest.skip(f"the rehearsal replaces names that torch {torch.__version__} lacks: {', '.join(gone)}")
    with pretend_gpu() as installed:
        yield installed
