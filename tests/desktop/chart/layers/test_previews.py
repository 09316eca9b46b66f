"""What checkpoints would forecast, beside the forecast that holds."""

from __future__ import annotations

from desktop.chart.layers.previews import Preview, PreviewLayer
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.support import forecast_after, random_series


def test_the_forecast_s_label_has_a_place_below_whose_colour_is_which(show_chart: ShowChart) -> None:
    series = random_series(60)
    chart = show_chart(series)
    chart.set_forecast(forecast_after(series))
    layer = PreviewLayer()
    chart.add_layer(layer)
    settle(chart)
    before = chart.frame.layout.price_top
    layer.show([Preview("step 430", forecast_after(series)), Preview("Calm evening", forecast_after(series, 6))])
    chart.layers_changed()
    settle(chart)
    rows = chart.overlay.readout.rows
    assert any("Calm evening" in span.text for row in rows for span in row)
    assert chart.frame.layout.price_top >= before + chart.frame.fonts.line
