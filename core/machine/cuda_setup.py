"""What a machine needs so that training runs on its NVIDIA GPU: one table, for the README and the doctor's advice.

Sources: CUDA 13 needs driver 580 or newer, CUDA 12 driver 525 (NVIDIA's CUDA toolkit release notes, minor version
compatibility; pytorch/pytorch#162531). torch's CUDA 13 builds are for compute capability 7.5 and newer, its 12.6 build
for 5.0 and newer (torch/cuda/__init__.py, PYTORCH_RELEASES_CODE_CC); torch 2.14 is the last with a 12.6 build
(pytorch/pytorch#190385). In WSL2 the driver is that of Windows (NVIDIA's CUDA on WSL user guide). After a suspend CUDA
may stay away until the module nvidia_uvm is loaded again (pytorch/pytorch#49081).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

DRIVER_OF_CUDA_13 = 580
_DRIVER_OF_CUDA_12 = 525
_TURING = (7, 5)
_MAXWELL = (5, 0)
_LAST_FOR_OLDER_CARDS = (2, 14)
_INDEX = "https://download.pytorch.org/whl"
RELOAD_DRIVER = "sudo modprobe -r nvidia_uvm && sudo modprobe nvidia_uvm"
"""Linux: brings CUDA back after a suspend."""


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU as the driver lists it. capability: its compute capability, None if the driver does not give it."""

    name: str
    capability: tuple[int, int] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CudaFacts:
    """What the system, the driver and torch answer about CUDA."""

    system: str
    """Linux, Windows or Darwin."""
    is_wsl: bool = False
    torch: str
    """Its version with the build, such as 2.13.0+cu130."""
    cuda: str | None
    """The CUDA version that torch was built for."""
    other: str = ""
    """ROCm or XPU: what torch was built for instead."""
    architectures: tuple[str, ...] = ()
    """The ones that this build of torch has code for, such as sm_75."""
    driver: str | None = None
    """The version of NVIDIA's driver; None: none answers."""
    gpus: tuple[Gpu, ...] = ()
    has_card: bool = False
    """The PCI devices have an NVIDIA GPU, with or without a driver, or torch counts one."""
    hidden_by: str | None = None
    """The value of CUDA_VISIBLE_DEVICES."""
    label: str = ""
    """The GPU that training accepts."""
    reason: str = ""
    """Why training refuses the GPU; empty: it does not."""
    usable: tuple[str, ...] = ()
    """Where the GPU is refused: the ones that training would accept."""
    is_packaged: bool = False
    """The program runs from a package, which has no pip."""

    @property
    def has_gpu(self) -> bool:
        return bool(self.gpus) or self.has_card


@dataclass(frozen=True, slots=True)
class Case:
    """One situation: what is found, and the one thing to do. advice: {pip}, {torch}, {torch_cu126} and {usable} are
    filled in for a machine."""

    found: str
    applies: Callable[[CudaFacts], bool]
    advice: str
    is_fine: bool = False
    """Nothing is to be done."""


def facts_from(answer: dict[str, Any]) -> CudaFacts:
    """From their JSON. Raises TypeError and KeyError for another object."""
    gpus = (Gpu(gpu["name"], gpu["capability"] and tuple(gpu["capability"])) for gpu in answer["gpus"])
    lists = {name: tuple(answer[name]) for name in ("architectures", "usable")}
    return CudaFacts(**{**answer, **lists, "gpus": tuple(gpus)})


def case_of(facts: CudaFacts) -> Case:
    """The row that fits the machine."""
    return next(case for case in CASES if case.applies(facts))


def advice_for(case: Case, facts: CudaFacts) -> str:
    """The case's advice with the command for this machine."""
    base = facts.torch.partition("+")[0]
    text = case.advice.format(
        pip=r".venv\Scripts\pip" if facts.system == "Windows" else ".venv/bin/pip",
        torch=base,
        torch_cu126=_version_for_older_cards(base),
        usable=" or ".join(facts.usable),
    )
    if facts.is_packaged and "{pip}" in case.advice:
        return f"This package has another build of torch. Install from source, as in the README, and then: {text}"
    return text


def _version_for_older_cards(base: str) -> str:
    major, minor = (int(part) for part in base.split(".")[:2])
    return base if (major, minor) <= _LAST_FOR_OLDER_CARDS else "{}.{}.0".format(*_LAST_FOR_OLDER_CARDS)


