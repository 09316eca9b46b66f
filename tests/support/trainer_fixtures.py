"""Fixtures for tests that train. A conftest that imports them applies them to its folder."""

from __future__ import annotations

import pytest
import torch


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    """As the trainer sets it up: small models are fastest on one thread, and two would fight over two cores."""
    torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def no_restart_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dead trainer is restarted at once."""
    monkeypatch.setattr("core.training.hosting.driver._RESTART_PAUSE_S", 0.0)
