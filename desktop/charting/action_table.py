"""All that a user can do with the chart, in one table."""

from __future__ import annotations

from desktop.actions import ActionId, ActionInfo

CHART = "&Chart"
_STYLE, _SCALE = "&Candles", "Price &scale"


def chart_actions() -> tuple[ActionInfo, ...]:
    """The Chart menu."""
    return (*_moves(), *_styles(), *_scales(), *_shown(), *_past())


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
        "Alt+F",
        "arrow-expand-vertical",
        menu,
        section=2,
    )
    return (*scales, fit)


def _shown() -> tuple[ActionInfo, ...]:
    return (
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
        ),
        ActionInfo(
            ActionId.HINDSIGHT_HORIZON,
            "Ne&xt hindsight horizon",
            "Compare with forecasts made one candle earlier; after the earliest, one candle before",
            "Shift+H",
            "history",
            (CHART,),
            section=3,
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
        ),
    )
