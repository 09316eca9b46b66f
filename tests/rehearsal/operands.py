"""The tensors among the operands and results of an operation: single ones, and in lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor


def tensors(value: Any) -> list[Tensor]:
    """All of them, in order. (torch's pytree does this for any structure, at several times the cost.)"""
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list | tuple):
        return []
    return [tensor for part in value for tensor in tensors(part)]


def with_tensors(value: Any, change: Callable[[Tensor], Any]) -> Any:
    """The same structure with each tensor changed."""
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, list | tuple):
        return type(value)(with_tensors(part, change) for part in value)
    if isinstance(value, dict):
        return {name: with_tensors(part, change) for name, part in value.items()}
    return value
