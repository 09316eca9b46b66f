from __future__ import annotations

import dataclasses

import pytest
import torch

from models.registry import build_model
from models.shape import ModelShape
from models.transformer import CandleTransformer

SHAPE = ModelShape(features=5, context=12, width=16, layers=2, heads=4, horizons=3, quantities=2, levels=7)


def model(seed: int = 0) -> CandleTransformer:
    built = build_model("transformer", SHAPE, seed)
    assert isinstance(built, CandleTransformer)
    return built


def awake(seed: int = 0) -> CandleTransformer:
    """A model with a non-zero head."""
    built = model(seed)
    with torch.no_grad():
        built.head.weight.copy_(torch.randn_like(built.head.weight))
    return built


def inputs(real: int, batch: int = 2) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    features = torch.randn(batch, 12, 5, generator=generator)
    is_real = torch.arange(12).expand(batch, 12) >= 12 - real
    return features, is_real


def test_an_untrained_model_corrects_nothing() -> None:
    assert torch.equal(model()(*inputs(12)), torch.zeros(2, 3, 2, 7))


@pytest.mark.parametrize("real", [1, 2, 11, 12])
def test_padding_is_ignored(real: int) -> None:
    net = awake()
    features, is_real = inputs(real)
    other = torch.where(is_real[..., None], features, torch.full_like(features, 1e3))
    assert torch.equal(net(features, is_real), net(other, is_real))
    assert torch.isfinite(net(features, is_real)).all()


def test_the_newest_state_does_not_depend_on_computing_the_others() -> None:
    net = awake()
    features, is_real = inputs(7)
    states, may_attend = net.embed(features) + net.position, net._may_attend(is_real)
    block = net.blocks[0]
    torch.testing.assert_close(block(states, may_attend, 1), block(states, may_attend, 12)[:, -1:])


def test_blocks_are_causal() -> None:
    net = awake()
    features, is_real = inputs(12)
    changed = features.clone()
    changed[:, -1] = 9.0
    states, other = (net.embed(values) + net.position for values in (features, changed))
    may_attend = net._may_attend(is_real)
    for block in net.blocks:
        states, other = block(states, may_attend, 12), block(other, may_attend, 12)
    assert torch.equal(states[:, :-1], other[:, :-1])
    assert not torch.equal(states[:, -1], other[:, -1])


def test_every_parameter_learns_and_nothing_is_changed_in_place() -> None:
    net = awake()
    with torch.autograd.set_detect_anomaly(True):
        net(*inputs(12)).square().mean().backward()
    silent = [name for name, parameter in net.named_parameters() if parameter.grad is None]
    assert silent == []


def test_only_the_seed_decides_the_initial_weights() -> None:
    torch.manual_seed(123)
    before = torch.random.get_rng_state()
    first, second, other = model(7), model(7), model(8)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))
    assert not torch.equal(first.embed.weight, other.embed.weight)


def test_heads_must_divide_the_width() -> None:
    with pytest.raises(ValueError, match="do not divide"):
        CandleTransformer(ModelShape(5, 12, 16, 1, 3, 3, 2, 7))


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(KeyError):
        build_model("oracle", SHAPE, 0)


@pytest.mark.parametrize("activation", ["gelu", "relu", "silu", "tanh"])
def test_initial_weights_keep_the_scale_of_the_residual_stream(activation: str) -> None:
    """He's and Xavier's promise: neither fading nor growing through many layers, forward and backward."""
    deep = dataclasses.replace(SHAPE, layers=12, width=64, activation=activation)
    net = build_model("transformer", deep, 3, "by-activation")
    assert isinstance(net, CandleTransformer)
    features, is_real = inputs(12, batch=8)
    states = net.embed(features) + net.position
    first = states.detach().std()
    may_attend = net._may_attend(is_real)
    for block in net.blocks:
        states = block(states, may_attend, 12)
    assert 0.5 < float(states.detach().std() / first) < 4.0
    states.square().mean().backward()
    early, late = (net.get_parameter(f"blocks.{index}.widen.weight").grad for index in (0, 11))
    assert early is not None and late is not None
    assert 0.1 < float(early.norm() / late.norm()) < 10.0


def test_the_head_starts_at_zero_for_any_initialisation() -> None:
    assert torch.equal(build_model("transformer", SHAPE, 0, "by-activation")(*inputs(12)), torch.zeros(2, 3, 2, 7))


def test_activation_checkpointing_gives_the_same_gradients() -> None:
    gradients = []
    for recompute in (False, True):
        net = build_model("transformer", dataclasses.replace(SHAPE, recompute=recompute), 0)
        assert isinstance(net, CandleTransformer)
        with torch.no_grad():
            net.head.weight.fill_(0.1)
        net(*inputs(12)).square().sum().backward()
        gradients.append([parameter.grad for parameter in net.parameters()])
    for kept, again in zip(*gradients, strict=True):
        assert kept is not None and again is not None
        torch.testing.assert_close(kept, again)


def test_activation_checkpointing_saves_memory() -> None:
    """Bytes that the backward pass holds on to, counted by autograd itself."""
    held = []
    for recompute in (False, True):
        net = build_model("transformer", dataclasses.replace(SHAPE, layers=8, recompute=recompute), 0)
        seen: dict[int, int] = {}

        def pack(tensor: torch.Tensor, seen: dict[int, int] = seen) -> torch.Tensor:
            seen[tensor.data_ptr()] = tensor.numel() * tensor.element_size()
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            net(*inputs(12))
        held.append(sum(seen.values()))
    assert held[1] < 0.5 * held[0]


def test_new_inputs_of_other_markets_change_nothing_until_they_are_learned() -> None:
    alone = awake()
    together = CandleTransformer(dataclasses.replace(SHAPE, others=4))
    missing, unexpected = together.load_state_dict(alone.state_dict(), strict=False)
    assert missing == ["embed_others.weight"] and not unexpected
    features, is_real = inputs(9)
    wide = torch.cat([features, torch.randn(2, 12, 4)], dim=-1)
    assert torch.equal(together(wide, is_real), alone(features, is_real))
    together(wide, is_real).sum().backward()
    assert together.embed_others is not None and together.embed_others.weight.grad is not None
    assert bool((together.embed_others.weight.grad != 0.0).any())
