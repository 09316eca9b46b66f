"""The known-good state: only finite numbers, and complete."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.core.training.recovery.ladder_bench import Bench


@pytest.mark.faults
@pytest.mark.parametrize("poison", [torch.nan, torch.inf, -torch.inf])
@pytest.mark.parametrize("kind", ["a parameter", "exp_avg", "exp_avg_sq", "the average"])
def test_one_non_finite_number_keeps_the_former_state(tmp_path: Path, kind: str, poison: float) -> None:
    """Each alone: a moment or an average can be non-finite while every parameter is finite."""
    bench = Bench(tmp_path)
    spoil(bench, kind, poison)
    assert not bench.engine.is_finite()
    assert bench.ladder.known_good.remember(11) is False
    assert bench.ladder.known_good.step == 10
    bench.ladder.known_good.restore()
    assert bench.engine.is_finite() and bench.ladder.known_good.remember(12)


def spoil(bench: Bench, kind: str, poison: float) -> None:
    """Put the poison into the last place of the tensors of this kind."""
    named = bench.engine.tensors()
    part = {"a parameter": "model.", "the average": "average."}.get(kind)
    chosen = [name for name in named if (name.startswith(part) if part else name.endswith(f".{kind}"))]
    with torch.no_grad():
        named[chosen[-1]].view(-1)[-1] = poison
