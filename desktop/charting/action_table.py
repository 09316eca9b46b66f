"""All that a user can do with the chart, in one table."""

from __future__ import annotations

from desktop.actions import ActionId, ActionInfo

CHART = "&Chart"
_INTERVAL, _STYLE, _SCALE, _ZONE = "In&terval", "&Candles", "Price &scale", "Time &zone"
CHART_PLACE = "Chart"
"""Keys of one letter belong to the chart alone: elsewhere they are typed."""


def chart_actions() -> tuple[ActionInfo, ...]:
    """The Chart menu."""
    parts = (_moves, _intervals, _styles, _scales, _zones, _past, _shown, _tools, _saved)
    return tuple(info for part in parts for info in part())


def _moves() -> tuple[ActionInfo, ...]:
    return (
        ActionInfo(
            ActionId.GO_TO_NEWEST,
            "Go to &newest candle",
            "Move the chart to the newest candle and its forecast",
            "Alt+End",
            "page-last",
            (CHART,),
            is_in_tool_bar=True,
        ),
        ActionInfo(
            ActionId.GO_TO_DATE,
            "Go to &date…",
            "Move the chart to a date that you name",
            "Ctrl+G",
            "calendar-arrow-right",
            (CHART,),
        ),
    )


def _styles() -> tuple[ActionInfo, ...]:
    rows = (
        (ActionId.STYLE_CANDLES, "&Candles", "Filled bodies and wicks", "Alt+1", "chart-waterfall"),
        (ActionId.STYLE_HOLLOW, "&Hollow candles", "Rising bodies are outlines", "Alt+2", "chart-box-outline"),
        (ActionId.STYLE_BARS, "&Bars", "Open to the left, close to the right", "Alt+3", "chart-gantt"),
        (ActionId.STYLE_LINE, "&Line", "The closes, joined", "Alt+4", "chart-line-variant"),
        (
            ActionId.STYLE_HEIKIN_ASHI,
            "Heikin-&Ashi",
            "Averaged candles: trends are smoother, opens and closes are not prices that were traded",
            "Alt+5",
            "chart-bell-curve",
        ),
    )
    menu = (CHART, _STYLE)
    return tuple(
        ActionInfo(id_, text, tooltip, keys, name, menu, section=1, is_checkable=True, group="candle_style")
        for id_, text, tooltip, keys, name in rows
    )


def _scales() -> tuple[ActionInfo, ...]:
    rows = (
        (ActionId.SCALE_LINEAR, "&Linear", "Equal distances are equal amounts", "Alt+L", "ruler"),
        (ActionId.SCALE_LOG, "Lo&garithmic", "Equal distances are equal percentages", "Alt+G", "math-log"),
        (ActionId.SCALE_PERCENT, "&Percent", "Against the first candle in view", "Alt+P", "percent-outline"),
    )
    menu = (CHART, _SCALE)
    scales = tuple(
        ActionInfo(id_, text, tooltip, keys, name, menu, section=1, is_checkable=True, group="scale")
        for id_, text, tooltip, keys, name in rows
    )
    fit = ActionInfo(
        ActionId.FIT_PRICES,
        "&Fit prices",
        "Fit the price axis to what is in view, after it was dragged",
        "Alt+A",
        "arrow-expand-vertical",
        menu,
        section=2,
    )
    return (*scales, fit)


def _intervals() -> tuple[ActionInfo, ...]:
    rows = (
        (ActionId.INTERVAL_MARKET, "As the &market", "The candles that the model learns from", "0"),
        (ActionId.INTERVAL_1M, "&1 minute", "Candles of 1 minute", "1"),
        (ActionId.INTERVAL_5M, "&5 minutes", "Candles of 5 minutes, joined of the stored ones", "2"),
        (ActionId.INTERVAL_15M, "15 m&inutes", "Candles of 15 minutes, joined of the stored ones", "3"),
        (ActionId.INTERVAL_1H, "1 &hour", "Candles of an hour, joined of the stored ones", "4"),
        (ActionId.INTERVAL_4H, "4 h&ours", "Candles of 4 hours, joined of the stored ones", "5"),
        (ActionId.INTERVAL_1D, "1 &day", "Candles of a day in UTC, joined of the stored ones", "6"),
    )
    menu = (CHART, _INTERVAL)
    return tuple(
        ActionInfo(
            id_, text, tooltip, keys, "clock-outline", menu, 1, is_checkable=True, group="interval", place=CHART_PLACE
        )
        for id_, text, tooltip, keys in rows
    )


def _zones() -> tuple[ActionInfo, ...]:
    rows = (
        (ActionId.ZONE_LOCAL, "&Local", "Times on this machine's clock", "home-clock-outline"),
        (ActionId.ZONE_UTC, "&UTC", "Times in UTC", "earth"),
        (ActionId.ZONE_EXCHANGE, "&Exchange", "Times where the exchange's day begins", "bank-outline"),
        (ActionId.ZONE_OTHER, "&Other…", "Times in a zone that you name", "map-clock-outline"),
    )
    menu = (CHART, _ZONE)
    return tuple(
        ActionInfo(id_, text, tooltip, "", name, menu, section=1, is_checkable=True, group="time_zone")
        for id_, text, tooltip, name in rows
    )


