from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from tests.rehearsal.device import PretendGpu
from tests.rehearsal.installing import missing, pretend_gpu


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    """As the trainer sets it up: two threads take six times as long for models of this size on two busy cores."""
    torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def no_restart_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dead trainer is restarted at once."""
    monkeypatch.setattr("core.training.hosting.driver._RESTART_PAUSE_S", 0.0)


@pytest.fixture(autouse=True)
def gpu() -> Iterator[PretendGpu]:
    """The pretend GPU, installed. Skips where this version of torch has another inside."""
    if gone := missing():
        pytest.skip(f"the rehearsal replaces names that torch {torch.__version__} lacks: {', '.join(gone)}")
    with pretend_gpu() as installed:
        yield installed
