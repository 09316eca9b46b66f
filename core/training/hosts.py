"""Which host the settings ask for."""

from __future__ import annotations

from collections.abc import Callable

from core.clock import Clock
from core.training.host import Host, ThreadHost
from core.training.process_host import ProcessHost
from core.training.spec import SessionSpec


def host_maker(spec: SessionSpec, clock: Clock) -> Callable[[], Host]:
    """What makes a host as `settings.training.host` says; called again after one died."""
    if spec.settings.training.host == "thread":
        return lambda: ThreadHost(spec, clock)
    return lambda: ProcessHost(spec, clock)
