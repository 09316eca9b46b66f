"""What needs torch to be checked before the first cell runs: models that are not built in, and the GPU of a plan."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from core.domain.clock import Clock
from core.market.history.candle_file import sample_file
from core.sweeps.errors import SweepError
from core.sweeps.grid import settings_of
from core.sweeps.plan import MAIN_MODEL, Configuration
from core.sweeps.start import Draft

_CANDLES = 200
"""As `check-model` takes."""


def check_own_models(draft: Draft, clock: Clock, on_part: Callable[[str], object]) -> None:
    """Raises SweepError with the first requirement that a model fails. on_part: called with what begins."""
    for model in draft.own_models:
        on_part(f"Checking the model {model}")
        _check(draft, model, clock)


def check_device(device: str) -> None:
    """Raises SweepError if cells cannot use this device of a plan on this machine."""
    from core.training.engine.device import choose_device  # noqa: PLC0415 - torch
    from core.training.engine.device_faults import DeviceError  # noqa: PLC0415 - as above

    try:
        choose_device(device)
    except DeviceError as error:
        raise SweepError(
            f"device: {error.__cause__ or error}. Name cpu, or with --scheduler workers that have a GPU."
        ) from error


def _check(draft: Draft, model: str, clock: Clock) -> None:
    from core.training.checking.check import Subject, check_model  # noqa: PLC0415 - torch

    file = sample_file()
    settings = settings_of(draft.base, Configuration(1, MAIN_MODEL, ()), draft.plan.seeds[0], draft.plan.device)
    subject = Subject(model, list(file.candles[:_CANDLES]), file.interval, None, settings)
    with tempfile.TemporaryDirectory(prefix="ghostcandle-") as folder:
        checks = check_model(subject, Path(folder), clock)
    failed = next((check for check in checks if check.is_required and not check.passed), None)
    if failed is not None:
        raise SweepError(
            f"models: {model} does not pass check-model. {failed.requirement}: {failed.found} "
            f"`ghostcandle check-model {model}` has the details."
        )
