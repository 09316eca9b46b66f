"""Puts the pretend GPU into torch, for the thread of a `with` block."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from typing import Any
from unittest import mock

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from tests.rehearsal.device import CUDA, GpuTensor, PretendGpu
from tests.rehearsal.graph import Recording

NAME = "Pretend GPU"
_UPLOADING = frozenset({torch.tensor, torch.as_tensor, torch.scalar_tensor})
"""Factories whose values are the host's; the others fill memory by a kernel."""
_OF_CUDA_BUILDS = frozenset({"torch._C._host_emptyCache"})
_FIRST_SEED = 67280421310721
"""The default seed of torch's generators."""


class _Graph:
    """torch.cuda.CUDAGraph, used by the own torch.cuda.graph of the wheel."""

    def __init__(self, keep_graph: bool = False) -> None:
        self._gpu = _installed()
        self._recording: Recording | None = None

    def capture_begin(self, *_: Any, capture_error_mode: str = "global", **__: Any) -> None:
        if self._gpu.stream == "default":
            raise RuntimeError("CUDA graphs must be captured on a non-default stream.")
        self._gpu.calls.append(f"capture {capture_error_mode}")
        self._gpu.recording = self._recording = Recording()

    def capture_end(self) -> None:
        assert self._recording is not None, "a capture has begun"
        self._gpu.recording = None
        self._recording.end()
        if self._recording.is_invalid:
            raise RuntimeError("CUDA error: operation failed due to a previous error during capture")

    def replay(self) -> None:
        assert self._recording is not None, "a graph was captured"
        self._gpu.calls.append(f"replay of {self._recording.launches} nodes")
        self._gpu.launch("graph")
        self._recording.replay()


class _Stream:
    def __init__(self, name: str = "side", *_: Any, **__: Any) -> None:
        self.name = name

    def wait_stream(self, other: _Stream) -> None: ...

    def is_capturing(self) -> bool:
        return _installed().recording is not None


class _Event:
    """Recorded after all that was launched; the host waits for it unless it has waited for something since."""

    def __init__(self) -> None:
        self._gpu = _installed()

    def record(self) -> None:
        self._gpu.unfinished.add(self)

    def synchronize(self) -> None:
        if self in self._gpu.unfinished:
            self._gpu.wait("event")


class _OnStream:
    """torch.cuda.stream. No generator: collecting one that was not left would set the former stream."""

    def __init__(self, stream: _Stream) -> None:
        self._gpu, self._stream = _installed(), stream

    def __enter__(self) -> None:
        self._former, self._gpu.stream = self._gpu.stream, self._stream.name

    def __exit__(self, *_: object) -> None:
        self._gpu.stream = self._former


class _Generator(torch.Generator):
    """A generator whose state is a seed and an offset, as on CUDA. A draw begins where those are."""

    def __new__(cls, device: Any = "cpu") -> Any:
        is_cuda = torch.device(device).type == "cuda"
        return super().__new__(cls) if is_cuda else torch._C.Generator(device)

    def __init__(self, device: Any = "cpu") -> None:
        self.manual_seed(_FIRST_SEED)

    device = property(lambda self: CUDA)  # type: ignore[assignment]

    def manual_seed(self, seed: int) -> _Generator:
        self._seed, self._offset = seed % 2**64, 0
        return self

    def next_draw(self) -> None:
        state = hashlib.sha256(f"{self._seed} {self._offset}".encode()).digest()
        super().manual_seed(int.from_bytes(state[:8], "little"))
        self._offset += 1

    def get_state(self) -> Tensor:
        state = self._seed.to_bytes(8, "little") + self._offset.to_bytes(8, "little")
        return torch.frombuffer(bytearray(state), dtype=torch.uint8)

    def set_state(self, state: Tensor) -> _Generator:  # type: ignore[override]
        if isinstance(state, GpuTensor) or state.numel() != 16:
            raise RuntimeError("RNG state is wrong size")
        numbers = bytes(state.tolist())
        self._seed, self._offset = int.from_bytes(numbers[:8], "little"), int.from_bytes(numbers[8:], "little")
        return self


class _Placing(TorchFunctionMode):
    """Sees a device in a call before torch's C++ does, which has no CUDA."""

    def __init__(self, gpu: PretendGpu) -> None:
        super().__init__()
        self._gpu = gpu

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if not kwargs and len(args) < 2:  # most calls: properties, and methods without arguments
            return function(*args)
        kwargs = dict(kwargs or {})
        if kwargs.pop("pin_memory", False):
            return self._gpu.pin(function(*args, **kwargs))
        if isinstance(generator := kwargs.get("generator"), _Generator):
            generator.next_draw()
        device = _device_in((*args, kwargs.get("device")))
        if device is None or function in (torch.device, torch._C._nn._parse_to):
            return function(*args, **kwargs)
        if function is torch.Tensor.to:
            return self._move(args[0], device, (*args[1:], *kwargs.values()))
        args = tuple(torch.device("cpu") if _is_device(value) else value for value in args)
        if "device" in kwargs:
            kwargs["device"] = torch.device("cpu")
        result = function(*args, **kwargs)
        if device.type == "cpu" or type(result) is not Tensor:
            return result
        return self._gpu.upload(result) if function in _UPLOADING else self._gpu.place(function.__name__, result)

    def _move(self, tensor: Tensor, device: torch.device, options: tuple[Any, ...]) -> Tensor:
        dtype = next((value for value in options if isinstance(value, torch.dtype)), tensor.dtype)
        if isinstance(tensor, GpuTensor) == (device.type == "cuda"):
            return torch.Tensor.to(tensor, dtype)
        if device.type == "cpu":
            return torch.Tensor.to(_Move.apply(tensor, self._gpu), dtype)
        return _Move.apply(torch.Tensor.to(tensor, dtype), self._gpu)  # type: ignore[no-any-return]


