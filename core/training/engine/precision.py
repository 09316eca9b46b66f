"""Mixed precision: autocast for the forward pass, and the loss scaling that fp16 needs."""

from __future__ import annotations

import contextlib
from typing import Any

import torch
from torch import Tensor

_DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16}
_FIRST_SCALE = 2.0**16


class Precision:
    """Owns the gradient scaler. float32 and bfloat16 have none, and all methods act as plain calls."""

    def __init__(self, kind: str, device: torch.device) -> None:
        self._device = device
        self._dtype = _DTYPES.get(kind)
        self._scaler = torch.amp.GradScaler(device.type, init_scale=_FIRST_SCALE) if kind == "float16" else None
        self._one = torch.ones((), dtype=torch.float32, device=device)

    @property
    def has_scaler(self) -> bool:
        return self._scaler is not None

    def scale(self) -> Tensor:
        """The current loss scale, copied on the device: 1 without a scaler."""
        return self._one if self._scaler is None else self._scaler.scale(self._one)

    def autocast(self) -> contextlib.AbstractContextManager[Any]:
        """The autocast context, without a weight cache: a captured step must cast the newest weights each time."""
        if self._dtype is None:
            return contextlib.nullcontext()
        return torch.autocast(self._device.type, self._dtype, cache_enabled=False)

    def backward(self, loss: Tensor) -> None:
        scaled = loss if self._scaler is None else self._scaler.scale(loss)
        scaled.backward()  # type: ignore[no-untyped-call]

    def unscale(self, optimizer: torch.optim.Optimizer) -> None:
        """Divide the gradients by the scale, once, so that clipping sees the true ones."""
        if self._scaler is not None:
            self._scaler.unscale_(optimizer)

    def step(self, optimizer: torch.optim.Optimizer, is_skipped: Tensor) -> None:
        """An optimizer step that is skipped if `is_skipped`, decided on the device by the fused kernel."""
        flag = is_skipped.to(torch.float32)
        if self._scaler is None:
            optimizer.grad_scale, optimizer.found_inf = None, flag  # type: ignore[attr-defined]
            optimizer.step()
            return
        handle = optimizer.register_step_pre_hook(lambda *_: _also_skip(optimizer, flag))
        try:
            self._scaler.step(optimizer)
        finally:
            handle.remove()
        self._scaler.update()

    def reset(self) -> None:
        """Drop an interrupted step; the scale stays."""
        self.restore(self.state())

    def state(self) -> dict[str, Any]:
        """The whole state, as JSON."""
        return {} if self._scaler is None else self._scaler.state_dict()

    def restore(self, state: dict[str, Any]) -> None:
        """A state without a scale (of another precision) leaves the initial scale."""
        if self._scaler is not None:
            self._scaler = torch.amp.GradScaler(self._device.type, init_scale=_FIRST_SCALE)
            if state:
                self._scaler.load_state_dict(state)


def _also_skip(optimizer: torch.optim.Optimizer, flag: Tensor) -> None:
    """Combine the scaler's overflow flag with the guard's."""
    optimizer.found_inf = torch.maximum(optimizer.found_inf, flag)  # type: ignore[attr-defined]
