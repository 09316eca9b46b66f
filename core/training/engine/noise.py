"""The generator of gradient noise, and how to restore its state, also from another kind of device.

CPU and CUDA states have different forms: Mersenne Twister's on a CPU (5,056 bytes), seed and offset on CUDA (16 bytes;
c10's CPUGeneratorImpl.cpp and CUDAGeneratorImpl.cpp). A stream cannot be continued on the other kind, so a new one is
seeded from the state, the run's seed and the step: the same move gives the same stream.
"""

from __future__ import annotations

import hashlib

import torch
from torch import Tensor

_SEED_BYTES = 8


def restore_noise(generator: torch.Generator, state: Tensor, kind: str, seed: int, step: int) -> None:
    """Continue bit for bit on the kind of device that wrote the state, else start a stream derived from it.

    kind: "cpu" or "cuda". Raises torch's RuntimeError for a state of this kind with another form.
    """
    if kind == generator.device.type:
        generator.set_state(state.cpu())
    else:
        generator.manual_seed(derived_seed(state, seed, step))


def derived_seed(state: Tensor, seed: int, step: int) -> int:
    """The seed, 0 to 2^64 - 1, for a stream derived from the state of another kind of device."""
    digest = hashlib.sha256(f"{seed}:{step}:".encode() + state.cpu().contiguous().numpy().tobytes())
    return int.from_bytes(digest.digest()[:_SEED_BYTES], "little")
