"""A trainer that breaks on purpose: real signals, real heap corruption, real exceptions, at chosen training passes.

    schedule(root, [Fault(step=20, kind=FaultKind.ABORT)])
    ProcessHost(spec, clock, entry=entry)          # a child that breaks
    with installed(root): ThreadHost(spec, clock)  # the same, in this process

Faults come out of a global forward hook of torch, so nothing of the trainer is replaced. A fault's `step` counts the
training passes of the whole model that were begun in this data folder, over all processes: a pass that is done again
after a restart counts again, so each fault happens once.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import mmap
import os
import signal
import struct
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_forward_hook

from core.training.engine.samples import Batch
from core.training.hosting.trainer_process import run_trainer
from core.training.online import session
from core.training.online.trainer_spec import SessionSpec
from models.transformer import CandleTransformer

if sys.platform != "win32":
    import resource

_COUNT = struct.Struct("q")
_LARGE_CHUNK = 4096
"""Beyond the C library's per-thread cache, whose check reports another error."""
_SPIKE = 100.0


class FaultKind(StrEnum):
    """What breaks. The first group ends or stops the process, the second raises, the third spoils numbers. The fourth
    strikes the forecasts that follow its training pass, each time they are tried."""

    KILL = "kill"
    TERMINATE = "terminate"
    ABORT = "abort"
    DOUBLE_FREE = "double free"
    SEGFAULT = "segfault"
    HANG = "hang"
    STOP = "stop"

    RAISE = "raise"
    STICKY = "sticky"
    GONE = "gone"
    OUT_OF_MEMORY = "out of memory"
    ALLOCATE = "allocate far too much"

    BAD_BATCH = "nan in the batch"
    NAN = "nan in the output"
    INFINITE = "infinity in the output"
    NAN_GRADIENTS = "nan in the gradients"
    NAN_PARAMETER = "nan in a parameter"
    IN_PLACE = "changed in place"
    SPIKE = "spike"

    FORECAST_NAN = "nan in the forecast"
    FORECAST_OUT_OF_MEMORY = "out of memory in the forecast"


ENDS_PROCESS = (
    FaultKind.KILL,
    FaultKind.ABORT,
    FaultKind.DOUBLE_FREE,
    FaultKind.SEGFAULT,
    FaultKind.HANG,
    FaultKind.STOP,
)


_IN_FORECAST = (FaultKind.FORECAST_NAN, FaultKind.FORECAST_OUT_OF_MEMORY)


@dataclass(frozen=True, slots=True)
class Fault:
    """step: which training pass it strikes, from 1; `times` passes in a row."""

    step: int
    kind: FaultKind
    times: int = 1


def schedule(root: Path, faults: Sequence[Fault]) -> None:
    """Set the faults of the trainers of this data folder. Replaces earlier ones; the count continues."""
    root.mkdir(parents=True, exist_ok=True)
    _schedule_file(root).write_text(json.dumps([asdict(fault) for fault in faults]), encoding="utf-8")


