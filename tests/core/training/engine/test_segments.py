"""Both ways of reducing segments against plain slices, on the CPU: the GPU's way also runs there."""

from __future__ import annotations

import pytest
import torch

from core.training.engine.gradient_measure import Segments


@pytest.mark.parametrize("is_host", [True, False])
@pytest.mark.parametrize("lengths", [(1,), (5, 1, 7), (1000, 3, 3, 1)])
def test_norms_sums_and_maxima_equal_those_of_the_slices(is_host: bool, lengths: tuple[int, ...]) -> None:
    flat = torch.randn(sum(lengths), generator=torch.Generator().manual_seed(3))
    segments = Segments(flat, lengths, torch.empty_like(flat))
    segments._is_host = is_host
    parts = torch.split(flat, lengths)
    torch.testing.assert_close(segments.norms(), torch.stack([part.norm() for part in parts]))
    torch.testing.assert_close(segments.sums(), torch.stack([part.sum() for part in parts]))
    assert torch.equal(segments.largest(), torch.stack([part.abs().max() for part in parts]))


def test_non_finite_values_stay_in_their_segment() -> None:
    flat = torch.tensor([1.0, torch.nan, 2.0, torch.inf, -torch.inf, 3.0])
    segments = Segments(flat, (1, 1, 1, 2, 1), torch.empty_like(flat))
    assert torch.isfinite(segments.norms()).tolist() == [True, False, True, False, True]
    assert torch.isfinite(segments.sums()).tolist() == [True, False, True, False, True]
    assert torch.isfinite(segments.largest()).tolist() == [True, False, True, False, True]
