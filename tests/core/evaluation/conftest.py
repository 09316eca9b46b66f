from __future__ import annotations

from tests.core.training.conftest import one_thread, session_after

__all__ = ["one_thread", "session_after"]
