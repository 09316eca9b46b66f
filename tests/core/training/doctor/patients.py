"""Networks built to be healthy, or to have one disease. Everything about one is drawn from its seed.

The doctor's thresholds were tuned on seeds 1000 to 1199 of each family. The tests use others.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from core.training.doctor.evidence import SETTLING_STEPS
from core.training.engine.objective import pinball
from models.shape import ModelShape
from models.transformer import CandleTransformer
from tests.core.training.doctor.training import Patient, Sample, norms_of

ACTIVATIONS: dict[str, Callable[[], nn.Module]] = {"relu": nn.ReLU, "gelu": nn.GELU, "silu": nn.SiLU, "tanh": nn.Tanh}
LEVELS = torch.tensor([0.05, 0.25, 0.5, 0.75, 0.95])


class Draw:
    """Random choices from one seed."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self.torch = torch.Generator().manual_seed(seed)

    def whole(self, low: int, high: int) -> int:
        """Both ends included."""
        return int(self._random.integers(low, high + 1))

    def log(self, low: float, high: float) -> float:
        return float(np.exp(self._random.uniform(np.log(low), np.log(high))))

    def one_of(self, *choices: str) -> str:
        return choices[int(self._random.integers(len(choices)))]


def network(draw: Draw, depth: int, activation: Callable[[], nn.Module], gain: float | None = None) -> nn.Sequential:
    """So many hidden layers of one width; 6 numbers in, 1 out. gain: first weights by Xavier; None: torch's own."""
    width = draw.whole(8, 32)
    sizes = [6] + [width] * depth
    modules: list[nn.Module] = []
    for wide, narrow in itertools.pairwise(sizes):
        modules += [nn.Linear(wide, narrow), activation()]
    model = nn.Sequential(*modules, nn.Linear(sizes[-1], 1))
    for layer in model:
        if isinstance(layer, nn.Linear):
            _fill(layer, draw, gain)
    return model


def _fill(layer: nn.Linear, draw: Draw, gain: float | None) -> None:
    bound = 1 / layer.in_features**0.5
    with torch.no_grad():
        layer.bias.uniform_(-bound, bound, generator=draw.torch)
        if gain is None:
            layer.weight.uniform_(-bound, bound, generator=draw.torch)
        else:
            layer.weight.normal_(0.0, gain * bound, generator=draw.torch)


def task(draw: Draw, noise: float = 0.1, batch: int = 32) -> Callable[[int], Sample]:
    """Fresh samples of a smooth function of 6 numbers, of about unit variance and mean 0, with noise."""
    weights = torch.randn(6, 2, generator=draw.torch) / 6**0.5

    def sample(step: int) -> Sample:
        inputs = torch.randn(batch, 6, generator=draw.torch)
        first, second = (inputs @ weights).unbind(1)
        target = first + torch.sin(2.0 * second) * 0.5
        return (inputs,), (target + noise * torch.randn(batch, generator=draw.torch)).unsqueeze(1)

    return sample


def squares(output: Tensor, target: Tensor) -> Tensor:
    return functional.mse_loss(output, target)


def vanishing(seed: int) -> Patient:
    """A deep stack of sigmoids, or first weights so small that the signal is lost on its way through tanh.

    The output starts at the target's mean, which the last layer could learn alone. Adam finds its way out of small
    weights, and at a high rate also out of sigmoids: then the loss falls, and nothing is wrong.
    """
    draw = Draw(seed)
    optimizer = draw.one_of("adamw", "sgd", "momentum")
    if optimizer != "adamw" and draw.one_of("sigmoids", "small weights") == "small weights":
        model = network(draw, draw.whole(5, 10), nn.Tanh, draw.log(0.01, 0.1))
    else:
        model = network(draw, draw.whole(7, 20), nn.Sigmoid, 1.0)
    sample = task(draw, draw.log(0.01, 0.5))
    with torch.no_grad():
        output = model[-1]
        assert isinstance(output, nn.Linear)
        output.bias -= model(sample(0)[0][0]).mean()
    rate = draw.log(1e-4, 1e-3) if optimizer == "adamw" else draw.log(1e-2, 5e-2)
    return Patient(model, sample, squares, rate, optimizer, steps=130)


def exploding(seed: int) -> Patient:
    """First weights several times too large, or a rate that throws the weights far out."""
    draw = Draw(seed)
    activation = ACTIVATIONS[draw.one_of("gelu", "silu", "relu")]
    if draw.one_of("weights", "rate") == "weights":
        model = network(draw, draw.whole(3, 6), activation, draw.log(5.0, 12.0))
        return Patient(model, task(draw), squares, draw.log(1e-5, 1e-4), clip_mode=draw.one_of("norm", "off"))
    model = network(draw, draw.whole(3, 5), lambda: nn.LeakyReLU(0.2), 1.4)
    mode = draw.one_of("norm", "off")
    return Patient(model, task(draw), squares, draw.log(0.5, 1.0), clip_mode=mode, weight_decay=0.0)


