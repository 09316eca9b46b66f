"""The pretend GPU itself: what it refuses, what it counts, and what its graphs replay."""

from __future__ import annotations

import copy

import pytest
import torch

from core.training.engine.cuda_graph import CudaGraphs
from tests.rehearsal.device import GpuTensor, PretendGpu

CUDA = torch.device("cuda")


def on_gpu(*values: float) -> torch.Tensor:
    return torch.tensor(values, device="cuda")


def test_a_tensor_says_where_it_is_and_refuses_numpy() -> None:
    tensor = on_gpu(1.0, 2.0)
    assert tensor.device == torch.device("cuda", 0) and tensor.is_cuda and isinstance(tensor, GpuTensor)
    assert tensor.cpu().device.type == "cpu" and tensor.to("cpu").tolist() == [1.0, 2.0]
    with pytest.raises(TypeError, match="numpy"):
        tensor.numpy()


def test_operands_on_two_devices_are_refused_but_for_a_single_number() -> None:
    with pytest.raises(RuntimeError, match="same device"):
        on_gpu(1.0, 2.0) + torch.ones(2)
    assert (on_gpu(1.0, 2.0) + torch.tensor(1.0)).tolist() == [2.0, 3.0]


def test_launches_waits_and_uploads_are_counted(gpu: PretendGpu) -> None:
    total = (on_gpu(1.0, 2.0).view(2, 1) * 2.0).sum()
    assert gpu.uploads == 1 and gpu.launches.total() == 2 and gpu.waits == []
    assert float(total) == 6.0 and gpu.waits == ["read"]
    torch.zeros(2, device="cuda").copy_(torch.ones(2))
    assert gpu.uploads == 2 and gpu.launches.total() == 3


def test_a_graph_replays_on_the_same_memory_with_the_numbers_of_its_capture() -> None:
    rate, tensor, steps = 2.0, on_gpu(1.0), torch.zeros((), device="cuda")

    def update() -> torch.Tensor:
        steps.add_(1)
        return tensor * rate + torch.ones(1, device="cuda").add_(1.0) + torch.tensor(rate)

    replay = CudaGraphs().capture(update)
    assert steps.tolist() == 0.0, "a capture does nothing"
    rate = 100.0
    tensor.fill_(3.0)
    results = [replay().tolist() for _ in range(3)]
    assert results == [[10.0]] * 3 and steps.tolist() == 3.0


@pytest.mark.parametrize(
    "refused",
    [
        lambda tensor: tensor.sum().item(),
        lambda tensor: bool((tensor > 0.0).all()),
        lambda tensor: tensor.cpu(),
        lambda tensor: tensor.tolist(),
        lambda tensor: tensor.nonzero(),
        lambda tensor: torch.ones(1).to("cuda"),
        lambda tensor: torch.tensor([1.0], device="cuda"),
        lambda tensor: tensor.copy_(torch.ones(1)),
        lambda tensor: torch.cuda.synchronize(),
        lambda tensor: torch.cuda.get_rng_state(),
    ],
)
def test_reads_and_uploads_are_refused_in_a_capture(gpu: PretendGpu, refused: object) -> None:
    tensor = on_gpu(1.0)

    def update() -> torch.Tensor:
        tensor.add_(1.0)
        refused(tensor)  # type: ignore[operator]
        return tensor

    with pytest.raises(RuntimeError, match="during capture"):
        CudaGraphs().capture(update)
    assert tensor.tolist() == [1.0] and gpu.stream == "default" and gpu.recording is None


def test_a_generator_has_a_short_state_and_continues_from_it() -> None:
    generator = torch.Generator(CUDA).manual_seed(7)
    assert generator.device.type == "cuda"
    first = torch.empty(3, device="cuda").normal_(generator=generator).tolist()
    state = generator.get_state()
    second = torch.empty(3, device="cuda").normal_(generator=generator).tolist()
    generator.set_state(state)
    again = torch.empty(3, device="cuda").normal_(generator=generator).tolist()
    assert state.numel() == 16 and first != second == again
    assert torch.Generator("cpu").get_state().numel() == 5056


def test_a_module_moves_with_its_buffers_and_can_be_copied() -> None:
    norm = torch.nn.BatchNorm1d(2).to(CUDA)
    copied = copy.deepcopy(norm)
    assert all(isinstance(tensor, GpuTensor) for tensor in copied.state_dict().values())
    copied.weight.data.fill_(3.0)
    assert norm.weight.tolist() == [1.0, 1.0] and isinstance(copied.weight, torch.nn.Parameter)


def test_gradients_flow_on_the_gpu() -> None:
    weight = on_gpu(1.0, 2.0).requires_grad_()
    (weight * weight).sum().backward()
    assert isinstance(weight.grad, GpuTensor) and weight.grad.tolist() == [2.0, 4.0]