class _Move(torch.autograd.Function):
    """To the other device, and its gradient back."""

    @staticmethod
    def forward(context: Any, tensor: Tensor, gpu: PretendGpu) -> Tensor:
        context.gpu = gpu
        return gpu.download(tensor) if isinstance(tensor, GpuTensor) else gpu.upload(tensor)

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> Any:
        return _Move.forward(context, gradient, context.gpu), None


@contextlib.contextmanager
def pretend_gpu() -> Iterator[PretendGpu]:
    """torch as if it had one GPU."""
    gpu = PretendGpu()
    with contextlib.ExitStack() as stack:
        for name, value in _replacements(gpu).items():
            stack.enter_context(mock.patch(name, value, create=name in _OF_CUDA_BUILDS))
        stack.callback(torch.__future__.set_overwrite_module_params_on_conversion, False)
        torch.__future__.set_overwrite_module_params_on_conversion(True)  # a parameter cannot become a wrapper in place
        stack.callback(setattr, PretendGpu, "current", PretendGpu.current)
        PretendGpu.current = gpu
        stack.enter_context(_Placing(gpu))
        yield gpu


def missing() -> list[str]:
    """The names that the rehearsal replaces and this version of torch lacks."""
    return [name for name in _replacements(PretendGpu()) if not _exists(name)]


def _replacements(gpu: PretendGpu) -> dict[str, Any]:
    autocast, is_autocast_enabled = torch.autocast, torch.is_autocast_enabled
    return {
        "torch.cuda.is_available": lambda: True,
        "torch.cuda.is_initialized": lambda: True,
        "torch.cuda._initialized": True,
        "torch.cuda._lazy_init": lambda: None,
        "torch.cuda.device_count": lambda: 1,
        "torch.cuda.current_device": lambda: 0,
        "torch.cuda.get_device_name": lambda *_: NAME,
        "torch.cuda.is_bf16_supported": lambda *_, **__: True,
        "torch.cuda.is_current_stream_capturing": lambda: gpu.recording is not None,
        "torch.cuda.synchronize": lambda *_: gpu.wait("synchronize"),
        "torch.cuda.empty_cache": lambda: gpu.calls.append("empty cache"),
        "torch.cuda.current_stream": lambda *_: _Stream(gpu.stream),
        "torch.cuda.set_stream": lambda stream: setattr(gpu, "stream", stream.name),
        "torch.cuda.stream": _OnStream,
        "torch.cuda.Stream": _Stream,
        "torch.cuda.Event": _Event,
        "torch.cuda.CUDAGraph": _Graph,
        "torch.cuda.graph.default_capture_stream": None,
        "torch.cuda.get_rng_state": lambda *_: _rng_state(gpu),
        "torch.cuda.set_rng_state": lambda *_: gpu.refuse_in_a_capture(),
        "torch.cuda.default_generators": (_Generator("cuda"),),
        "torch.accelerator.current_accelerator": lambda *_, **__: CUDA,
        "torch.accelerator.current_stream": lambda *_: _Stream(gpu.stream),
        "torch.cuda.amp.common.amp_definitely_not_available": lambda: False,
        "torch.backends.cuda.is_built": lambda: True,
        "torch.backends.cudnn.is_acceptable": lambda _: False,
        "torch._C._host_emptyCache": lambda: None,
        "torch.Generator": _Generator,
        "torch.inference_mode": torch.no_grad,  # wrappers cannot be inference tensors
        "torch.autocast": lambda _, *args, **kwargs: autocast("cpu", *args, **kwargs),
        "torch.is_autocast_enabled": lambda *_: is_autocast_enabled("cpu"),
        "torch.optim.Optimizer._group_tensors_by_device_and_dtype": staticmethod(_grouped),
    }


def _exists(name: str) -> bool:
    holder: Any = torch
    for part in name.split(".")[1:]:
        if name not in _OF_CUDA_BUILDS and not hasattr(holder, part):
            return False
        holder = getattr(holder, part, None)
    return True


_group = torch.optim.Optimizer._group_tensors_by_device_and_dtype


def _grouped(lists: Any, with_indices: bool = False) -> Any:
    """torch's C++ groups by the device that it sees."""
    is_gpu = isinstance(lists[0][0], GpuTensor)
    groups = _group(lists, with_indices)
    return {(CUDA if is_gpu else device, dtype): group for (device, dtype), group in groups.items()}


def _rng_state(gpu: PretendGpu) -> Tensor:
    """Under a capture refused, as before torch 2.13 (pytorch issue 83148): the strictest of the supported versions."""
    gpu.refuse_in_a_capture()
    return torch.zeros(16, dtype=torch.uint8)


def _installed() -> PretendGpu:
    assert PretendGpu.current is not None, "used outside of `pretend_gpu`"
    return PretendGpu.current


def _is_device(value: Any) -> bool:
    return type(value) is torch.device or (type(value) is str and value.partition(":")[0] in ("cpu", "cuda"))


def _device_in(values: tuple[Any, ...]) -> torch.device | None:
    return next((torch.device(value) for value in values if _is_device(value)), None)
