"""`ghostcandle run`: the window. Without a display, the same job with a view in the terminal."""

from __future__ import annotations

import dataclasses
import os
import sys
from typing import TYPE_CHECKING

import click

from core.storage.ownership import FolderInUse, Ownership, own
from desktop.app.context import Context
from desktop.commands.errors import UserError
from desktop.commands.options import common_options, in_safe_mode, model_option, run_options, with_some_context
from desktop.dialogs.start_failure import UNSEEN, has_display

if TYPE_CHECKING:
    from desktop.services.single_instance import SingleInstance

_NO_DISPLAY = (
    "There is no display here (neither DISPLAY nor WAYLAND_DISPLAY is set), so no window can open. "
    "The same job runs in this terminal; Ctrl+C ends it with a checkpoint."
)
_NO_ANSWER = "Another Ghostcandle has this data folder open but does not answer. End it, then try again."
_RAISED = "Ghostcandle is open already on this data folder; its window was brought to the front."
_CLOSING = "The window on this data folder is closing; this one opens as soon as all is saved."
_CLOSES_WITHIN_MS = 200_000
"""A window waits up to 120 s for its trainer, and up to 60 s for a database that is being checked."""
_LOOK_MS = 100
_SAFE_MODE = (
    "Default settings and layout, and the CPU. Neither settings nor layouts are saved; candles, training with its "
    "checkpoints, and lines on the chart are, in the data folder as usual."
)


@click.command()
@run_options
@model_option
@common_options
@click.option("--safe-mode", is_flag=True, help=_SAFE_MODE)
@with_some_context
def run(context: Context, safe_mode: bool) -> None:
    """Open the window (the default command).

    With several --symbol or --file one model learns all of these markets. Without a display, the same job runs with
    progress in the terminal, and a PNG of the window.
    """
    if safe_mode:
        context = in_safe_mode(context)
    is_visible = has_display()
    if not is_visible or os.environ.get("QT_QPA_PLATFORM") in UNSEEN:
        context = dataclasses.replace(context, is_first_start=False)  # nobody is there to be asked
    if not is_visible:
        click.echo(_NO_DISPLAY, err=True)
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    sys.exit(_open(context, is_visible=is_visible))


def _open(context: Context, *, is_visible: bool) -> int:
    from PySide6.QtWidgets import QApplication  # noqa: PLC0415 - the other commands need no Qt

    from desktop.services.single_instance import SingleInstance  # noqa: PLC0415
    from desktop.ui.translation import install_translations  # noqa: PLC0415

    qt = QApplication.instance() or QApplication(["ghostcandle"])
    assert isinstance(qt, QApplication)
    install_translations(qt)
    qt.setApplicationName("Ghostcandle")
    qt.setDesktopFileName("ghostcandle")
    instance = SingleInstance(context.folder.root)
    ownership = _own(context, instance)
    if ownership is None:
        return 0
    with ownership:
        instance.listen()
        from desktop.app.interpreter import collected_here  # noqa: PLC0415 - after the cheap checks

        try:
            with collected_here(begins_at_once=False) as begin_collections:
                from desktop.ui.lean_pyqtgraph import import_pyqtgraph  # noqa: PLC0415

                import_pyqtgraph()
                from desktop.app.running import run_application  # noqa: PLC0415

                return run_application(
                    context,
                    qt,
                    instance,
                    is_visible=is_visible,
                    left_behind=ownership.left_behind,
                    on_first_paint=begin_collections,
                )
        finally:
            instance.release()


def _own(context: Context, instance: SingleInstance) -> Ownership | None:
    """None if a window that owns the folder was brought to the front; one that is closing is waited for.

    Raises FolderInUse if the owner is no window, UserError if it does not answer.
    """
    from PySide6.QtCore import QDeadlineTimer, QThread  # noqa: PLC0415 - the other commands need no Qt

    from desktop.services.single_instance import Reply  # noqa: PLC0415 - as above

    deadline, is_closing = QDeadlineTimer(_CLOSES_WITHIN_MS), False
    while True:
        try:
            return own(context.folder, "window")
        except FolderInUse as in_use:
            if in_use.owner is not None and in_use.owner.role != "window":
                raise
            reply = instance.ask_owner()
            if reply is Reply.RAISED:
                click.echo(_RAISED, err=True)
                return None
            if reply is Reply.CLOSING and not is_closing:
                click.echo(_CLOSING, err=True)
                is_closing = True
            if not is_closing and reply is Reply.NOBODY:
                raise
            if not is_closing or deadline.hasExpired():
                raise UserError(_NO_ANSWER) from in_use
        QThread.msleep(_LOOK_MS)
