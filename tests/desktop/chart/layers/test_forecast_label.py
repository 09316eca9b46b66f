"""The word over the forecast, by its pixels."""

from core.events import ForecastMode
from desktop.chart.drawing.text import Span, box_size
from desktop.chart.layers.forecast import divider_x
from desktop.chart.scales.price_scale import PriceRange
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.support import candle, forecast_after, random_series
from tests.desktop.chart.test_painting import picture


def test_no_line_runs_through_the_word(show_chart: ShowChart) -> None:
    """Neither a candle's nor the divider's, where the word has to stand over them."""
    series = random_series(100)
    series.add(candle(100, 19_500.0, opened=20_500.0))
    chart = show_chart(series, width=300, height=500)
    chart.set_forecast(forecast_after(series, mode=ForecastMode.REPLAY))
    chart.hold_prices(PriceRange(19_300.0, 20_000.0))
    settle(chart)
    frame, palette = chart.frame, chart.frame.palette
    size = box_size(((Span("forecast (replay)", palette.ghost_text),),), frame.fonts)
    left, top = frame.layout.plot_right - size.width(), frame.layout.price_top - size.height()
    assert left < divider_x(frame, chart.model) and frame.y(20_500.0) < top < frame.y(19_500.0)
    pixels = picture(chart)[top : top + size.height(), left : frame.layout.plot_right]
    ground = palette.background.rgb() & 0xFFFFFF
    assert (pixels[0] == ground).all() and (pixels[-1] == ground).all()
    assert (pixels != ground).any()


def test_half_a_word_is_never_left(show_chart: ShowChart) -> None:
    were_there = set()
    series = random_series(100)
    chart = show_chart(series, width=300)
    chart.set_forecast(forecast_after(series))
    for height in range(40, 200, 10):
        chart.resize(300, height)
        settle(chart)
        frame, readout = chart.frame, chart.overlay.readout.rect
        top = frame.layout.price_top - box_size(((Span("f", frame.palette.text),),), frame.fonts).height()
        ink = frame.palette.ghost_text.rgb() & 0xFFFFFF
        is_there = (picture(chart)[: frame.layout.price_top, : frame.layout.plot_right] == ink).any()
        were_there.add(bool(is_there))
        assert not is_there or readout.isEmpty() or readout.bottom() - 4 <= top
    assert were_there == {False, True}
