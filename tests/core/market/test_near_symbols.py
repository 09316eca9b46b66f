from __future__ import annotations

import pytest

from core.market.near_symbols import did_you_mean, near_symbols

BINANCE = ("BTC/EUR", "BTC/USDC", "BTC/USDT", "ETH/BTC", "ETH/USDT", "ETHFI/USDT", "SOL/EUR", "SOL/USDT", "TRX/XRP")


@pytest.mark.parametrize(
    ("typed", "near"),
    [
        ("BTC/USD", ["BTC/USDT", "BTC/USDC"]),
        ("ETH/USD", ["ETH/USDT"]),
        ("btc/eu", ["BTC/EUR"]),
        ("SOL/GBP", ["SOL/USDT", "SOL/EUR"]),
        ("BTC/ETH", ["BTC/USDT", "BTC/USDC", "BTC/EUR"]),
        ("XRP/TRX", ["TRX/XRP"]),
        ("SOLL/USDT", ["SOL/USDT"]),
        ("QQQ/ZZZ", []),
    ],
)
def test_the_closest_symbols_come_first(typed: str, near: list[str]) -> None:
    assert near_symbols(typed, BINANCE)[: len(near) or None] == near


def test_the_suggestion_is_a_sentence() -> None:
    assert did_you_mean(["A/B"]) == " Did you mean A/B?"
    assert did_you_mean(["A/B", "A/C"]) == " Did you mean A/B or A/C?"
    assert did_you_mean(["A/B", "A/C", "A/D"]) == " Did you mean A/B, A/C or A/D?"
    assert did_you_mean([]) == " Symbols are written like BTC/USDT."
