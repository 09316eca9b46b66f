"""Python runs this at its start: the system is the one that FAKE_MACHINE describes."""

from __future__ import annotations

import json
import os
import platform

from core.machine import gpu_power

if "FAKE_MACHINE" in os.environ:
    _machine = json.loads(os.environ["FAKE_MACHINE"])
    platform.system = lambda: _machine["system"]
    platform.release = lambda: _machine["release"]
    if _machine["python"]:
        platform.python_version = lambda: _machine["python"]
    _has_pci_files = _machine["system"] == "Linux" and "microsoft" not in _machine["release"]
    _cards = [f"0000:0{number}:00.0" for number in range(len(_machine["gpus"]))] if _has_pci_files else []
    gpu_power.nvidia_gpus = lambda *_: tuple(
        gpu_power.GpuPower(card, "nvidia" if _machine["driver"] else "", may_sleep=False, is_asleep=False)
        for card in _cards
    )
