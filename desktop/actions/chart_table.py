"""All that a user can do with the chart."""

from __future__ import annotations

from desktop.actions.registry import ActionId, ActionInfo
from desktop.actions.tool_table import CHART, CHART_PLACE, drawing_actions, line_actions, travel_actions
from desktop.ui.translation import QT_TRANSLATE_NOOP

_INTERVAL, _STYLE, _SCALE, _ZONE = (
    QT_TRANSLATE_NOOP("Actions", "In&terval"),
    QT_TRANSLATE_NOOP("Actions", "&Candles"),
    QT_TRANSLATE_NOOP("Actions", "Price &scale"),
    QT_TRANSLATE_NOOP("Actions", "Time &zone"),
)


def chart_actions() -> tuple[ActionInfo, ...]:
    """The Chart menu."""
    looks = (*_intervals(), *_styles(), *_scales(), *_zones())
    shown = (*_past(), *_shown(), *_compared())
    return (*_moves(), *looks, *shown, *line_actions(), *drawing_actions(), *_saved(), *travel_actions())


def _moves() -> tuple[ActionInfo, ...]:
    return (
        ActionInfo(
            ActionId.GO_TO_NEWEST,
            QT_TRANSLATE_NOOP("Actions", "Go to &newest candle"),
            QT_TRANSLATE_NOOP("Actions", "Move the chart to the newest candle and its forecast"),
            "Alt+End",
            "page-last",
            (CHART,),
            is_in_tool_bar=True,
        ),
        ActionInfo(
            ActionId.GO_TO_DATE,
            QT_TRANSLATE_NOOP("Actions", "Go to &date…"),
            QT_TRANSLATE_NOOP("Actions", "Move the chart to a date"),
            "Ctrl+G",
            "calendar-arrow-right",
            (CHART,),
        ),
    )


def _styles() -> tuple[ActionInfo, ...]:
    rows = (
        (
            ActionId.STYLE_CANDLES,
            QT_TRANSLATE_NOOP("Actions", "&Candles"),
            QT_TRANSLATE_NOOP("Actions", "Filled bodies and wicks"),
            "Alt+1",
            "chart-waterfall",
        ),
        (
            ActionId.STYLE_HOLLOW,
            QT_TRANSLATE_NOOP("Actions", "&Hollow candles"),
            QT_TRANSLATE_NOOP("Actions", "Rising bodies are outlines"),
            "Alt+2",
            "chart-box-outline",
        ),
        (
            ActionId.STYLE_BARS,
            QT_TRANSLATE_NOOP("Actions", "&Bars"),
            QT_TRANSLATE_NOOP("Actions", "Open to the left, close to the right"),
            "Alt+3",
            "chart-gantt",
        ),
        (
            ActionId.STYLE_LINE,
            QT_TRANSLATE_NOOP("Actions", "&Line"),
            QT_TRANSLATE_NOOP("Actions", "Closing prices as one line"),
            "Alt+4",
            "chart-line-variant",
        ),
        (
            ActionId.STYLE_HEIKIN_ASHI,
            QT_TRANSLATE_NOOP("Actions", "Heikin-&Ashi"),
            QT_TRANSLATE_NOOP(
                "Actions", "Averaged candles: smoother trends, but opens and closes are not traded prices"
            ),
            "Alt+5",
            "chart-bell-curve",
        ),
    )
    menu = (CHART, _STYLE)
    return tuple(ActionInfo(*row, menu, section=1, is_checkable=True, group="candle_style") for row in rows)


def _scales() -> tuple[ActionInfo, ...]:
    rows = (
        (
            ActionId.SCALE_LINEAR,
            QT_TRANSLATE_NOOP("Actions", "&Linear"),
            QT_TRANSLATE_NOOP("Actions", "Equal distances show equal price changes"),
            "Alt+L",
            "ruler",
        ),
        (
            ActionId.SCALE_LOG,
            QT_TRANSLATE_NOOP("Actions", "Lo&garithmic"),
            QT_TRANSLATE_NOOP("Actions", "Equal distances show equal percentage changes"),
            "Alt+G",
            "math-log",
        ),
        (
            ActionId.SCALE_PERCENT,
            QT_TRANSLATE_NOOP("Actions", "&Percent"),
            QT_TRANSLATE_NOOP("Actions", "Change from the first candle in view"),
            "Alt+P",
            "percent-outline",
        ),
    )
    menu = (CHART, _SCALE)
    scales = tuple(ActionInfo(*row, menu, section=1, is_checkable=True, group="scale") for row in rows)
    fit = ActionInfo(
        ActionId.FIT_PRICES,
        QT_TRANSLATE_NOOP("Actions", "&Fit prices"),
        QT_TRANSLATE_NOOP("Actions", "Auto-fit the price axis to the candles in view"),
        "Alt+A",
        "arrow-expand-vertical",
        menu,
        section=2,
    )
    return (*scales, fit)


