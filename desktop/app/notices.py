"""Notices that the composition root shows: errors at the start, and results of backups."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from core.domain.events import Severity
from core.storage.backup_record import Backup, list_backups
from core.storage.folder import DataFolder
from desktop.actions import ActionId
from desktop.app.context import Context
from desktop.checkpoints.columns import format_bytes
from desktop.layouts.store import LayoutStore
from desktop.services.backup_watch import BackupWatch
from desktop.state.shell import Shell
from desktop.ui.banner import Banner
from desktop.ui.formatting import format_time
from desktop.ui.translation import translate

_KEY = "backup"


class BackupNotices(QObject):
    """Shows why a backup failed, where one was saved, and how old the newest is, in the banner."""

    def __init__(self, shell: Shell, watch: BackupWatch, folder: DataFolder) -> None:
        super().__init__(shell.window)
        self._shell, self._folder = shell, folder
        actions = shell.actions
        actions.wire({ActionId.BACK_UP: watch.make_now})
        actions.menu_of(ActionId.BACK_UP).aboutToShow.connect(self._show_newest)
        watch.failed.connect(self._on_failed)
        watch.made.connect(self._on_made)

    @Slot(str)
    def _on_failed(self, sentence: str) -> None:
        self._shell.banner.notify(sentence, Severity.WARNING, key=_KEY)

    @Slot(object, bool)
    def _on_made(self, backup: Backup, was_asked_for: bool) -> None:
        self._shell.banner.withdraw(_KEY)
        if was_asked_for:
            words = translate("Window", "The database is backed up, and the copy verified: {0}, {1}.")
            self._shell.banner.notify(
                words.format(backup.folder, format_bytes(backup.record.size_bytes)), key=_KEY, is_answer=True
            )

    @Slot()
    def _show_newest(self) -> None:
        """Read the newest backup when the menu opens: a command may have made one too."""
        newest = next(iter(list_backups(self._folder.backups)), None)
        text = translate("Window", "No backups yet.")
        if newest is not None:
            made, size = format_time(newest.record.made_at_ms), format_bytes(newest.record.size_bytes)
            text = translate("Window", "Newest: {0} ({1}).").format(made, size)
        self._shell.actions.add_to_tooltip(ActionId.BACK_UP, text)


def show_start_notices(banner: Banner, context: Context, layout: LayoutStore | None) -> None:
    """Errors in the files that were read, and safe mode. layout: None in safe mode."""
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