def updates_too_large(seed: int) -> Patient:
    """A rate so high that each step moves the weights by a good part of themselves, or that the first ones do."""
    draw = Draw(seed)
    if draw.one_of("network", "network", "transformer") == "transformer":
        patient = transformer(draw)
        patient.rate, patient.steps = draw.log(0.3, 1.0), 120
        return patient
    model = network(draw, draw.whole(1, 3), nn.Tanh, 1.0)
    if draw.one_of("adamw", "sgd") == "adamw":
        return Patient(model, task(draw), squares, draw.log(0.3, 0.8), weight_decay=draw.log(0.3, 1.0))
    return Patient(model, task(draw), squares, draw.log(1.0, 3.0), "sgd", clip_norm=1.0)


def always_clipping(seed: int) -> Patient:
    draw = Draw(seed)
    model = network(draw, draw.whole(1, 4), ACTIVATIONS[draw.one_of(*ACTIVATIONS)], 1.4)
    return Patient(model, task(draw), squares, draw.log(3e-4, 3e-3), clip_norm=draw.log(1e-5, 1e-2), steps=80)


def never_clipping(seed: int) -> Patient:
    draw = Draw(seed)
    model = network(draw, draw.whole(1, 4), ACTIVATIONS[draw.one_of(*ACTIVATIONS)], 1.4)
    return Patient(model, task(draw), squares, draw.log(3e-4, 3e-3), clip_norm=draw.log(1e3, 1e5), steps=80)


def always_clipping_at_the_edge(seed: int) -> Patient:
    """The threshold is a little below a tenth of the median norm, where the rule begins."""
    return _with_threshold(always_clipping, seed, lambda norms: _median(norms) / 10.0 / Draw(seed).log(1.2, 2.5))


def nearly_always_clipping(seed: int) -> Patient:
    """On the other side of that edge."""
    return _with_threshold(always_clipping, seed, lambda norms: _median(norms) / 10.0 * Draw(seed).log(1.2, 2.5))


def never_clipping_at_the_edge(seed: int) -> Patient:
    """The threshold is a little above 30 times the largest norm, and above 10, where the rule begins."""
    return _with_threshold(never_clipping, seed, lambda norms: max(10.0, 30.0 * max(norms)) * Draw(seed).log(1.05, 2.0))


def nearly_never_clipping(seed: int) -> Patient:
    """On the other side of that edge."""
    return _with_threshold(never_clipping, seed, lambda norms: max(10.0, 30.0 * max(norms)) / Draw(seed).log(1.05, 2.0))


def _with_threshold(build: Callable[[int], Patient], seed: int, choose: Callable[[list[float]], float]) -> Patient:
    """The same patient with a threshold chosen by the norms that it has anyway, after its first steps."""
    patient = build(seed)
    patient.clip_norm = choose(norms_of(build(seed))[SETTLING_STEPS:])
    return patient


def _median(norms: list[float]) -> float:
    return float(np.median(norms))


def vanishing_later(seed: int) -> Patient:
    """Sound at first; then the gradient is lost behind the output, as an underflow loses it, with a part learned."""
    draw = Draw(seed)
    model = network(draw, draw.whole(1, 3), ACTIVATIONS[draw.one_of(*ACTIVATIONS)], 1.0)
    begins, loss = draw.whole(25, 45), draw.log(1e-12, 1e-9)
    count = iter(range(1, 1000))

    def lossy(output: Tensor, target: Tensor) -> Tensor:
        if next(count) >= begins:
            output.register_hook(lambda gradient: gradient * loss)
        return squares(output, target)

    return Patient(model, task(draw, draw.log(0.5, 1.0)), lossy, draw.log(1e-2, 3e-2), "sgd", steps=begins + 320)


def exploding_now_and_then(seed: int) -> Patient:
    """A fifteenth to a seventh of the batches have targets thousands of times too large, and nothing clips them."""
    draw = Draw(seed)
    model = network(draw, draw.whole(1, 3), ACTIVATIONS[draw.one_of(*ACTIVATIONS)], 1.0)
    good, every, factor = task(draw), draw.whole(7, 15), draw.log(1e3, 1e4)
    clip_mode, clip_norm = ("off", 1.0) if draw.one_of("off", "loose") == "off" else ("norm", 1e6)

    def sample(step: int) -> Sample:
        inputs, target = good(step)
        return inputs, target * factor if step % every == 0 else target

    return Patient(model, sample, squares, draw.log(1e-3, 1e-2), "adamw", clip_mode, clip_norm, steps=130)


