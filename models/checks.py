"""Checks of a torch module against its contract, for tests and for `ghostcandle check-model`.

They look at the module alone. That nothing later changes a forecast is checked with a whole session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from models.contract import FAILURES, ContractError, build_checked, in_short
from models.registry import ModelMaker
from models.shape import ModelShape

_SEED = 7
_SAMPLES = 4
_NOISE = 0.1
"""Standard deviation of the noise added to each parameter, so that a head that starts at zero does not hide the
rest."""


@dataclass(frozen=True, slots=True)
class Check:
    """One requirement. found: a sentence, with advice if it is not met. is_required: without it the model is refused,
    or its results are meaningless; else it is only advice."""

    requirement: str
    passed: bool
    found: str
    is_required: bool = True


def check_module(make: ModelMaker, name: str, shape: ModelShape) -> Iterator[Check]:
    """Each requirement in turn; the others only if it can be built at all."""
    built = "It is built from a ModelShape, and its answers have the right form"
    try:
        build_checked(make, name, shape, _SEED)
    except ContractError as error:
        yield Check(built, False, str(error))
        return
    yield Check(built, True, "Yes.")
    for requirement, find, is_required in _CHECKS:
        problem = _found(find, lambda: build_checked(make, name, shape, _SEED), shape)
        yield Check(requirement, problem is None, problem or "Yes.", is_required)


Build = Callable[[], nn.Module]
Find = Callable[[Build, ModelShape], str | None]


def _found(find: Find, build: Build, shape: ModelShape) -> str | None:
    try:
        return find(build, shape)
    except FAILURES as error:
        return f"The model failed: {in_short(error)}."


def _same_seed(build: Build, shape: ModelShape) -> str | None:
    first, second = (dict(build().state_dict()) for _ in range(2))
    odd = [name for name in first if not torch.equal(first[name], second[name])]
    return f"Two models of one seed differ in {odd[0]}: use only torch's random numbers." if odd else None


def _same_answer(build: Build, shape: ModelShape) -> str | None:
    model, (features, is_real) = _stirred(build), _inputs(shape)
    first = _answer(model, features, is_real)
    _answer(model, features.flip(0), is_real)
    if torch.equal(first, _answer(model, features, is_real)):
        return None
    return (
        "In eval mode the same candles give another answer after others were seen: a forecast must not depend on them."
    )


def _samples_apart(build: Build, shape: ModelShape) -> str | None:
    model, (features, is_real) = _stirred(build), _inputs(shape)
    changed = features.clone()
    changed[1:] = 3.0
    if torch.allclose(_answer(model, features, is_real)[0], _answer(model, changed, is_real)[0], rtol=1e-4, atol=1e-5):
        return None
    return "A sample's answer depends on the others of its batch, which may be later candles."


def _padding(build: Build, shape: ModelShape) -> str | None:
    model, (features, _) = _stirred(build), _inputs(shape)
    is_real = torch.ones(_SAMPLES, shape.context, dtype=torch.bool)
    is_real[:, : shape.context // 2] = False
    other = torch.where(is_real[..., None], features, torch.full_like(features, 1e3))
    if torch.equal(_answer(model, features, is_real), _answer(model, other, is_real)):
        return None
    return "The content of padded places (is_real is False) changes the answer: set it to zero first."


def _reads_candles(build: Build, shape: ModelShape) -> str | None:
    model, (features, is_real) = _stirred(build), _inputs(shape)
    if torch.equal(_answer(model, features, is_real), _answer(model, features.roll(1, 0), is_real)):
        return "The answer is the same for any candles."
    return None


def _gradients(build: Build, shape: ModelShape) -> str | None:
    model, inputs = _stirred(build), _inputs(shape)
    model.train()
    model(*inputs).square().mean().backward()
    known = [(name, parameter.grad) for name, parameter in model.named_parameters() if parameter.requires_grad]
    if bad := [name for name, grad in known if grad is not None and not bool(torch.isfinite(grad).all())]:
        return f"The gradient of {bad[0]} is not finite."
    silent = [name for name, grad in known if grad is None]
    return f"No gradient reaches {', '.join(silent)}: it never learns." if silent else None


def _zero_at_start(build: Build, shape: ModelShape) -> str | None:
    if not bool(_answer(build(), *_inputs(shape)).any()):
        return None
    return (
        "Its first forecasts are noise: with the last layer's weights and biases at zero they would be those without "
        "any model."
    )


_CHECKS: tuple[tuple[str, Find, bool], ...] = (
    ("Only the seed decides its first weights", _same_seed, True),
    ("The same candles give the same answer", _same_answer, True),
    ("Each sample is answered by itself", _samples_apart, True),
    ("Padding is ignored", _padding, True),
    ("Its gradients are finite, and reach every parameter", _gradients, True),
    ("The answer depends on the candles", _reads_candles, False),
    ("It corrects nothing before it has learned", _zero_at_start, False),
)


def _inputs(shape: ModelShape) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(_SEED)
    features = torch.randn(_SAMPLES, shape.context, shape.inputs, generator=generator)
    return features, torch.ones(_SAMPLES, shape.context, dtype=torch.bool)


def _stirred(build: Build) -> nn.Module:
    model, generator = build(), torch.Generator().manual_seed(_SEED)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(_NOISE * torch.randn(parameter.shape, generator=generator))
    return model


def _answer(model: nn.Module, features: Tensor, is_real: Tensor) -> Tensor:
    model.eval()
    with torch.no_grad():
        made: Tensor = model(features, is_real)
    return made
