"""The number of CPU threads for training: measured once for a machine and a model, and then remembered.

More threads are often slower for a small model (64 wide, 2 layers, batch 16x64: 60 steps/s on one, 27 on two of two
cores), so it has to be measured. A run with a seed always uses one: then the sums are reproducible.
"""

from __future__ import annotations

import json
import logging
import platform
import statistics
from collections.abc import Callable
from pathlib import Path

import psutil
import torch

from core.domain.clock import Clock
from core.settings.tree import Settings
from core.training.engine.device import Device, choose_device, cpu_label
from core.training.engine.engine import TrainingEngine
from core.training.engine.samples import synthetic_batch, synthetic_reference
from core.training.hosting.opening import build_engine

_MOST = 8
_STEPS = 6
_WORTH_IT = 0.9
"""More threads are used only if a step then takes less than this share of the time."""
_log = logging.getLogger("ghostcandle.training")


def choose_threads(settings: Settings, cache: Path, clock: Clock) -> int:
    """The count for this machine and these settings. If `cache` does not have it, measures for about a second."""
    if settings.training.seed is not None:
        return 1
    if settings.training.threads:
        return settings.training.threads
    key = _key(settings)
    known = _read(cache)
    if key not in known:
        known[key] = _measured(settings, clock)
        _log.info("CPU threads measured: %d.", known[key])
        _write(cache, known)
    return known[key]


def device_with_threads(settings: Settings, cache: Path, clock: Clock) -> Device:
    """The device for training; on a CPU, also sets the number of threads."""
    device = choose_device(settings.training.device)
    if device.torch_device.type != "cpu":
        return device
    threads = choose_threads(settings, cache, clock)
    torch.set_num_threads(threads)
    return Device(device.torch_device, cpu_label(threads))


def fastest(candidates: list[int], seconds_of: Callable[[int], float]) -> int:
    """The best count; a larger one must be clearly faster. Stops at the first slower one."""
    best, best_s = candidates[0], seconds_of(candidates[0])
    for count in candidates[1:]:
        seconds = seconds_of(count)
        if seconds > best_s:
            break
        if seconds < best_s * _WORTH_IT:
            best, best_s = count, seconds
    return best


def _measured(settings: Settings, clock: Clock) -> int:
    engine = build_engine(settings, torch.device("cpu"), seed=0)
    cores = psutil.cpu_count(logical=False) or 1
    candidates = [count for count in (1, 2, 4, _MOST) if count <= cores]
    return fastest(candidates, lambda count: _seconds_per_step(engine, settings, count, clock))


def _seconds_per_step(engine: TrainingEngine, settings: Settings, threads: int, clock: Clock) -> float:
    torch.set_num_threads(threads)
    batch = synthetic_batch(settings.model, settings.training.replay_samples + 1)
    reference = synthetic_reference(settings.model)
    times = []
    for _ in range(_STEPS):
        started_s = clock.monotonic_s()
        engine.step(batch, reference)
        times.append(clock.monotonic_s() - started_s)
    return statistics.median(times[1:])


def _key(settings: Settings) -> str:
    model, training = settings.model, settings.training
    machine = f"{platform.node()}, {platform.processor() or platform.machine()}, {psutil.cpu_count()} CPUs"
    shape = f"{model.width}x{model.layers}x{model.context}, batch {training.replay_samples + 1}, {training.precision}"
    return f"{machine}, torch {torch.__version__}, {shape}"


def _read(cache: Path) -> dict[str, int]:
    """A missing or broken file only causes another measurement."""
    try:
        known = json.loads(cache.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(known, dict):
        return {}
    return {key: count for key, count in known.items() if isinstance(count, int) and 1 <= count <= _MOST}


def _write(cache: Path, known: dict[str, int]) -> None:
    try:
        cache.write_text(json.dumps(known, indent=2), encoding="utf-8")
    except OSError as error:
        _log.warning("The measured thread count could not be saved (%s); it is measured again next time.", error)