def _shown() -> tuple[ActionInfo, ...]:
    return (
        ActionInfo(
            ActionId.INDICATORS,
            "&Indicators…",
            "Averages, bands and oscillators over the candles: add, set, remove",
            "Ctrl+I",
            "chart-multiline",
            (CHART,),
            section=2,
        ),
        ActionInfo(
            ActionId.SHOW_VOLUME,
            "Show &volume",
            "Volume bars under the candles",
            "Ctrl+Shift+V",
            "chart-bar",
            (CHART,),
            section=2,
            is_checkable=True,
        ),
        ActionInfo(
            ActionId.SHOW_BANDS,
            "Show &bands",
            "The 50 % and 90 % bands around the forecast",
            "Ctrl+Shift+B",
            "chart-bell-curve-cumulative",
            (CHART,),
            section=2,
            is_checkable=True,
        ),
        ActionInfo(
            ActionId.SHOW_MARKERS,
            "Show &markers",
            "Marks at the candles where training had an incident, a new best, a restore or a rollback",
            "Ctrl+Shift+M",
            "map-marker-outline",
            (CHART,),
            section=2,
            is_checkable=True,
        ),
    )


def _tools() -> tuple[ActionInfo, ...]:
    tools = (
        (
            ActionId.ADD_ALERT,
            "&Alert…",
            "Set a price alert: click where; by keys alone at the crosshair or the last price",
            "A",
            "bell-plus-outline",
        ),
        (ActionId.ADD_NOTE, "&Note…", "Write a note at a price: click where", "N", "note-plus-outline"),
        (
            ActionId.MEASURE,
            "M&easure",
            "Drag over change, percent, candles, time and volume; or Shift and drag",
            "M",
            "ruler-square",
        ),
        (
            ActionId.NEXT_LINE,
            "Select ne&xt line",
            "Select the next alert or note; the arrows move it, with Shift by ten steps, with Ctrl by the smallest",
            "L",
            "page-next-outline",
        ),
        (ActionId.EDIT_LINE, "Edit &price and text…", "Type another price or other words", "F2", "pencil-outline"),
        (ActionId.DELETE_LINE, "&Remove line", "Take the selected line away", "Del", "delete-outline"),
        (ActionId.UNDO_LINE, "&Undo line change", "Take the last change of a line back", "Ctrl+Z", "undo"),
    )
    menu = (CHART, "&Lines and measure")
    return tuple(
        ActionInfo(id_, text, tooltip, keys, name, menu, section=3, place=CHART_PLACE)
        for id_, text, tooltip, keys, name in tools
    )


def _saved() -> tuple[ActionInfo, ...]:
    rows = (
        (ActionId.SAVE_PICTURE, "Save p&icture…", "Save the chart as a PNG file", "Ctrl+Shift+S", "image-outline"),
        (
            ActionId.COPY_PICTURE,
            "C&opy picture",
            "Put the chart's picture into the clipboard",
            "Ctrl+Shift+C",
            "camera",
        ),
        (
            ActionId.EXPORT_CSV,
            "&Export to CSV…",
            "Save the candles that are in view as a table",
            "Ctrl+E",
            "file-delimited-outline",
        ),
    )
    return tuple(
        ActionInfo(id_, text, tooltip, keys, name, (CHART,), section=3) for id_, text, tooltip, keys, name in rows
    )


def _past() -> tuple[ActionInfo, ...]:
    return (
        ActionInfo(
            ActionId.HINDSIGHT,
            "&Hindsight",
            "Lay what had been forecast over what came",
            "H",
            "ghost-outline",
            (CHART,),
            section=3,
            is_checkable=True,
            place=CHART_PLACE,
        ),
        ActionInfo(
            ActionId.HINDSIGHT_HORIZON,
            "Ne&xt hindsight horizon",
            "Compare with forecasts made one candle earlier; after the earliest, one candle before",
            "Shift+H",
            "history",
            (CHART,),
            section=3,
            place=CHART_PLACE,
        ),
        ActionInfo(
            ActionId.REGIMES,
            "Market &regime",
            "Shade the candles by what the market was like: calm, trending, volatile",
            "R",
            "weather-partly-lightning",
            (CHART,),
            section=3,
            is_checkable=True,
            place=CHART_PLACE,
        ),
        ActionInfo(
            ActionId.ERROR_STRIP,
            "Forecast &errors",
            "The error of each past forecast, and whether its bands held, in a pane below the prices",
            "E",
            "chart-histogram",
            (CHART,),
            section=3,
            is_checkable=True,
            place=CHART_PLACE,
        ),
    )
