"""The contract of a torch module: every registered one keeps it, and each way to break it has its sentence."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from core.domain.challenger_sources import ENTRY_POINTS, MODEL_NAMES
from models import contract
from models.checks import check_module
from models.contract import ContractError, build_checked, find_model
from models.registry import MODELS, build_model
from models.shape import ModelShape

SHAPE = ModelShape(features=5, context=12, width=16, layers=2, heads=4, horizons=3, quantities=2, levels=7)
SEVERAL = ModelShape(5, 12, 16, 2, 4, 3, 2, 7, others=4)


@pytest.mark.parametrize("shape", [SHAPE, SEVERAL], ids=["one market", "several"])
@pytest.mark.parametrize("name", MODELS)
def test_every_registered_model_keeps_the_contract(name: str, shape: ModelShape) -> None:
    found = list(check_module(MODELS[name], name, shape))
    assert len(found) == 8 and all(each.passed for each in found)


@pytest.mark.parametrize("real", [1, 2, 11, 12])
@pytest.mark.parametrize("name", MODELS)
def test_any_number_of_real_candles_is_enough(name: str, real: int) -> None:
    net = stirred(build_model(name, SHAPE, 3))
    features = torch.randn(2, 12, 5, generator=torch.Generator().manual_seed(1))
    is_real = torch.arange(12).expand(2, 12) >= 12 - real
    shifted = torch.where(is_real[..., None], features, torch.full_like(features, 1e3))
    assert torch.isfinite(net(features, is_real)).all()
    assert torch.equal(net(features, is_real), net(shifted, is_real))


@pytest.mark.parametrize("name", MODELS)
def test_the_whole_context_is_read(name: str) -> None:
    net = stirred(build_model(name, SHAPE, 3))
    features, is_real = torch.randn(1, 12, 5), torch.ones(1, 12, dtype=torch.bool)
    for place in (0, 5, 11):
        changed = features.clone()
        changed[:, place] += 1.0
        assert not torch.equal(net(features, is_real), net(changed, is_real)), place


def stirred(model: nn.Module) -> nn.Module:
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(2)))
    return model.eval()


class Sound(nn.Module):
    """Broken by each of the classes below in one way."""

    def __init__(self, shape: ModelShape) -> None:
        super().__init__()
        self.shape = shape
        self.linear = nn.Linear(shape.inputs, 3 * 2 * 7)

    def forward(self, features: Tensor, is_real: Tensor) -> Tensor:
        made: Tensor = self.linear(features[:, -1])
        return made.view(-1, 3, 2, 7)


class OtherShape(Sound):
    def forward(self, features: Tensor, is_real: Tensor) -> Tensor:
        return super().forward(features, is_real)[..., 0]


class NoTensor(Sound):
    def forward(self, features: Tensor, is_real: Tensor) -> Tensor:
        return None  # type: ignore[return-value]


class NotFinite(Sound):
    def forward(self, features: Tensor, is_real: Tensor) -> Tensor:
        return super().forward(features, is_real) / 0.0


class InPlace(Sound):
    def forward(self, features: Tensor, is_real: Tensor) -> Tensor:
        made = super().forward(features, is_real)
        features *= 0.5
        return made


class Raising(Sound):
    def forward(self, features: Tensor, is_real: Tensor) -> Tensor:
        raise RuntimeError("no luck today")


class Exiting(Sound):
    def forward(self, features: Tensor, is_real: Tensor) -> Tensor:
        sys.exit("no luck today")


class OtherArguments(Sound):
    def __init__(self, width: int, height: int) -> None:
        raise AssertionError


class NothingToTrain(nn.Module):
    def __init__(self, shape: ModelShape) -> None:
        super().__init__()

    def forward(self, features: Tensor, is_real: Tensor) -> Tensor:
        return torch.zeros(len(features), 3, 2, 7)


@pytest.mark.parametrize(
    ("broken", "sentence"),
    [
        (OtherShape, r"returns the shape \(3, 3, 2\) from forward, not \(3, 3, 2, 7\)"),
        (NoTensor, "returns a NoneType from forward, not a tensor"),
        (NotFinite, "returns numbers that are not finite"),
        (InPlace, "changes its inputs in place"),
        (Raising, r"failed in forward\(features, is_real\): RuntimeError: no luck today"),
        (Exiting, r"failed in forward\(features, is_real\): SystemExit: no luck today"),
        (OtherArguments, "cannot be built from its one argument, a ModelShape: TypeError"),
        (NothingToTrain, "has no parameters to train"),
    ],
)
def test_a_model_that_breaks_the_contract_is_refused_in_a_sentence(
    broken: Callable[[ModelShape], nn.Module], sentence: str
) -> None:
    with pytest.raises(ContractError, match=f"^Own {sentence}"):
        build_checked(broken, "Own", SHAPE, 0)


def test_a_sound_model_is_built_as_its_seed_says() -> None:
    torch.manual_seed(1)
    before = torch.random.get_rng_state()
    weights = [build_checked(Sound, "Sound", SHAPE, seed).get_parameter("linear.weight") for seed in (4, 4, 5)]
    assert torch.equal(weights[0], weights[1]) and not torch.equal(weights[0], weights[2])
    assert torch.equal(torch.random.get_rng_state(), before)


class Peeking(Sound):
    """Reads the mean of the whole batch."""

    def forward(self, features: Tensor, is_real: Tensor) -> Tensor:
        return super().forward(features - features.mean(dim=0), is_real)


class Remembering(Sound):
    def __init__(self, shape: ModelShape) -> None:
        super().__init__(shape)
        self.before: Tensor | float = 0.0

    def forward(self, features: Tensor, is_real: Tensor) -> Tensor:
        made = super().forward(features + self.before, is_real)
        self.before = features.detach().mean()
        return made


class ReadingPadding(Sound):
    def forward(self, features: Tensor, is_real: Tensor) -> Tensor:
        return super().forward(features.mean(dim=1, keepdim=True), is_real)


class PartlySilent(Sound):
    def __init__(self, shape: ModelShape) -> None:
        super().__init__(shape)
        self.unused = nn.Linear(2, 2)


class Drawing(Sound):
    """Draws from a separate generator, which nothing seeds."""

    def __init__(self, shape: ModelShape) -> None:
        super().__init__(shape)
        generator = torch.Generator()
        generator.seed()
        with torch.no_grad():
            self.linear.weight.copy_(torch.randn(self.linear.weight.shape, generator=generator))


class Moody(Sound):
    def forward(self, features: Tensor, is_real: Tensor) -> Tensor:
        if self.training:
            raise RuntimeError("not today")
        return super().forward(features, is_real)


class Deaf(Sound):
    def forward(self, features: Tensor, is_real: Tensor) -> Tensor:
        return super().forward(torch.ones_like(features), is_real)


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        (Peeking, "depends on the others of its batch"),
        (Remembering, "another answer after others were seen"),
        (ReadingPadding, "padded places"),
        (PartlySilent, "No gradient reaches unused.weight, unused.bias"),
        (Drawing, "Two models of one seed differ in linear.weight"),
        (Deaf, "the same for any candles"),
        (Sound, "Its first forecasts are noise"),
        (OtherShape, "returns the shape"),
        (Moody, "The model failed: RuntimeError: not today"),
    ],
)
def test_the_check_names_what_is_broken(broken: Callable[[ModelShape], nn.Module], problem: str) -> None:
    problems = [each.found for each in check_module(broken, "Own", SHAPE) if not each.passed]
    assert any(problem in each for each in problems), problems


def test_advice_alone_refuses_no_model() -> None:
    assert all(not each.is_required for each in check_module(Sound, "Sound", SHAPE) if not each.passed)


def written(folder: Path, text: str) -> str:
    path = folder / "own.py"
    path.write_text(text)
    return str(path)


def test_a_file_is_read_again_where_its_size_and_time_are_those_of_its_former_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    text = "from torch import nn\nclass Own(nn.Module):\n    size = {}\n"
    file = written(tmp_path, text.format(3))
    at_ns = Path(file).stat().st_mtime_ns
    assert vars(find_model("Own", file))["size"] == 3
    written(tmp_path, text.format(4))
    os.utime(file, ns=(at_ns, at_ns))
    assert vars(find_model("Own", file))["size"] == 4
    assert list(tmp_path.iterdir()) == [Path(file)], "no bytecode beside it"


@pytest.mark.hostile
def test_a_file_cannot_change_the_modes_of_torch_and_numpy(tmp_path: Path) -> None:
    changes = "torch.set_default_dtype(torch.float64); torch.set_grad_enabled(False); numpy.seterr(all='raise')"
    head = f"import numpy, torch\n{changes}\nclass Own(torch.nn.Module):\n"
    file = written(tmp_path, f"{head}    def __init__(self, shape):\n        {changes}\n")
    before = np.geterr()
    make = find_model("Own", file)
    with pytest.raises(ContractError):
        build_checked(make, "own", SHAPE, 1)
    assert torch.is_grad_enabled() and torch.get_default_dtype() is torch.float32 and np.geterr() == before


def test_a_class_of_a_file_is_found(tmp_path: Path) -> None:
    file = written(tmp_path, "from torch import nn\nclass Own(nn.Module):\n    pass\n")
    found = find_model("Own", file)
    assert isinstance(found, type) and issubclass(found, nn.Module) and found.__name__ == "Own"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("import torch.nn as nn\nclass Mine(nn.Module):\n    pass\n", "own.py has no class Own. It has Mine."),
        ("", "own.py has no class Own. It has no torch module at all."),
        ("Own = 3\n", "Own of own.py is not a class that inherits from torch.nn.Module."),
        (
            "\nimport nothing_of_this_name\n",
            "own.py cannot be run: ModuleNotFoundError: No module named 'nothing_of_this_name' (own.py, line 2). "
            "Only modules that are installed in ",
        ),
        ("class Own(:\n", "own.py cannot be run: SyntaxError: invalid syntax (own.py, line 1)."),
        ("raise SystemExit('usage: own')\n", "own.py cannot be run: SystemExit: usage: own (own.py, line 1)."),
    ],
)
def test_a_file_without_the_class_is_refused_in_a_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(ContractError) as refused:
        find_model("Own", written(tmp_path, text))
    assert str(refused.value).startswith(sentence)


def test_a_failure_is_given_with_the_line_of_the_file_that_led_to_it(tmp_path: Path) -> None:
    wrong = "from torch import nn\nclass Own(nn.Module):\n    def __init__(self, shape):\n        nn.Linear(shape, 1)\n"
    with pytest.raises(ContractError, match=r"cannot be built .*TypeError: .* \(own\.py, line 4\)\.$"):
        build_checked(find_model("Own", written(tmp_path, wrong)), "Own", SHAPE, 0)


def test_a_missing_file_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="There is no file"):
        find_model("Own", str(tmp_path / "none.py"))


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ContractError, match=r"There is no model 'oracle'\. There are transformer, gru, tcn, nlinear"):
        find_model("oracle")


def test_an_installed_model_is_found_by_its_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "stranger_models.py").write_text("from torch import nn\nclass Own(nn.Module):\n    pass\n")
    info = tmp_path / "stranger-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    lines = ("[ghostcandle.models]", "own = stranger_models:Own", "lost = stranger_models:Lost", "")
    (info / "entry_points.txt").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(str(tmp_path))
    assert getattr(find_model("own"), "__name__", "") == "Own"
    with pytest.raises(ContractError, match="The installed model 'lost' cannot be loaded: AttributeError"):
        find_model("lost")


def test_the_window_which_has_no_torch_knows_the_models_by_name() -> None:
    assert tuple(MODELS) == MODEL_NAMES and ENTRY_POINTS == contract.ENTRY_POINTS
