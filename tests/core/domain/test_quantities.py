from __future__ import annotations

import numpy as np
import pytest

from core.domain.quantities import Quantity, units


def test_only_the_close_scales_with_the_square_root_of_time() -> None:
    """As a random walk does; a body or a wick is of one candle, however far ahead."""
    factor, offset = units(np.array([0.01]), np.array([-6.0]), np.array([3.0]), horizons=9)
    assert factor[0, [0, 3, 8], Quantity.CLOSE] == pytest.approx([0.01, 0.02, 0.03])
    for quantity in (Quantity.BODY, Quantity.UPPER_WICK, Quantity.LOWER_WICK):
        assert factor[0, :, quantity] == pytest.approx([0.01] * 9)
    assert offset[0, :, Quantity.RANGE] == pytest.approx([-6.0] * 9)
    assert offset[0, :, Quantity.VOLUME] == pytest.approx([3.0] * 9)
