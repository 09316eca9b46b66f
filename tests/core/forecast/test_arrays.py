from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.forecast.arrays import replace_in_order

VALUES = st.floats(-2.0, 2.0, width=16) | st.just(np.inf)
"""With ties, and with places that hold no value yet."""
ROW = st.integers(0, 6).flatmap(lambda last: st.tuples(st.just(last), st.lists(VALUES, min_size=7, max_size=7), VALUES))


@given(st.lists(ROW, min_size=1, max_size=4))
def test_a_value_replaced_in_order_gives_the_order_of_a_plain_sort(rows: list[tuple[int, list[float], float]]) -> None:
    values, new = np.array([values for _, values, _ in rows]), np.array([new for _, _, new in rows])
    at = np.arange(len(rows)), np.array([place for place, _, _ in rows])
    ordered, old = np.sort(values, axis=-1), values[at]
    replace_in_order(ordered, old, new)
    values[at] = new
    np.testing.assert_array_equal(ordered, np.sort(values, axis=-1))
