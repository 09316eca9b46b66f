"""An exception as text, without its traceback object, which would keep the tensors of the failed pass alive.

`name_operation` repeats a pass in autograd's anomaly mode, to name the operation whose input was changed in place.
"""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import torch

from core.training.engine.device_faults import DeviceFault, classify
from models.contract import in_short

_MESSAGE = "modified by an inplace operation"  # autograd raises a plain RuntimeError, so only its text tells


@dataclass(frozen=True, slots=True)
class Failure:
    """sentence: the error's type and first line, and the line of a model's file; details: its traceback, as text."""

    fault: DeviceFault
    is_in_place: bool
    sentence: str
    details: str


def failure_of(error: BaseException) -> Failure:
    details = "".join(traceback.format_exception(error))
    return Failure(classify(error), is_in_place_error(error), in_short(error), details)


def survivable_failure(error: BaseException) -> Failure:
    """The failure, if this process can work on after it; otherwise raises the error again."""
    failure = failure_of(error)
    if failure.fault in (DeviceFault.STICKY, DeviceFault.GONE):
        raise error
    return failure


def is_in_place_error(error: BaseException) -> bool:
    return isinstance(error, RuntimeError) and _MESSAGE in str(error)


def name_operation(run_again: Callable[[], object]) -> str:
    """Run the pass again in anomaly mode, and return autograd's account: the operation and its call site.

    Anomaly mode is slow, so it is on only here. `run_again` is expected to fail as before; if it fails differently, the
    account says so. Raises only errors that end the process.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with torch.autograd.detect_anomaly(check_nan=False):
            try:
                run_again()
            except Exception as error:
                survivable_failure(error)
                # autograd issues the trace as a plain UserWarning, without a separate class
                traces = [str(warning.message) for warning in caught if "Traceback" in str(warning.message)]
                return "\n".join([*traces, _account(error)])
    return "The same pass succeeded when repeated, so the operation could not be named."


def _account(error: Exception) -> str:
    if is_in_place_error(error):
        return str(error)
    return (
        f"When repeated, the same pass failed differently ({type(error).__name__}: {error}), so the operation could "
        "not be named."
    )
