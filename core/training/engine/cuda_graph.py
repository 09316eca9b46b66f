"""A whole step as one CUDA graph, and a forecast as another: for small models, launching kernels takes longer than
running them.

Values that a captured step reads again at each replay are in tensors at fixed addresses: the batch, the rate, the clip
threshold, the spike limit, and the skip flag. A graph that differs from the eager step is not used: each one is first
compared with an eager step (PyTorch's notes on CUDA graphs name the silent failures). It is captured on a batch of
zeros and tried on a real one, so a graph that kept captured values fails; and the comparison is of the *change* of all
state, so one that changes nothing fails too.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import torch
from torch import Tensor

from core.training.engine.device_faults import DeviceFault, classify
from core.training.engine.objective import DeviceBatch

Update = Callable[[DeviceBatch], Tensor]
Forecast = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
"""A model's corrections and its last states, from features and which candles are real."""
_Output = TypeVar("_Output")

_EAGER_FIRST = 3
"""Steps of the same shape before the capture: libraries initialise, and the optimizer creates its state."""
_NUMBERS_TOLERANCE = 1e-3
_CHANGE_TOLERANCE = 0.05
"""Relative to the change's norm, per tensor. Kernels may add in another order, and Adam makes full steps of gradients
that are only rounding; a graph that omits something, or works on other numbers, is off by about 1."""
_log = logging.getLogger("ghostcandle.training")


class CudaGraphs:
    """torch.cuda.graph, on a separate stream."""

    def capture(self, run: Callable[[], _Output]) -> Callable[[], _Output]:
        """Record one call without running it. Returns a function that replays it. Raises RuntimeError."""
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        stream = torch.cuda.current_stream()
        try:
            with torch.cuda.graph(graph, capture_error_mode="thread_local"):
                output = run()
        finally:
            torch.cuda.set_stream(stream)  # graph.__exit__ leaves its stream current if capture_end raises

        def replay() -> _Output:
            graph.replay()
            return output

        return replay


class GraphedUpdate:
    """Runs a step as a graph if a valid one exists, else eagerly. Batches of the same shapes come in the same tensors.

    live: all tensors that a step changes; they are copied for the comparison with an eager step.
    clear: drops gradients, to which a second pass would add.
    """

    def __init__(
        self, update: Update, live: Callable[[], list[Tensor]], clear: Callable[[], None], backend: CudaGraphs
    ) -> None:
        self._update = update
        self._live = live
        self._clear = clear
        self._backend = backend
        self._replay: Callable[[], Tensor] | None = None
        self._inputs: DeviceBatch | None = None
        self._seen = 0
        self.is_captured = False
        """Whether a graph is in use: captured and verified."""
        self.refused_because: str | None = None
        """Why no graph is used, after a failed try."""

    def __call__(self, batch: DeviceBatch) -> Tensor:
        """Raises the eager step's errors, and during capture the errors of an unusable or lost device."""
        if self._inputs is None or batch.features is not self._inputs.features:
            self.forget()
            self._inputs = batch
        if self.is_captured and self._replay is not None:
            return self._replay()
        self._seen += 1
        if self._seen <= _EAGER_FIRST or self.refused_because is not None:
            return self._update(batch)
        return self._verify(batch)

    def forget(self) -> None:
        """The graph's tensors are no longer the engine's: after a restore, or another number of micro-batches.

        A refusal is forgotten too: the next capture is another graph.
        """
        self._replay = self._inputs = self.refused_because = None
        self.is_captured = False
        self._seen = 0

    def _verify(self, batch: DeviceBatch) -> Tensor:
        """The step, done once in the end, whatever fails on the way: a graph that cannot be compared is refused."""
        before: list[Tensor] = []
        try:
            before = _copies(self._live())
            return self._compare(batch, before)
        except (RuntimeError, MemoryError) as error:
            because = _refusal(error)
        self._refuse(because)  # after the handler, whose traceback holds the memory of what failed
        if before:
            self._restore(before)
            before.clear()
        return self._update(batch)

    def _compare(self, batch: DeviceBatch, before: list[Tensor]) -> Tensor:
        """Compare one replay with an eager step from the same state; returns the eager result."""
        graphed = self._first_replay(batch)
        graphed_state = _copies(self._live())
        self._restore(before)
        eager = self._update(batch)
        changed = zip(before, graphed_state, self._live(), strict=True)
        if not _agree(graphed, eager) or not all(_is_same_change(*states) for states in changed):
            self._refuse("its step differs from the eager one")
        is_changed = any(bool(_change(*states).any()) for states in zip(before, self._live(), strict=True))
        self.is_captured = self.refused_because is None and is_changed
        return eager

    def _first_replay(self, batch: DeviceBatch) -> Tensor:
        """Replay the graph on a batch other than the captured one. An existing capture is reused."""
        if self._replay is None:
            self._replay = _captured(self._backend, lambda: self._update(batch), batch)
        return self._replay().clone()

    def _refuse(self, because: str) -> None:
        self.refused_because = because
        self._replay = None
        _log.warning("No CUDA graph is used: %s.", because)

    def _restore(self, before: list[Tensor]) -> None:
        self._clear()
        _copy_into(self._live(), before)