def _intervals() -> tuple[ActionInfo, ...]:
    rows = (
        (
            ActionId.INTERVAL_MARKET,
            QT_TRANSLATE_NOOP("Actions", "&Market's interval"),
            QT_TRANSLATE_NOOP("Actions", "The interval that the model learns from"),
        ),
        (
            ActionId.INTERVAL_1M,
            QT_TRANSLATE_NOOP("Actions", "&1 minute"),
            QT_TRANSLATE_NOOP("Actions", "1-minute candles"),
        ),
        (
            ActionId.INTERVAL_5M,
            QT_TRANSLATE_NOOP("Actions", "&5 minutes"),
            QT_TRANSLATE_NOOP("Actions", "5-minute candles, aggregated from the stored ones"),
        ),
        (
            ActionId.INTERVAL_15M,
            QT_TRANSLATE_NOOP("Actions", "15 m&inutes"),
            QT_TRANSLATE_NOOP("Actions", "15-minute candles, aggregated from the stored ones"),
        ),
        (
            ActionId.INTERVAL_1H,
            QT_TRANSLATE_NOOP("Actions", "1 &hour"),
            QT_TRANSLATE_NOOP("Actions", "1-hour candles, aggregated from the stored ones"),
        ),
        (
            ActionId.INTERVAL_4H,
            QT_TRANSLATE_NOOP("Actions", "4 h&ours"),
            QT_TRANSLATE_NOOP("Actions", "4-hour candles, aggregated from the stored ones"),
        ),
        (
            ActionId.INTERVAL_1D,
            QT_TRANSLATE_NOOP("Actions", "1 &day"),
            QT_TRANSLATE_NOOP("Actions", "1-day candles (UTC), aggregated from the stored ones"),
        ),
    )
    menu = (CHART, _INTERVAL)
    return tuple(
        ActionInfo(id_, text, tooltip, "", "clock-outline", menu, 1, is_checkable=True, group="interval")
        for id_, text, tooltip in rows
    )


def _zones() -> tuple[ActionInfo, ...]:
    rows = (
        (
            ActionId.ZONE_LOCAL,
            QT_TRANSLATE_NOOP("Actions", "&Local"),
            QT_TRANSLATE_NOOP("Actions", "Times in this computer's time zone"),
            "home-clock-outline",
        ),
        (
            ActionId.ZONE_UTC,
            QT_TRANSLATE_NOOP("Actions", "&UTC"),
            QT_TRANSLATE_NOOP("Actions", "Times in UTC"),
            "earth",
        ),
        (
            ActionId.ZONE_EXCHANGE,
            QT_TRANSLATE_NOOP("Actions", "&Exchange"),
            QT_TRANSLATE_NOOP("Actions", "Times in the exchange's time zone"),
            "bank-outline",
        ),
        (
            ActionId.ZONE_OTHER,
            QT_TRANSLATE_NOOP("Actions", "&Other…"),
            QT_TRANSLATE_NOOP("Actions", "Choose a time zone"),
            "map-clock-outline",
        ),
    )
    menu = (CHART, _ZONE)
    return tuple(
        ActionInfo(id_, text, tooltip, "", name, menu, section=1, is_checkable=True, group="time_zone")
        for id_, text, tooltip, name in rows
    )


