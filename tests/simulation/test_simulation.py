"""Whatever a network does to a feed, what is stored in the end is what the exchange says it was."""

from __future__ import annotations

import os

import pytest

from tests.simulation.run import problems, simulate

pytestmark = pytest.mark.simulation

_IN_CI, _IN_SOAK = 200, 5_000
_CHOSEN = os.environ.get("GHOSTCANDLE_SIMULATION")


def _seeds() -> list[int]:
    if _CHOSEN is not None:
        return [int(_CHOSEN)]
    return list(range(_IN_SOAK if os.environ.get("GHOSTCANDLE_SOAK") else _IN_CI))


@pytest.mark.parametrize("seed", _seeds())
def test_the_table_equals_the_exchange_after_any_trouble(seed: int) -> None:
    outcome = simulate(seed)
    found = problems(outcome)
    if _CHOSEN is not None:
        print("\n".join(outcome.log))
    if found:
        told = "\n".join([str(toxic) for toxic in outcome.toxics.all] + found[:20])
        pytest.fail(
            f"{told}\nTo repeat it: GHOSTCANDLE_SIMULATION={seed} python -m pytest -s tests/simulation", pytrace=False
        )


def test_the_same_seed_gives_the_same_run() -> None:
    one, other = simulate(7), simulate(7)
    assert one.log == other.log and one.stored == other.stored
