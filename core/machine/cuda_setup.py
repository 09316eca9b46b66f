"""The requirements for training on an NVIDIA GPU: one table, for the README and the doctor's advice.

Sources: CUDA 13 needs driver 580 or newer, CUDA 12 driver 525 (NVIDIA's CUDA toolkit release notes, minor version
compatibility; pytorch/pytorch#162531). torch's CUDA 13 builds are for compute capability 7.5 and newer, its 12.6 build
for 5.0 and newer (torch/cuda/__init__.py, PYTORCH_RELEASES_CODE_CC); torch 2.14 is the last with a 12.6 build
(pytorch/pytorch#190385). WSL2 uses the driver of Windows (NVIDIA's CUDA on WSL user guide). After a suspend CUDA may
stay away until the module nvidia_uvm is loaded again (pytorch/pytorch#49081). Driver 580 is the last for compute
capability below 7.5: newer ones ignore these GPUs (NixOS/nixos-hardware#1880). From Turing on NVIDIA's open kernel
modules fit, and on Blackwell no others do (NVIDIA's driver README, "Open Linux Kernel Modules"); ubuntu-drivers takes
them only for a name that ends in -open (UbuntuDrivers/detect.py, 2026). With MIG switched on, CUDA sees instances alone
(NVIDIA's MIG user guide). torch 2.15 is the first with a wheel for Python 3.15.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

DRIVER_OF_CUDA_13 = 580
_DRIVER_OF_CUDA_12 = 525
_TURING = (7, 5)
_MAXWELL = (5, 0)
_LAST_FOR_OLDER_CARDS = (2, 14)
_LAST_PYTHON_FOR_OLDER_CARDS = (3, 14)
_INDEX = "https://download.pytorch.org/whl"
RELOAD_DRIVER = "sudo modprobe -r nvidia_uvm && sudo modprobe nvidia_uvm"
"""Restores CUDA after a suspend on Linux."""
_AGAIN = "check again:\n    {program} doctor"
_UBUNTU = "    sudo apt update && sudo ubuntu-drivers install nvidia:580"
_OLDER_CARDS = "GTX 745, 750, 900 or 10, GT 1030, MX110 to MX350, Titan X, Xp or V, V100, Quadro and Tesla M or P"
_NO_DRIVER_HELPS = (
    "\nIf it says that all drivers are installed, the GPU may be switched off (sudo prime-select nvidia), or Secure "
    "Boot may refuse the driver (sign it, or turn Secure Boot off)."
)
_INSTALL = (
    "a download of a few gigabytes. Close Ghostcandle first; the command is:\n    {python} -m pip install torch=="
)


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU as the driver lists it."""

    name: str
    capability: tuple[int, int] | None
    """Its compute capability; None: the driver does not report it."""
    is_lost: bool = False
    """It fell off the bus: the driver counts it, and gets no answer from it."""
    lacks_mig_instance: bool = False
    """It is divided by MIG, without an instance that could be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CudaFacts:
    """Answers of the system, the driver and torch about CUDA."""

    system: str
    """Linux, Windows or Darwin."""
    is_wsl: bool = False
    python_version: tuple[int, ...] = (3, 13)
    python: str = ".venv/bin/python"
    """The command that starts this Python, quoted for the system's shell."""
    program: str = "ghostcandle"
    """The command that starts Ghostcandle, quoted like it."""
    torch: str
    """Its version with the build, such as 2.13.0+cu130."""
    cuda: str | None
    """The CUDA version that torch was built for."""
    other: str = ""
    """The other backend that torch was built for: ROCm or XPU."""
    architectures: tuple[str, ...] = ()
    """The ones that this build of torch has code for, such as sm_75."""
    driver: str | None = None
    """The version of NVIDIA's driver; None: none answers."""
    is_driver_replaced: bool = False
    """The driver was updated, and the computer not restarted since."""
    gpus: tuple[Gpu, ...] = ()
    has_card: bool = False
    """The system lists an NVIDIA GPU, with or without a driver, or torch counts one."""
    hidden_by: str | None = None
    """The value of CUDA_VISIBLE_DEVICES."""
    label: str = ""
    """The GPU that training accepts."""
    reason: str = ""
    """Why training refuses the GPU; empty: it does not."""
    requested: str = "auto"
    """The device of the settings."""
    usable: str = ""
    """If its GPU is refused, another that training would accept, such as cuda:1."""
    usable_name: str = ""
    """The name of that GPU."""
    is_packaged: bool = False
    """The program runs from a package, which has no pip."""

    @property
    def has_gpu(self) -> bool:
        return bool(self.gpus) or self.has_card or self.is_driver_replaced


