"""The state of the noise generator on the device kind that wrote it, and on the other."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from core.settings.tree import GradientSettings
from core.training.engine.noise import derived_seed, restore_noise
from tests.core.training.engine.rigs import REFERENCE, assert_same, batch, engine, state
from tests.support.other_device import CUDA_STATE, on_cuda

NOISY = GradientSettings(noise=0.1)


class CudaLike:
    """Accepts the state of a CUDA generator: 16 bytes, or a seed."""

    device = torch.device("cuda")

    def __init__(self) -> None:
        self.seed: int | None = None
        self.state: Tensor | None = None

    def set_state(self, new: Tensor) -> None:
        if new.numel() != CUDA_STATE.numel():
            raise RuntimeError("RNG state is wrong size")
        self.state = new

    def manual_seed(self, seed: int) -> None:
        self.seed = seed


def test_on_the_same_device_kind_the_stream_continues_bit_for_bit() -> None:
    one, other = torch.Generator().manual_seed(3), torch.Generator()
    torch.randn(7, generator=one)
    restore_noise(other, one.get_state(), "cpu", 1, 2)
    assert torch.equal(torch.randn(100, generator=one), torch.randn(100, generator=other))
    gpu = CudaLike()
    restore_noise(gpu, CUDA_STATE, "cuda", 1, 2)
    assert gpu.state is not None and torch.equal(gpu.state, CUDA_STATE) and gpu.seed is None


def test_moving_from_gpu_to_cpu_is_deterministic() -> None:
    def stream(state: Tensor, seed: int, step: int) -> Tensor:
        generator = torch.Generator()
        restore_noise(generator, state, "cuda", seed, step)
        return torch.randn(16, generator=generator)

    later = CUDA_STATE.clone()
    later[8] += 4
    once = stream(CUDA_STATE, 1, 2)
    assert torch.equal(once, stream(CUDA_STATE, 1, 2))
    for other in (stream(CUDA_STATE, 2, 2), stream(CUDA_STATE, 1, 3), stream(later, 1, 2)):
        assert not torch.equal(once, other)


def test_moving_from_cpu_to_gpu_sets_a_seed_instead_of_foreign_state() -> None:
    state = torch.Generator().manual_seed(3).get_state()
    gpu = CudaLike()
    restore_noise(gpu, state, "cpu", 1, 2)
    assert gpu.state is None and gpu.seed == derived_seed(state, 1, 2) and 0 <= gpu.seed < 2**64
    torch.Generator().manual_seed(gpu.seed)  # a seed that torch takes


def test_a_state_of_another_size_is_refused() -> None:
    with pytest.raises(RuntimeError):
        restore_noise(torch.Generator(), torch.zeros(7, dtype=torch.uint8), "cpu", 1, 2)


def test_an_engine_continues_from_a_gpu_state_deterministically() -> None:
    """With noise, which is the one thing that reads the generator."""
    trained = engine(NOISY)
    for seed in range(5):
        trained.step(batch(seed), REFERENCE)
    tensors = state(trained)
    metadata = on_cuda(tensors, {"engine": trained.scalars()})
    moved = []
    for _ in range(2):
        other = engine(NOISY)
        assert other.restore(tensors, metadata["engine"])
        other.step(batch(9), REFERENCE)
        moved.append(state(other))
    assert_same(*moved)


def test_optimizer_moments_are_moved_to_this_device() -> None:
    """Adam's step count lies on the device, as float32, where the optimizer is fused or capturable, and on the CPU
    otherwise: it is taken over as this engine's optimizer wants it."""
    trained = engine()
    for seed in range(5):
        trained.step(batch(seed), REFERENCE)
    tensors = state(trained)
    for name in tensors:
        if name.startswith("optimizer.") and name.endswith(".step"):
            tensors[name] = tensors[name].double().reshape(())
    other = engine()
    assert other.restore(tensors, trained.scalars())
    steps = [entry["step"] for entry in other.optimizer.state.values()]
    assert {(step.dtype, step.device.type, step.item()) for step in steps} == {(torch.float32, "cpu", 5.0)}
    for moving in (trained, other):
        moving.step(batch(9), REFERENCE)
    assert_same(state(trained), state(other))
