"""What torch.cuda.CUDAGraph does, on the operations that the pretend GPU sees: record once, replay on the same memory.

Recorded below autograd, so each Python number is what it was in the capture, as in a real graph: a rate that the host
keeps as a number, or a decision that it made, is replayed unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from tests.rehearsal.operands import tensors, with_tensors


@dataclass(frozen=True, slots=True)
class _Node:
    """One launch. outputs: those that are memory of the graph."""

    operation: Any
    args: Any
    kwargs: Any
    outputs: tuple[Tensor, ...]

    def replay(self) -> None:
        results = tensors(self.operation(*self.args, **self.kwargs))
        for own, result in zip(self.outputs, results, strict=True):
            if own.data_ptr() != result.data_ptr():
                own.copy_(result)


class Recording:
    """The launches of one capture. In a capture the device does nothing, so `end` undoes the computation: memory from
    before has its former values, and the graph's own memory has none (NaN) before the first replay."""

    def __init__(self) -> None:
        self._nodes: list[_Node] = []
        self._former: dict[int, tuple[Tensor, Tensor]] = {}
        """By storage: all of it, and a copy from before the capture."""
        self._own: dict[int, Tensor] = {}
        """By storage: memory that was allocated in the capture."""
        self.is_invalid = False
        """Whether something was refused in it, so that it cannot be ended either."""

    @property
    def launches(self) -> int:
        return len(self._nodes)

    def run(self, operation: Any, args: Any, kwargs: Any) -> Any:
        for tensor in _written(operation, args, kwargs):
            self._save(tensor)
        result = operation(*args, **kwargs)
        given = {_place(tensor) for tensor in tensors((args, kwargs))}
        outputs = tensors(result)
        for tensor in outputs:
            if _place(tensor) not in given:
                self.add_memory(tensor)
        # Detached: the form of a tensor may be changed in place later, that of its values now may not.
        self._nodes.append(_Node(operation, *_detached((args, kwargs)), tuple(_detached(outputs))))
        return result

    def add_constant(self, numbers: Tensor) -> None:
        """Memory that a kernel fills with the same values each time."""
        self.add_memory(numbers)
        self._nodes.append(_Node(torch.ops.aten.copy_.default, (numbers.detach(), numbers.clone()), {}, (numbers,)))

    def add_memory(self, tensor: Tensor) -> None:
        self._own[_place(tensor)] = tensor.detach()

    def end(self) -> None:
        for whole, former in self._former.values():
            whole.copy_(former)
        for tensor in self._own.values():
            if tensor.is_floating_point():
                tensor.fill_(torch.nan)

    def replay(self) -> None:
        with torch.no_grad():
            for node in self._nodes:
                node.replay()

    def _save(self, tensor: Tensor) -> None:
        place = _place(tensor)
        if place not in self._own and place not in self._former:
            whole = torch.empty(0, dtype=tensor.dtype).set_(tensor.untyped_storage())
            self._former[place] = whole, whole.clone()


def _written(operation: Any, args: Any, kwargs: Any) -> Iterator[Tensor]:
    """The operands that an operation changes, by its schema."""
    for index, argument in enumerate(operation._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            value = args[index] if index < len(args) else kwargs.get(argument.name)
            yield from tensors(value)


def _place(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def _detached(values: Any) -> Any:
    return with_tensors(values, Tensor.detach)
