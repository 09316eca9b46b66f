"""Other checkpoints' forecasts beside the current forecast."""

from __future__ import annotations

import pytest

from desktop.chart.items.previews import Preview, PreviewLayer
from desktop.ui.colour_choice import MOST_PREVIEWS
from desktop.ui.theme import Mode
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.support import forecast_after, random_series
from tests.support.contrast import contrast


def test_the_forecast_s_label_has_a_place_below_whose_colour_is_which(show_chart: ShowChart) -> None:
    series = random_series(60)
    chart = show_chart(series, has_forecast=True)
    layer = PreviewLayer()
    chart.add_layer(layer)
    settle(chart)
    before = chart.frame.layout.price_top
    layer.show_previews(
        [Preview("step 430", forecast_after(series)), Preview("Calm evening", forecast_after(series, 6))]
    )
    chart.layers_changed()
    settle(chart)
    rows = chart.overlay.readout.rows
    assert any("Calm evening" in span.text for row in rows for span in row)
    assert chart.frame.layout.price_top >= before + chart.frame.fonts.line


@pytest.mark.parametrize("mode", ["dark", "light"])
def test_as_many_as_are_shown_are_distinguishable_and_readable(show_chart: ShowChart, mode: Mode) -> None:
    series = random_series(60)
    chart = show_chart(series)
    chart._theme.set_mode(mode)
    layer = PreviewLayer()
    chart.add_layer(layer)
    layer.show_previews([Preview(f"step {number}", forecast_after(series)) for number in range(MOST_PREVIEWS)])
    settle(chart)
    palette = chart.frame.palette
    colours = [layer.colour(chart.frame, number) for number in range(MOST_PREVIEWS)]
    assert len({colour.name() for colour in colours}) == MOST_PREVIEWS
    assert not {colour.name() for colour in colours} & {palette.ghost_up.name(), palette.ghost_down.name()}
    assert min(contrast(colour, palette.background) for colour in colours) >= 4.5
    (row,) = layer.rows(chart.frame, chart.model, None)
    named = {span.text.strip(): span.colour.name() for span in row[1:]}
    assert named == {f"step {number}": colour.name() for number, colour in enumerate(colours)}, "the legend"