def _is_old_card(facts: CudaFacts, below: tuple[int, int] = _TURING) -> bool:
    return bool(facts.gpus) and all(gpu.capability is not None and gpu.capability < below for gpu in facts.gpus)


def _needs_driver(facts: CudaFacts) -> bool:
    """The driver is missing, or older than the CUDA of the build that suits the GPU."""
    if facts.driver is None:
        return True
    suits_cuda_12 = _is_old_card(facts) or (facts.cuda or "").startswith("12.")
    oldest = _DRIVER_OF_CUDA_12 if suits_cuda_12 else DRIVER_OF_CUDA_13
    number = re.match(r"\d+", facts.driver)
    return number is not None and int(number[0]) < oldest


CASES = (
    Case(
        "RTX, GTX 16 or newer (compute capability 7.5), driver 580 or newer, torch for CUDA",
        lambda facts: not facts.reason,
        "Nothing: `--device auto` uses the GPU.",
        is_fine=True,
    ),
    Case(
        "macOS",
        lambda facts: facts.system == "Darwin",
        "Nothing: training runs on the CPU.",
        is_fine=True,
    ),
    Case(
        "AMD or Intel GPU, torch for ROCm or XPU",
        lambda facts: bool(facts.other),
        "Nothing: only NVIDIA GPUs are used, and training runs on the CPU.",
        is_fine=True,
    ),
    Case(
        "several GPUs, and another than the first can be used",
        lambda facts: bool(facts.usable),
        "Name the one to use: `--device {usable}`, or in the Preferences.",
    ),
    Case(
        "`CUDA_VISIBLE_DEVICES` is empty or -1",
        lambda facts: facts.has_gpu and facts.hidden_by in ("", "-1"),
        "Unset `CUDA_VISIBLE_DEVICES`: it hides the GPU from torch.",
    ),
    Case(
        "WSL2",
        lambda facts: facts.is_wsl and _needs_driver(facts),
        "Install NVIDIA's driver, 580 or newer, in Windows and none inside WSL2; then `wsl --shutdown` in Windows.",
    ),
    Case(
        "no NVIDIA GPU",
        lambda facts: not facts.has_gpu,
        "Nothing: training runs on the CPU.",
        is_fine=True,
    ),
    Case(
        "GTX 600 or 700 and other GPUs with compute capability below 5.0",
        lambda facts: _is_old_card(facts, _MAXWELL),
        "Nothing: no build of this torch is for them, and training runs on the CPU.",
        is_fine=True,
    ),
    Case(
        "Windows, driver older than 580",
        lambda facts: facts.system == "Windows" and _needs_driver(facts),
        "Install NVIDIA's newest driver, at least 580, from its site or its app, and restart.",
    ),
    Case(
        "Linux, no driver or one older than 580",
        _needs_driver,
        "Install NVIDIA's driver, 580 or newer, and restart. On Ubuntu: `sudo ubuntu-drivers install nvidia:580`",
    ),
    Case(
        "GTX 900, GTX 10, Titan V, V100: compute capability 5.0 to below 7.5",
        lambda facts: _is_old_card(facts) and facts.cuda != "12.6",
        f"Install torch for CUDA 12.6: `{{pip}} install torch=={{torch_cu126}}+cu126 --index-url {_INDEX}/cu126`",
    ),
    Case(
        "torch without CUDA, as from the lock on Windows",
        lambda facts: facts.cuda is None,
        f"Install torch for CUDA 13.0: `{{pip}} install torch=={{torch}}+cu130 --index-url {_INDEX}/cu130`",
    ),
    Case(
        "the GPU's memory is full",
        lambda facts: "out of memory" in facts.reason,
        "Close the program that holds the GPU's memory; `nvidia-smi` lists them.",
    ),
    Case(
        "Linux, CUDA stopped working, as after a suspend",
        lambda facts: facts.system == "Linux" and not facts.is_wsl,
        f"Run `{RELOAD_DRIVER}`; if that does not help, restart the computer.",
    ),
    Case(
        "Windows, CUDA stopped working",
        lambda facts: True,
        "Restart the computer.",
    ),
)
"""In this order: a case may rely on those before it."""
