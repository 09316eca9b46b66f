from __future__ import annotations

import math
from typing import Any

import pytest

from core.market.feeds.tickers import Quote, quote_of


@pytest.mark.parametrize(
    ("ticker", "quote"),
    [
        ({"last": 150.0, "percentage": -12.5}, Quote(150.0, 7, -0.125)),
        ({"last": "150.0", "percentage": "2"}, Quote(150.0, 7, 0.02)),
        ({"last": 150.0, "percentage": None}, Quote(150.0, 7, None)),
        ({"last": 150.0, "percentage": math.nan}, Quote(150.0, 7, None)),
        ({"last": 150.0}, Quote(150.0, 7, None)),
        ({"last": None, "percentage": 1.0}, None),
        ({"last": 0.0, "percentage": 1.0}, None),
        ({"last": math.inf}, None),
        ({}, None),
    ],
)
def test_a_quote_has_a_sound_price_and_a_change_only_where_the_exchange_has_one(
    ticker: dict[str, Any], quote: Quote | None
) -> None:
    assert quote_of(ticker, 7) == quote
