from __future__ import annotations

import pytest

from desktop.accessible import describe_painted


@pytest.fixture(scope="session", autouse=True)
def speaking_widgets(qapp: object) -> None:
    """As the program does once at its start; Qt has no way to take it back."""
    describe_painted()
