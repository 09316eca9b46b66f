"""Watches the market for the armed lines, and tells of those that it crosses."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.clock import Clock
from core.market.alerts import PriceWatch, armed, judge
from core.market.candle import Candle, Market
from core.market.price_lines import PriceLine
from desktop.charting.line_book import LineBook


class AlertDesk:
    """Each candle that forms or closes goes through here, once. `on_crossed` gets the lines that went off."""

    def __init__(self, book: LineBook, clock: Clock, on_crossed: Callable[[PriceLine], object]) -> None:
        self._book, self._clock, self._on_crossed = book, clock, on_crossed
        self._watch: PriceWatch | None = None
        self._price: float | None = None
        self._tick = 0.0

    @property
    def price(self) -> float | None:
        """The newest price that was seen; None before any."""
        return self._price

    def open(self, market: Market, newest: Candle | None) -> None:
        """Another market. Its newest stored candle is where watching begins: what came before has been."""
        self._watch, self._price = PriceWatch(market.interval), None
        if newest is not None:
            self._watch.look(newest)
            self._price = newest.close

    def see(self, candles: Sequence[Candle], tick: float) -> bool:
        """Candles, forming or closed, in ascending time. Returns whether any line changed. tick: the smallest step of
        the market's prices."""
        if self._watch is None:
            return False
        self._tick = tick
        has_changed = False
        for candle in candles:
            seen = self._watch.look(candle)
            self._price = candle.close if seen.is_newest else self._price
            for line in self._book.lines:
                after = judge(line, seen, tick=tick, now_ms=self._clock.now_ms())
                if after is not line:
                    has_changed = True
                    self._book.note(after)
                    if after.crossed_at_ms is not None:
                        self._on_crossed(after)
        return has_changed

    def armed(self, line: PriceLine, *, is_again: bool = False) -> PriceLine:
        """The line as it is watched from now on. is_again: it has gone off before."""
        now_ms = self._clock.now_ms()
        from_ms = None if self._watch is None else self._watch.next_open_ms(now_ms)
        price = line.price if self._price is None else self._price
        return armed(line, price, now_ms if from_ms is None else from_ms, tick=self._tick, is_again=is_again)