class GraphedForecast:
    """Runs a model's pass as a graph if a verified one of its shapes exists, else eagerly.

    Steps change the weights in place, so the graph reads the newest. Shapes that come between, as for the scores of a
    checkpoint, are computed eagerly and leave the graph as it is, unless they come several times in a row.
    """

    def __init__(self, predict: Forecast, backend: CudaGraphs) -> None:
        self._predict = predict
        self._backend = backend
        self.forget()

    def forget(self) -> None:
        """As `GraphedUpdate.forget`."""
        self._graph: tuple[Tensor, Callable[[], tuple[Tensor, Tensor]]] | None = None
        """The features that it reads, and its replay."""
        self._newest: Tensor | None = None
        self._in_a_row = 0
        self._is_refused = False

    def __call__(self, features: Tensor, is_real: Tensor) -> tuple[Tensor, Tensor]:
        """Inputs of the same shapes come in the same tensors. Raises as `GraphedUpdate` does."""
        self._in_a_row = self._in_a_row + 1 if features is self._newest else 1
        self._newest = features
        if self._graph is not None and features is self._graph[0]:
            return self._graph[1]()
        predicted = self._predict(features, is_real)
        # An untrained model predicts zeros, which show nothing.
        if self._in_a_row > _EAGER_FIRST and not self._is_refused and bool(predicted[0].any()):
            self._verify(features, is_real, predicted)
        return predicted

    def _verify(self, features: Tensor, is_real: Tensor, eager: tuple[Tensor, Tensor]) -> None:
        """Use a graph from the next call on if it predicts as the eager pass did."""
        try:
            replay = _captured(self._backend, lambda: self._predict(features, is_real), (features, is_real))
            pairs = zip(replay(), eager, strict=True)
            is_same = all(bool(_norm(one - other) <= _NUMBERS_TOLERANCE * _norm(other)) for one, other in pairs)
        except (RuntimeError, MemoryError) as error:
            _log.warning("Forecasts use no CUDA graph: %s.", _refusal(error))
            self._is_refused = True
            return
        self._graph, self._is_refused = (features, replay) if is_same else None, not is_same
        if not is_same:
            _log.warning("Forecasts use no CUDA graph: its forecast differs from the eager one.")


def _captured(backend: CudaGraphs, run: Callable[[], _Output], inputs: Sequence[Tensor]) -> Callable[[], _Output]:
    """Capture while the inputs are zero; then they have their values again."""
    given = _copies(inputs)
    try:
        for tensor in inputs:
            tensor.zero_()
        return backend.capture(run)
    finally:
        _copy_into(inputs, given)


def _copies(tensors: Iterable[Tensor]) -> list[Tensor]:
    return [tensor.clone() for tensor in tensors]


def _copy_into(tensors: Iterable[Tensor], former: Iterable[Tensor]) -> None:
    for own, other in zip(tensors, former, strict=True):
        own.copy_(other)


def _refusal(error: RuntimeError | MemoryError) -> str:
    """Why the graph is refused. Raises the error if the device is unusable or lost, which no eager step survives."""
    fault = classify(error)
    if fault is DeviceFault.OUT_OF_MEMORY:
        return "there was too little memory to capture it and compare it with an eager step"
    if fault is not DeviceFault.NONE:
        raise error
    return f"it could not be captured ({str(error).splitlines()[0]})"


def _change(former: Tensor, now: Tensor) -> Tensor:
    """The change of a tensor in a step. Empty places (NaN) count as zero."""
    if not former.is_floating_point():
        return (now - former).double()
    was_empty = former.isnan()
    return torch.where(was_empty & now.isnan(), 0.0, now - torch.where(was_empty, 0.0, former))


def _is_same_change(former: Tensor, graphed: Tensor, eager: Tensor) -> bool:
    """Whether both steps changed a tensor equally, within tolerance and one rounding of its values. A NaN change equals
    nothing."""
    one, other = _change(former, graphed), _change(former, eager)
    rounding = torch.finfo(former.dtype).eps if former.is_floating_point() else 0.0
    allowed = _CHANGE_TOLERANCE * _norm(other) + rounding * _norm(former.nan_to_num().to(other.dtype))
    return bool(_norm(one - other) <= allowed)


def _norm(tensor: Tensor) -> Tensor:
    norm: Tensor = torch.linalg.vector_norm(tensor, dtype=torch.float64)
    return norm


def _agree(graphed: Tensor, eager: Tensor) -> bool:
    """Whether the steps' numbers are equal within tolerance."""
    one, other = graphed.double(), eager.double()
    return torch.allclose(one, other, rtol=_NUMBERS_TOLERANCE, atol=_NUMBERS_TOLERANCE, equal_nan=True)
