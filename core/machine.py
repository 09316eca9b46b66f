"""Load of the machine: its cores, its memory, and its NVIDIA GPUs if their driver answers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil
import pynvml

_READS_BETWEEN_TRIES = 30
"""A driver may be loaded later, or again after an update; each failed attempt takes tens of milliseconds."""


@dataclass(frozen=True, slots=True)
class GpuReading:
    """One GPU. None: not reported by its driver."""

    name: str
    utilisation_percent: float | None
    temperature_c: float | None
    memory_used_bytes: int | None
    memory_total_bytes: int | None


@dataclass(frozen=True, slots=True)
class MachineReading:
    """The load of all cores since the previous reading; the memory in use; GPUs by number."""

    cpu_percent: float
    memory_used_bytes: int
    memory_total_bytes: int
    gpus: tuple[GpuReading, ...]


def is_torch_for_cpu_only() -> bool:
    """Whether the installed torch was built without CUDA; judged by its libraries, as importing it takes seconds."""
    found = find_spec("torch")
    if found is None or found.origin is None:
        return False
    libraries = Path(found.origin).with_name("lib")
    return libraries.is_dir() and not any(libraries.glob("*torch_cuda*"))


class MachineProbe:
    """Reads psutil and NVML. To be used on one thread; calls may take tens of milliseconds."""

    def __init__(self) -> None:
        self._has_nvml = False
        self._reads_until_try = 0
        psutil.cpu_percent()  # starts the measurement

    def read(self) -> MachineReading:
        memory = psutil.virtual_memory()
        return MachineReading(psutil.cpu_percent(), memory.total - memory.available, memory.total, self._gpus())

    def close(self) -> None:
        if self._has_nvml:
            self._has_nvml = False
            with contextlib.suppress(pynvml.NVMLError):
                pynvml.nvmlShutdown()

    def _gpus(self) -> tuple[GpuReading, ...]:
        if not self._has_nvml and not self._try_driver():
            return ()
        try:
            return tuple(_gpu(pynvml.nvmlDeviceGetHandleByIndex(index)) for index in range(pynvml.nvmlDeviceGetCount()))
        except pynvml.NVMLError:  # a GPU that fell off the bus, a driver that was replaced
            self.close()
            return ()

    def _try_driver(self) -> bool:
        self._reads_until_try -= 1
        if self._reads_until_try >= 0:
            return False
        self._reads_until_try = _READS_BETWEEN_TRIES
        with contextlib.suppress(pynvml.NVMLError):
            pynvml.nvmlInit()
            self._has_nvml = True
        return self._has_nvml


def _gpu(handle: Any) -> GpuReading:
    utilisation = _or_none(lambda: pynvml.nvmlDeviceGetUtilizationRates(handle))
    memory = _or_none(lambda: pynvml.nvmlDeviceGetMemoryInfo(handle))
    return GpuReading(
        name=str(pynvml.nvmlDeviceGetName(handle)),
        utilisation_percent=None if utilisation is None else float(utilisation.gpu),
        temperature_c=_or_none(lambda: float(pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU))),
        memory_used_bytes=None if memory is None else int(memory.used),
        memory_total_bytes=None if memory is None else int(memory.total),
    )


def _or_none(ask: Callable[[], Any]) -> Any:
    """The value, or None if this GPU does not support it."""
    try:
        return ask()
    except pynvml.NVMLError_NotSupported:
        return None
