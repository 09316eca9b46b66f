"""The inside of a candle, in its tooltip: figures, and a small chart of the finer candles, or of the way between the
prices whose times are known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.domain.candle import Candle, Inside
from desktop.chart.data.insides import KnownInside
from desktop.chart.painting.sketch import Bar, Sketch, Stroke
from desktop.chart.painting.text import Row, Span
from desktop.chart.panes.frame import Frame
from desktop.ui import formatting
from desktop.ui.translation import translate

_WIDTH, _HEIGHT = 12.0, 3.5
_BODY = 0.7
"""The width of a finer candle's body, of its room."""


def inside_rows(known: KnownInside, frame: Frame) -> list[Row]:
    """How much of the movement came when: of the sum of the finer candles' squared log ranges."""
    inside, palette = known.inside, frame.palette
    count = formatting.format_count(inside.count)
    title = translate("Chart", "Inside: {0} finer candles").format(count)
    if known.finer is not None and known.parts:
        title = translate("Chart", "Inside: {0} candles of {1}").format(count, known.finer)
    rows: list[Row] = [(Span(title, palette.text, bold=True),)]
    shares = (
        (translate("Chart", "Movement while rising"), inside.up, palette.candle(True)),
        (translate("Chart", "Movement while falling"), inside.down, palette.candle(False)),
        (translate("Chart", "In the last fifth of the time"), inside.last_fifth, palette.text),
    )
    return rows + [
        (Span(name, palette.muted_text), Span(_share_text(part, inside), colour)) for name, part, colour in shares
    ]


def _share_text(part: float, inside: Inside) -> str:
    return formatting.format_percent(part / inside.variance if inside.variance > 0.0 else None, 0)


def inside_sketch(known: KnownInside, candle: Candle, duration_ms: int, frame: Frame) -> Sketch:
    """The finer candles if they are stored. Otherwise dots at the open, the high, the low and the close, at the times
    that are known of them, and dashed lines between: the way is not known."""
    if known.parts and known.finer is not None:
        bars = tuple(_bars(known.parts, known.finer.duration_ms, candle.open_time_ms, duration_ms, frame))
        return Sketch(bars, (), _WIDTH, _HEIGHT)
    inside = known.inside
    extremes = sorted(((inside.high_at, candle.high), (inside.low_at, candle.low)))
    prices = ((0.0, candle.open), *extremes, (1.0, candle.close))
    spots = tuple((at, _down(price, [candle])) for at, price in prices)
    return Sketch((), (Stroke(spots, frame.palette.text, is_dashed=True),), _WIDTH, _HEIGHT)


def _bars(parts: Sequence[Candle], finer_ms: int, opened_ms: int, duration_ms: int, frame: Frame) -> Iterator[Bar]:
    """Wick and body of each, at its time in a candle that opened then."""
    half = _BODY * finer_ms / duration_ms / 2.0
    for part in parts:
        middle = (part.open_time_ms + finer_ms / 2.0 - opened_ms) / duration_ms
        colour = frame.palette.candle(part.close >= part.open)
        high, low, *ends = (_down(price, parts) for price in (part.high, part.low, part.open, part.close))
        yield Bar((middle, high), (middle, low), colour)
        yield Bar((middle - half, min(ends)), (middle + half, max(ends)), colour)


def _down(price: float, candles: Sequence[Candle]) -> float:
    """From the highest price of these candles, 0, to the lowest, 1."""
    highest, lowest = max(each.high for each in candles), min(each.low for each in candles)
    return (highest - price) / (highest - lowest) if highest > lowest else 0.5
