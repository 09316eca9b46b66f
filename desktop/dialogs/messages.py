"""Opening dialogs, with their icons; and the one about the program. All return at once."""

from __future__ import annotations

import html
from importlib.metadata import PackageNotFoundError, version
from typing import TypeVar

from PySide6.QtCore import Qt, qVersion
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QWidget

from desktop.ui.dialog_parts import keep_on_screen
from desktop.ui.icons import icon
from desktop.ui.plain_text import MessageBox
from desktop.ui.translation import translate

D = TypeVar("D", bound=QDialog)
_SIGN_PX = 40
_KINDS = QDialogButtonBox.StandardButton
_BUTTON_ICONS = {
    _KINDS.Ok: "check",
    _KINDS.Save: "content-save-outline",
    _KINDS.Cancel: "close",
    _KINDS.Close: "close",
    _KINDS.RestoreDefaults: "restore",
}
_SIGNS = {
    MessageBox.Icon.Question: "help-circle-outline",
    MessageBox.Icon.Warning: "alert-outline",
    MessageBox.Icon.Critical: "alert-circle-outline",
    MessageBox.Icon.Information: "information-outline",
}


def open_dialog(dialog: D) -> D:
    """Show a dialog over its window without a nested event loop; it is deleted on close."""
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    keep_on_screen(dialog)
    dialog.open()
    style_icons(dialog)  # Qt's own dialogs have no buttons before they are shown
    return dialog


def style_icons(dialog: QDialog) -> None:
    """Replace the style's icons of standard buttons and of a question by our own."""
    ink = dialog.palette().buttonText().color()
    for box in dialog.findChildren(QDialogButtonBox):
        for button in box.buttons():
            name = _BUTTON_ICONS.get(box.standardButton(button))
            button.setIcon(QIcon() if name is None else icon(name, ink))
    sign = _SIGNS.get(dialog.icon()) if isinstance(dialog, MessageBox) else None
    if isinstance(dialog, MessageBox) and sign is not None:
        dialog.setIconPixmap(icon(sign, ink).pixmap(_SIGN_PX, _SIGN_PX))


def open_about(parent: QWidget, sign: QIcon, device: str) -> QDialog:
    """Version, what it is, and what it is built from."""
    box = MessageBox(parent)
    box.setWindowTitle(translate("Dialogs", "About Ghostcandle"))
    box.setIconPixmap(sign.pixmap(64, 64))
    box.setTextFormat(Qt.TextFormat.RichText)
    box.setText(translate("Dialogs", "<h3>Ghostcandle {0}</h3>").format(html.escape(_version("ghostcandle"))))
    parts = ", ".join(f"{name} {_version(name)}" for name in ("pyqtgraph", "numpy", "ccxt", "torch"))
    device = device or translate("Dialogs", "none yet")
    box.setInformativeText(
        translate(
            "Dialogs",
            "<p>Watch a model learn a market: live candles, its forecasts ahead of them as ghosts, and an honest "
            "score.</p><p>For studying forecasts; not trading advice.</p><p>Training device: {0}.<br>Qt {1}, "
            "{2}.</p><p>MIT licence. Qt and PySide6 are used under the LGPL.</p>",
        ).format(html.escape(device), qVersion(), html.escape(parts))
    )
    box.addButton(MessageBox.StandardButton.Close)
    return open_dialog(box)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return translate("Dialogs", "(version unknown)")
