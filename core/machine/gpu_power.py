"""Reads which NVIDIA GPUs sleep from the files of Linux's PCI devices, without waking any.

Starting NVML resumes a suspended GPU, and an open NVML keeps it awake: measured with an RTX 5070 and an RTX 2000 Ada
(aristocratos/btop#1831, D-Brox/cosmic-ext-applet-system-monitor#38). Nothing is known except on Linux, nor in WSL2,
which uses the driver of Windows.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

PCI_DEVICES = Path("/sys/bus/pci/devices")
_NVIDIA = "0x10de"
_DISPLAY_CLASS = "0x03"
_ASLEEP = frozenset({"suspended", "suspending"})
"""Values of the kernel's runtime_status; the others are active, resuming, error and unsupported (its
drivers/base/power/sysfs.c)."""


@dataclass(frozen=True, slots=True)
class GpuPower:
    """One NVIDIA GPU by its PCI address, such as ``0000:01:00.0``."""

    address: str
    driver: str
    """The kernel module that has it: nvidia, nouveau, or none (empty)."""
    may_sleep: bool
    """Its power management suspends it when nothing uses it: the default of hybrid laptops alone."""
    is_asleep: bool


def nvidia_gpus(devices: Path = PCI_DEVICES) -> tuple[GpuPower, ...]:
    """All NVIDIA GPUs, by address; also those without a driver."""
    cards = (folder for folder in sorted(devices.glob("*")) if _read(folder / "vendor") == _NVIDIA)
    # A card's sound has the same vendor and another class.
    return tuple(_power(folder) for folder in cards if _read(folder / "class").startswith(_DISPLAY_CLASS))


def _power(folder: Path) -> GpuPower:
    link = folder / "driver"
    return GpuPower(
        address=folder.name,
        driver=link.resolve().name if link.exists() else "",
        may_sleep=_read(folder / "power" / "control") == "auto",
        is_asleep=_read(folder / "power" / "runtime_status") in _ASLEEP,
    )


def _read(file: Path) -> str:
    """The file's text; empty if it does not exist, or the device has just gone."""
    try:
        return file.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
