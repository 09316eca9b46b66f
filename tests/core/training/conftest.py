from __future__ import annotations

import pytest
import torch


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    """As the trainer sets it up: small models are fastest on one thread, and two would fight over two cores."""
    torch.set_num_threads(1)