def _shown() -> tuple[ActionInfo, ...]:
    rows = (
        (
            ActionId.INDICATORS,
            QT_TRANSLATE_NOOP("Actions", "&Indicators…"),
            QT_TRANSLATE_NOOP("Actions", "Add, change or remove averages, bands and oscillators"),
            "Ctrl+I",
            "chart-multiline",
        ),
        (
            ActionId.SHOW_VOLUME,
            QT_TRANSLATE_NOOP("Actions", "&Volume"),
            QT_TRANSLATE_NOOP("Actions", "Volume bars under the candles"),
            "Ctrl+Shift+V",
            "chart-bar",
        ),
        (
            ActionId.VOLUME_PROFILE,
            QT_TRANSLATE_NOOP("Actions", "Volume pr&ofile"),
            QT_TRANSLATE_NOOP("Actions", "Volume traded at each price by the candles in view"),
            "Ctrl+Alt+V",
            "chart-timeline",
        ),
        (
            ActionId.SHOW_BANDS,
            QT_TRANSLATE_NOOP("Actions", "Forecast &bands"),
            QT_TRANSLATE_NOOP("Actions", "The 50 % and 90 % bands around the forecast"),
            "Ctrl+Shift+B",
            "chart-bell-curve-cumulative",
        ),
        (
            ActionId.SHOW_MARKERS,
            QT_TRANSLATE_NOOP("Actions", "&Markers"),
            QT_TRANSLATE_NOOP("Actions", "Mark candles with a training incident, new best, restore or rollback"),
            "Ctrl+Shift+M",
            "map-marker-outline",
        ),
    )
    return tuple(ActionInfo(*row, (CHART,), section=2, is_checkable=row[0] is not ActionId.INDICATORS) for row in rows)


def _compared() -> tuple[ActionInfo, ...]:
    rows = (
        (
            ActionId.COMPARE,
            QT_TRANSLATE_NOOP("Actions", "Compare &with…"),
            QT_TRANSLATE_NOOP("Actions", "Overlay another stored market's closing prices, in percent"),
            "Ctrl+Alt+C",
            "compare",
        ),
        (
            ActionId.COMPARE_STOP,
            QT_TRANSLATE_NOOP("Actions", "Stop comparin&g"),
            QT_TRANSLATE_NOOP("Actions", "Remove the other market and restore the previous price scale"),
            "",
            "close",
        ),
    )
    return tuple(ActionInfo(*row, (CHART,), section=2) for row in rows)


def _saved() -> tuple[ActionInfo, ...]:
    rows = (
        (
            ActionId.SAVE_PICTURE,
            QT_TRANSLATE_NOOP("Actions", "Save p&icture…"),
            QT_TRANSLATE_NOOP("Actions", "Save the chart as a PNG or SVG file"),
            "Ctrl+Shift+S",
            "image-outline",
        ),
        (
            ActionId.COPY_PICTURE,
            QT_TRANSLATE_NOOP("Actions", "C&opy picture"),
            QT_TRANSLATE_NOOP("Actions", "Copy the chart to the clipboard as a picture"),
            "Ctrl+Shift+C",
            "camera",
        ),
        (
            ActionId.EXPORT_CSV,
            QT_TRANSLATE_NOOP("Actions", "&Export to CSV…"),
            QT_TRANSLATE_NOOP("Actions", "Save the candles in view as a table"),
            "Ctrl+E",
            "file-delimited-outline",
        ),
    )
    return tuple(ActionInfo(*row, (CHART,), section=3) for row in rows)


def _past() -> tuple[ActionInfo, ...]:
    rows = (
        (
            ActionId.HINDSIGHT,
            QT_TRANSLATE_NOOP("Actions", "&Hindsight"),
            QT_TRANSLATE_NOOP("Actions", "Overlay past forecasts on the candles they were made for"),
            "Alt+Shift+H",
            "ghost-outline",
        ),
        (
            ActionId.HINDSIGHT_HORIZON,
            QT_TRANSLATE_NOOP("Actions", "Ne&xt hindsight horizon"),
            QT_TRANSLATE_NOOP(
                "Actions", "Show forecasts made one candle earlier; after the earliest, start again at one candle"
            ),
            "Alt+Shift+X",
            "history",
        ),
        (
            ActionId.REGIMES,
            QT_TRANSLATE_NOOP("Actions", "Market &regime"),
            QT_TRANSLATE_NOOP("Actions", "Shade the background by market regime: calm, trending, volatile"),
            "Alt+Shift+R",
            "weather-partly-lightning",
        ),
        (
            ActionId.ERROR_STRIP,
            QT_TRANSLATE_NOOP("Actions", "Forecast &errors"),
            QT_TRANSLATE_NOOP(
                "Actions", "Error of each past forecast, and whether its bands held, in a pane below the prices"
            ),
            "Alt+Shift+E",
            "chart-histogram",
        ),
    )
    return tuple(
        ActionInfo(*row, (CHART,), section=3, is_checkable=row[0] is not ActionId.HINDSIGHT_HORIZON, place=CHART_PLACE)
        for row in rows
    )