def dead_layers(seed: int) -> Patient:
    """One layer of ReLUs whose bias lies so far below zero that none of them ever fires."""
    draw = Draw(seed)
    depth = draw.whole(2, 6)
    model = network(draw, depth, nn.ReLU, 1.4)
    layer = model[2 * draw.whole(0, depth - 1)]
    assert isinstance(layer, nn.Linear)
    nn.init.constant_(layer.bias, -draw.log(30.0, 300.0))
    optimizer = draw.one_of("adamw", "sgd")
    rate = draw.log(3e-4, 1e-2) if optimizer == "adamw" else draw.log(1e-2, 1e-1)
    return Patient(model, task(draw), squares, rate, optimizer)


def nan_in_input(seed: int) -> Patient:
    """A broken number in the batches of some steps."""
    draw, patient = _sound(seed)
    good = patient.sample
    begins = draw.whole(25, 40)

    def sample(step: int) -> Sample:
        inputs, target = good(step)
        if step >= begins:
            inputs[0][draw.whole(0, 15), ..., draw.whole(0, 5)] = float(draw.one_of("nan", "inf"))
        return inputs, target

    patient.sample = sample
    return patient


def nan_in_loss(seed: int) -> Patient:
    """The logarithm of a number that comes below zero."""
    draw, patient = _sound(seed)
    begins = draw.whole(25, 40)
    count = iter(range(1, patient.steps + 1))
    sound = patient.loss

    def loss(output: Tensor, target: Tensor) -> Tensor:
        shift = 100.0 if next(count) < begins else -100.0
        return sound(output, target) + torch.log(output + shift).mean() * 1e-3

    patient.loss = loss
    return patient


def nan_in_gradients(seed: int) -> Patient:
    """A finite loss whose backward pass is not: by a hook, or by the root of zero."""
    draw, patient = _sound(seed)
    begins = draw.whole(25, 40)
    count = iter(range(1, patient.steps + 1))
    kind = draw.one_of("hook", "root")
    sound = patient.loss

    def loss(output: Tensor, target: Tensor) -> Tensor:
        bad = next(count) >= begins
        if bad and kind == "hook":
            output.register_hook(lambda gradient: gradient / torch.zeros_like(gradient))
        root = torch.sqrt((output * 0.0).abs().sum()) if bad and kind == "root" else 0.0
        return sound(output, target) + root

    patient.loss = loss
    return patient


def nan_in_parameters(seed: int) -> Patient:
    """A weight that something wrote over."""
    draw, patient = _sound(seed)
    begins = draw.whole(25, 40)
    _, parameters = patient.layers[draw.whole(0, len(patient.layers) - 1)]

    def before_step(step: int) -> None:
        if step == begins:
            with torch.no_grad():
                parameters[0].view(-1)[0] = float("nan")

    patient.before_step = before_step
    return patient


def _sound(seed: int) -> tuple[Draw, Patient]:
    draw = Draw(seed)
    if draw.one_of("network", "network", "network", "transformer") == "transformer":
        patient = transformer(draw)
        patient.steps = 45
        return draw, patient
    model = network(draw, draw.whole(1, 3), ACTIVATIONS[draw.one_of(*ACTIVATIONS)], 1.4)
    return draw, Patient(model, task(draw), squares, draw.log(3e-4, 3e-3), steps=45)


def healthy(seed: int) -> Patient:
    """Of many kinds; all of them learn, or have nothing to learn and do no harm."""
    draw = Draw(seed)
    kind = draw.one_of("regression", "regression", "classes", "small", "quantiles", "market", "exact", "transformer")
    return _HEALTHY[kind](draw)


def _regression(draw: Draw) -> Patient:
    activation = draw.one_of(*ACTIVATIONS)
    model = network(draw, draw.whole(0, 5), ACTIVATIONS[activation], 1.0 if activation == "tanh" else 1.4)
    optimizer, rate = _optimizer(draw)
    loss = {"squares": squares, "huber": functional.huber_loss, "absolute": functional.l1_loss}
    chosen = loss[draw.one_of(*loss)]
    return Patient(
        model,
        task(draw, draw.log(0.01, 1.0), draw.whole(4, 64)),
        chosen,
        rate,
        optimizer,
        draw.one_of("norm", "norm", "off", "observe"),
        steps=draw.whole(60, 320),
    )


