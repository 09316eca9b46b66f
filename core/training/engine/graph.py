"""A whole step as one CUDA graph: for small models the launches of kernels take longer than the kernels.

What a captured step reads anew at each replay lives in tensors that stay where they are: the batch, the rate, the clip
threshold, the spike limit, and the flag that skips a step. A graph that does not do what the eager step does is not
used: each one is held against an eager step first (PyTorch's notes on CUDA graphs name the silent failures). It is
captured on a batch of zeros and tried on a real one, so one that kept what it was captured with does not pass; and what
is compared is the *change* of all state, so one that changes nothing does not pass either.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor

from core.training.engine.device_faults import DeviceFault, classify
from core.training.engine.objective import DeviceBatch

Update = Callable[[DeviceBatch], Tensor]

_EAGER_FIRST = 3
"""Steps of the same shape before the capture: libraries set themselves up, and the optimizer makes its state."""
_NUMBERS_TOLERANCE = 1e-3
_CHANGE_TOLERANCE = 0.05
"""Of the change's norm, tensor by tensor. Kernels may add up in another order, and Adam makes whole steps of gradients
that are nothing but rounding; a graph that leaves something out, or works on other numbers, is off by about 1."""
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
        stream = torch.cuda.current_stream()
        try:
            with torch.cuda.graph(graph, capture_error_mode="thread_local"):
                output = run()
        finally:
            torch.cuda.set_stream(stream)  # graph.__exit__ leaves its own one current where capture_end raises

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
        self._is_trusted = False
        self.refused_because: str | None = None
        """Why no graph is used, once one was tried."""

    @property
    def is_captured(self) -> bool:
        """Whether a graph is in use: captured, and found to agree."""
        return self._is_trusted

    def __call__(self, batch: DeviceBatch) -> Tensor:
        """Raises what the eager step raises, and in a capture what is no fault of the graph: want of memory, a spoiled
        or vanished device."""
        shape = tuple(tensor.shape for tensor in batch.tensors())
        if shape != self._shape:
            self.forget()
            self._shape = shape
        if self._is_trusted and self._replay is not None:
            self._fill(batch)
            return self._replay()
        self._seen += 1
        if self._seen <= _EAGER_FIRST or self.refused_because is not None:
            return self._update(batch)
        return self._try(batch)

    def forget(self) -> None:
        """The tensors that the graph knows are no longer those of the engine: after a restore, or other pieces.

        A refusal is forgotten too: what is captured next is another graph.
        """
        self._replay = self._inputs = self._shape = self.refused_because = None
        self._is_trusted = False
        self._seen = 0

    def _try(self, batch: DeviceBatch) -> Tensor:
        """Compare one replay with an eager step from the same state, and keep the eager one's result."""
        before = _copies(self._live())
        try:
            graphed = self._first_replay(batch)
        except RuntimeError as error:
            if classify(error) is not DeviceFault.NONE:
                raise  # no fault of the graph; on the device nothing was done yet
            self._put_back(before)
            self._refuse(f"it could not be captured ({str(error).splitlines()[0]})")
            return self._update(batch)
        graphed_state = _copies(self._live())
        self._put_back(before)
        eager = self._update(batch)
        changes = _changes(before, self._live())
        if not _agree(graphed, eager) or not _change_alike(_changes(before, graphed_state), changes, before):
            self._refuse("its step came out otherwise than the eager one")
        self._is_trusted = self.refused_because is None and any(bool(change.any()) for change in changes)
        return eager

    def _first_replay(self, batch: DeviceBatch) -> Tensor:
        """What a graph makes of a batch that is not the one of its capture. One that was captured stays."""
        if self._replay is None:
            inputs = DeviceBatch(*(torch.zeros_like(tensor) for tensor in batch.tensors()))
            self._replay, self._inputs = self._backend.capture(lambda: self._update(inputs)), inputs
            self._clear()
        self._fill(batch)
        return self._replay().clone()

    def _refuse(self, because: str) -> None:
        self.refused_because = because
        self._replay = self._inputs = None
        _log.warning("No CUDA graph is used: %s.", because)

    def _fill(self, batch: DeviceBatch) -> None:
        assert self._inputs is not None
        for own, given in zip(self._inputs.tensors(), batch.tensors(), strict=True):
            own.copy_(given, non_blocking=True)

    def _put_back(self, before: list[Tensor]) -> None:
        self._clear()
        for tensor, former in zip(self._live(), before, strict=True):
            tensor.copy_(former)


def _copies(tensors: list[Tensor]) -> list[Tensor]:
    return [tensor.clone() for tensor in tensors]


def _changes(before: list[Tensor], after: list[Tensor]) -> list[Tensor]:
    """In float64. A place that held no number yet (NaN) counts as one that held zero."""
    return [_change(former.double(), now.double()) for former, now in zip(before, after, strict=True)]


def _change(former: Tensor, now: Tensor) -> Tensor:
    was_empty = former.isnan()
    return torch.where(was_empty & now.isnan(), 0.0, now - torch.where(was_empty, 0.0, former))


def _agree(graphed: Tensor, eager: Tensor) -> bool:
    """Whether the step's numbers are the same."""
    one, other = graphed.double(), eager.double()
    return torch.allclose(one, other, rtol=_NUMBERS_TOLERANCE, atol=_NUMBERS_TOLERANCE, equal_nan=True)


def _change_alike(graphed: list[Tensor], eager: list[Tensor], before: list[Tensor]) -> bool:
    """Whether each tensor was changed in the same way, but for one rounding of its own numbers: of a change that is
    smaller, no more is left. A change that is not a number is like no other."""
    for one, other, former in zip(graphed, eager, before, strict=True):
        rounding = torch.finfo(former.dtype).eps if former.is_floating_point() else 0.0
        allowed = _CHANGE_TOLERANCE * other.norm() + rounding * former.double().nan_to_num().norm()
        if not bool((one - other).norm() <= allowed):
            return False
    return True
