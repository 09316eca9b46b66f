"""Machines that are not here, by the answers of their tools: system, driver, GPUs, and the installed torch.

A child process with `environment(machine)` finds the tools of tests/support/fake_tools in place of torch and pynvml.
"""

from __future__ import annotations

import dataclasses
import json
import os
from dataclasses import dataclass
from pathlib import Path

_TOOLS = Path(__file__).with_name("fake_tools")
_ROOT = _TOOLS.parents[2]


@dataclass(frozen=True)
class Card:
    """One NVIDIA GPU."""

    name: str
    capability: tuple[int, int]
    is_lost: bool = False
    mig_instances: int | None = None
    """None: it is not divided by MIG."""


GTX_1080 = Card("NVIDIA GeForce GTX 1080", (6, 1))
RTX_4070 = Card("NVIDIA GeForce RTX 4070", (8, 9))


@dataclass(frozen=True)
class FakeMachine:
    """gpus: as the driver lists them, or, without one, as the system does; cuda_order: as torch counts them. driver:
    empty if there is none. is_driver_replaced: by that version, while an older one is running. python: the version
    that is said to run."""

    system: str = "Linux"
    release: str = "6.8.0-48-generic"
    torch: str = "2.13.0+cu130"
    cuda: str | None = "13.0"
    hip: str | None = None
    driver: str = "580.95.05"
    is_driver_replaced: bool = False
    python: str = "3.13.7"
    gpus: tuple[Card, ...] = (RTX_4070,)
    cuda_order: tuple[int, ...] = (0,)

    @property
    def seen_by_cuda(self) -> list[Card]:
        return [self.gpus[index] for index in self.cuda_order if index < len(self.gpus)]

    @property
    def driver_number(self) -> int:
        return int(self.driver.partition(".")[0] or 0)

    @property
    def oldest_driver(self) -> int:
        return 525 if (self.cuda or "").startswith("12.") else 580

    @property
    def oldest_capability(self) -> tuple[int, int]:
        return (5, 0) if self.cuda == "12.6" else (7, 5)


def environment(machine: FakeMachine) -> dict[str, str]:
    """The variables for a child process on this machine."""
    return {
        "FAKE_MACHINE": json.dumps(dataclasses.asdict(machine)),
        "PATH": os.pathsep.join([str(_TOOLS / "bin"), os.environ.get("PATH", "")]),
        "PYTHONPATH": os.pathsep.join([str(_TOOLS), str(_ROOT)]),
    }


def described() -> FakeMachine:
    """The machine of this process's environment."""
    facts = json.loads(os.environ["FAKE_MACHINE"])
    gpus = tuple(Card(**{**card, "capability": tuple(card["capability"])}) for card in facts["gpus"])
    return FakeMachine(**{**facts, "gpus": gpus, "cuda_order": tuple(facts["cuda_order"])})
