"""The machine's load in words."""

from __future__ import annotations

from core.machine.readings import GpuReading, MachineReading
from desktop.ui.formatting import MISSING, format_percent
from desktop.ui.translation import translate

_HOT_C = 87.0
"""NVIDIA's GPUs begin to slow down here, by their data sheets at 87 to 93."""
_FULL = 0.92


def load_lines(reading: MachineReading) -> list[tuple[str, bool]]:
    """Each GPU, the cores, and the memory, and whether it is a warning: hot, or nearly full."""
    several = len(reading.gpus) > 1
    lines = [
        _of_gpu(gpu, translate("Panels", "GPU {0}").format(number) if several else translate("Panels", "GPU"))
        for number, gpu in enumerate(reading.gpus)
    ]
    lines.append((translate("Panels", "CPU {0}").format(format_percent(reading.cpu_percent / 100.0, 0)), False))
    used, total = reading.memory_used_bytes, reading.memory_total_bytes
    text = translate("Panels", "Memory {0} of {1} GB").format(_gigabytes(used), _gigabytes(total))
    return [*lines, (text, used > _FULL * total)]


def _of_gpu(gpu: GpuReading, title: str) -> tuple[str, bool]:
    if gpu.is_asleep:
        return translate("Panels", "{0} asleep: {1}").format(title, gpu.name), False
    used, total, heat = gpu.memory_used_bytes, gpu.memory_total_bytes, gpu.temperature_c
    busy = MISSING if gpu.utilisation_percent is None else format_percent(gpu.utilisation_percent / 100.0, 0)
    warmth = MISSING if heat is None else f"{heat:.0f} °C"
    memory = (
        MISSING
        if used is None or total is None
        else translate("Panels", "{0} of {1} GB").format(_gigabytes(used), _gigabytes(total))
    )
    is_hot = heat is not None and heat >= _HOT_C
    is_full = used is not None and total is not None and used > _FULL * total
    return f"{title} {busy}  {warmth}  {memory}", is_hot or is_full


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.1f}"
