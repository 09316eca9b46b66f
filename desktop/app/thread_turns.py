"""How long a thread that computes keeps Python's lock from the window's thread."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_TURN_S = 0.001 if os.name == "nt" else 0.0002
"""Windows counts whole milliseconds: with 0, threads that wait would never sleep."""


@contextmanager
def short_turns() -> Iterator[None]:
    """Meanwhile a thread that computes gives way after a fraction of a millisecond, not after 5.

    sqlite3 gives Python's lock up for each row. A panel's thread that computes takes it then, so the 1,000 candles that
    the window reads when another market is chosen could wait for 2,000 turns. See `sys.setswitchinterval`.
    """
    before_s = sys.getswitchinterval()
    sys.setswitchinterval(_TURN_S)
    try:
        yield
    finally:
        sys.setswitchinterval(before_s)
