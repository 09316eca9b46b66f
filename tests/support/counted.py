"""Work measured in function calls, which do not depend on the load of the machine."""

from __future__ import annotations

import gc
import sys
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any


def calls_of(work: Callable[[], object]) -> Counter[str]:
    """Which functions of Python and of C are called, and how often."""
    seen: Counter[str] = Counter()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            seen[frame.f_code.co_qualname] += 1
        elif event == "c_call":
            seen[argument.__qualname__] += 1

    gc.disable()  # a collection calls finalizers at an arbitrary moment
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
        gc.enable()
    return seen