def _classes(draw: Draw) -> Patient:
    model = network(draw, draw.whole(1, 4), ACTIVATIONS[draw.one_of(*ACTIVATIONS)], draw.log(0.7, 1.4))
    optimizer, rate = _optimizer(draw)
    sample = task(draw, draw.log(0.01, 1.0), draw.whole(8, 64))

    def loss(output: Tensor, target: Tensor) -> Tensor:
        return functional.binary_cross_entropy_with_logits(output, (target > 0.0).float())

    return Patient(model, sample, loss, rate, optimizer, steps=draw.whole(60, 250))


def _small(draw: Draw) -> Patient:
    """Gradients far below 1e-6, and a rate that is as much larger: it learns."""
    patient = _regression(draw)
    scale = draw.log(1e-9, 1e-3)
    chosen = patient.loss
    patient.loss = lambda output, target: chosen(output, target) * scale
    patient.optimizer = draw.one_of("sgd", "momentum")
    patient.rate = draw.log(3e-3, 3e-2) / scale
    patient.clip_mode = "norm"
    patient.steps = draw.whole(150, 300)
    return patient


def _quantiles(draw: Draw) -> Patient:
    model = network(draw, draw.whole(1, 3), ACTIVATIONS[draw.one_of(*ACTIVATIONS)], 1.0)
    head = nn.Linear(1, LEVELS.numel())
    _fill(head, draw, None)
    optimizer, rate = _optimizer(draw)

    def loss(output: Tensor, target: Tensor) -> Tensor:
        return pinball(target.squeeze(1), output, LEVELS).mean()

    return Patient(nn.Sequential(*model, head), task(draw, draw.log(0.1, 1.0)), loss, rate, optimizer)


def _market(draw: Draw) -> Patient:
    """Nothing can be learned: the loss is constant from the first step to the last, with heavy tails."""
    model = network(draw, draw.whole(1, 4), ACTIVATIONS[draw.one_of(*ACTIVATIONS)], 0.7)

    def sample(step: int) -> Sample:
        inputs = torch.randn(32, 6, generator=draw.torch)
        normal = torch.randn(32, 4, generator=draw.torch)
        return (inputs,), (normal[:, :1] / normal[:, 1:].square().mean(1, keepdim=True).sqrt()).clamp(-20, 20)

    return Patient(model, sample, functional.l1_loss, draw.log(1e-5, 1e-3), steps=draw.whole(100, 320))


def _exact(draw: Draw) -> Patient:
    """Learned to the last digit, so that the gradients end at next to nothing."""
    weights = torch.randn(6, 1, generator=draw.torch)
    inputs = torch.randn(64, 6, generator=draw.torch)
    model = network(draw, 0, nn.Identity)
    rate = draw.log(0.1, 0.3)
    return Patient(model, lambda step: ((inputs,), inputs @ weights), squares, rate, "sgd", steps=320)


def transformer(draw: Draw) -> Patient:
    """The real model, with its head at zero, on series with or without a pattern."""
    heads = draw.whole(1, 2)
    shape = ModelShape(
        features=6, context=8, width=8 * heads, layers=draw.whole(1, 2), heads=heads, horizons=2, quantities=2, levels=5
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(draw.whole(0, 10_000))
        model = CandleTransformer(shape)
    pattern = draw.log(0.01, 1.0)

    def sample(step: int) -> Sample:
        series = torch.randn(16, 8, 6, generator=draw.torch)
        noise = torch.randn(16, 2, 2, generator=draw.torch)
        return (series, torch.ones(16, 8, dtype=torch.bool)), pattern * series[:, -1, :1, None] + noise

    reference = torch.tensor([-1.64, -0.67, 0.0, 0.67, 1.64])

    def loss(output: Tensor, target: Tensor) -> Tensor:
        return pinball(target, torch.sort(reference + output, dim=-1).values, LEVELS).sum(-1).mean()

    return Patient(model, sample, loss, draw.log(1e-6, 3e-3), steps=draw.whole(60, 200))


def _optimizer(draw: Draw) -> tuple[str, float]:
    optimizer = draw.one_of("adamw", "sgd", "momentum")
    low, high = {"adamw": (1e-4, 5e-3), "sgd": (5e-3, 5e-2), "momentum": (1e-3, 1e-2)}[optimizer]
    return optimizer, draw.log(low, high)


_HEALTHY: dict[str, Callable[[Draw], Patient]] = {
    "regression": _regression,
    "classes": _classes,
    "small": _small,
    "quantiles": _quantiles,
    "market": _market,
    "exact": _exact,
    "transformer": transformer,
}
