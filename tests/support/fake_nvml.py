"""NVIDIA's management library as a Python module, and the PCI devices of Linux as a folder: machines that are not
here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any


class NVMLError(Exception):
    """The base of NVML's errors, as in pynvml."""


class UninitializedError(NVMLError):
    pass


class DriverNotLoadedError(NVMLError):
    pass


class LibraryNotFoundError(NVMLError):
    pass


class MismatchError(NVMLError):
    pass


class GpuIsLostError(NVMLError):
    pass


class NoPermissionError(NVMLError):
    pass


class NotSupportedError(NVMLError):
    pass


class NotFoundError(NVMLError):
    pass


@dataclass
class FakeGpu:
    """One GPU. `fault`: raised by every question about its load; `is_lost`: it gives no handle; `mig_instances`: None
    without MIG."""

    name: str = "NVIDIA RTX 2000 Ada"
    capability: tuple[int, int] = (8, 9)
    address: str = "0000:01:00.0"
    percent: int = 0
    fault: NVMLError | None = None
    is_lost: bool = False
    mig_instances: int | None = None


class FakeNvml:
    """The functions of pynvml that this program calls. `is_open`: initialized and not shut down."""

    NVML_TEMPERATURE_GPU = 0
    NVML_DEVICE_MIG_ENABLE = 1
    NVMLError = NVMLError
    NVMLError_GpuIsLost = GpuIsLostError
    NVMLError_Uninitialized = UninitializedError
    NVMLError_DriverNotLoaded = DriverNotLoadedError
    NVMLError_LibRmVersionMismatch = MismatchError

    def __init__(
        self, gpus: Sequence[FakeGpu], driver: str | None = "580.95.05", *, is_driver_replaced: bool = False
    ) -> None:
        """driver: its version; None: it is not installed. is_driver_replaced: while an older one is running."""
        self._gpus, self._driver, self._is_driver_replaced = gpus, driver, is_driver_replaced
        self.is_open = False
        self.starts = 0

    def nvmlInit(self) -> None:
        if self._driver is None:
            raise LibraryNotFoundError
        if self._is_driver_replaced:
            raise MismatchError
        self.is_open = True
        self.starts += 1

    def nvmlShutdown(self) -> None:
        self.is_open = False

    def nvmlSystemGetDriverVersion(self) -> str:
        self._check()
        assert self._driver is not None
        return self._driver

    def nvmlDeviceGetCount(self) -> int:
        self._check()
        return len(self._gpus)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> FakeGpu:
        self._check()
        if self._gpus[index].is_lost:
            raise GpuIsLostError
        return self._gpus[index]

    def nvmlDeviceGetName(self, gpu: FakeGpu) -> str:
        return gpu.name

    def nvmlDeviceGetPciInfo(self, gpu: FakeGpu) -> Any:
        return SimpleNamespace(busId=f"0000{gpu.address}".upper())

    def nvmlDeviceGetCudaComputeCapability(self, gpu: FakeGpu) -> tuple[int, int]:
        return gpu.capability

    def nvmlDeviceGetMigMode(self, gpu: FakeGpu) -> list[int]:
        """Now, and after the next reset."""
        if gpu.mig_instances is None:
            raise NotSupportedError
        return [self.NVML_DEVICE_MIG_ENABLE] * 2

    def nvmlDeviceGetMaxMigDeviceCount(self, gpu: FakeGpu) -> int:
        return 7

    def nvmlDeviceGetMigDeviceHandleByIndex(self, gpu: FakeGpu, place: int) -> FakeGpu:
        assert gpu.mig_instances is not None
        if place >= gpu.mig_instances:
            raise NotFoundError
        return gpu

    def nvmlDeviceGetUtilizationRates(self, gpu: FakeGpu) -> Any:
        if gpu.fault is not None:
            raise gpu.fault
        return SimpleNamespace(gpu=gpu.percent)

    def nvmlDeviceGetTemperature(self, gpu: FakeGpu, sensor: int) -> int:
        if gpu.fault is not None:
            raise gpu.fault
        return 41

    def nvmlDeviceGetMemoryInfo(self, gpu: FakeGpu) -> Any:
        return SimpleNamespace(used=2**30, total=2**33)

    def _check(self) -> None:
        if not self.is_open:
            raise UninitializedError


def add_pci_gpu(
    devices: Path,
    address: str = "0000:01:00.0",
    *,
    status: str = "active",
    control: str = "auto",
    driver: str = "nvidia",
    vendor: str = "0x10de",
) -> Path:
    """A GPU's folder as sysfs has it, and that of the sound on the same card."""
    for kind, name in (("0x030000", address), ("0x040300", f"{address[:-1]}1")):
        folder = devices / name
        (folder / "power").mkdir(parents=True)
        (folder / "vendor").write_text(f"{vendor}\n")
        (folder / "class").write_text(f"{kind}\n")
        (folder / "power" / "control").write_text(f"{control}\n")
        (folder / "power" / "runtime_status").write_text(f"{status}\n" if kind == "0x030000" else "suspended\n")
        if driver:
            (devices / ".drivers" / driver).mkdir(parents=True, exist_ok=True)
            (folder / "driver").symlink_to(devices / ".drivers" / driver)
    return devices / address
