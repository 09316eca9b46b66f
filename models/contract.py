"""The contract of a torch module that challenges the main model, and the search for it in a file or a package.

See docs/your-own-model.md. The loaded code is the user's own choice, and runs with all of the user's rights. A
checkpoint never carries code, only the name.
"""

from __future__ import annotations

import importlib.util
import inspect
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from models.registry import MODELS, ModelMaker, build_with_seed
from models.shape import ModelShape

ENTRY_POINTS = "ghostcandle.models"
"""The group in which a package names its classes."""
_FILE_MODULE = "ghostcandle_model_"
"""How the names of modules that were loaded from files begin."""
_SAMPLES = 3
FAILURES = (Exception, SystemExit)
"""The exceptions of a model's code, which may also call `exit`."""


@contextmanager
def modes_kept() -> Iterator[None]:
    """Leave torch's and NumPy's modes as they were, whatever a model's code does to them. A copy of the process that
    the code has made ends here: two trainers would write to one record."""
    takes_gradients, dtype, errors = torch.is_grad_enabled(), torch.get_default_dtype(), np.geterr()
    process = os.getpid()
    try:
        yield
    finally:
        if os.getpid() != process:
            os._exit(0)
        torch.set_grad_enabled(takes_gradients)
        torch.set_default_dtype(dtype)
        np.seterr(**errors)


class ContractError(Exception):
    """A model cannot be used. The message is a sentence for its author."""


def find_model(name: str, file: str | None = None) -> ModelMaker:
    """The class of this name, of a file; else the registered or installed one. Raises ContractError."""
    if file is not None:
        return _class_in(_loaded(Path(file)), name, Path(file).name)
    if name in MODELS:
        return MODELS[name]
    found = next((point for point in entry_points(group=ENTRY_POINTS) if point.name == name), None)
    if found is None:
        raise ContractError(
            f"There is no model '{name}'. There are {', '.join(MODELS)}, and what installed packages name in "
            f"'{ENTRY_POINTS}'; or give a file and its class: path/file.py:Class."
        )
    return _require_module_class(_installed(found), f"'{name}' of {found.value}")


@modes_kept()
def build_checked(make: ModelMaker, name: str, shape: ModelShape, seed: int) -> nn.Module:
    """A new model, tried on random candles. Its initial weights depend on `seed` alone. Raises ContractError."""
    try:
        model = build_with_seed(make, shape, seed)
        is_trainable = any(parameter.requires_grad for parameter in model.parameters())
    except FAILURES as error:
        raise ContractError(
            f"{name} cannot be built from its one argument, a ModelShape: {in_short(error)}."
        ) from error
    if not is_trainable:
        raise ContractError(f"{name} has no parameters to train.")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        _try(model, name, shape)
    return model


def _try(model: nn.Module, name: str, shape: ModelShape) -> None:
    """One forward pass, as in a forecast."""
    features = torch.randn(_SAMPLES, shape.context, shape.inputs)
    is_real = torch.ones(_SAMPLES, shape.context, dtype=torch.bool)
    is_real[1:, 0] = False
    given = features.clone(), is_real.clone()
    model.eval()
    try:
        with torch.no_grad():
            made: Any = model(*given)
    except FAILURES as error:
        raise ContractError(f"{name} failed in forward(features, is_real): {in_short(error)}.") from error
    if not (torch.equal(given[0], features) and torch.equal(given[1], is_real)):
        raise ContractError(
            f"{name} changes its inputs in place. Assign a new name instead: other models read them too."
        )
    _require_corrections(made, name, (_SAMPLES, shape.horizons, shape.quantities, shape.levels))


def _require_corrections(made: Any, name: str, shape: tuple[int, ...]) -> None:
    if not isinstance(made, Tensor):
        raise ContractError(f"{name} returns a {type(made).__name__} from forward, not a tensor.")
    if tuple(made.shape) != shape:
        raise ContractError(
            f"{name} returns the shape {tuple(made.shape)} from forward, not {shape}: samples, horizons, quantities, "
            "levels."
        )
    if not bool(torch.isfinite(made).all()):
        raise ContractError(f"{name} returns numbers that are not finite.")


class _SourceLoader(SourceFileLoader):
    """Compiles the file each time, and writes no bytecode.

    Python takes bytecode for current by the size of its source and the second it was written in: a file that is saved
    twice in one second would run as it was.
    """

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def _loaded(file: Path) -> ModuleType:
    """The file as a separate module. Raises ContractError."""
    if not file.is_file():
        raise ContractError(f"There is no file {file}.")
    name = f"{_FILE_MODULE}{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file, loader=_SourceLoader(name, str(file)))
    assert spec is not None and spec.loader is not None, "it was given"
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses of the file look themselves up there
    try:
        with modes_kept():
            spec.loader.exec_module(module)
    except FAILURES as error:
        del sys.modules[spec.name]
        found = f" Only modules that are installed in {sys.prefix} are found, none beside the file."
        advice = found if isinstance(error, ModuleNotFoundError) else ""
        raise ContractError(f"{file.name} cannot be run: {in_short(error)}.{advice}") from error
    return module


def _class_in(module: ModuleType, name: str, file_name: str) -> ModelMaker:
    found = getattr(module, name, None)
    if found is None:
        has = [
            key
            for key, value in vars(module).items()
            if _is_module_class(value) and value.__module__ == module.__name__
        ]
        raise ContractError(f"{file_name} has no class {name}. It has {', '.join(has) or 'no torch module at all'}.")
    return _require_module_class(found, f"{name} of {file_name}")


def _installed(point: EntryPoint) -> object:
    try:
        return point.load()
    except FAILURES as error:
        raise ContractError(f"The installed model '{point.name}' cannot be loaded: {in_short(error)}.") from error


def _require_module_class(found: object, name: str) -> ModelMaker:
    if not _is_module_class(found):
        raise ContractError(f"{name} is not a class that inherits from torch.nn.Module.")
    return found  # type: ignore[return-value]


def _is_module_class(found: object) -> bool:
    return inspect.isclass(found) and issubclass(found, nn.Module)


def in_short(error: BaseException) -> str:
    """Its type and first line, and the line of the model's file that led to it, without a full stop."""
    text = f"{type(error).__name__}: {next(iter(str(error).splitlines()), 'no message')}".rstrip(".")
    lines = [
        f"{Path(frame.f_code.co_filename).name}, line {number}"
        for frame, number in traceback.walk_tb(error.__traceback__)
        if str(frame.f_globals.get("__name__")).startswith(_FILE_MODULE)
    ]
    return f"{text} ({lines[-1]})" if lines else text
