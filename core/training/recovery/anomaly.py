"""One pass under autograd's anomaly mode, to name the operation whose input was changed in place."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import torch

from core.training.engine.device_faults import DeviceFault, classify

_MESSAGE = "modified by an inplace operation"


def is_in_place_error(error: BaseException) -> bool:
    return isinstance(error, RuntimeError) and _MESSAGE in str(error)


def name_operation(run_again: Callable[[], object]) -> str:
    """Run the pass again, watched, and return autograd's account of it: the operation and where it was called.

    Anomaly mode is slow, so it is on only here. `run_again` is expected to fail as it did before; where it fails in
    another way, that is the account. Raises only what ends the process.
    """
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with torch.autograd.detect_anomaly(check_nan=False):
            try:
                run_again()
            except Exception as error:
                if classify(error) in (DeviceFault.STICKY, DeviceFault.GONE):
                    raise
                told_texts = [str(warning.message) for warning in told if "Traceback" in str(warning.message)]
                return "\n".join([*told_texts, _words(error)])
    return "The same pass went well when it was run again, so the operation could not be named."


def _words(error: Exception) -> str:
    if is_in_place_error(error):
        return str(error)
    return (
        f"Run again, the same pass failed in another way ({type(error).__name__}: {error}), so the operation could "
        "not be named."
    )
