from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from desktop.finder.search import Entry, EntryKind, found


def entry(text: str, details: str = "", *, is_enabled: bool = True, kind: EntryKind = EntryKind.ACTION) -> Entry:
    return Entry(kind, text, lambda: None, details, is_enabled=is_enabled)


def texts(entries: list[Entry], typed: str, most: int = 10) -> list[str]:
    return [each.text for each in found(entries, typed, most)]


def test_an_empty_search_lists_the_first_entries_in_order() -> None:
    entries = [entry("b"), entry("a"), entry("c")]
    assert texts(entries, "", most=2) == ["b", "a"]


def test_a_prefix_ranks_above_a_word_start_and_that_above_the_middle() -> None:
    entries = [entry("Unload"), entry("Reset load"), entry("Load file"), entry("Other", details="load")]
    assert texts(entries, "LOAD") == ["Load file", "Reset load", "Unload", "Other"]


def test_an_exact_symbol_ranks_above_those_starting_with_it() -> None:
    entries = [entry("BTC/USDT"), entry("BTC/USDC"), entry("BTC/USD")]
    assert texts(entries, "btc/usd") == ["BTC/USD", "BTC/USDT", "BTC/USDC"]
    stored = Entry(EntryKind.MARKET, "BTC/USD", lambda: None, "15m of Binance, stored", more="BTC/USD BTCUSD")
    assert texts([*entries[:2], stored], "btc/usd") == ["BTC/USD", "BTC/USDT", "BTC/USDC"]


def test_all_words_must_match_in_any_order() -> None:
    entries = [entry("Learning rate", "Training"), entry("Learning from replay", "Model")]
    assert texts(entries, "train rate learn") == ["Learning rate"]
    assert texts(entries, "learn absent") == []


def test_a_kind_can_be_searched() -> None:
    entries = [entry("BTC/USDT", kind=EntryKind.MARKET), entry("BTC")]
    assert texts(entries, "market") == ["BTC/USDT"]
    assert texts(entries, "usdt") == ["BTC/USDT"]


def test_disabled_entries_rank_below_equal_matches() -> None:
    entries = [entry("Pause a", is_enabled=False), entry("Pause b"), entry("Repause")]
    assert texts(entries, "pause") == ["Pause b", "Pause a", "Repause"]


@given(st.lists(st.text(alphabet="ab c", min_size=1, max_size=8), max_size=30), st.text(alphabet="abc ", max_size=6))
def test_nothing_is_lost_or_invented(names: list[str], typed: str) -> None:
    entries = [entry(name) for name in names]
    shown = found(entries, typed, 100)
    words = typed.split()
    expected = [each for each in entries if all(word in f"{each.text} action " for word in words)]
    assert sorted(map(id, shown)) == sorted(map(id, expected))
