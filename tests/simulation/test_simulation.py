"""After any network faults the stored candles equal the exchange's."""

from __future__ import annotations

import os

import pytest

from tests.simulation.market import EPOCH_MS, STEP_MS
from tests.simulation.run import MINUTES, long_minutes, problems, simulate

pytestmark = pytest.mark.simulation

_FAST, _IN_CI, _IN_SOAK = 24, 200, 5_000
"""Seeds in `make test`, with those of `make test-slow`, and in a soak."""
_LONG_EVERY = 8
"""Of the seeds in CI; a soak runs hours with each."""
_CHOSEN = os.environ.get("GHOSTCANDLE_SIMULATION")
_IS_SOAK = bool(os.environ.get("GHOSTCANDLE_SOAK"))


def _seeds() -> list[object]:
    if _CHOSEN is not None:
        return [int(_CHOSEN)]
    slow = range(_FAST, _IN_SOAK if _IS_SOAK else _IN_CI)
    return [*range(_FAST), *(pytest.param(seed, marks=pytest.mark.slow) for seed in slow)]


def _minutes(seed: int) -> int:
    return long_minutes(seed) if _IS_SOAK or seed % _LONG_EVERY == 0 else MINUTES


def _command(seed: int) -> str:
    """Repeats one seed, at the length that it had."""
    length = "GHOSTCANDLE_SOAK=1 " if _IS_SOAK else ""
    return f"{length}GHOSTCANDLE_SIMULATION={seed} python -m pytest -s tests/simulation -k any_trouble"


@pytest.mark.parametrize("seed", _seeds())
def test_the_table_equals_the_exchange_after_any_trouble(seed: int) -> None:
    outcome = simulate(seed, minutes=_minutes(seed))
    found = problems(outcome)
    if _CHOSEN is not None:
        print("\n".join(outcome.log))
    if found:
        report = "\n".join([str(toxic) for toxic in outcome.toxics.all] + found[:20])
        pytest.fail(f"{report}\nTo repeat it: {_command(seed)}", pytrace=False)


def test_the_configured_hours_are_simulated() -> None:
    """Long runs cover at least four hours and several kinds of faults."""
    long = [seed for seed in range(_FAST) if _minutes(seed) > MINUTES]
    assert len(long) >= _FAST // _LONG_EVERY and min(_minutes(seed) for seed in long) >= 240
    outcome = simulate(long[0], minutes=_minutes(long[0]))
    assert len(outcome.closed()) >= 200 and (outcome.ended_ms - EPOCH_MS) >= 240 * STEP_MS
    assert len({toxic.kind for toxic in outcome.toxics.all}) >= 5


def test_the_same_seed_gives_the_same_run() -> None:
    one, other = simulate(7), simulate(7)
    assert one.log == other.log and one.stored == other.stored
