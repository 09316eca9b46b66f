from __future__ import annotations

import pytest

from core.domain.counts import decimal_text


@pytest.mark.parametrize(
    ("number", "text"), [(1.5e-05, "0.000015"), (3e-5, "0.00003"), (1.0, "1"), (0.00012345, "0.000123")]
)
def test_a_rate_is_written_as_the_fields_show_it(number: float, text: str) -> None:
    assert decimal_text(number) == text
