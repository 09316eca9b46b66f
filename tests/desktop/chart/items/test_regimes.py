"""The pixels of the background shade: it is behind the candles of its regime."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest

from core.domain.candle import Interval
from core.domain.candle_series import CandleSeries
from core.domain.events import ForecastMade, ForecastMode
from core.domain.regimes import Regime, RegimeProbabilities
from desktop.chart.items.regimes import RegimeLayer, _shade
from desktop.chart.labels.past import past_rows
from desktop.chart.style import CandleStyle
from desktop.chart.widget import ChartWidget
from desktop.ui.theme import build_palette, mixed
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.paint_helpers import picture, rgb_of
from tests.desktop.chart.support import forecast_after, outcome_of, random_series, texts

COUNT = 120
KNOWN_FROM = 40
FORECAST_FROM = 50
SERIES = random_series(COUNT)


def regime_of(index: int) -> tuple[Regime, bool]:
    """The regime of each candle, and whether it is certain."""
    return tuple(Regime)[index // 8 % 3], index // 8 % 2 == 0


def probabilities(index: int) -> RegimeProbabilities:
    regime, is_sure = regime_of(index)
    likeliest = 0.9 if is_sure else 0.6
    rest = {each: (1.0 - likeliest) / 2.0 for each in Regime}
    return RegimeProbabilities(*(rest | {regime: likeliest}).values())


def apply_events(chart: ChartWidget) -> None:
    for index in range(KNOWN_FROM, COUNT):
        time_ms, conditions = int(SERIES.open_time_ms[index]), probabilities(index)
        chart.model.regimes.add(ForecastMade("run", time_ms, 0, 0, ForecastMode.LIVE, 1, None, 1.0, (), conditions))
    chart.layers_changed()
    settle(chart)


def shaded(chart: ChartWidget) -> RegimeLayer:
    layer = RegimeLayer()
    chart.add_layer(layer)
    apply_events(chart)
    return layer


def expected_kind(index: int) -> int:
    regime, is_sure = regime_of(index)
    return 2 * tuple(Regime).index(regime) + is_sure


def test_each_column_has_the_shade_of_its_candle_and_what_is_not_known_has_none(show_chart: ShowChart) -> None:
    chart = show_chart(SERIES)
    chart.restyle(candles=CandleStyle.LINE, shows_volume=False)
    shaded(chart)
    frame, shown = chart.frame, picture(chart)
    row = frame.layout.price_top + 3  # above the line of closes
    checked = 0
    for index in range(frame.first, frame.stop):
        edge, following = (frame.xs(np.array([index + half]))[0] for half in (-0.5, 0.5))
        colour = frame.palette.background if index < KNOWN_FROM else _shade(frame.palette, expected_kind(index))
        columns = shown[row - 3 : row + 60, max(edge, 0) : following]
        share = (columns == rgb_of(colour)).mean()
        assert share > 0.5, f"candle {index}"
        checked += 1
    assert checked > 50
    ahead = shown[row, frame.x(COUNT) + 2 : frame.layout.plot_right]
    kinds = [rgb_of(_shade(frame.palette, kind)) for kind in range(6)]
    assert not np.isin(ahead, kinds).any(), "nothing is known of what has not closed"


def test_candles_lie_over_it(show_chart: ShowChart) -> None:
    chart = show_chart(SERIES)
    chart.add_layer(RegimeLayer())
    settle(chart)
    without, palette = picture(chart), chart.frame.palette
    apply_events(chart)
    with_shade = picture(chart)
    candles = np.isin(without, [rgb_of(colour) for colour in (palette.up, palette.down)])
    candles[: chart.frame.layout.price_top] = False
    assert candles.sum() > 500
    assert (with_shade[candles] == without[candles]).all()
    assert (with_shade != without).mean() > 0.3


@pytest.mark.parametrize("factor", [0.1, 0.01])
def test_zoomed_out_groups_have_the_regime_of_their_mean(show_chart: ShowChart, factor: float) -> None:
    long = random_series(20_000)
    chart = show_chart(long)
    for index in range(len(long)):
        regime = Regime.CALM if index < 19_000 else Regime.VOLATILE
        shares = {each: 0.0 for each in Regime} | {regime: 1.0}
        conditions = RegimeProbabilities(*shares.values())
        time_ms = int(long.open_time_ms[index])
        chart.model.regimes.add(ForecastMade("run", time_ms, 0, 0, ForecastMode.LIVE, 1, None, 1.0, (), conditions))
    chart.add_layer(RegimeLayer())
    settle(chart)
    chart.zoom(factor)
    settle(chart)
    frame, shown = chart.frame, picture(chart)
    kinds = [rgb_of(_shade(frame.palette, kind)) for kind in (1, 5)]
    boundary = frame.x(19_000)
    for kind, columns in ((0, slice(0, max(boundary - 4, 0))), (1, slice(max(boundary + 4, 0), frame.x(19_990)))):
        area = shown[frame.layout.price_bottom - 30 : frame.layout.price_bottom, columns]
        if area.shape[1] > 10:
            assert (area == kinds[kind]).mean() > 0.3
            assert not (area == kinds[1 - kind]).any()


def test_the_readout_tells_the_probabilities_of_the_candle_pointed_at(show_chart: ShowChart) -> None:
    chart = show_chart(SERIES)
    layer = shaded(chart)
    text = texts(tuple(layer.rows(chart.frame, chart.model, 48)))
    assert "Regime" in text and "90 %" in text and text.count("5 %") == 2
    assert "trending 60 %" in texts(tuple(layer.rows(chart.frame, chart.model, 58)))
    assert "not known" in texts(tuple(layer.rows(chart.frame, chart.model, 3)))
    newest = texts(tuple(layer.rows(chart.frame, chart.model, COUNT - 1)))
    for index in (None, COUNT, COUNT + 5):
        assert texts(tuple(layer.rows(chart.frame, chart.model, index))) == newest, "the newest that has closed"


def forecasts(chart: ChartWidget) -> None:
    """The model expected of each candle from `FORECAST_FROM` on, and of the next, the regime of three before."""
    for index in range(FORECAST_FROM - 1, COUNT):
        time_ms, made = int(SERIES.open_time_ms[index]), (probabilities(index), probabilities(index - 2))
        chart.model.regimes.add(ForecastMade("run", time_ms, 0, 0, ForecastMode.LIVE, 1, None, 1.0, (), *made))
    chart.add_layer(RegimeLayer())
    chart.layers_changed()
    settle(chart)


def test_a_strip_below_the_candles_has_what_the_model_had_forecast_of_each_and_of_the_next(
    show_chart: ShowChart,
) -> None:
    chart = show_chart(SERIES)
    forecasts(chart)
    frame, row = chart.frame, picture(chart)[chart.frame.layout.main_bottom - 2]
    for index in range(FORECAST_FROM, COUNT + 1):
        likeliest = frame.palette.regimes[tuple(Regime).index(regime_of(index - 3)[0])]
        share = 0.9 if regime_of(index - 3)[1] else 0.45
        assert (row[frame.x(index)] == rgb_of(mixed(likeliest, frame.palette.background, share))).all(), index
    ground = picture(chart)[frame.layout.price_top + 1]
    assert (row[frame.x(COUNT + 2)] == ground[frame.x(COUNT + 2)]).all(), "nothing is forecast of the one after it"


def test_the_readout_tells_what_the_model_expected_and_expects(show_chart: ShowChart) -> None:
    chart = show_chart(SERIES)
    layer = RegimeLayer()
    forecasts(chart)
    for index, expected in ((60, probabilities(57)), (FORECAST_FROM - 1, None), (None, probabilities(COUNT - 3))):
        now, forecast = layer.rows(chart.frame, chart.model, index)
        assert "Regime" in texts((now,)) and ("next" in texts((forecast,))) is (index is None)
        likeliest = "not known" if expected is None else f"{expected.likeliest} {100 * max(astuple(expected)):.0f} %"
        assert likeliest in texts((forecast,))
    assert len(layer.sample_rows(chart.model)) == 2


def test_at_another_interval_there_is_no_shade(show_chart: ShowChart) -> None:
    chart = show_chart(SERIES)
    chart.set_forecast(forecast_after(SERIES))
    layer = shaded(chart)
    coarse = CandleSeries(Interval.parse("5m"))
    coarse.extend(SERIES[index] for index in range(0, COUNT, 5))
    chart.model.past.begin(None, 60_000)
    chart.set_series(coarse, "5m", is_same_market=True)
    settle(chart)
    shown, palette = picture(chart), chart.frame.palette
    assert not np.isin(shown, [rgb_of(_shade(palette, kind)) for kind in range(6)]).any()
    assert not layer.rows(chart.frame, chart.model, 3)


def test_a_new_candle_is_shaded_when_its_regime_arrives_and_ticks_repaint_nothing(show_chart: ShowChart) -> None:
    chart = show_chart(SERIES)
    shaded(chart)
    paints = chart.closed_paints
    chart.set_forming(None)
    chart.overlay_changed()
    settle(chart)
    assert chart.closed_paints == paints


def test_the_tooltip_of_a_past_forecast_tells_the_regime_that_it_was_made_in(show_chart: ShowChart) -> None:
    chart = show_chart(SERIES)
    shaded(chart)
    chart.model.past.add(outcome_of(SERIES[49]))
    past = chart.model.past_forecast(49)
    assert past is not None and past.origin_ms == int(SERIES.open_time_ms[48])
    text = texts(tuple(past_rows(past, chart.frame, chart.model.regimes.at(past.origin_ms))))
    assert f"{regime_of(48)[0].value}, 90 %" in text
    assert "Market then" not in texts(tuple(past_rows(past, chart.frame, None)))


@pytest.mark.parametrize("is_dark", [True, False])
def test_shades_are_distinguishable_and_leave_text_readable(is_dark: bool) -> None:
    palette = build_palette(is_dark, "green-red")
    shades = [_shade(palette, kind) for kind in range(6)]
    ground = palette.background
    for shade in shades:
        assert abs(shade.lightness() - ground.lightness()) < 40
        assert shade.alpha() == 255
    assert len({shade.rgb() for shade in shades}) == 6
