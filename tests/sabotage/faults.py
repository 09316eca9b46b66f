"""All faults that `make sabotage` tries, chosen by reading the program, not the tests.

To add one: a wrong line that a programmer might write, that still imports, that neither ruff nor mypy reports, and that
would harm a user or a researcher.
"""

from __future__ import annotations

from tests.sabotage import (
    of_chart,
    of_commands,
    of_forecasts,
    of_gpu,
    of_market,
    of_models,
    of_storage,
    of_sweeps,
    of_training,
    of_verdicts,
    of_window,
)

FAULTS = tuple(
    fault
    for module in (
        of_market,
        of_forecasts,
        of_storage,
        of_sweeps,
        of_training,
        of_gpu,
        of_models,
        of_verdicts,
        of_chart,
        of_window,
        of_commands,
    )
    for fault in module.FAULTS
)
