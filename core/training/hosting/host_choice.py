"""Chooses the host by the settings."""

from __future__ import annotations

from collections.abc import Callable

from core.domain.clock import Clock
from core.training.hosting.host import Host, ThreadHost
from core.training.hosting.process_host import ProcessHost
from core.training.online.trainer_spec import SessionSpec


def host_maker(spec: SessionSpec, clock: Clock) -> Callable[[SessionSpec], Host]:
    """The factory for the host in `settings.training.host` of `spec`; called again after a host died.

    It takes the spec of the next host, whose device may differ by then.
    """
    if spec.settings.training.host == "thread":
        return lambda wanted: ThreadHost(wanted, clock)
    return lambda wanted: ProcessHost(wanted, clock)
