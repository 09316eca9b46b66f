"""What can be found: the window's actions, its settings, and the checkpoints of the watched run."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import fields
from functools import partial

from core.events import CheckpointInfo
from core.market.venue_names import venue_name
from core.market.watchlist import WatchedMarket
from core.settings import Settings
from desktop import formatting
from desktop.actions import ActionId, ActionRegistry
from desktop.checkpoints.source import score_text
from desktop.dialogs.forms import field_infos
from desktop.dialogs.preferences import OWN_DIALOG_GROUPS
from desktop.dialogs.setting_words import title, words
from desktop.finder.search import Entry, EntryKind


def action_entries(registry: ActionRegistry, but: Container[ActionId] = ()) -> Iterator[Entry]:
    """As the menus name them, with the menu's name among the details."""
    for info in registry.infos():
        if info.id in but:
            continue
        action = registry[info.id]
        place = " › ".join(part.replace("&", "") for part in info.menu)
        is_on = ", on" if action.isCheckable() and action.isChecked() else ""
        text = action.text().replace("&", "")
        keys = action.shortcut().toString(action.shortcut().SequenceFormat.NativeText)
        details = f"{place}{is_on}. {info.tooltip}"
        yield Entry(EntryKind.ACTION, text, action.trigger, details, keys, action.isEnabled())


def market_entries(
    markets: Iterable[WatchedMarket], more: Iterable[WatchedMarket], watch: Callable[[WatchedMarket], object]
) -> Iterator[Entry]:
    """Those of the watchlist, then `more` that are not in it; `watch` gets the one that is chosen."""
    listed = tuple(markets)
    for market in (*listed, *(each for each in more if each not in listed)):
        where = " · in the watchlist" if market in listed else ""
        details = f"{market.interval} of {venue_name(market.venue)}{where}"
        yield Entry(EntryKind.MARKET, market.symbol, partial(watch, market), details)


def setting_entries(settings: Settings, open_setting: Callable[[str, str], object]) -> Iterator[Entry]:
    """One for each field of the Preferences; `open_setting` gets its group and its name."""
    for group in fields(settings):
        if group.name in OWN_DIALOG_GROUPS:
            continue
        branch = getattr(settings, group.name)
        for name, info in field_infos(type(branch)).items():
            details = f"{words(group.name)}, now {_shown(getattr(branch, name))}. {info.description or ''}"
            yield Entry(EntryKind.SETTING, title(name), partial(open_setting, group.name, name), details)


def checkpoint_entries(infos: Iterable[CheckpointInfo], show: Callable[[str], object]) -> Iterator[Entry]:
    """Newest first; `show` gets the id."""
    for info in infos:
        marks = ((info.is_best, "best"), (info.is_pinned, "pinned"), (info.is_in_use, "in use"))
        named = ", ".join(name for is_so, name in marks if is_so)
        candle = formatting.format_time(info.candle_open_time_ms)
        details = " · ".join(part for part in (named, f"score {score_text(info)}", candle, info.note) if part)
        text = f"Step {formatting.format_count(info.step)}"
        yield Entry(EntryKind.CHECKPOINT, text, partial(show, info.checkpoint_id), details)


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return "not set" if value is None else str(value)
