from __future__ import annotations

import pytest

from core.domain.counts import decimal_text


@pytest.mark.parametrize(
    ("number", "text"), [(1.5e-05, "0.000015"), (3e-5, "0.00003"), (1.0, "1"), (0.00012345, "0.000123")]
)
def test_a_rate_is_written_as_the_fields_show_it(number: float, text: str) -> None:
    assert decimal_text(number) == text


@pytest.mark.parametrize(
    ("number", "text"), [(5.2097979e-05, "0.000052097979"), (64_123.5, "64123.5"), (1e9, "1000000000")]
)
def test_a_price_is_written_without_an_exponent(number: float, text: str) -> None:
    assert decimal_text(number, 8) == text