@dataclass(frozen=True, slots=True)
class Case:
    """One situation: the problem found, and the advice. problem and advice: names in braces are filled in for a
    machine, and a line of the advice that is indented is a command."""

    found: str
    applies: Callable[[CudaFacts], bool]
    problem: str
    advice: str
    is_fine: bool = False
    """Nothing is to be done."""


def facts_from(answer: dict[str, Any]) -> CudaFacts:
    """Parse the facts from JSON. Raises TypeError and KeyError for another object."""
    gpus = (Gpu(**{**gpu, "capability": gpu["capability"] and tuple(gpu["capability"])}) for gpu in answer["gpus"])
    lists = {name: tuple(answer[name]) for name in ("architectures", "python_version")}
    return CudaFacts(**{**answer, **lists, "gpus": tuple(gpus)})


def case_of(facts: CudaFacts) -> Case:
    return next(case for case in CASES if case.applies(facts))


def filled_in(text: str, facts: CudaFacts) -> str:
    """A case's problem or advice, for this machine."""
    base = facts.torch.partition("+")[0]
    too_old = f"driver {facts.driver} is too old: {DRIVER_OF_CUDA_13} is needed"
    return text.format(
        gpu=" and ".join(gpu.name for gpu in facts.gpus) or "the NVIDIA GPU",
        driver="no working NVIDIA driver" if facts.driver is None else too_old,
        version=_fitting_driver(facts),
        on_ubuntu=_command_on_ubuntu(facts),
        python=facts.python,
        program=facts.program,
        torch=base,
        torch_cu126=_version_for_older_cards(base) if base else "",
        refused=facts.requested if ":" in facts.requested else "the first GPU",
        usable=facts.usable,
        usable_name=facts.usable_name,
        reason=facts.reason.partition(";")[0],
    )


def known_fault(cuda: str, driver: str | None, gpus: tuple[Gpu, ...]) -> str:
    """Why a torch for this CUDA cannot use any of the GPUs, as far as it is known without asking torch; else empty."""
    facts = CudaFacts(system=platform.system(), torch="", cuda=cuda, driver=driver, gpus=gpus, reason="not asked")
    is_refused = _needs_driver(facts) or _lacks_older_torch(facts)
    return filled_in(case_of(facts).problem, facts) if is_refused else ""


def _fitting_driver(facts: CudaFacts) -> str:
    if not facts.gpus:
        return f"version 580 or newer (exactly branch 580 for {_OLDER_CARDS})"
    old = [gpu.name for gpu in facts.gpus if _is_below(gpu, _TURING)]
    return f"exactly branch 580: newer ones do not support {' and '.join(old)}" if old else "version 580 or newer"


def _command_on_ubuntu(facts: CudaFacts) -> str:
    """Both commands if nothing tells the card: without a driver it has no name."""
    if not facts.gpus:
        return f"for RTX and GTX 16, or newer, is:\n{_UBUNTU}-open\nand for the older ones:\n{_UBUNTU}"
    is_any_old = any(_is_below(gpu, _TURING) for gpu in facts.gpus)
    return f"is:\n{_UBUNTU}" if is_any_old else f"is:\n{_UBUNTU}-open"


def _version_for_older_cards(base: str) -> str:
    major, minor = (int(part) for part in base.split(".")[:2])
    return base if (major, minor) <= _LAST_FOR_OLDER_CARDS else "{}.{}.0".format(*_LAST_FOR_OLDER_CARDS)


def _is_below(gpu: Gpu, capability: tuple[int, int]) -> bool:
    return gpu.capability is not None and gpu.capability < capability


