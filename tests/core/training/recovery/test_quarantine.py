from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.storage.weights import read_weights
from core.training.engine.samples import Batch
from core.training.recovery.quarantine import Quarantine, non_finite_parts

REFERENCE = np.zeros((2, 3, 6, 7))


def batch() -> Batch:
    ones = np.ones((2, 3, 6), dtype=np.float32)
    regimes = np.zeros((2, 2, 3), dtype=np.float32)
    return Batch(np.ones((2, 4, 5), dtype=np.float32), np.ones((2, 4), dtype=np.bool_), ones, ones.copy(), regimes)


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("part", ["features", "targets", "weights", "regimes", "reference"])
def test_a_non_finite_number_is_found_anywhere(part: str, number: float) -> None:
    spoilt = (REFERENCE if part == "reference" else getattr(batch(), part)).copy()
    spoilt.flat[3] = number
    if part == "reference":
        assert non_finite_parts(batch(), spoilt) == ["reference"]
    else:
        assert non_finite_parts(replace(batch(), **{part: spoilt}), REFERENCE) == [part]


def test_finite_numbers_with_an_overflowing_sum_are_not_bad() -> None:
    largest = np.full_like(batch().targets, np.finfo(np.float32).max)
    assert non_finite_parts(replace(batch(), targets=largest), REFERENCE) == []


def test_batches_are_stored_whole_and_the_oldest_are_deleted(tmp_path: Path) -> None:
    quarantine = Quarantine(tmp_path)
    for step in range(53):
        said = quarantine.put(batch(), REFERENCE, step, "not finite")
        if step == 0:  # the clock was years ahead
            os.utime(next(tmp_path.iterdir()), (2_150_000_000, 2_150_000_000))
    kept = sorted(tmp_path.iterdir())
    assert len(kept) == 50 and kept[-1].name in said and "step-00000003" in kept[0].name
    tensors, metadata = read_weights(kept[-1])
    assert metadata["step"] == 52 and metadata["reason"] == "not finite"
    assert set(tensors) == {"features", "is_real", "targets", "weights", "regimes", "reference"}
    np.testing.assert_array_equal(tensors["targets"].numpy(), batch().targets)
