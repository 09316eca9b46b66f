"""The anchor's loss equals the engine's for a model without corrections."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from core.training.online.anchor_loss import anchor_loss
from tests.core.training.engine.rigs import REFERENCE, batch, engine


@pytest.mark.parametrize("each_its_own", [False, True])
def test_the_anchor_is_the_loss_of_a_new_model_without_corrections(each_its_own: bool) -> None:
    samples = batch(3)
    anchors = np.stack([REFERENCE + 0.1 * index for index in range(samples.size)]) if each_its_own else REFERENCE
    loss = engine().step(samples, anchors).loss
    assert loss is not None and anchor_loss(samples, anchors) == pytest.approx(loss, rel=1e-5)


def test_a_non_finite_loss_has_no_anchor() -> None:
    samples = batch(3)
    targets = samples.targets.copy()
    targets.flat[0] = np.nan
    assert anchor_loss(dataclasses.replace(samples, targets=targets), REFERENCE) is None
    assert anchor_loss(dataclasses.replace(samples, weights=np.zeros_like(samples.weights)), REFERENCE) is None