def _is_old_card(facts: CudaFacts, below: tuple[int, int] = _TURING) -> bool:
    return bool(facts.gpus) and all(_is_below(gpu, below) for gpu in facts.gpus)


def _needs_driver(facts: CudaFacts) -> bool:
    """The driver is missing, or older than the CUDA of the build that suits the GPU."""
    if facts.driver is None:
        return True
    suits_cuda_12 = _is_old_card(facts) or (facts.cuda or "").startswith("12.")
    oldest = _DRIVER_OF_CUDA_12 if suits_cuda_12 else DRIVER_OF_CUDA_13
    number = re.match(r"\d+", facts.driver)
    return number is not None and int(number[0]) < oldest


def _lacks_older_torch(facts: CudaFacts) -> bool:
    return _is_old_card(facts) and facts.cuda != "12.6"


def _is_hidden(facts: CudaFacts) -> bool:
    """CUDA ignores all from the first number on that no GPU has. GPUs by UUID are not checked."""
    if facts.hidden_by is None or not facts.has_gpu:
        return False
    first = facts.hidden_by.partition(",")[0].strip()
    return first in ("", "-1") or (first.isdecimal() and bool(facts.gpus) and int(first) >= len(facts.gpus))


CASES = (
    Case(
        "RTX, GTX 16 or newer (compute capability 7.5), driver 580 or newer, torch for CUDA",
        lambda facts: not facts.reason,
        problem="",
        advice="Nothing: with --device auto, training uses the GPU.",
        is_fine=True,
    ),
    Case(
        "macOS",
        lambda facts: facts.system == "Darwin",
        problem="macOS has no CUDA",
        advice="Nothing: training runs on the CPU.",
        is_fine=True,
    ),
    Case(
        "AMD or Intel GPU, torch for ROCm or XPU",
        lambda facts: bool(facts.other),
        problem="only NVIDIA GPUs are used",
        advice="Nothing: only NVIDIA GPUs are used, and training runs on the CPU.",
        is_fine=True,
    ),
    Case(
        "several GPUs, and another than the first can be used",
        lambda facts: bool(facts.usable),
        problem="{refused} cannot be used, but {usable} ({usable_name}) can",
        advice="Start with this, or set Device to {usable} in File › Preferences, for the next start of training:\n"
        "    {program} run --device {usable}",
    ),
    Case(
        "CUDA_VISIBLE_DEVICES is empty, or names no GPU of this computer",
        _is_hidden,
        problem="CUDA_VISIBLE_DEVICES hides the GPU",
        advice="Unset CUDA_VISIBLE_DEVICES: it hides the GPU from torch.",
    ),
    Case(
        "a driver that was updated, and no restart since",
        lambda facts: facts.is_driver_replaced,
        problem="the NVIDIA driver was updated, and needs a restart",
        advice="Restart the computer.",
    ),
    Case(
        "WSL2, no driver or one older than 580",
        lambda facts: facts.is_wsl and _needs_driver(facts),
        problem="{driver}",
        advice="In Windows, install the newest driver that nvidia.com/drivers offers for your NVIDIA GPU. Inside WSL2, "
        f"install none. Then run this in Windows:\n    wsl --shutdown\nOpen WSL2 again, and {_AGAIN}",
    ),
    Case(
        "no NVIDIA GPU",
        lambda facts: not facts.has_gpu,
        problem="no NVIDIA driver answers",
        advice="Nothing: training runs on the CPU.",
        is_fine=True,
    ),
    Case(
        "GTX 600, GTX 700 but not 745 and 750, and other GPUs with compute capability below 5.0",
        lambda facts: _is_old_card(facts, _MAXWELL),
        problem="this torch is too new for {gpu}",
        advice="Train on the CPU, as --device auto does: no build of this torch is for so old a GPU.",
        is_fine=True,
    ),
    Case(
        "Windows, no driver or one older than 580",
        lambda facts: facts.system == "Windows" and _needs_driver(facts),
        problem="{driver}",
        advice="Install the newest driver that nvidia.com/drivers offers for your GPU. "
        f"Then restart the computer, and {_AGAIN}",
    ),
    Case(
        "Linux, no driver that answers",
        lambda facts: facts.driver is None,
        problem="{driver}",
        advice="Install NVIDIA's driver by your system's way, {version}. On Ubuntu, the command {on_ubuntu}\n"
        f"Then restart the computer, and {_AGAIN}{_NO_DRIVER_HELPS}",
    ),
    Case(
        "Linux, a driver older than 580",
        _needs_driver,
        problem="{driver}",
        advice="Install NVIDIA's driver by your system's way, {version}. On Ubuntu, the command {on_ubuntu}\n"
        f"Then restart the computer, and {_AGAIN}",
    ),
    Case(
        "a GPU that is lost from the bus",
        lambda facts: bool(facts.gpus) and all(gpu.is_lost for gpu in facts.gpus),
        problem="the GPU is there, and does not answer",
        advice=f"Switch the computer off and on. If the GPU is lost again, check its power cables and its slot. Then "
        f"{_AGAIN}",
    ),
    Case(
        "MIG is on, without an instance",
        lambda facts: bool(facts.gpus) and all(gpu.lacks_mig_instance for gpu in facts.gpus),
        problem="{gpu} is divided by MIG, and has no instance",
        advice="Make an instance, or switch MIG off; on a shared machine its administrator does. This switches it off, "
        f"while nothing uses the GPU:\n    sudo nvidia-smi -mig 0\nThen {_AGAIN}",
    ),
    Case(
        "the package (bundle or .deb), and its torch is not for the GPU",
        lambda facts: facts.is_packaged and (facts.cuda is None or _lacks_older_torch(facts)),
        problem="the torch of this package is not for {gpu}",
        advice="Install Ghostcandle from source, as its README says. Then check again there:\n"
        "    .venv/bin/ghostcandle doctor",
    ),
    Case(
        f"{_OLDER_CARDS}, with Python 3.15",
        lambda facts: _lacks_older_torch(facts) and facts.python_version > _LAST_PYTHON_FOR_OLDER_CARDS,
        problem="only an older torch, on Python 3.14, is for {gpu}",
        advice="Install Python 3.14, delete the folder .venv, and install Ghostcandle with it again:\n"
        f"    make setup PYTHON=python3.14\nThen {_AGAIN}\nIt names the torch to install next.",
    ),
    Case(
        f"{_OLDER_CARDS} (compute capability 5.0 to below 7.5), driver of branch 525 to 580",
        _lacks_older_torch,
        problem="this torch is not for {gpu}",
        advice=f"Install torch for CUDA 12.6, {_INSTALL}{{torch_cu126}}+cu126 --index-url {_INDEX}/cu126\n"
        f"Then {_AGAIN}",
    ),
    Case(
        "torch without CUDA, as from the lock on Windows",
        lambda facts: facts.cuda is None,
        problem="this torch is for CPUs only, and cannot use {gpu}",
        advice=f"Install torch for CUDA 13.0, {_INSTALL}{{torch}}+cu130 --index-url {_INDEX}/cu130\nThen {_AGAIN}",
    ),
    Case(
        "the GPU's memory is full",
        lambda facts: "out of memory" in facts.reason,
        problem="the GPU's memory is full",
        advice="Close the program that holds the GPU's memory. This command lists them:\n    nvidia-smi",
    ),
    Case(
        "Linux, CUDA stopped working, as after a suspend, or the driver's modules do not fit the GPU",
        lambda facts: facts.system == "Linux" and not facts.is_wsl,
        problem="CUDA does not work ({reason})",
        advice="Close Ghostcandle, and load the driver's module again:\n"
        f"    {RELOAD_DRIVER}\nThen {_AGAIN}\nIf that does not help, restart the computer. An RTX 50 needs a driver "
        "with open modules, whose package ends in -open.",
    ),
    Case(
        "Windows, CUDA stopped working",
        lambda facts: True,
        problem="CUDA does not work ({reason})",
        advice="Restart the computer.",
    ),
)
"""Cases in order: each may rely on those before it."""
