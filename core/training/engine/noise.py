"""The generator of gradient noise: its state from a checkpoint, also from one that another kind of device wrote.

The kinds keep states of different forms and refuse each other's: Mersenne Twister's on a CPU (5,056 bytes), seed and
offset on CUDA (16 bytes; c10's CPUGeneratorImpl.cpp and CUDAGeneratorImpl.cpp). The stream of the other kind cannot be
continued, so a new one is seeded from the state, the run's seed and the step: the same move gives the same stream.
"""

from __future__ import annotations

import hashlib
from typing import Protocol

import torch
from torch import Tensor

_KIND_BY_BYTES = {5056: "cpu", 16: "cuda"}
_SEED_BYTES = 8


class Generator(Protocol):
    """What is used of torch.Generator."""

    @property
    def device(self) -> torch.device: ...

    def set_state(self, state: Tensor) -> object: ...

    def manual_seed(self, seed: int) -> object: ...


def restore_noise(generator: Generator, state: Tensor, kind: str | None, seed: int, step: int) -> None:
    """Continue bit for bit on the kind of device that the state is of, else begin a stream that follows from it.

    kind: "cpu" or "cuda"; None, as in older checkpoints: by the state's length. Raises RuntimeError (torch's) for a
    state that is of this kind and has another form.
    """
    kind = kind or _KIND_BY_BYTES.get(state.numel())
    if kind is None or kind == generator.device.type:
        generator.set_state(state.cpu())
    else:
        generator.manual_seed(carried_seed(state, seed, step))


def carried_seed(state: Tensor, seed: int, step: int) -> int:
    """The seed, 0 to 2^64 - 1, for a stream that follows a state of another kind of device."""
    digest = hashlib.sha256(f"{seed}:{step}:".encode() + state.cpu().contiguous().numpy().tobytes())
    return int.from_bytes(digest.digest()[:_SEED_BYTES], "little")
