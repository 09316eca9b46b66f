"""A whole step as one CUDA graph: for small models the launches of kernels take longer than the kernels.

What a captured step reads anew at each replay lives in tensors that stay where they are: the batch, the rate, the clip
threshold, the spike limit, and the flag that skips a step. A graph that does not do what the eager step does is not
used: each one is held against an eager step first (PyTorch's notes on CUDA graphs name the silent failures).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor

from core.training.engine.objective import DeviceBatch

Update = Callable[[DeviceBatch], Tensor]

_EAGER_FIRST = 3
"""Steps of the same shape before the capture: libraries set themselves up, and the optimizer makes its state."""
_TOLERANCE = 1e-3
_log = logging.getLogger("ghostcandle.training")


class Backend(Protocol):
    """Records what a function does on a device."""

    def capture(self, run: Callable[[], Tensor]) -> Callable[[], Tensor]:
        """Record one call without doing it. Returns what does it again. Raises RuntimeError."""
        ...


class CudaGraphs:
    """torch.cuda.graph, on a stream of its own."""

    def capture(self, run: Callable[[], Tensor]) -> Callable[[], Tensor]:
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):
            output = run()

        def replay() -> Tensor:
            graph.replay()
            return output

        return replay


class GraphedUpdate:
    """Does a step by a graph where there is one that fits, else eagerly.

    live: all tensors that a step changes; they are copied for the comparison with an eager step.
    clear: lets go of gradients, which a second pass would add to.
    """

    def __init__(
        self, update: Update, live: Callable[[], list[Tensor]], clear: Callable[[], None], backend: Backend
    ) -> None:
        self._update = update
        self._live = live
        self._clear = clear
        self._backend = backend
        self._replay: Callable[[], Tensor] | None = None
        self._inputs: DeviceBatch | None = None
        self._shape: tuple[torch.Size, ...] | None = None
        self._seen = 0
        self.refused_because: str | None = None
        """Why no graph is used, once one was tried."""

    @property
    def is_captured(self) -> bool:
        return self._replay is not None

    def __call__(self, batch: DeviceBatch) -> Tensor:
        shape = tuple(tensor.shape for tensor in batch.tensors())
        if shape != self._shape:
            self.forget()
            self._shape = shape
        if self._replay is not None:
            self._fill(batch)
            return self._replay()
        self._seen += 1
        if self._seen <= _EAGER_FIRST or self.refused_because is not None:
            return self._update(batch)
        return self._try_capture(batch)

    def forget(self) -> None:
        """The tensors that the graph knows are no longer those of the engine: after a restore, or other pieces."""
        self._replay = self._inputs = self._shape = None
        self._seen = 0

    def _try_capture(self, batch: DeviceBatch) -> Tensor:
        """Capture, compare one replay with an eager step from the same state, and keep the eager one's result."""
        inputs = DeviceBatch(*(tensor.clone() for tensor in batch.tensors()))
        before = [tensor.clone() for tensor in self._live()]
        try:
            replay = self._backend.capture(lambda: self._update(inputs))
            self._clear()
            graphed = replay().clone()
        except RuntimeError as error:
            self._put_back(before)
            return self._refuse(batch, f"it could not be captured ({str(error).splitlines()[0]})")
        graphed_state = [tensor.clone() for tensor in self._live()]
        self._put_back(before)
        eager = self._update(batch)
        if not _agree([graphed, *graphed_state], [eager, *self._live()]):
            self.refused_because = "its step came out otherwise than the eager one"
            _log.warning("No CUDA graph is used: %s.", self.refused_because)
            return eager
        self._replay, self._inputs = replay, inputs
        return eager

    def _refuse(self, batch: DeviceBatch, because: str) -> Tensor:
        self.refused_because = because
        _log.warning("No CUDA graph is used: %s.", because)
        return self._update(batch)

    def _fill(self, batch: DeviceBatch) -> None:
        assert self._inputs is not None
        for own, given in zip(self._inputs.tensors(), batch.tensors(), strict=True):
            own.copy_(given, non_blocking=True)

    def _put_back(self, before: list[Tensor]) -> None:
        self._clear()
        for tensor, former in zip(self._live(), before, strict=True):
            tensor.copy_(former)


def _agree(graphed: list[Tensor], eager: list[Tensor]) -> bool:
    return all(
        torch.allclose(one.double(), other.double(), rtol=_TOLERANCE, atol=_TOLERANCE, equal_nan=True)
        for one, other in zip(graphed, eager, strict=True)
    )
