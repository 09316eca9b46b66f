"""Which host the settings ask for."""

from __future__ import annotations

from collections.abc import Callable

from core.domain.clock import Clock
from core.training.hosting.host import Host, ThreadHost
from core.training.hosting.process_host import ProcessHost
from core.training.online.spec import SessionSpec


def host_maker(spec: SessionSpec, clock: Clock) -> Callable[[SessionSpec], Host]:
    """What makes a host as `settings.training.host` of `spec` says; called again after one died.

    It is given what the next host is to be made of: the device may be another by then.
    """
    if spec.settings.training.host == "thread":
        return lambda wanted: ThreadHost(wanted, clock)
    return lambda wanted: ProcessHost(wanted, clock)
