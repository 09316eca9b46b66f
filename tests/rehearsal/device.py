"""A pretend GPU: what the CUDA branches of the engine can be rehearsed on without one.

A `GpuTensor` says that it is on cuda:0, and has its numbers in the memory of the CPU. `PretendGpu` runs each operation
on those numbers. It refuses what CUDA refuses: operands on two devices, and in a capture each read and each upload. It
counts what CUDA does without a word: launches, waits of the host, uploads. Speed, kernels, streams, the allocator and
NCCL are not rehearsed.

Written for torch 2.13.0. It depends on wrapper subclasses (`Tensor._make_wrapper_subclass`) and on the names that
`tests.rehearsal.installing` replaces; where a version of torch lacks one of those, the rehearsal is skipped with a
sentence.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.utils._python_dispatch import return_and_correct_aliasing

from tests.rehearsal.graph import Recording
from tests.rehearsal.operands import tensors, with_tensors

aten = torch.ops.aten
CUDA = torch.device("cuda", 0)
READ = "read"
_NOT_IN_A_CAPTURE = "CUDA error: operation not permitted when stream is capturing"
_READS = frozenset({aten._local_scalar_dense.default, aten.equal.default})
_WAITS = frozenset({aten.nonzero.default, aten.masked_select.default, aten._unique2.default})
"""The size of their result is known only on the device."""
_MEMORY_ONLY = frozenset({"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "_unsafe_view"})
_FORM_ONLY = frozenset({"unsqueeze_", "squeeze_", "transpose_", "t_", "as_strided_", "detach_", "set_", "resize_"})


class GpuTensor(torch.Tensor):
    """A tensor on the pretend GPU. numbers: an ordinary tensor with the values."""

    numbers: Tensor
    gpu: PretendGpu

    @staticmethod
    def __new__(cls, numbers: Tensor, gpu: PretendGpu) -> GpuTensor:
        facts = {"strides": numbers.stride(), "storage_offset": numbers.storage_offset(), "dtype": numbers.dtype}
        own: GpuTensor = torch.Tensor._make_wrapper_subclass(cls, numbers.size(), device="cpu", **facts)  # type: ignore[attr-defined]
        own.numbers = numbers
        own.gpu = gpu
        return own

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]
    device = property(lambda self: CUDA)  # type: ignore[assignment]
    is_cuda = property(lambda self: True)  # type: ignore[assignment]

    @classmethod
    def __torch_dispatch__(cls, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        gpu = next(tensor.gpu for tensor in tensors((args, kwargs)) if isinstance(tensor, GpuTensor))
        return gpu.run(operation, args, kwargs or {})

    @property
    def data(self) -> Tensor:  # type: ignore[override]
        return torch.Tensor.data.__get__(self)  # type: ignore[attr-defined, no-any-return]

    @data.setter
    def data(self, other: GpuTensor) -> None:
        torch.Tensor.data.__set__(self, other)  # type: ignore[attr-defined]
        self.numbers = other.numbers  # torch exchanges only what its C++ part knows

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if id(self) not in memo:
            copied = GpuTensor(self.numbers.detach().clone(), self.gpu)
            is_parameter = isinstance(self, torch.nn.Parameter)
            memo[id(self)] = torch.nn.Parameter(copied, self.requires_grad) if is_parameter else copied
        return memo[id(self)]  # type: ignore[no-any-return]

    def __repr__(self, *_: Any, **__: Any) -> str:
        return f"GpuTensor{tuple(self.shape)}"

    def cpu(self, *_: Any, **__: Any) -> Tensor:
        return self.gpu.download(self)

    def tolist(self) -> Any:
        return self.gpu.download(self).tolist()

    def numpy(self, *_: Any, **__: Any) -> Any:
        raise TypeError("can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() first")


class PretendGpu:
    """Runs operations, counts them, and records those of a capture."""

    current: ClassVar[PretendGpu | None] = None
    """The installed one."""

    def __init__(self) -> None:
        self.launches: Counter[str] = Counter()
        self.waits: list[str] = []
        self.uploads = self.pageable_uploads = 0
        self._pinned: set[int] = set()
        """Storages."""
        self.unfinished: set[object] = set()
        """Events that the host has not waited for."""
        self.calls: list[str] = []
        """Of the CUDA runtime, as far as the order matters."""
        self.stream = "default"
        self.recording: Recording | None = None
        self.before_launch: Callable[[str], None] | None = None
        """Called with the name of each operation; raises what the device would."""

    def forget_counts(self) -> None:
        self.launches.clear()
        self.waits.clear()
        self.uploads = self.pageable_uploads = 0

    def run(self, operation: Any, args: Any, kwargs: Any) -> Any:
        given = tensors((args, kwargs))
        if operation is aten.copy_.default and type(args[0]) is Tensor:
            self.wait("copy to the host")
            return operation(args[0], args[1].numbers)
        is_upload = self._is_upload(operation, given)
        if operation in _READS or operation in _WAITS:
            self.wait(READ)
        own_args, own_kwargs = with_tensors((args, kwargs), self._operand)
        if operation in _READS:
            return operation(*own_args, **own_kwargs)
        result = operation(*own_args) if is_upload else self._launch(operation, own_args, own_kwargs)
        former = {id(tensor.numbers): tensor for tensor in given if isinstance(tensor, GpuTensor)}
        placed = with_tensors(
            result, lambda tensor: former[id(tensor)] if id(tensor) in former else GpuTensor(tensor, self)
        )
        is_in_place = operation.overloadpacket.__name__ in _FORM_ONLY
        return return_and_correct_aliasing(operation, args, kwargs, placed) if is_in_place else placed

    def wait(self, reason: str) -> None:
        """The host waits for the device."""
        self.waits.append(reason)
        self.unfinished.clear()
        self.refuse_in_a_capture()

    def upload(self, numbers: Tensor) -> GpuTensor:
        self._count_upload(numbers)
        return GpuTensor(numbers.detach().clone(), self)

    def pin(self, tensor: Tensor) -> Tensor:
        """Memory of the host from which a copy need not wait for the stream."""
        self._pinned.add(tensor.untyped_storage().data_ptr())
        return tensor

    def _count_upload(self, numbers: Tensor) -> None:
        self.uploads += 1
        self.pageable_uploads += numbers.untyped_storage().data_ptr() not in self._pinned
        self.refuse_in_a_capture()

    def download(self, tensor: GpuTensor) -> Tensor:
        self.wait("copy to the host")
        return tensor.numbers.detach().clone()

    def place(self, name: str, numbers: Tensor) -> GpuTensor:
        """The result of a factory that fills memory on the device."""
        if name not in _MEMORY_ONLY:
            self.launch(name)
        if self.recording is not None:
            self.recording.add_constant(numbers)
        return GpuTensor(numbers, self)

    def refuse_in_a_capture(self) -> None:
        if self.recording is not None:
            self.recording.is_invalid = True
            raise RuntimeError(_NOT_IN_A_CAPTURE)

    def _is_upload(self, operation: Any, given: list[Tensor]) -> bool:
        """Otherwise a tensor of the host is refused, but for a single number."""
        hosts = [tensor for tensor in given if not isinstance(tensor, GpuTensor)]
        if operation is aten.copy_.default and hosts:
            self._count_upload(hosts[0])
            return True
        if any(host.dim() for host in hosts):
            raise RuntimeError(
                f"Expected all tensors to be on the same device, but found cuda:0 and cpu in {operation}"
            )
        return False

    def _operand(self, tensor: Tensor) -> Tensor:
        """A number of the host, also one in a tensor, is part of the launch: a graph replays the one of its capture."""
        if isinstance(tensor, GpuTensor):
            return tensor.numbers
        return tensor.clone() if self.recording is not None else tensor

    def _launch(self, operation: Any, args: Any, kwargs: Any) -> Any:
        name = operation.overloadpacket.__name__
        if _changes_the_form_alone(operation, name):
            result = operation(*args, **kwargs)
            if self.recording is not None and name in _MEMORY_ONLY:
                self.recording.add_memory(result)
            return result
        self.launch(name)
        if self.recording is None:
            return operation(*args, **kwargs)
        return self.recording.run(operation, args, kwargs)

    def launch(self, name: str) -> None:
        if self.before_launch is not None:
            self.before_launch(name)
        self.launches[name] += 1


@functools.cache
def _changes_the_form_alone(operation: Any, name: str) -> bool:
    """Whether no kernel runs: the result is a view of an operand, or memory without values."""
    if name in _MEMORY_ONLY or name in _FORM_ONLY:
        return True
    returned = operation._schema.returns
    return bool(returned) and all(value.alias_info is not None and not value.alias_info.is_write for value in returned)
