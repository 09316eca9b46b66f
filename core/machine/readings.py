"""Load of the machine: its cores, its memory, and its NVIDIA GPUs if their driver answers and none sleeps."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil
import pynvml

from core.machine.gpu_power import PCI_DEVICES, nvidia_gpus

_READS_BETWEEN_TRIES = 30
"""A driver may be loaded later, or again after an update; each failed attempt takes tens of milliseconds."""
_READS_OF_REST = 30
"""Readings for which an idle GPU that may sleep is skipped: a query every two seconds keeps it awake, and it falls
asleep 6 to 15 seconds after the last one (measured by others, see `core.machine.gpu_power`)."""

UNNAMED_GPU = "NVIDIA GPU"


@dataclass(frozen=True, slots=True)
class GpuReading:
    """One GPU. None: not reported by its driver, or not read because a GPU sleeps."""

    name: str
    utilisation_percent: float | None
    temperature_c: float | None
    memory_used_bytes: int | None
    memory_total_bytes: int | None
    is_asleep: bool = False
    capability: tuple[int, int] | None = None
    """Its CUDA compute capability."""
    driver: str | None = None
    """The version of its driver."""


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


def cuda_of_torch() -> str | None:
    """The CUDA version that the installed torch was built for, read without importing it; None: it is not known, as in
    the package."""
    found = find_spec("torch")
    file = Path(found.origin).with_name("version.py") if found is not None and found.origin is not None else None
    text = file.read_text(encoding="utf-8") if file is not None and file.exists() else ""
    match = re.search(r"^cuda\b.*= '([\d.]+)'", text, re.MULTILINE)
    return match[1] if match else None


class MachineProbe:
    """Reads psutil and NVML. To be used on one thread; calls may take tens of milliseconds."""

    def __init__(self, devices: Path = PCI_DEVICES) -> None:
        """devices: the folder of Linux's PCI devices."""
        self._meter = _GpuMeter(devices)
        psutil.cpu_percent()  # starts the measurement

    def read(self) -> MachineReading:
        memory = psutil.virtual_memory()
        return MachineReading(psutil.cpu_percent(), memory.total - memory.available, memory.total, self._meter.read())

    def close(self) -> None:
        self._meter.close()


class _GpuMeter:
    """Asks NVML, and never while a GPU sleeps: NVML wakes all of them. It stays open only if no GPU may sleep."""

    def __init__(self, devices: Path) -> None:
        self._devices = devices
        self._is_open = False
        self._reads_until_try = 0
        self._reads_of_rest = 0
        self._newest: tuple[GpuReading, ...] = ()
        self._names: dict[str, str] = {}
        """Names by PCI address, for readings without NVML."""

    def read(self) -> tuple[GpuReading, ...]:
        gpus = [gpu for gpu in nvidia_gpus(self._devices) if gpu.driver == "nvidia"]
        if any(gpu.is_asleep for gpu in gpus):
            self.close()
            self._reads_of_rest = 0
            names = ((self._names.get(gpu.address, UNNAMED_GPU), gpu.is_asleep) for gpu in gpus)
            return tuple(_unread(name, is_asleep=is_asleep) for name, is_asleep in names)
        if self._reads_of_rest > 0:
            self._reads_of_rest -= 1
            return self._newest
        self._newest = self._query() if self._is_open or self._open() else ()
        if any(gpu.may_sleep for gpu in gpus):
            self.close()
            self._reads_of_rest = 0 if any(reading.utilisation_percent for reading in self._newest) else _READS_OF_REST
        return self._newest

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            with contextlib.suppress(pynvml.NVMLError):
                pynvml.nvmlShutdown()

    def _open(self) -> bool:
        self._reads_until_try -= 1
        if self._reads_until_try >= 0:
            return False
        try:
            pynvml.nvmlInit()
        except pynvml.NVMLError:
            self._reads_until_try = _READS_BETWEEN_TRIES
            return False
        self._is_open, self._reads_until_try = True, 0
        return True

    def _query(self) -> tuple[GpuReading, ...]:
        try:
            return tuple(self._gpu(index) for index in range(pynvml.nvmlDeviceGetCount()))
        except pynvml.NVMLError:  # the driver was replaced or unloaded
            self.close()
            self._reads_until_try = _READS_BETWEEN_TRIES
            return ()

    def _gpu(self, index: int) -> GpuReading:
        handle = _or_none(lambda: pynvml.nvmlDeviceGetHandleByIndex(index))
        if handle is None:  # it fell off the bus, or is another user's
            return _unread(UNNAMED_GPU)
        reading = _reading(handle)
        address = _or_none(lambda: pynvml.nvmlDeviceGetPciInfo(handle).busId)
        if address is not None:  # 00000000:01:00.0: NVML's domain has four digits more than Linux's
            self._names[(address.decode() if isinstance(address, bytes) else address)[-12:].lower()] = reading.name
        return reading


def _unread(name: str, *, is_asleep: bool = False) -> GpuReading:
    return GpuReading(name, None, None, None, None, is_asleep)


def _reading(handle: Any) -> GpuReading:
    utilisation = _or_none(lambda: pynvml.nvmlDeviceGetUtilizationRates(handle))
    memory = _or_none(lambda: pynvml.nvmlDeviceGetMemoryInfo(handle))
    return GpuReading(
        name=str(_or_none(lambda: pynvml.nvmlDeviceGetName(handle)) or UNNAMED_GPU),
        utilisation_percent=None if utilisation is None else float(utilisation.gpu),
        temperature_c=_or_none(lambda: float(pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU))),
        memory_used_bytes=None if memory is None else int(memory.used),
        memory_total_bytes=None if memory is None else int(memory.total),
        capability=_or_none(lambda: pynvml.nvmlDeviceGetCudaComputeCapability(handle)),
        driver=_or_none(lambda: str(pynvml.nvmlSystemGetDriverVersion())),
    )


def _or_none(query: Callable[[], Any]) -> Any:
    """The value, or None if this GPU does not report it: unsupported, forbidden (MIG), or lost. Raises NVMLError if the
    driver does not respond."""
    try:
        return query()
    except (pynvml.NVMLError_Uninitialized, pynvml.NVMLError_DriverNotLoaded):
        raise
    except pynvml.NVMLError:
        return None
