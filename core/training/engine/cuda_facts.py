"""Asks torch, the driver and the system about CUDA, for the doctor. Run in a separate process: it imports torch, wakes
GPUs, and a driver may hang or kill it."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import platform
import subprocess
import sys
from typing import Any

import pynvml
import torch

from core.machine.cuda_setup import CudaFacts, Gpu
from core.machine.gpu_power import nvidia_gpus
from core.machine.own_commands import own_program, quoted
from core.machine.readings import UNNAMED_GPU
from core.settings.devices import gpu_name
from core.training.engine.device import choose_device
from core.training.engine.device_faults import DeviceError

_ADAPTERS_WITHIN_S = 20.0


def cuda_facts(requested: str) -> CudaFacts:
    """requested: the device of the settings; whether training accepts its GPU is decided as training does."""
    label, reason = _try(gpu_name(requested))
    driver, gpus, is_driver_replaced = _driver()
    numbered = _numbered()
    accepted = ((name, _try(name)[0].removeprefix("CUDA: ")) for name in numbered if reason)
    usable, usable_name = next((each for each in accepted if each[1]), ("", ""))
    return CudaFacts(
        system=platform.system(),
        is_wsl="microsoft" in platform.release().lower(),
        python_version=tuple(int(part) for part in platform.python_version().split(".")[:2]),
        python=quoted(sys.executable),
        program=own_program(),
        torch=torch.__version__,
        cuda=torch.version.cuda,
        other="ROCm" if torch.version.hip is not None else "XPU" if torch.version.xpu is not None else "",
        architectures=tuple(_architectures()),
        driver=driver,
        is_driver_replaced=is_driver_replaced,
        gpus=gpus,
        has_card=bool(gpus) or bool(numbered) or _has_card(),
        hidden_by=os.environ.get("CUDA_VISIBLE_DEVICES"),
        label=label,
        reason=reason,
        requested=requested,
        usable=usable,
        usable_name=usable_name,
    )


def print_facts(requested: str) -> None:
    print(json.dumps(dataclasses.asdict(cuda_facts(requested))))


def _try(name: str) -> tuple[str, str]:
    """The label of the GPU, and why training refuses it; one of the two is empty."""
    try:
        return choose_device(name).label, ""
    except DeviceError as error:
        return "", str(error.__cause__ or error)


def _numbered() -> list[str]:
    """The GPUs as torch counts them, which starts with the fastest; the driver's list has another order."""
    has_cuda = torch.version.hip is None and torch.cuda.is_available()
    return [f"cuda:{index}" for index in range(torch.cuda.device_count())] if has_cuda else []


def _architectures() -> list[str]:
    with contextlib.suppress(Exception):  # of torch's first use of CUDA: any kind, as in `choose_device`
        return torch.cuda.get_arch_list()
    return []


def _driver() -> tuple[str | None, tuple[Gpu, ...], bool]:
    """The version of NVIDIA's driver, its GPUs, and whether it was replaced while an older one runs; without CUDA, so
    also if the driver is too old for torch."""
    try:
        pynvml.nvmlInit()
        count = pynvml.nvmlDeviceGetCount()
        return str(pynvml.nvmlSystemGetDriverVersion()), tuple(_gpu(index) for index in range(count)), False
    except pynvml.NVMLError as error:
        return None, (), isinstance(error, pynvml.NVMLError_LibRmVersionMismatch)
    finally:
        with contextlib.suppress(pynvml.NVMLError):
            pynvml.nvmlShutdown()


def _gpu(index: int) -> Gpu:
    try:
        handle = pynvml.nvmlDeviceGetHandleByIndex(index)
        name = str(pynvml.nvmlDeviceGetName(handle))
    except pynvml.NVMLError as error:  # lost, or another user's
        return Gpu(UNNAMED_GPU, None, is_lost=isinstance(error, pynvml.NVMLError_GpuIsLost))
    lacks_mig_instance = _lacks_mig_instance(handle)
    with contextlib.suppress(pynvml.NVMLError):
        capability = pynvml.nvmlDeviceGetCudaComputeCapability(handle)
        return Gpu(name, capability, lacks_mig_instance=lacks_mig_instance)
    return Gpu(name, None, lacks_mig_instance=lacks_mig_instance)


def _lacks_mig_instance(handle: Any) -> bool:
    """Whether MIG is on, which few GPUs have, and none of its places has an instance."""
    try:
        if pynvml.nvmlDeviceGetMigMode(handle)[0] != pynvml.NVML_DEVICE_MIG_ENABLE:
            return False
        places = pynvml.nvmlDeviceGetMaxMigDeviceCount(handle)
    except pynvml.NVMLError:
        return False
    for place in range(places):
        with contextlib.suppress(pynvml.NVMLError):
            pynvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, place)
            return False
    return True


def _has_card() -> bool:
    """Whether there is a card, also one without a driver. Linux lists PCI devices in files, Windows by its own tool."""
    if platform.system() != "Windows":
        return bool(nvidia_gpus())
    question = "(Get-CimInstance Win32_VideoController).PNPDeviceID"
    command = ["powershell", "-NoProfile", "-NonInteractive", "-Command", question]
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(command, capture_output=True, text=True, timeout=_ADAPTERS_WITHIN_S, check=False)
        return "VEN_10DE" in done.stdout.upper()
    return False
