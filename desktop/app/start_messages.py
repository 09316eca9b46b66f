"""Notices at the start: errors in the files that were read, and safe mode."""

from __future__ import annotations

from core.domain.events import Severity
from desktop.app.context import Context
from desktop.layouts.store import LayoutStore
from desktop.ui.banner import Banner
from desktop.ui.translation import translate


def show_start_notices(banner: Banner, context: Context, layout: LayoutStore | None) -> None:
    """In the banner. layout: None in safe mode."""
    if layout is not None and layout.notice is not None:
        banner.notify(layout.notice, Severity.WARNING, key="layout")
    if context.folder_notice is not None:
        banner.notify(context.folder_notice, Severity.WARNING, key="folder")
    if context.is_safe_mode:
        text = translate(
            "Window",
            "Safe mode: default settings and layout, and the CPU. Neither settings nor layouts are saved; candles "
            "and training are.",
        )
        banner.notify(text, Severity.INFO, key="settings")
    elif context.warnings:
        first, *others = context.warnings
        words = translate("Window", "{0} And {1} more; see the log.")
        banner.notify(words.format(first, len(others)) if others else first, Severity.WARNING, key="settings")
