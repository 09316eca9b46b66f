from __future__ import annotations

import pytest
import torch

from models.registry import build_model
from models.transformer import CandleTransformer, ModelShape

SHAPE = ModelShape(features=5, context=12, width=16, layers=2, heads=4, horizons=3, quantities=2, levels=7)


def model(seed: int = 0) -> CandleTransformer:
    built = build_model("transformer", SHAPE, seed)
    assert isinstance(built, CandleTransformer)
    return built


def awake(seed: int = 0) -> CandleTransformer:
    """A model whose head says something."""
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
def test_padding_is_not_looked_at(real: int) -> None:
    net = awake()
    features, is_real = inputs(real)
    other = torch.where(is_real[..., None], features, torch.full_like(features, 1e3))
    assert torch.equal(net(features, is_real), net(other, is_real))
    assert torch.isfinite(net(features, is_real)).all()


def test_blocks_are_causal() -> None:
    net = awake()
    features, is_real = inputs(12)
    changed = features.clone()
    changed[:, -1] = 9.0
    states, other = (net.embed(values) + net.position for values in (features, changed))
    may_attend = net._may_attend(is_real)
    for block in net.blocks:
        states, other = block(states, may_attend), block(other, may_attend)
    assert torch.equal(states[:, :-1], other[:, :-1])
    assert not torch.equal(states[:, -1], other[:, -1])


def test_every_parameter_learns_and_nothing_is_changed_in_place() -> None:
    net = awake()
    with torch.autograd.set_detect_anomaly(True):
        net(*inputs(12)).square().mean().backward()
    silent = [name for name, parameter in net.named_parameters() if parameter.grad is None]
    assert silent == []


def test_the_seed_alone_decides_the_first_weights() -> None:
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