def random_schedule(seed: int, passes: int, spacing: int, kinds: Sequence[FaultKind]) -> list[Fault]:
    """Each kind in turn at a random moment of a separate stretch of `spacing` passes, at least half a stretch apart."""
    generator = np.random.default_rng(seed)
    starts = range(spacing, passes - spacing, spacing)
    return [
        Fault(start + int(generator.integers(spacing // 2)), kinds[index % len(kinds)])
        for index, start in enumerate(starts)
    ]


def passes_so_far(root: Path) -> int:
    """How many training passes were begun in this data folder."""
    file = _count_file(root)
    return int(_COUNT.unpack(file.read_bytes())[0]) if file.exists() else 0


def entry(spec: SessionSpec, pipe: Connection) -> None:
    """The main function of a child that breaks as scheduled; else it is the real one."""
    leave_no_core_file()
    with installed(spec.root):
        run_trainer(spec, pipe)


def leave_no_core_file() -> None:
    """A process that crashes on purpose leaves no memory image behind."""
    if sys.platform != "win32":
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


@contextlib.contextmanager
def installed(root: Path) -> Iterator[None]:
    """Break as scheduled in this process."""
    saboteur = _Saboteur(root)
    handle = register_module_forward_hook(saboteur.on_forward)  # type: ignore[arg-type]  # its stub lacks the result
    build_batch = session.build_batch
    session.build_batch = saboteur.on_batch(build_batch)
    try:
        yield
    finally:
        session.build_batch = build_batch
        handle.remove()
        saboteur.close()


class _Saboteur:
    """Counts training passes in a shared mapping, which outlives a killed process, and strikes when it is time."""

    def __init__(self, root: Path) -> None:
        plan = json.loads(_schedule_file(root).read_text(encoding="utf-8"))
        faults = [Fault(each["step"], FaultKind(each["kind"]), each["times"]) for each in plan]
        self._kinds = {fault.step + turn: fault.kind for fault in faults for turn in range(fault.times)}
        with _count_file(root).open("a+b") as file:
            file.truncate(_COUNT.size)
            self._count = mmap.mmap(file.fileno(), _COUNT.size)

    def close(self) -> None:
        self._count.close()

    def on_forward(self, module: nn.Module, _inputs: object, output: object) -> Tensor | None:
        """The hook: None leaves the output as it is."""
        if type(module) is not CandleTransformer:
            return None
        assert isinstance(output, Tensor)
        kind = self._begin_pass() if module.training else self._kinds.get(self._passes)
        if (kind in _IN_FORECAST) is module.training:
            return None
        return None if kind is None else _STRIKES[kind](module, output)

    def on_batch(self, build_batch: Callable[..., Batch]) -> Callable[..., Batch]:
        """A batch whose pass is to be struck by BAD_BATCH is spoiled, and counts as a pass: it never becomes one."""

        def spoiled(*arguments: Any) -> Batch:
            batch = build_batch(*arguments)
            if self._kinds.get(self._passes + 1) is not FaultKind.BAD_BATCH or not batch.weights.any():
                return batch
            self._begin_pass()
            return replace(batch, features=np.full_like(batch.features, np.nan))

        return spoiled

    @property
    def _passes(self) -> int:
        return int(_COUNT.unpack_from(self._count)[0])

    def _begin_pass(self) -> FaultKind | None:
        count = self._passes + 1
        _COUNT.pack_into(self._count, 0, count)
        return self._kinds.get(count)


def _schedule_file(root: Path) -> Path:
    return root / "faults.json"


def _count_file(root: Path) -> Path:
    return root / "training-passes"


def _send(number: int) -> None:
    os.kill(os.getpid(), number)
    time.sleep(3600.0)  # a stopped process resumes here and is asked to end


def _corrupt_heap() -> None:
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    chunk, _guard = libc.malloc(_LARGE_CHUNK), libc.malloc(_LARGE_CHUNK)  # the guard keeps it from joining the top
    libc.free(chunk)
    libc.free(chunk)


def _device_error(code: int, text: str) -> Exception:
    """As torch makes it: the number is set after the text."""
    error = torch.AcceleratorError(f"CUDA error: {text}\nCompile with TORCH_USE_CUDA_DSA to enable assertions.")
    error.error_code = code  # type: ignore[attr-defined]
    return error


def _raise(error: Exception) -> None:
    raise error


def _spoil(output: Tensor, value: float) -> Tensor:
    return output + torch.where(torch.arange(output.numel()).reshape(output.shape) == 0, value, 0.0)


def _spoil_gradients(output: Tensor) -> Tensor:
    spoiled = output.clone()
    spoiled.register_hook(lambda gradient: gradient * torch.nan)  # type: ignore[no-untyped-call]
    return spoiled


def _spoil_parameter(module: nn.Module) -> None:
    with torch.no_grad():
        next(module.parameters()).view(-1)[0] = torch.nan


def _change_in_place(output: Tensor) -> Tensor:
    factor = output * 1.0
    product = factor * factor  # the backward pass needs `factor` as it was
    factor.add_(1.0)
    return product


def _ends(act: Callable[[], None]) -> Callable[[nn.Module, Tensor], None]:
    return lambda _module, _output: act()


def _signals(name: str) -> Callable[[nn.Module, Tensor], None]:
    return _ends(lambda: _send(getattr(signal, name)))


_STRIKES: dict[FaultKind, Callable[[nn.Module, Tensor], Tensor | None]] = {
    FaultKind.KILL: _signals("SIGKILL"),
    FaultKind.TERMINATE: _ends(lambda: os.kill(os.getpid(), signal.SIGTERM)),
    FaultKind.STOP: _signals("SIGSTOP"),
    FaultKind.ABORT: _ends(os.abort),
    FaultKind.DOUBLE_FREE: _ends(_corrupt_heap),
    FaultKind.SEGFAULT: _ends(lambda: _raise(RuntimeError(str(ctypes.string_at(0))))),
    FaultKind.HANG: _ends(lambda: time.sleep(3600.0)),
    FaultKind.RAISE: _ends(lambda: _raise(ValueError("raised on purpose"))),
    FaultKind.STICKY: _ends(lambda: _raise(_device_error(700, "an illegal memory access was encountered"))),
    FaultKind.GONE: _ends(lambda: _raise(_device_error(46, "CUDA-capable device(s) is/are busy or unavailable"))),
    FaultKind.OUT_OF_MEMORY: _ends(lambda: _raise(torch.OutOfMemoryError("CUDA out of memory."))),
    FaultKind.ALLOCATE: lambda _module, _output: torch.empty(1 << 58),
    FaultKind.NAN: lambda _module, output: _spoil(output, torch.nan),
    FaultKind.INFINITE: lambda _module, output: _spoil(output, torch.inf),
    FaultKind.NAN_GRADIENTS: lambda _module, output: _spoil_gradients(output),
    FaultKind.NAN_PARAMETER: lambda module, _output: _spoil_parameter(module),
    FaultKind.IN_PLACE: lambda _module, output: _change_in_place(output),
    FaultKind.SPIKE: lambda _module, output: output * _SPIKE,
    FaultKind.FORECAST_NAN: lambda _module, output: _spoil(output, torch.nan),
    FaultKind.FORECAST_OUT_OF_MEMORY: lambda _module, _output: torch.empty(1 << 58),
}
