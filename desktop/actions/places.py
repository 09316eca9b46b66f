"""Where actions are shown: what those of one menu or one panel have in common."""

from __future__ import annotations

from functools import partial

from desktop.actions.info import ActionInfo

file = partial(ActionInfo, menu=("&File",))
history = partial(ActionInfo, menu=("&File",), section=1)
program = partial(ActionInfo, menu=("&File",), section=2)
training = partial(ActionInfo, menu=("&Training",), is_in_tool_bar=True)
release = partial(ActionInfo, menu=("&Training", "&Release GPU"), section=2)
model = partial(ActionInfo, menu=("&Training",), section=3)
chart = partial(ActionInfo, menu=("&Chart",))
interval = partial(
    ActionInfo, icon="clock-outline", menu=("&Chart", "In&terval"), section=1, is_checkable=True, group="interval"
)
style = partial(ActionInfo, menu=("&Chart", "&Candles"), section=1, is_checkable=True, group="candle_style")
scale = partial(ActionInfo, menu=("&Chart", "Price &scale"), section=1, is_checkable=True, group="scale")
zone = partial(ActionInfo, menu=("&Chart", "Time &zone"), section=1, is_checkable=True, group="time_zone")
past = partial(ActionInfo, menu=("&Chart",), section=3, is_checkable=True, place="Chart")
shown = partial(ActionInfo, menu=("&Chart",), section=2)
switch = partial(shown, is_checkable=True)
line = partial(ActionInfo, menu=("&Chart", "&Lines and measuring"), section=3, place="Chart")
drawing = partial(ActionInfo, menu=("&Chart", "&Drawings"), section=3, place="Chart")
saved = partial(ActionInfo, menu=("&Chart",), section=3)
travel = partial(ActionInfo, menu=("&Chart", "&Time travel"), section=4)
view = partial(ActionInfo, menu=("&View",), section=1)
theme = partial(ActionInfo, menu=("&View", "&Theme"), section=2, is_checkable=True, group="theme")
panel = partial(ActionInfo, menu=("&View", "&Panels"), section=3, is_checkable=True)
layout = partial(ActionInfo, menu=("&View", "La&youts"), section=3)
help = partial(ActionInfo, menu=("&Help",))
checkpoint = partial(ActionInfo, place="Checkpoints")
checkpoint_button = partial(ActionInfo, is_in_tool_bar=True, place="Checkpoints")
incident = partial(ActionInfo, is_in_tool_bar=True, place="Incidents")
feed = partial(ActionInfo, is_in_tool_bar=True, place="Feed")
market = partial(ActionInfo, is_in_tool_bar=True, place="Markets")
job = partial(ActionInfo, is_in_tool_bar=True, place="Jobs")
log = partial(ActionInfo, is_in_tool_bar=True, place="Log")
overview = partial(ActionInfo, is_in_tool_bar=True, place="Overview")
count = partial(ActionInfo, is_in_tool_bar=True, is_checkable=True, group="overview_charts", place="Overview")
