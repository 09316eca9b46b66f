"""How much room the readout needs while nothing is pointed at: candles and the forecast's label keep out of it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QColor

from desktop import formatting
from desktop.chart.data.model import ChartModel
from desktop.chart.painting.fonts import Fonts
from desktop.chart.painting.text import Row, Span, padding_px, row_width, wrapped
from desktop.chart.panes.layer import LayerSet
from desktop.translation import QT_TRANSLATE_NOOP, translate

HELD_WORDS = (QT_TRANSLATE_NOOP("Chart", "Prices are held by hand."), QT_TRANSLATE_NOOP("Chart", "Alt+A fits them."))
HELD_IN_SHORT = QT_TRANSLATE_NOOP("Chart", "Held: Alt+A")

_WIDE_DIGITS = str.maketrans(dict.fromkeys("012345679", "8"))
"""Room is left for a price of so many digits, whichever: it must not come and go with each tick."""
_USUAL_CHANGE = 0.001
_VOLUME = 888.8
_MARGIN_PX = 24
READOUT_MARGIN_PX = 6
"""Between the readout and the edges of its pane."""
_MOST_SHARE = 0.5


def readout_width(plot_right: int, ratio: float) -> int:
    """How wide its lines may get, in device pixels."""
    return max(plot_right - round(_MARGIN_PX * ratio), 1)


def most_lines(price_bottom: int, fonts: Fonts, ratio: float) -> int:
    """How many lines it may take at most, or nothing would be left of the candles; price_bottom: in device pixels."""
    height = _height(price_bottom, fonts, ratio)
    if has_label(price_bottom, fonts, ratio):
        height -= fonts.line
    return max(int(height / fonts.line), 0)


def has_label(price_bottom: int, fonts: Fonts, ratio: float) -> bool:
    """Whether the forecast's label has a line of that room: where no other is left it stands aside, or half of it would
    be hidden."""
    return _height(price_bottom, fonts, ratio) >= 2 * fonts.line


def _height(price_bottom: int, fonts: Fonts, ratio: float) -> float:
    return price_bottom * _MOST_SHARE - round(READOUT_MARGIN_PX * ratio) - padding_px(fonts)


def cut(lines: Sequence[Row], most: int, fonts: Fonts, width: int) -> list[Row]:
    """The first lines; what is left out is marked at the end of the last."""
    if len(lines) <= most or most < 1:
        return list(lines[:most])
    last = lines[most - 1]
    mark = Span(" …", last[-1].colour, glue=True)
    while len(last) > 1 and row_width((*last, mark), fonts) > width:
        last = last[:-1]
    return [*lines[: most - 1], (*last, mark)]


def held_words(title: str, fonts: Fonts, width: int) -> tuple[str, ...]:
    """What is said beside the title while the prices are held by hand: the whole sentence where a line has room."""
    words = tuple(translate("Chart", each) for each in HELD_WORDS)
    row = (Span(title, QColor(), bold=True), *(Span(each, QColor()) for each in words))
    return words if row_width(row, fonts) <= width else (translate("Chart", HELD_IN_SHORT),)


def readout_lines(model: ChartModel, layers: LayerSet, fonts: Fonts, width: int) -> int:
    """The lines that the readout always takes, whatever the digits of the moment."""
    title = fonts.kept_count(("title", model.title, width), lambda: _title_lines(model.title, fonts, width))
    further = sum(len(wrapped(row, fonts, width)) for row in layers.readout_samples(model))
    return title + further + candle_lines(model, fonts, width)


def _title_lines(title: str, fonts: Fonts, width: int) -> int:
    plain = QColor()
    held = (Span(words, plain) for words in held_words(title, fonts, width))
    return len(wrapped((Span(title, plain, bold=True), *held), fonts, width)) if title else 0


def candle_lines(model: ChartModel, fonts: Fonts, width: int) -> int:
    """The lines that there are for a candle's numbers: for the fewest of them, and more are told where they fit in."""
    newest = model.newest
    if newest is None:
        return 0
    price = formatting.format_price(newest.close, model.decimals()).translate(_WIDE_DIGITS)
    return fonts.kept_count((price, "", width), lambda: _numbers_lines(price, fonts, width))


def _numbers_lines(price: str, fonts: Fonts, width: int) -> int:
    plain = QColor()
    texts = [("O", price), ("H", price), ("L", price), ("C", price), ("V", formatting.format_volume(_VOLUME))]
    spans = [span for name, text in texts for span in (Span(name, plain), Span(f" {text}", plain, glue=True))]
    percent = formatting.format_percent(_USUAL_CHANGE, signed=True)
    return len(wrapped((*spans, Span(f"({percent})", plain)), fonts, width))
